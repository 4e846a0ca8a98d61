"""Show one run as git, the journal and the system see it, not as the run describes itself.

The JSON of `dos status RUN` and `dos trace` is these values; `render_status` and `render_trace`
make the text for people.
"""

from datetime import datetime
from typing import Any

from msgspec import Struct

from dos.report import event_text
from dos.runs import resume
from dos.runs.io.trace import Decision, Intent, Spine, Trace
from dos.runs.steps import Declaration, is_done
from dos.times import format_local_time

SCHEMA = 1
SHOWN_COMMITS = 20
SHOWN_LEASE_EVENTS = 20


class Progress(Struct, frozen=True, kw_only=True):
    """How many of the declared steps git confirms."""

    verified_count: int
    declared_count: int
    verified_steps: list[str]


class Status(Struct, frozen=True, kw_only=True):
    """The state of one run. `dos status RUN --json` prints it."""

    schema: int = SCHEMA
    run_id: str
    liveness: dict[str, Any]  # the verdict that `dos liveness` gives
    progress: Progress
    region: list[str]
    resume: resume.Verdict | None  # only for a run that has stopped


def progress(declared: Declaration) -> Progress:
    """The steps of a declaration that git confirms now."""
    done = sorted(step.id for step in declared.steps if is_done(step))
    return Progress(
        verified_count=len(done), declared_count=len(declared.steps), verified_steps=done
    )


def render_status(status: Status) -> str:
    """The state of one run as a few lines of text.

    First whether it makes progress, then the steps that git confirms, the files of its lane, and
    for a run that has stopped whether it can resume.
    """
    steps = status.progress
    verified = f"{steps.verified_count} of {steps.declared_count} declared steps"
    if steps.verified_steps:
        verified += f": {', '.join(steps.verified_steps)}"
    lines = [
        f"{status.liveness['verdict']}  {status.liveness['reason']}",
        f"verified  {verified}",
    ]
    if status.region:
        lines.append(f"files     {', '.join(status.region)}")
    if status.resume:
        lines.append(f"resume    {status.resume.answer}: {status.resume.reason}")
    return "\n".join(lines)


def render_trace(trace: Trace, now: datetime) -> str:
    """The trace of one run as text: origin, steps, decisions, leases, commits.

    Of the lease events the newest are shown, and of the commits too; the JSON has all. Times are
    local, with the date where that is not the date of `now`.
    """
    if not trace.found:
        return f"No record of {trace.run_id}"
    lines = [f"{trace.run_id}  {trace.spine.process_id}".rstrip()]
    lines += _spine_lines(trace.spine)
    if trace.intent.has_intent:
        lines += _intent_lines(trace.intent)
    if trace.decisions:
        lines += ["", "decisions:"]
        for decision in trace.decisions:
            lines.append(_decision_line(decision, now))
    if trace.wal.lease_events:
        lines += ["", "leases:"]
        for event in trace.wal.lease_events[-SHOWN_LEASE_EVENTS:]:
            at = _local_time(event.ts, now)
            lines.append(f"  {at}  {event.op:<9} {event.lane} {event.reason}".rstrip())
    if trace.git.commits:
        lines += ["", f"commits since the run began: {len(trace.git.commits)}"]
        for commit in trace.git.commits[:SHOWN_COMMITS]:
            lines.append(f"  {commit.sha[:9]} {commit.subject}")
    return "\n".join(lines)


def _spine_lines(spine: Spine) -> list[str]:
    """The runs above and below, where there are any."""
    lines = []
    if spine.ancestors:
        lines.append(f"  started by {', '.join(spine.ancestors)}")
    if spine.descendants:
        lines.append(f"  started {', '.join(spine.descendants)}")
    return lines


def _intent_lines(intent: Intent) -> list[str]:
    """The declared work, then one line for each step."""
    named = [name for name in (intent.plan, intent.phase) if name]
    work = intent.goal or " ".join(named)
    lines = ["", f"declared: {work} from {intent.start_sha[:9] or 'no commit'}"]
    for step in intent.steps:
        commit = (step.verified_sha or step.claimed_sha)[:9]
        lines.append(f"  {step.state:<9} {step.step_id:<18} {commit}".rstrip())
    return lines


def _local_time(stamp: str, now: datetime) -> str:
    """The moment of a stamp of the JSON, as people read it."""
    return format_local_time(datetime.fromisoformat(stamp), now, seconds=True)


def _decision_line(decision: Decision, now: datetime) -> str:
    """The outcome of one iteration, and what the loop decided after it."""
    text = event_text.describe_decision(decision.outcome, decision.action, decision.reason)
    at = _local_time(decision.ts, now)
    return f"  {at}  {decision.iteration:>3}  {decision.unit}  {text}"
