"""Show one event with all its fields."""

from typing import Annotated, Any

from msgspec import Struct, json

from dos.errors import JournalCorrupt
from dos.journal import lines
from dos.journal.events.envelope import Event
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"shown": 0, "absent": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    """The event's position."""

    pos: Annotated[int, Option(help="position of the event", positional=True, metavar="POS")]


def run(args: Args, context: Context) -> Reply:
    rows = []
    with context.journal_world.journal.backend.read() as view:
        if args.pos > 0:
            rows = view.raw(args.pos - 1, 1)
        last = view.last()
    if not rows or rows[0][0].pos != args.pos:
        hint = "`dos journal tail` shows the newest events."
        return Reply(
            code=1,
            stderr=f"error: there is no event {args.pos}; the newest is {last}\n  hint: {hint}",
            data={"pos": args.pos, "found": False, "last": last},
        )
    event, stored = rows[0]
    try:
        event.verified(stored)
    except (JournalCorrupt, TypeError) as error:
        return Reply(
            code=1,
            stderr=f"error: {error}",
            data=_damaged(event),
            indented=True,
            always_json=True,
        )
    return Reply(data=json.decode(lines.format_line(event)), indented=True, always_json=True)


def _damaged(event: Event) -> dict[str, Any]:
    """Return all fields as text: the type of a field in a damaged row cannot be trusted."""
    return {name: str(getattr(event, name)) for name in event.__struct_fields__} | {"damaged": True}
