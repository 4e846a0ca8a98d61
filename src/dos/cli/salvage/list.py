"""List saved work that has not landed, newest first."""

from typing import Annotated, Any

from msgspec import Struct, to_builtins

from dos.errors import BadInput, WorkspaceMissing
from dos.landing import salvage_list
from dos.landing.salvage_list import SavedWork
from dos.text import comparison_key, validated_name
from dos.times import format_local_time, now_ms, utc_datetime, utc_stamp
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"listed": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """Which saved work to list."""

    lane: Annotated[str, Option(help="only work saved on this lane", metavar="LANE")] = ""
    limit: Annotated[int, Option(help="number of entries; 0 for all", metavar="N")] = 50


def run(args: Args, context: Context) -> Reply:
    """List the saved work of all lanes, or of one, with its age, its size and why it was saved."""
    if args.limit < 0:
        raise BadInput(f"--limit {args.limit} is below 0", hint="0 shows all.")
    matches = _newest_first(read_saved(context), args.lane)
    git = context.journal_world.git
    # To count the files of a commit takes two git commands, so only those shown are counted.
    shown = [salvage_list.with_size(git, saved) for saved in matches[: args.limit or None]]
    data = {"salvaged": [to_json(saved) for saved in shown], "count": len(matches)}
    if not shown:
        text = "no saved work"
        if args.lane:
            text = f"no saved work of lane {args.lane!r}"
        return Reply(text=text, data=data)
    lines = []
    now = utc_datetime(now_ms(None))
    for saved in shown:
        saved_at = format_local_time(utc_datetime(saved.at_ms), now)
        size = salvage_list.describe_size(saved)
        lines.append(f"{saved.number:>3}  {saved.name}  {saved_at}  {size}")
        lines.append(f"     {describe(saved)}")
    if len(matches) > len(shown):
        lines.append(f"and {len(matches) - len(shown)} older: --limit 0 shows all")
    return Reply(
        text="\n".join(lines),
        data=data,
        next_action="`dos salvage show NUMBER` shows one, `dos salvage apply NUMBER` applies it.",
    )


def _newest_first(everything: list[SavedWork], lane: str) -> list[SavedWork]:
    """Return the saved work of the lane, or of all lanes for "", newest first."""
    if not lane:
        return everything[::-1]
    key = comparison_key(validated_name(lane, "lane name"))
    return [saved for saved in reversed(everything) if comparison_key(saved.lane) == key]


def read_saved(context: Context) -> list[SavedWork]:
    """Return all saved work, oldest first, as the verbs of this folder number it.

    Raises WorkspaceMissing outside of a git repository, where nothing can have been saved.
    """
    world = context.journal_world
    if world.workspace.common is None:
        raise WorkspaceMissing(
            f"{world.workspace.root} is not in a git repository", hint="cd into one."
        )
    return salvage_list.read(world.git, world.workspace.state, world.journal.events())


def to_json(saved: SavedWork) -> dict[str, Any]:
    """Return the fields of the saved work, with its time and whether it is a ref or a folder.

    The time is in UTC here; people see local times.
    """
    data: dict[str, Any] = to_builtins(saved)
    kind = "folder"
    if saved.commit:
        kind = "ref"
    return data | {"at": utc_stamp(saved.at_ms), "kind": kind}


def describe(saved: SavedWork) -> str:
    """Return the lane and unit of the saved work, and why it was saved."""
    parts = []
    if saved.lane:
        parts.append(f"lane {saved.lane}")
    if saved.unit:
        parts.append(saved.unit)
    origin = ", ".join(parts) or "origin not recorded"
    return f"{origin}: {saved.why}"
