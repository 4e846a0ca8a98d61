"""How did a run come to where it is?

For each iteration: how it ended, what was seen, the counters, every rung that was asked in order, and the decision.
Without a run id it is the newest run.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.cli.runs import find_run
from dos.report import explain
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"told": 0, "not-found": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    run: Annotated[
        str,
        Option(
            positional=True, help="run, lane or unit; the newest run when not given", metavar="RUN"
        ),
    ] = ""
    iteration: Annotated[int | None, Option(help="only this iteration", metavar="N")] = None


def run(args: Args, context: Context) -> Reply:
    found = find_run.find(context, args.run)
    if found.missing:
        return found.missing
    told = explain.story(found.run_id, found.happened)
    if args.iteration is not None:
        told = explain.only(told, args.iteration)
    return Reply(text=explain.render(told), data=to_builtins(told), indented=True)
