"""Say that a step of a run is done, and by which commit.

It is kept as what was said. Only `dos run verify` makes a step count.
"""

from typing import Annotated

from msgspec import Struct

from dos.journal.run_events import StepClaimed
from dos.records import run_ids
from dos.surfaces.cli.desk import Desk, Reply
from dos.surfaces.cli.options import Option
from dos.surfaces.cli.verbs.ledger import standing

EXITS = {"claimed": 0, "refused": 1, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    run: Annotated[str, Option(help="the run", positional=True, metavar="RUN")]
    step: Annotated[str, Option(help="the step", positional=True, metavar="STEP")]
    sha: Annotated[str, Option(help="the commit that does it", metavar="REF")] = "HEAD"


def run(args: Args, desk: Desk) -> Reply:
    run_id = run_ids.checked_id(args.run)
    step = standing.declared_step(standing.open_run(desk, run_id), args.step)
    fact = StepClaimed(run_id=run_id, step=step, sha=standing.commit(desk, args.sha))
    standing.write(desk, run_id, fact)
    data = {"run_id": run_id, "step": step, "sha": fact.sha}
    return Reply(text=f"claimed  {step} by {fact.sha[:9]}", data=data, next_action=f"dos run verify {run_id} {step}")
