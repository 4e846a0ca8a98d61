"""Check dos.toml for errors.

A file that cannot be read, an unknown table and an unknown key are errors. A setting that describes
files of dos-kernel is accepted, and noted. It exits 1 for errors and warnings; with --strict for
errors alone.
"""

from typing import Annotated

from msgspec import Struct, structs

from dos.config import lint
from dos.config.layout.lanes import trees_by_name
from dos.doctor.subjects.finding import cd_prefix, edit_commands, first_of_each_kind
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"clean": 0, "findings": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    """Which findings to fail for."""

    strict: Annotated[bool, Option(help="exit 1 for errors alone, not for warnings")] = False


def run(args: Args, context: Context) -> Reply:
    """Return the findings about dos.toml, the first of each kind with its fix.

    JSON has all of them.
    """
    world = context.lenient_world
    loaded = world.loaded_config
    findings = lint.lint(
        loaded.config,
        loaded.problems,
        commands=edit_commands(world),
        folder_trees=trees_by_name(world.workspace.root),
        set_keys=loaded.origins,
    )
    prefix = cd_prefix(world)
    if prefix:
        findings = [structs.replace(entry, fix=prefix + entry.fix) for entry in findings]
    lines = []
    for entry, left_out in first_of_each_kind(findings):
        lines.append(f"{entry.severity:<6}{entry.kind}  {entry.detail}")
        lines.append(f"      fix: {entry.fix}")
        if left_out:
            lines.append(f"      {left_out}")
    if not lines:
        where = loaded.path or f"no {world.workspace.config}: the defaults"
        lines.append(f"clean: {where}")
    return Reply(
        code=int(lint.should_fail(findings, strict=args.strict)),
        text="\n".join(lines),
        data=lint.as_json(findings) if context.as_json else None,
        next_action=findings[0].fix if findings else "dos doctor",
    )
