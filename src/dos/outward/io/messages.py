"""Which messages went out, and what they said: the newest event of the stream of each message."""

from collections.abc import Iterator

from dos.journal import streams
from dos.journal.events.doors import NotificationSent
from dos.journal.events.reader import select
from dos.journal.store import Store


def last_sent(journal: Store, transport: str, key: str) -> NotificationSent | None:
    """Return what was last sent under a key; None: nothing was."""
    return _newest(journal, _stream(transport, key))


def sent_with_prefix(journal: Store, transport: str, prefix: str) -> Iterator[NotificationSent]:
    """Yield what was last sent under each key that begins with a prefix."""
    with journal.backend.read() as view:
        names = list(view.streams(_stream(transport, prefix)))
    for name in names:
        sent = _newest(journal, name)
        if sent is not None:
            yield sent


def record_sent(journal: Store, sent: NotificationSent) -> None:
    """Record a message that was delivered."""
    journal.record(_stream(sent.transport, sent.key), sent)


def _stream(transport: str, key: str) -> str:
    return streams.notifications(f"{transport}/{key}")


def _newest(journal: Store, stream: str) -> NotificationSent | None:
    with journal.backend.read() as view:
        events = view.load(stream, max(0, view.head(stream) - 1), None)
    newest = None
    for _, newest in select(events, NotificationSent):  # noqa: B007
        pass
    return newest
