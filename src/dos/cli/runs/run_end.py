"""Record how a run ended.

`complete` is accepted only if git confirms it. A run that `failed` can be resumed; one that was
`abandoned` cannot.
"""

from typing import Annotated

from msgspec import Struct

from dos import run_ids
from dos.cli.runs import lookup
from dos.errors import Refused
from dos.journal import run_state
from dos.journal.events.runs import RunEnded
from dos.journal.run_state import RunState
from dos.runs import complete
from dos.runs.io.evidence import gather_declaration
from dos.runs.resume import ABANDONED
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"ended": 0, "refused": 1, "contract_error": 2, "lock-busy": 4}
COMPLETE = "complete"
FAILED = "failed"


class Args(Struct, kw_only=True):
    """The run, its result, and why."""

    run: Annotated[str, Option(help="run id", positional=True, metavar="RUN")]
    result: Annotated[
        str,
        Option(
            help="complete, failed or abandoned",
            metavar="RESULT",
            choices=(COMPLETE, FAILED, ABANDONED),
        ),
    ]
    reason: Annotated[str, Option(help="reason to record", metavar="TEXT")] = ""


def run(args: Args, context: Context) -> Reply:
    """Record that the run has ended. It can end as complete only if git confirms every step."""
    run_id = run_ids.validated_run_id(args.run)
    reason = lookup.validated_text(args.reason, "reason")
    ended = RunEnded(run_id=run_id, result=args.result, reason=reason)
    _check_complete(args, context, lookup.open_run(context, run_id))

    def decide(run: RunState) -> list[RunEnded]:
        _check_complete(args, context, lookup.check_open(run_id, run))
        return [ended]

    run_state.change(context.journal, run_id, decide, fence=lookup.own_fence(run_id))
    return Reply(
        text=f"ended  {run_id}: {args.result}", data={"run_id": run_id, "result": args.result}
    )


def _check_complete(args: Args, context: Context, run: RunState) -> None:
    """Raise Refused if the run is to end as complete and git does not confirm it."""
    if args.result != COMPLETE:
        return
    evidence = complete.Evidence(declared=gather_declaration(context.world, args.run, run))
    verdict = complete.judge(evidence)
    if verdict.answer is not complete.Answer.COMPLETE:
        raise Refused(
            f"{args.run} is {verdict.answer}: {verdict.reason}",
            hint="Verify the remaining steps with `dos run verify`, or end the run as failed.",
        )
