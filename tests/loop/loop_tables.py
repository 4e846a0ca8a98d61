"""The golden table of the loop's decision, in the words of its JSON, and how to read it."""

from typing import Any

from msgspec import convert, structs

from dos.loop.types import IterationOutcome, LoopDecision, LoopState

SHIPPED = {"kind": "SHIPPED"}
CLEAN_2 = {"kind": "SHIPPED", "packet_judge": "SHIPPED-CLEAN", "ship_count": 2}
CLEAN_0 = {"kind": "SHIPPED", "packet_judge": "SHIPPED-CLEAN", "ship_count": 0}
DIRTY_0 = {"kind": "SHIPPED", "packet_judge": "SHIPPED-DIRTY", "ship_count": 0}
STALLED_0 = {"kind": "SHIPPED", "packet_judge": "STALLED", "ship_count": 0}
UNMEASURED = {"kind": "SHIPPED", "measurement_expected": True}
UNCLEAR = {"kind": "UNCLEAR"}
OVERLOADED = {"kind": "OVERLOADED"}
LIMITED = {"kind": "RATE_LIMITED"}
NO_LAUNCH = {"kind": "LAUNCH_FAILED"}
REPLAN = {"kind": "REPLAN_DONE"}
REFILLED = {"kind": "REPLAN_DONE", "replan_productivity": "PRODUCTIVE"}
FRUITLESS = {"kind": "REPLAN_DONE", "replan_productivity": "UNPRODUCTIVE"}
DRAIN = {"kind": "GATE", "verdict": "DRAIN"}
STALE = {"kind": "GATE", "verdict": "STALE-STAMP"}
BLOCKED = {"kind": "GATE", "verdict": "BLOCKED"}
LIVE = {"kind": "GATE", "verdict": "LIVE"}
RACE = {"kind": "GATE", "verdict": "RACE"}
FLAGS = {"last_replan_drained": True, "last_gate_was_drain": True}
STREAKS_OF_TWO = {
    "consecutive_unclear": 2,
    "consecutive_dirty_zero": 2,
    "consecutive_overloaded": 2,
    "consecutive_stale_stamp": 2,
    "consecutive_unproductive_replan_drains": 2,
    "consecutive_unproductive_replan": 2,
}


def because(cause: str) -> dict[str, Any]:
    return {**BLOCKED, "blocked_cause": cause}


def state_of(fields: dict[str, Any]) -> LoopState:
    return convert(fields, LoopState)


def outcome_of(fields: dict[str, Any]) -> IterationOutcome:
    return convert(fields, IterationOutcome)


def told(decision: LoopDecision) -> str:
    """`continue replan`, `stop blocked surface`, `retry-same-iter 60`."""
    words = [
        decision.action,
        decision.next_mode,
        decision.stop_reason or "",
        "reconcile" if decision.reconcile else "",
    ]
    words += [
        "surface" if decision.surface else "",
        f"{decision.backoff_seconds:g}" if decision.backoff_seconds else "",
    ]
    return " ".join(word for word in words if word)


def changed(state: LoopState) -> dict[str, Any]:
    """What differs from a fresh state."""
    fresh, now = structs.asdict(LoopState()), structs.asdict(state)
    return {name: value for name, value in now.items() if value != fresh[name]}


GO, AGAIN = "continue dispatch", "retry-same-iter"

