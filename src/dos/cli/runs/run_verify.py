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
from dos.runs import step as step_verdict
from dos.runs.io.declared import RunCommits
from dos.runs.step import Answer
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"DONE": 0, "not-done": 1, "contract_error": 2, "lock-busy": 4, "UNKNOWN": 5}
BY_GIT = "file-path"


class Args(Struct, kw_only=True):
    run: Annotated[str, Option(help="the run", positional=True, metavar="RUN")]
    step: Annotated[str, Option(help="the step", positional=True, metavar="STEP")]
    sha: Annotated[
        str, Option(help="the commit; the claimed one when not given", metavar="REF")
    ] = ""


def run(args: Args, context: Context) -> Reply:
    run_id = run_ids.validated_run_id(args.run)
    seen = lookup.open_run(context, run_id)
    step = lookup.declared_step(seen, args.step)
    named = args.sha or seen.claimed.get(step, "")
    if not named:
        raise BadInput(
            f"no commit was claimed for {step}", hint=f"dos run verify {run_id} {step} --sha REF"
        )
    sha = lookup.commit_hash(context, named)
    verdict = step_verdict.judge(
        RunCommits(context.world, seen.start_sha).gather(sha, seen.regions.get(step, ()))
    )
    if verdict.done:
        fact = StepVerified(
            run_id=run_id, step=step, sha=sha, via=BY_GIT, verdicts=[verdict.reason]
        )
        lookup.record(context, run_id, fact)
    code = {Answer.DONE: 0, Answer.UNKNOWN: 5}.get(verdict.answer, 1)
    data = {
        "run_id": run_id, "step": step, "sha": sha, "verified": verdict.done, "verdict": verdict.answer,
        "reason": verdict.reason,
    }  # fmt: skip
    return Reply(code=code, text=f"{verdict.answer}  {step}: {verdict.reason}", data=data)
