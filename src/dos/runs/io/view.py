"""How one run stands: what git, the journal and the system say of it. What it says of itself is not shown."""

from typing import Any

from msgspec import Struct

from dos.report import event_text
from dos.runs import resume
from dos.runs.declared import Declaration, is_done
from dos.runs.io.trace import Trace

SCHEMA = 1


class Progress(Struct, frozen=True, kw_only=True):
    verified_count: int
    declared_count: int
    verified_steps: list[str]


class Status(Struct, frozen=True, kw_only=True):
    schema: int = SCHEMA
    run_id: str
    liveness: dict[str, Any]  # its verdict, as `dos liveness` gives it
    progress: Progress
    region: list[str]
    resume: resume.Verdict | None  # only of a run that has stopped


def progress(declared: Declaration) -> Progress:
    done = sorted(step.id for step in declared.steps if is_done(step))
    return Progress(
        verified_count=len(done), declared_count=len(declared.steps), verified_steps=done
    )


def render_status(seen: Status) -> str:
    made = seen.progress
    lines = [
        f"{seen.liveness['verdict']}  {seen.liveness['reason']}",
        f"verified : {made.verified_count}/{made.declared_count} {', '.join(made.verified_steps)}".rstrip(),
    ]
    lines += [f"region   : {', '.join(seen.region)}"] if seen.region else []
    lines += [f"resume   : {seen.resume.answer}  {seen.resume.reason}"] if seen.resume else []
    return "\n".join(lines)


SHOWN_COMMITS = 20
SHOWN_LEASE_EVENTS = 20


def render_trace(seen: Trace) -> str:
    if not seen.found:
        return f"nothing is written of {seen.run_id}"
    spine, intent, wal = seen.spine, seen.intent, seen.wal
    lines = [f"{seen.run_id}  {spine.process_id}".rstrip()]
    lines += [f"  under {', '.join(spine.ancestors)}"] if spine.ancestors else []
    lines += [f"  above {', '.join(spine.descendants)}"] if spine.descendants else []
    if intent.has_intent:
        what = intent.goal or " ".join(filter(None, (intent.plan, intent.phase)))
        lines += ["", f"declared: {what} from {intent.start_sha[:9] or 'nowhere'}"]
        lines += [
            f"  {row.state:<9} {row.step_id:<18} {(row.verified_sha or row.claimed_sha)[:9]}".rstrip()
            for row in intent.steps
        ]
    if seen.decisions:
        lines += ["", "decisions:"]
        lines += [
            f"  {row.ts}  {row.iteration:>3}  {row.unit}  {event_text.describe_decision(row.outcome, row.action, row.reason)}"
            for row in seen.decisions
        ]
    if wal.lease_events:
        lines += ["", "leases:"]
        lines += [
            f"  {row.ts}  {row.op:<9} {row.lane} {row.reason}".rstrip()
            for row in wal.lease_events[-SHOWN_LEASE_EVENTS:]
        ]
    if seen.git.commits:
        lines += ["", f"its commits since it began: {len(seen.git.commits)}"]
        lines += [
            f"  {commit.sha[:9]} {commit.subject}" for commit in seen.git.commits[:SHOWN_COMMITS]
        ]
    return "\n".join(lines)
