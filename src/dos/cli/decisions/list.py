"""List open decisions and what waits for each.

Each question says what waits for its answer, since when, and what happens if nobody answers in time. Besides the
fleet's questions: halts that `dos halt --handle` and `dos watch` proposed, runs of your own loop that stopped and need
you, units that are drafts, gated or soaking, with what waits behind them, and what `dos decisions add` put here.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.cli.decisions import open_questions, show
from dos.questions import view
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"listed": 0, "none-to-show": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    number: Annotated[
        str, Option(positional=True, help="only this one: its number or its id", metavar="N")
    ] = ""
    all: Annotated[bool, Option(help="those that were answered too")] = False
    no_tui: Annotated[bool, Option(help="print a list, as is always done", hidden=True)] = False


def run(args: Args, context: Context) -> Reply:
    if args.number:
        return show.run(show.Args(decision=args.number), context)
    journal = context.journal_world.journal
    found = open_questions.gather(context)
    shown = view.ordered_questions(found, with_answered=args.all)
    now_ms = journal.now_ms()
    waits = open_questions.fleet_waits(context)
    data = to_builtins(view.rows(shown, now_ms, waits))
    return Reply(text=view.render(shown, now_ms, waits), data=data, indented=True)
