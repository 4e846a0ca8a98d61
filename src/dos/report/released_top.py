"""The keys that `dos top --json` had in dos-kernel, filled from what this version knows; ours stand beside them."""

from collections.abc import Collection, Sequence
from typing import Any

from dos.report.snapshot import Snapshot
from dos.report.top import LaneState, TopView
from dos.text import comparison_key

CHIPS = {
    LaneState.WORKING: "🟢 ADVANCING",
    LaneState.SPINNING: "🟡 SPINNING",
    LaneState.SILENT: "🔴 STALLED",
    LaneState.FATAL: "🔴 STALLED",
    LaneState.STARTING: "🔵 SPAWNING",
}
FREE, HELD = "⚪ FREE", "🟢 ADVANCING"  # without and with a holder, in every other state
ACTIVITY_SHOWN = 10  # commits


def frame(
    view: TopView,
    seen: Snapshot,
    *,
    workspace: str,
    initialized: bool,
    exclusive: Collection[str],
    log: Sequence[str],
) -> dict[str, Any]:
    """`log` are the newest commits, each as its id and its subject with a blank between them."""
    held = {comparison_key(each.lease.lane): each.lease for each in seen.held}
    lanes = []
    for row in view.rows:
        lease = held.get(comparison_key(row.lane))
        lanes.append(
            {
                "lane": row.lane,
                "chip": CHIPS.get(row.state, HELD if lease else FREE),
                "loop_ts": lease.loop_ts if lease else "",
                "holder": lease.holder if lease else "",
                "heartbeat_age_ms": max(0, seen.now_ms - lease.beat_ms) if lease else None,
                "liveness_reason": row.waits_for or str(row.state),
                "is_exclusive": row.lane in exclusive,
            }
        )
    verdicts = [
        {
            "tag": entry.landing.commit[:9],
            "lane": entry.lane,
            "verdict": "SHIPPED",
            "reason_token": "",
            "pick": entry.landing.unit,
            "trust": "✓oracle",  # nothing lands that the oracle does not call shipped
            "age_ms": max(0, seen.now_ms - int(entry.at.timestamp() * 1000)),
        }
        for entry in view.landings
    ]
    activity = [
        {"sha": sha, "subject": subject}
        for sha, _, subject in (line.partition(" ") for line in log)
    ]
    return {
        "workspace": workspace,
        "now": view.at.isoformat(),
        "initialized": initialized,
        "lanes": lanes,
        "verdicts": verdicts,
        "activity": activity,
    }
