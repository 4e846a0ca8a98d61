"""Say what in dos.toml is a mistake.

A file that cannot be read, an unknown table and an unknown key are errors here like everything else. It exits 1 for
errors and warnings; with --strict for errors alone.
"""

from typing import Annotated

from msgspec import Struct

from dos.config import lint
from dos.surfaces.cli.desk import Desk, Reply
from dos.surfaces.cli.options import Option

EXITS = {"clean": 0, "findings": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    strict: Annotated[bool, Option(help="exit 1 only for errors, not for warnings")] = False


def run(args: Args, desk: Desk) -> Reply:
    loaded = desk.forgiving_world.loaded
    found = lint.lint(loaded.config, loaded.problems)
    lines = [f"{each.severity:<6}{each.kind}  {each.detail}\n      fix: {each.fix}" for each in found]
    where = loaded.path or f"no {desk.forgiving_world.workspace.config}: the defaults"
    return Reply(
        code=int(lint.fails(found, strict=args.strict)),
        text="\n".join(lines) or f"clean: {where}",
        data=lint.as_json(found),
        next_action=found[0].fix if found else "dos doctor",
    )
