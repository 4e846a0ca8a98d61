"""How far each transport of `dos export` is: the newest event of the transport's own stream."""

from dos.journal import streams
from dos.journal.events.doors import ExportAdvanced
from dos.journal.events.reader import select
from dos.journal.store import Store


def read_cursor(journal: Store, transport: str) -> int:
    """Return the position up to which everything was shipped; 0 before the first time."""
    stream = streams.exports(transport)
    with journal.backend.read() as view:
        newest = view.load(stream, max(0, view.head(stream) - 1), None)
    positions = [fact.position for _, fact in select(newest, ExportAdvanced)]
    return max(positions, default=0)


def record_cursor(journal: Store, transport: str, position: int) -> None:
    """Record that everything up to a position was shipped."""
    fact = ExportAdvanced(transport=transport, position=position)
    journal.record(streams.exports(transport), fact)
