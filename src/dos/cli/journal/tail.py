"""Show the newest events, one JSON object a line.

With --follow it prints new events until Ctrl-C or until the reader closes the pipe.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated

from msgspec import Struct

from dos.cli.streams import long_output
from dos.journal import lines
from dos.journal.backend import require_known_schema
from dos.journal.backends.memory import MemoryBackend
from dos.journal.events.envelope import Event
from dos.journal.store import Store
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}
LONGEST_STREAM = 500
LOOK_SECONDS = 1.0


class Args(Struct, kw_only=True):
    """How many events, of which stream, and whether to keep printing."""

    count: Annotated[
        int, Option(help="number of events; 0 for all", positional=True, metavar="N")
    ] = 20
    follow: Annotated[bool, Option(help="keep printing new events", flags=("-f",))] = False
    stream: Annotated[
        str, Option(help="only events of this stream, such as lane/api", metavar="STREAM")
    ] = ""


def run(args: Args, context: Context) -> Reply:
    stream = ""
    if args.stream:
        stream = validated_name(args.stream, "stream", longest=LONGEST_STREAM)
    if args.follow:
        _await_journal(context)
    journal = context.journal_world.journal
    last = journal.last()
    events: Iterable[Event]
    if args.count <= 0:
        events = _all_events(journal, stream, last)
    else:
        events = newest(journal, args.count, stream, last)
    with long_output() as out:
        for event in events:
            out.write(_line(event))
        while args.follow:
            out.flush()
            journal.wait(last, LOOK_SECONDS)
            for event in journal.events(last):
                last = event.pos
                if stream in ("", event.stream):
                    out.write(_line(event))
    return Reply()


def newest(journal: Store, count: int, stream: str, last: int) -> list[Event]:
    """Return the newest events up to position `last`, oldest first; "" stands for every stream."""
    with journal.backend.read() as view:
        if stream:
            events = _read_back(
                count, view.head(stream), lambda after: view.load(stream, after, None)
            )
        else:
            events = _read_back(count, last, lambda after: view.tail(after, last - after))
    return [require_known_schema(event) for event in events if event.pos <= last]


def _read_back(count: int, end: int, read: Callable[[int], list[Event]]) -> list[Event]:
    """Return the last `count` events before `end`.

    Pruned events leave gaps in the numbers, so the range widens until it holds enough events.
    """
    width = count
    while True:
        after = max(0, end - width)
        events = read(after)
        if len(events) >= count or after == 0:
            return events[-count:]
        width *= 4


def _all_events(journal: Store, stream: str, last: int) -> Iterator[Event]:
    """Yield the events of a stream, or of all, up to a position."""
    for event in journal.events():
        if event.pos > last:
            return
        if stream in ("", event.stream):
            yield event


def _await_journal(context: Context) -> None:
    """Wait until the workspace has a journal: reading does not create one."""
    while isinstance(context.journal_world.journal.backend, MemoryBackend):
        time.sleep(0.1)
        context.reload()


def _line(event: Event) -> str:
    """Return an event as the line that is printed."""
    return lines.format_line(event) + "\n"
