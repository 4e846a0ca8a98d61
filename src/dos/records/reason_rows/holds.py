"""Why a unit is not offered."""

from functools import partial

from dos.records.reason_rows.row import Category, ClearsBy, Kind, reason

_row = partial(reason, Kind.HOLD)
_ITSELF = "It clears by itself; take another unit meanwhile."

HOLDS = (
    _row("SHIPPED", Category.TRUE_DRAIN, ClearsBy.NOBODY, "The unit has shipped.", "Take another unit."),
    _row(
        "UNPARSEABLE", Category.UNCLASSIFIED, ClearsBy.OPERATOR,
        "What the plan document says of the unit is unreadable.",
        "Correct the plan document.",
    ),
    _row("IN_FLIGHT", Category.STALE_CLAIM, ClearsBy.OTHER_WORKER, "A live run is at the unit.", _ITSELF),
    _row(
        "SOFT_CLAIMED_ELSEWHERE", Category.STALE_CLAIM, ClearsBy.OTHER_WORKER, "Another packet has claimed the unit.",
        _ITSELF,
    ),
    _row(
        "STALE_CLAIM", Category.STALE_CLAIM, ClearsBy.REPLAN, "The unit is claimed by somebody who is gone.",
        "A replan sweeps such claims.",
    ),
    _row(
        "DRAFT_CLASS", Category.OPERATOR_GATE, ClearsBy.OPERATOR, "The plan that the unit belongs to is a draft.",
        "Change its class to active in the plan document.",
    ),
    _row(
        "OPERATOR_GATED", Category.OPERATOR_GATE, ClearsBy.OPERATOR, "A person has to decide something first.",
        "Decide it, and take the gate out of the plan document.",
    ),
    _row(
        "SOAK_OPEN", Category.OPERATOR_GATE, ClearsBy.TIME, "The unit waits for a soak to end.",
        "Wait for its end, or close it.",
    ),
    _row(
        "DEPENDENCY_UNMET", Category.TRUE_DRAIN, ClearsBy.OTHER_WORKER,
        "A unit that this one builds on has not shipped.",
        "Ship that one first.",
    ),
    _row(
        "COOLDOWN", Category.TRUE_DRAIN, ClearsBy.TIME, "The unit was tried a moment ago, and did not move.",
        "Wait for [cooldown] window_hours, or shorten it.",
    ),
)  # fmt: skip