# State, outcome, decision, and what of the next state is not the default.
GOLDEN: list[tuple[dict[str, Any], dict[str, Any], str, dict[str, Any]]] = [
    ({}, SHIPPED, GO, {"iteration": 2}),
    # Any end that is clear disarms the waiting for a child, too.
    ({**STREAKS_OF_TWO, **FLAGS, "consecutive_adopt_wait": 1}, CLEAN_2, GO, {"iteration": 2}),
    ({}, DIRTY_0, GO, {"iteration": 2, "consecutive_dirty_zero": 1}),
    (
        {"consecutive_dirty_zero": 2},
        DIRTY_0,
        "stop consecutive-dirty-zero surface",
        {"consecutive_dirty_zero": 3},
    ),
    # A measured zero is a zero, whatever the judge called it.
    (
        {"consecutive_dirty_zero": 2},
        CLEAN_0,
        "stop consecutive-dirty-zero surface",
        {"consecutive_dirty_zero": 3},
    ),
    (
        {"consecutive_dirty_zero": 2},
        STALLED_0,
        "stop consecutive-dirty-zero surface",
        {"consecutive_dirty_zero": 3},
    ),
    ({}, UNMEASURED, "stop unmeasured-shipped surface", {}),
    ({"iteration": 10}, UNMEASURED, "stop unmeasured-shipped surface", {"iteration": 10}),
    ({"iteration": 9}, SHIPPED, GO, {"iteration": 10}),
    ({"iteration": 10}, SHIPPED, "stop iteration-cap", {"iteration": 10}),
    ({}, DRAIN, "continue replan", {"iteration": 2, "last_gate_was_drain": True}),
    ({"last_replan_drained": True}, DRAIN, "stop drained-twice", {"last_replan_drained": True}),
    ({"gate_mode": "soft"}, DRAIN, "stop drain surface", {"gate_mode": "soft"}),
    ({"gate_mode": "drive"}, DRAIN, "stop drain surface", {"gate_mode": "drive"}),
    ({}, STALE, "continue replan", {"iteration": 2, "consecutive_stale_stamp": 1}),
    (
        {"consecutive_stale_stamp": 2},
        STALE,
        "stop stale-stamp-unreconciled surface",
        {"consecutive_stale_stamp": 3},
    ),
    (
        {"consecutive_stale_stamp": 2},
        BLOCKED,
        "stop stale-stamp-unreconciled surface",
        {"consecutive_stale_stamp": 3},
    ),
    (
        {"gate_mode": "soft"},
        STALE,
        "continue dispatch reconcile",
        {"iteration": 2, "gate_mode": "soft", "consecutive_stale_stamp": 1},
    ),
    (
        {"gate_mode": "soft"},
        BLOCKED,
        "stop blocked surface",
        {"gate_mode": "soft", "consecutive_stale_stamp": 1},
    ),
    (
        {"gate_mode": "soft", "consecutive_stale_stamp": 2},
        BLOCKED,
        "stop stale-stamp-unreconciled surface",
        {"gate_mode": "soft", "consecutive_stale_stamp": 3},
    ),
    ({}, because("operator_decision"), "stop blocked-redispatch-invariant surface", {}),
    ({}, because("stale_claim_false_block"), "stop blocked-redispatch-invariant surface", {}),
    (
        {},
        because("lane_soak_gated"),
        "continue replan",
        {"iteration": 2, "consecutive_stale_stamp": 1},
    ),
    ({}, because("zzz"), "continue replan", {"iteration": 2, "consecutive_stale_stamp": 1}),
    # What the gate's policy says is done: something is live, so it is dispatched.
    ({"consecutive_stale_stamp": 2}, LIVE, GO, {"iteration": 2}),
    # The same for a race, which is shown to a person and counted.
    ({}, RACE, "continue dispatch surface", {"iteration": 2, "consecutive_race": 1}),
    (
        {
            "last_gate_was_drain": True,
            "consecutive_unproductive_replan": 1,
            "consecutive_unproductive_replan_drains": 1,
        },
        REFILLED,
        GO,
        {"iteration": 2, "last_replan_drained": True},
    ),
    # It answered no drain, so the next drain is the first one.
    ({}, REPLAN, GO, {"iteration": 2}),
    (
        {"last_gate_was_drain": True},
        FRUITLESS,
        GO,
        {
            "iteration": 2,
            "consecutive_unproductive_replan": 1,
            "consecutive_unproductive_replan_drains": 1,
        },
    ),
    (
        {"consecutive_unproductive_replan": 1},
        FRUITLESS,
        "stop replan-stalled surface",
        {"consecutive_unproductive_replan": 2},
    ),
    (
        {"consecutive_unproductive_replan_drains": 2},
        DRAIN,
        "stop benign-drain surface",
        {"consecutive_unproductive_replan_drains": 2},
    ),
    (
        {"consecutive_unproductive_replan_drains": 2, "last_replan_drained": True},
        DRAIN,
        "stop benign-drain surface",
        {"consecutive_unproductive_replan_drains": 2, "last_replan_drained": True},
    ),
    ({}, UNCLEAR, GO, {"iteration": 2, "consecutive_unclear": 1}),
    (
        {"consecutive_unclear": 2},
        UNCLEAR,
        "stop consecutive-unclear surface",
        {"consecutive_unclear": 3},
    ),
    ({"iteration": 10}, UNCLEAR, "stop iteration-cap", {"iteration": 10, "consecutive_unclear": 1}),
    (
        {"consecutive_unclear": 2, "descendant_progress": "advancing"},
        UNCLEAR,
        GO,
        {"iteration": 2, "consecutive_adopt_wait": 1},
    ),
    # As many waits as the limit says, and then none until something ends clearly.
    (
        {"consecutive_adopt_wait": 1, "descendant_progress": "advancing"},
        UNCLEAR,
        GO,
        {"iteration": 2, "consecutive_adopt_wait": 2},
    ),
    (
        {"consecutive_adopt_wait": 2, "descendant_progress": "advancing"},
        UNCLEAR,
        GO,
        {"iteration": 2, "consecutive_adopt_wait": 2, "consecutive_unclear": 1},
    ),
    (
        {"consecutive_unclear": 2, "descendant_progress": "dead"},
        UNCLEAR,
        "stop consecutive-unclear surface",
        {"consecutive_unclear": 3},
    ),
    ({"iteration": 4}, OVERLOADED, f"{AGAIN} 60", {"iteration": 4, "consecutive_overloaded": 1}),
    ({"consecutive_overloaded": 1}, OVERLOADED, f"{AGAIN} 270", {"consecutive_overloaded": 2}),
    (
        {"consecutive_overloaded": 2},
        OVERLOADED,
        "stop consecutive-overloaded surface",
        {"consecutive_overloaded": 3},
    ),
    (
        {"consecutive_overloaded": 2, "max_overloaded": 5},
        OVERLOADED,
        f"{AGAIN} 1200",
        {"consecutive_overloaded": 3, "max_overloaded": 5},
    ),
    ({"iteration": 10}, OVERLOADED, f"{AGAIN} 60", {"iteration": 10, "consecutive_overloaded": 1}),
    (
        {"consecutive_unclear": 2, "consecutive_overloaded": 2},
        LIMITED,
        "stop rate-limited surface",
        {"consecutive_unclear": 2, "consecutive_overloaded": 2},
    ),
    ({"completion": {"state": "COMPLETE"}, "liveness": "SPINNING"}, UNCLEAR, "stop complete", {}),
    ({"completion": {"state": "COMPLETE"}}, NO_LAUNCH, "stop launch-failed surface", {}),
    ({"completion": {"state": "UNDERDECLARED"}}, SHIPPED, "stop thrashing surface", {}),
    (
        {"convergence": {"state": "THRASHING"}, "liveness": "SPINNING"},
        SHIPPED,
        "stop thrashing surface",
        {},
    ),
    (
        {"liveness": "SPINNING", "pickability": {"held": True, "reason": "DRAFT_CLASS"}},
        SHIPPED,
        "stop spinning surface",
        {},
    ),
    ({"liveness": "STALLED"}, SHIPPED, GO, {"iteration": 2}),
    ({"pickability": {"held": True, "reason": "IN_FLIGHT"}}, SHIPPED, GO, {"iteration": 2}),
    (
        {
            "pickability": {"held": True, "reason": "SOAK_OPEN"},
            "cooldown": {"state": "RECENTLY_ATTEMPTED", "unit_id": "U"},
        },
        SHIPPED,
        "stop pick-held-invariant surface",
        {},
    ),
    (
        {"cooldown": {"state": "RECENTLY_ATTEMPTED", "unit_id": "U"}, "consecutive_unclear": 2},
        UNCLEAR,
        "stop pick-cooldown surface",
        {"consecutive_unclear": 2},
    ),
    (
        {"max_overloaded": 0},
        OVERLOADED,
        "stop consecutive-overloaded surface",
        {"max_overloaded": 0, "consecutive_overloaded": 1},
    ),
    # What later versions have: a ratchet that gave up, seen right after spinning.
    ({"ratchet": {"verdict": "ESCALATE"}}, SHIPPED, "stop not-ratcheting surface", {}),
    ({"ratchet": {"verdict": "REVERT"}}, SHIPPED, GO, {"iteration": 2}),
    (
        {"liveness": "SPINNING", "ratchet": {"verdict": "ESCALATE"}},
        SHIPPED,
        "stop spinning surface",
        {},
    ),
    # A time to come back at turns the stop into a wait of the same iteration, so many times in a
    # row.
    (
        {},
        {**NO_LAUNCH, "retry_after_seconds": 30, "ended_at": "2026-01-01T00:00:00Z"},
        "wait surface 30",
        {"consecutive_wait": 1},
    ),
    ({}, {**LIMITED, "resets_at": "2026-01-01T05:00:00Z"}, "wait surface", {"consecutive_wait": 1}),
    (
        {"consecutive_wait": 3},
        {**LIMITED, "resets_at": "2026-01-01T05:00:00Z"},
        "stop rate-limited surface",
        {"consecutive_wait": 3},
    ),
    # A race is retried twice in a row; from then on it is one more unclear end.
    (
        {"consecutive_race": 2},
        RACE,
        GO,
        {"iteration": 2, "consecutive_race": 3, "consecutive_unclear": 1},
    ),
    (
        {"consecutive_race": 3, "consecutive_unclear": 2},
        RACE,
        "stop consecutive-unclear surface",
        {"consecutive_race": 4, "consecutive_unclear": 3},
    ),
]

