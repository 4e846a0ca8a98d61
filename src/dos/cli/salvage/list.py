"""List saved work that has not landed, newest first."""

from typing import Annotated, Any

from msgspec import Struct, to_builtins

from dos.errors import BadInput, WorkspaceMissing
from dos.landing import salvage
from dos.landing.salvage import SavedWork
from dos.text import comparison_key, validated_name
from dos.times import utc_stamp
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply


def read_saved(context: Context) -> list[SavedWork]:
    world = context.journal_world
    if world.workspace.common is None:
        raise WorkspaceMissing(
            f"{world.workspace.root} is not in a git repository", hint="cd into one."
        )
    return salvage.read(world.git, world.workspace.state, world.journal.events())


def to_json(saved: SavedWork) -> dict[str, Any]:
    data: dict[str, Any] = to_builtins(saved)
    return data | {"at": utc_stamp(saved.at_ms), "kind": "ref" if saved.commit else "folder"}


def describe(saved: SavedWork) -> str:
    """Whose it was, and why it was saved."""
    whose = " ".join(filter(None, (saved.lane, saved.unit))) or "of nobody who wrote it down"
    return f"{whose}: {saved.why}"


EXITS = {"listed": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    lane: Annotated[str, Option(help="only what was saved on this lane", metavar="LANE")] = ""
    limit: Annotated[int, Option(help="so many of the newest; 0 for all", metavar="N")] = 50


def run(args: Args, context: Context) -> Reply:
    if args.limit < 0:
        raise BadInput(f"--limit {args.limit} is below 0", hint="0 shows all.")
    lane = comparison_key(validated_name(args.lane, "lane name")) if args.lane else ""
    there = [
        saved
        for saved in reversed(read_saved(context))
        if not lane or comparison_key(saved.lane) == lane
    ]
    some = [
        salvage.with_size(context.journal_world.git, saved) for saved in there[: args.limit or None]
    ]
    lines = []
    for saved in some:
        lines.append(
            f"{saved.number:>3}  {saved.name}  {utc_stamp(saved.at_ms)}  {salvage.describe_size(saved)}"
        )
        lines.append(f"     {describe(saved)}")
    if len(there) > len(some):
        lines.append(f"and {len(there) - len(some)} older: --limit 0 shows all")
    nothing = f"nothing is saved of lane {args.lane!r}" if args.lane else "nothing is saved"
    return Reply(
        text="\n".join(lines) or nothing,
        data={"salvaged": [to_json(saved) for saved in some], "count": len(there)},
        next_action="`dos salvage show NUMBER` shows one, `dos salvage apply NUMBER` takes it back."
        if some
        else "",
    )
