"""Allocate the next number of a scope.

No number is allocated twice, even if many processes ask at the same time.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.journal import id_numbers
from dos.errors import BadInput, Conflict, StoreBusy
from dos.journal.events.fleet import IdAllocated
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"allocated": 0, "contract_error": 2, "lock-busy": 4}
MOST_TRIES = 1_000  # each that fails is another's success
LARGEST = 1 << 53  # every reader of JSON can tell numbers below it apart


class Args(Struct, kw_only=True):
    scope: Annotated[str, Option(help="what is numbered", positional=True, metavar="SCOPE")]
    start: Annotated[
        int, Option(help="the first number, where none has been given out", metavar="N")
    ] = 1


def run(args: Args, context: Context) -> Reply:
    stream = id_numbers.stream(args.scope)
    if not 0 <= args.start < LARGEST:
        raise BadInput(
            f"{args.start} is no number to start with",
            hint="Give 0 or more, for example --start 1.",
        )
    for _ in range(MOST_TRIES):
        last = id_numbers.newest(context.journal, args.scope)
        fact = IdAllocated(scope=args.scope, id=args.start if last.id is None else last.id + 1)
        try:
            context.journal.record(stream, fact, expect=last.version)
        except Conflict:
            continue
        return Reply(
            data={"id": fact.id, "scope": args.scope}, plain=str(fact.id), always_json=True
        )
    raise StoreBusy(f"others were quicker {MOST_TRIES} times in a row", hint="Try again.")
