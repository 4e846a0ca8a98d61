"""All that is written of one run, as text."""

from dos.evidence.recovery.trace import Trace
from dos.views import event_text

SHOWN_COMMITS = 20
SHOWN_LEASE_EVENTS = 20


def render(seen: Trace) -> str:
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
            f"  {row.ts}  {row.iteration:>3}  {row.unit}  {event_text.decided(row.outcome, row.action, row.reason)}"
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
        lines += [f"  {commit.sha[:9]} {commit.subject}" for commit in seen.git.commits[:SHOWN_COMMITS]]
    return "\n".join(lines)
