"""Allocate the next number of a scope.

No number is allocated twice, even if many processes ask at the same time.
"""

from typing import Annotated

from msgspec import Struct

from dos.errors import BadInput, Conflict, JournalCorrupt, StoreBusy
from dos.journal import streams
from dos.journal.events.fleet import IdAllocated
from dos.journal.events.reader import select
from dos.journal.store import Store
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"allocated": 0, "contract_error": 2, "lock-busy": 4}
MOST_TRIES = 1_000  # a try fails only because another process allocated a number meanwhile
LARGEST = 1 << 53  # up to here every JSON reader keeps integers exact


class Args(Struct, kw_only=True):
    """The scope, and where its numbers begin."""

    scope: Annotated[str, Option(help="what is numbered", positional=True, metavar="SCOPE")]
    start: Annotated[int, Option(help="first number of a new scope", metavar="N")] = 1


class LastAllocated(Struct, frozen=True, kw_only=True):
    """The last number of a scope, and the version of its stream at that time."""

    id: int | None  # None: no number was allocated yet
    version: int


def run(args: Args, context: Context) -> Reply:
    stream = scope_stream(args.scope)
    if not 0 <= args.start < LARGEST:
        raise BadInput(
            f"--start {args.start} is not between 0 and {LARGEST - 1}",
            hint="For example: --start 1",
        )
    for _ in range(MOST_TRIES):
        last = last_allocated(context.journal, args.scope)
        number = args.start
        if last.id is not None:
            number = last.id + 1
        fact = IdAllocated(scope=args.scope, id=number)
        try:
            context.journal.record(stream, fact, expect=last.version)
        except Conflict:
            continue
        return Reply(data={"id": number, "scope": args.scope}, plain=str(number), always_json=True)
    raise StoreBusy(
        f"other processes allocated a number first {MOST_TRIES} times in a row", hint="Try again."
    )


def scope_stream(scope: str) -> str:
    """Return the name of the stream that holds the scope's numbers."""
    return streams.numbers(validated_name(scope, "scope"))


def last_allocated(store: Store, scope: str) -> LastAllocated:
    """Return the scope's last number; raises JournalCorrupt if its stream has another event."""
    stream = scope_stream(scope)
    with store.backend.read() as view:
        version = view.head(stream)
        events = view.load(stream, version - 1, 1)
    if not events:
        return LastAllocated(id=None, version=version)
    allocated = [fact for _, fact in select(events, IdAllocated)]
    if not allocated:
        last = events[-1]
        raise JournalCorrupt(
            f"event {last.pos} on {stream!r} is a {last.kind}, not a number",
            hint=f"No number can be allocated until this is fixed: dos journal show {last.pos}",
        )
    return LastAllocated(id=allocated[-1].id, version=version)
