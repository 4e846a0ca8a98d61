"""Add a unit to a plan document.

The unit becomes the last one of its document. It is written only if the plan then reads as
before, with exactly this unit more. The edit is approved, so that a running fleet takes the unit;
committing it is left to you.
"""

from typing import Annotated

from msgspec import Struct

from dos.approval.io.approve import approve_plan_edit
from dos.cli.runs import lookup
from dos.errors import BadInput
from dos.text import quote
from dos.units.io.added_units import AddedUnit, plan_addition, write_addition
from dos.units.markdown.append import NewUnit
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, actor

EXITS = {"added": 0, "contract_error": 2, "lock-busy": 4}
LONGEST_TEXT = 20_000  # characters


class Args(Struct, kw_only=True):
    """The unit, and where it goes."""

    unit: Annotated[str, Option(positional=True, help="its name", metavar="PLAN/ID")]
    title: Annotated[str, Option(positional=True, help="its title, one line", metavar="TITLE")]
    lane: Annotated[str, Option(help="lane that works on it", metavar="LANE")] = ""
    path: Annotated[
        list[str], Option(help="path that it changes (repeatable)", metavar="GLOB")
    ] = []
    acceptance: Annotated[
        str, Option(help="command that passes once it is done", metavar="COMMAND")
    ] = ""
    depends: Annotated[
        list[str], Option(help="unit that has to land first (repeatable)", metavar="UNIT")
    ] = []
    text: Annotated[str, Option(help="what is to be done", metavar="TEXT")] = ""
    document: Annotated[
        str, Option(help="plan document (default: the one of its plan)", metavar="PATH")
    ] = ""
    dry_run: Annotated[bool, Option(help="show the edit and write nothing")] = False


def run(args: Args, context: Context) -> Reply:
    """Add the unit and approve the edit; with --dry-run only show it."""
    world = context.policy_world
    added = plan_addition(world.workspace, world.config, _new_unit(args), name=args.document)
    note = ""
    if not args.dry_run:
        write_addition(world.workspace.root, added)
        note = _approve(added, context)
    lines = added.after[len(added.before.rstrip()) :].strip().splitlines()
    verb = "would add" if args.dry_run else "added"
    text = "\n".join(
        [f"{verb} {added.unit.name}  {added.name}:{added.unit.line}", *map(_indented, lines), note]
    )
    return Reply(
        text=text.rstrip(),
        data={
            "added": not args.dry_run,
            "unit": added.unit.name,
            "document": added.name,
            "line": added.unit.line,
            "lane": added.unit.lane,
            "text": "\n".join(lines),
            "note": note,
        },
        next_action=""
        if args.dry_run
        else f"git commit -m 'Plan {added.unit.name}' -- {added.name}",
    )


def _new_unit(args: Args) -> NewUnit:
    plan, slash, unit_id = args.unit.partition("/")
    if not (slash and plan and unit_id):
        raise BadInput(
            f"{quote(args.unit)} does not name a plan and an id", hint="For example: AUTH/AUTH4"
        )
    if len(args.text) > LONGEST_TEXT:
        raise BadInput(
            f"--text has {len(args.text)} characters, and at most {LONGEST_TEXT} are allowed",
            hint="Edit the document instead.",
        )
    title = lookup.validated_text(args.title, "title").strip()
    if not title:
        raise BadInput("the title is empty", hint="Say in one line what is to be done.")
    return NewUnit(
        plan=plan,
        id=unit_id,
        title=title,
        lane=lookup.validated_text(args.lane, "lane name"),
        paths=tuple(lookup.validated_text(path, "path") for path in args.path),
        acceptance=lookup.validated_text(args.acceptance, "acceptance"),
        depends=tuple(lookup.validated_text(name, "unit name") for name in args.depends),
        text=args.text.strip(),
    )


def _approve(added: AddedUnit, context: Context) -> str:
    """Approve the edit; returns a note where a fleet will ask about it."""
    world = context.policy_world
    is_approved = approve_plan_edit(
        world.workspace,
        world.config,
        added.name,
        before=added.before,
        after=added.after,
        by=actor(),
    )
    if is_approved:
        return ""
    return f"{added.name} has other edits that are not approved: see `dos decisions`"


def _indented(line: str) -> str:
    return f"    {line}".rstrip()
