"""The keys that `dos top --json` had in dos-kernel, filled from the view of this version."""

from collections.abc import Collection, Sequence
from typing import Any

from dos.report.snapshot import Snapshot
from dos.report.top import LaneState, TopView
from dos.text import comparison_key
from dos.units.unit import LandingEntry

CHIPS = {
    LaneState.WORKING: "🟢 ADVANCING",
    LaneState.SPINNING: "🟡 SPINNING",
    LaneState.SILENT: "🔴 STALLED",
    LaneState.FATAL: "🔴 STALLED",
    LaneState.STARTING: "🔵 SPAWNING",
}
# In every other state: without and with a holder.
FREE = "⚪ FREE"
HELD = "🟢 ADVANCING"
ACTIVITY_SHOWN = 10  # commits


def frame(
    view: TopView,
    snapshot: Snapshot,
    *,
    workspace: str,
    initialized: bool,
    exclusive: Collection[str],
    log: Sequence[str],
) -> dict[str, Any]:
    """Return the released keys; `log` are the newest commits, each as `SHA SUBJECT`."""
    activity = []
    for line in log:
        sha, _, subject = line.partition(" ")
        activity.append({"sha": sha, "subject": subject})
    return {
        "workspace": workspace,
        "now": view.at.isoformat(),
        "initialized": initialized,
        "lanes": _lanes(view, snapshot, exclusive),
        "verdicts": [_verdict(entry, snapshot.now_ms) for entry in view.landings],
        "activity": activity,
    }


def _lanes(view: TopView, snapshot: Snapshot, exclusive: Collection[str]) -> list[dict[str, Any]]:
    leases = {comparison_key(held.lease.lane): held.lease for held in snapshot.held}
    lanes = []
    for row in view.rows:
        lane: dict[str, Any] = {
            "lane": row.lane,
            "chip": CHIPS.get(row.state, FREE),
            "loop_ts": "",
            "holder": "",
            "heartbeat_age_ms": None,
            "liveness_reason": row.waits_for or str(row.state),
            "is_exclusive": row.lane in exclusive,
        }
        lease = leases.get(comparison_key(row.lane))
        if lease:
            lane["chip"] = CHIPS.get(row.state, HELD)
            lane["loop_ts"] = lease.loop_ts
            lane["holder"] = lease.holder
            lane["heartbeat_age_ms"] = max(0, snapshot.now_ms - lease.beat_ms)
        lanes.append(lane)
    return lanes


def _verdict(entry: LandingEntry, now_ms: int) -> dict[str, Any]:
    """Return a landing as a verdict: nothing lands that the oracle does not call shipped."""
    return {
        "tag": entry.landing.commit[:9],
        "lane": entry.lane,
        "verdict": "SHIPPED",
        "reason_token": "",
        "pick": entry.landing.unit,
        "trust": "✓oracle",
        "age_ms": max(0, now_ms - int(entry.at.timestamp() * 1000)),
    }
