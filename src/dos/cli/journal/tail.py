"""Show the newest events, one JSON object a line.

With --follow it prints new events until Ctrl-C or until the reader closes the pipe.
"""

import time
from collections.abc import Callable, Iterator
from typing import Annotated

from msgspec import Struct

from dos.cli.streams import long_output
from dos.journal import lines
from dos.journal.backends.memory import MemoryBackend
from dos.journal.events.envelope import Event
from dos.journal.store import Store, readable
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}
LONGEST_STREAM = 500
LOOK_SECONDS = 1.0


class Args(Struct, kw_only=True):
    count: Annotated[int, Option(help="how many; 0 for all", positional=True, metavar="N")] = 20
    follow: Annotated[bool, Option(help="and then what is new, as it comes", flags=("-f",))] = False
    stream: Annotated[str, Option(help="only of this stream, as lane/api", metavar="STREAM")] = ""


def run(args: Args, context: Context) -> Reply:
    stream = validated_name(args.stream, "stream", longest=LONGEST_STREAM) if args.stream else ""
    if args.follow:
        _await_journal(context)
    journal = context.journal_world.journal
    last = journal.last()
    found = (
        _everything(journal, stream, last)
        if args.count <= 0
        else newest(journal, args.count, stream, last)
    )
    with long_output() as out:
        for event in found:
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
    """The last events up to a position, oldest first."""
    with journal.backend.read() as view:
        if stream:
            found = _backwards(
                count, view.head(stream), lambda after: view.load(stream, after, None)
            )
        else:
            found = _backwards(count, last, lambda after: view.tail(after, last - after))
    return [readable(event) for event in found if event.pos <= last]


def _backwards(count: int, end: int, read: Callable[[int], list[Event]]) -> list[Event]:
    """Numbers have gaps where old events were removed, so the look back widens until it has found enough."""
    width = count
    while True:
        after = max(0, end - width)
        found = read(after)
        if len(found) >= count or after == 0:
            return found[-count:]
        width *= 4


def _everything(journal: Store, stream: str, last: int) -> Iterator[Event]:
    for event in journal.events():
        if event.pos > last:
            return
        if stream in ("", event.stream):
            yield event


def _await_journal(context: Context) -> None:
    """Reading makes no journal, so one that is followed may have to appear first."""
    while isinstance(context.journal_world.journal.backend, MemoryBackend):
        time.sleep(0.1)
        context.reload()


def _line(event: Event) -> str:
    return lines.written(event) + "\n"
