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


class LastAllocated(Struct, frozen=True, kw_only=True):
    id: int | None
    version: int


def scope_stream(scope: str) -> str:
    return streams.numbers(validated_name(scope, "scope"))


def last_allocated(store: Store, scope: str) -> LastAllocated:
    """The last number that was given out, and the version of the stream that says so."""
    with store.backend.read() as view:
        version = view.head(scope_stream(scope))
        found = view.load(scope_stream(scope), version - 1, 1)
    if not found:
        return LastAllocated(id=None, version=version)
    given = [fact for _, fact in select(found, IdAllocated)]
    if not given:
        raise JournalCorrupt(
            f"event {found[-1].pos} on {scope_stream(scope)!r} is a {found[-1].kind}, not a number",
            hint="No number is given out before that is cleared up; `dos journal show` shows the event.",
        )
    return LastAllocated(id=given[-1].id, version=version)


EXITS = {"allocated": 0, "contract_error": 2, "lock-busy": 4}
MOST_TRIES = 1_000  # each that fails is another's success
LARGEST = 1 << 53  # every reader of JSON can tell numbers below it apart


class Args(Struct, kw_only=True):
    scope: Annotated[str, Option(help="what is numbered", positional=True, metavar="SCOPE")]
    start: Annotated[
        int, Option(help="the first number, where none has been given out", metavar="N")
    ] = 1


def run(args: Args, context: Context) -> Reply:
    stream = scope_stream(args.scope)
    if not 0 <= args.start < LARGEST:
        raise BadInput(
            f"{args.start} is no number to start with",
            hint="Give 0 or more, for example --start 1.",
        )
    for _ in range(MOST_TRIES):
        last = last_allocated(context.journal, args.scope)
        fact = IdAllocated(scope=args.scope, id=args.start if last.id is None else last.id + 1)
        try:
            context.journal.record(stream, fact, expect=last.version)
        except Conflict:
            continue
        return Reply(
            data={"id": fact.id, "scope": args.scope}, plain=str(fact.id), always_json=True
        )
    raise StoreBusy(f"others were quicker {MOST_TRIES} times in a row", hint="Try again.")
