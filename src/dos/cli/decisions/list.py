"""List open decisions and what waits for each.

Each decision shows what waits for its answer, since when, and what happens without an answer.
Beside the questions of the fleet it lists: halts that `dos halt --handle` and `dos watch` proposed,
runs of your own loop that stopped and need you, units that are drafts, gated or soaking with what
waits behind them, and what `dos decisions add` added.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.cli.decisions import gather, show
from dos.questions import view
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"listed": 0, "none-to-show": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    number: Annotated[
        str, Option(positional=True, help="show only this one, by number or id", metavar="N")
    ] = ""
    all: Annotated[bool, Option(help="also list answered decisions")] = False
    no_tui: Annotated[bool, Option(help="print a list (always so)", hidden=True)] = False


def run(args: Args, context: Context) -> Reply:
    if args.number:
        return show.run(show.Args(decision=args.number), context)
    journal = context.journal_world.journal
    decisions, waits = gather.questions_and_waits(context)
    questions = view.ordered_questions(decisions, with_answered=args.all)
    now_ms = journal.now_ms()
    data = to_builtins(view.rows(questions, now_ms, waits))
    return Reply(text=view.render(questions, now_ms, waits), data=data, indented=True)
