"""Say how a run ended.

A run is `complete` only when git says so. One that `failed` can be gone on with; one that is `abandoned` cannot.
"""

from typing import Annotated

from msgspec import Struct

from dos.errors import Refused
from dos.evidence.work import declared
from dos.journal import runs
from dos.journal.run_events import RunEnded
from dos.journal.states.run import Run
from dos.records import run_ids
from dos.surfaces.cli.desk import Desk, Reply
from dos.surfaces.cli.options import Option
from dos.surfaces.cli.verbs.ledger import standing
from dos.verdicts.recovery.resume import ABANDONED
from dos.verdicts.work import complete

EXITS = {"ended": 0, "refused": 1, "contract_error": 2, "lock-busy": 4}
COMPLETE, FAILED = "complete", "failed"


class Args(Struct, kw_only=True):
    run: Annotated[str, Option(help="the run", positional=True, metavar="RUN")]
    result: Annotated[
        str, Option(help="complete, failed or abandoned", metavar="RESULT", choices=(COMPLETE, FAILED, ABANDONED))
    ]
    reason: Annotated[str, Option(help="why, for the record", metavar="TEXT")] = ""


def run(args: Args, desk: Desk) -> Reply:
    run_id = run_ids.checked_id(args.run)
    fact = RunEnded(run_id=run_id, result=args.result, reason=standing.text(args.reason, "reason"))
    _check(args, desk, standing.open_run(desk, run_id))

    def decide(run: Run) -> list[RunEnded]:
        _check(args, desk, standing.still_open(run_id, run))
        return [fact]

    runs.change(desk.journal, run_id, decide, fence=standing.fence(run_id))
    return Reply(text=f"ended  {run_id}: {args.result}", data={"run_id": run_id, "result": args.result})


def _check(args: Args, desk: Desk, run: Run) -> None:
    if args.result != COMPLETE:
        return
    verdict = complete.judge(complete.Evidence(declared=declared.gather(desk.world, args.run, run)))
    if verdict.answer is not complete.Answer.COMPLETE:
        raise Refused(
            f"{args.run} is {verdict.answer}: {verdict.reason}",
            hint="`dos run verify` the steps that are left, or end it as failed.",
        )
