"""Record the claim that a commit did a step of a run.

A claim alone proves nothing: a step counts only after `dos run verify`.
"""

from typing import Annotated

from msgspec import Struct

from dos import run_ids
from dos.cli.runs import lookup
from dos.journal.events.runs import StepClaimed
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"claimed": 0, "refused": 1, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    """The run, the step, and the commit that did it."""

    run: Annotated[str, Option(help="run id", positional=True, metavar="RUN")]
    step: Annotated[str, Option(help="step of the run", positional=True, metavar="STEP")]
    sha: Annotated[str, Option(help="commit that did it", metavar="REF")] = "HEAD"


def run(args: Args, context: Context) -> Reply:
    """Record the claim. It proves nothing until `dos run verify` has checked it."""
    run_id = run_ids.validated_run_id(args.run)
    step = lookup.declared_step(lookup.open_run(context, run_id), args.step)
    claimed = StepClaimed(run_id=run_id, step=step, sha=lookup.commit_hash(context, args.sha))
    lookup.record(context, run_id, claimed)
    return Reply(
        text=f"claimed  {step} by {claimed.sha[:9]}",
        data={"run_id": run_id, "step": step, "sha": claimed.sha},
        next_action=f"dos run verify {run_id} {step}",
    )
