"""Verify by git that a commit did a step, and record it.

The commit must be an ancestor of HEAD, come after the commit that the run began at, touch a file of
the step, and not be undone since. If one of these fails, nothing is recorded.
"""

from typing import Annotated

from msgspec import Struct

from dos import run_ids
from dos.cli.runs import lookup
from dos.errors import BadInput
from dos.journal.events.runs import StepVerified
from dos.runs.io.evidence import RunCommits
from dos.runs.steps import Answer, judge
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"DONE": 0, "not-done": 1, "contract_error": 2, "lock-busy": 4, "UNKNOWN": 5}
BY_GIT = "file-path"  # recorded as the way it was checked, under the name that dos-kernel uses


class Args(Struct, kw_only=True):
    """The run, the step, and the commit to check."""

    run: Annotated[str, Option(help="run id", positional=True, metavar="RUN")]
    step: Annotated[str, Option(help="step of the run", positional=True, metavar="STEP")]
    sha: Annotated[str, Option(help="commit (default: the claimed one)", metavar="REF")] = ""


def run(args: Args, context: Context) -> Reply:
    """Check the commit by git, and record the step as verified only if every check passes."""
    run_id = run_ids.validated_run_id(args.run)
    state = lookup.open_run(context, run_id)
    step = lookup.declared_step(state, args.step)
    name = args.sha or state.claimed.get(step, "")
    if not name:
        raise BadInput(
            f"no commit was claimed for {step}", hint=f"dos run verify {run_id} {step} --sha REF"
        )
    sha = lookup.commit_hash(context, name)
    evidence = RunCommits(context.world, state.start_sha).gather(sha, state.regions.get(step, ()))
    verdict = judge(evidence)
    if verdict.done:
        verified = StepVerified(
            run_id=run_id, step=step, sha=sha, via=BY_GIT, verdicts=[verdict.reason]
        )
        lookup.record(context, run_id, verified)
    code = {Answer.DONE: 0, Answer.UNKNOWN: 5}.get(verdict.answer, 1)
    data = {
        "run_id": run_id,
        "step": step,
        "sha": sha,
        "verified": verdict.done,
        "verdict": verdict.answer,
        "reason": verdict.reason,
    }
    return Reply(code=code, text=f"{verdict.answer}  {step}: {verdict.reason}", data=data)
