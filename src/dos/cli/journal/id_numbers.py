"""Numbers that are given out once, one stream of the journal for each scope."""

from msgspec import Struct

from dos.errors import JournalCorrupt
from dos.journal import streams
from dos.journal.events.fleet import IdAllocated
from dos.journal.events.reader import select
from dos.journal.store import Store
from dos.text import validated_name


class Newest(Struct, frozen=True, kw_only=True):
    id: int | None
    version: int


def stream(scope: str) -> str:
    return streams.numbers(validated_name(scope, "scope"))


def newest(store: Store, scope: str) -> Newest:
    """The last number that was given out, and the version of the stream that says so."""
    with store.backend.read() as view:
        version = view.head(stream(scope))
        found = view.load(stream(scope), version - 1, 1)
    if not found:
        return Newest(id=None, version=version)
    given = [fact for _, fact in select(found, IdAllocated)]
    if not given:
        raise JournalCorrupt(
            f"event {found[-1].pos} on {stream(scope)!r} is a {found[-1].kind}, not a number",
            hint="No number is given out before that is cleared up; `dos journal show` shows the event.",
        )
    return Newest(id=given[-1].id, version=version)
