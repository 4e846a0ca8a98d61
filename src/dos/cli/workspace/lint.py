"""Check dos.toml for errors.

A file that cannot be read, an unknown table and an unknown key are errors here like everything else, and so is a
setting that this version accepts and does not read. It exits 1 for errors and warnings; with --strict for errors alone.
"""

from typing import Annotated

from msgspec import Struct, structs

from dos.config import lint
from dos.config.infer import trees_by_name
from dos.doctor.subjects.finding import cd_prefix, edit_commands, first_of_each_kind
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"clean": 0, "findings": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    strict: Annotated[bool, Option(help="exit 1 only for errors, not for warnings")] = False


def run(args: Args, context: Context) -> Reply:
    world = context.lenient_world
    loaded, path = world.loaded_config, world.workspace.config
    likely = trees_by_name(world.workspace.root)
    found = lint.lint(
        loaded.config,
        loaded.problems,
        commands=edit_commands(world),
        folder_trees=likely,
        set_keys=loaded.origins,
    )
    if begin := cd_prefix(world):
        found = [structs.replace(each, fix=begin + each.fix) for each in found]
    lines = []
    for each, left_out in first_of_each_kind(found):
        lines += [f"{each.severity:<6}{each.kind}  {each.detail}", f"      fix: {each.fix}"]
        lines += [f"      {left_out}"] if left_out else []
    where = loaded.path or f"no {path}: the defaults"
    return Reply(
        code=int(lint.should_fail(found, strict=args.strict)),
        text="\n".join(lines) or f"clean: {where}",
        data=lint.as_json(found) if context.as_json else None,
        next_action=found[0].fix if found else "dos doctor",
    )