# Outcomes from a fresh state, and what is decided after each.
SEQUENCES: list[tuple[list[dict[str, Any]], list[str]]] = [
    ([DRAIN, REFILLED, DRAIN], ["continue replan", GO, "stop drained-twice"]),
    (
        [DRAIN, FRUITLESS, DRAIN, FRUITLESS],
        ["continue replan", GO, "continue replan", "stop replan-stalled surface"],
    ),
    (
        [STALE, REPLAN, STALE, REPLAN, STALE],
        ["continue replan", GO, "continue replan", GO, "stop stale-stamp-unreconciled surface"],
    ),
    # The replan answered no drain, so this drain is the first.
    ([STALE, REFILLED, DRAIN], ["continue replan", GO, "continue replan"]),
    ([DRAIN, REFILLED, UNCLEAR, DRAIN], ["continue replan", GO, GO, "stop drained-twice"]),
    ([FRUITLESS, STALE, FRUITLESS], [GO, "continue replan", "stop replan-stalled surface"]),
    ([DRAIN, SHIPPED, DRAIN], ["continue replan", GO, "continue replan"]),
    (
        [RACE, RACE, RACE, RACE, RACE],
        [
            "continue dispatch surface",
            "continue dispatch surface",
            GO,
            GO,
            "stop consecutive-unclear surface",
        ],
    ),
    (
        [RACE, RACE, SHIPPED, RACE],
        ["continue dispatch surface", "continue dispatch surface", GO, "continue dispatch surface"],
    ),
    ([OVERLOADED, SHIPPED, OVERLOADED], [f"{AGAIN} 60", GO, f"{AGAIN} 60"]),
]
