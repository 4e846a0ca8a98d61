"""Why a lane, or a launch on it, was refused."""

from enum import StrEnum
from functools import partial

from msgspec import Struct


class Needs(StrEnum):
    """Who has to do something before it is over."""

    NOBODY = "nobody"  # it is over, or it clears itself
    OPERATOR = "operator"  # a person
    TIME = "time"
    ENVIRONMENT = "environment"  # something on this machine


class ClearsBy(StrEnum):
    """What clears it; this alone says whether to stop, to try another unit or to replan."""

    REPLAN = "replan"
    OPERATOR = "operator"  # a person decides or corrects something
    TIME = "time"
    OTHER_WORKER = "other-worker"  # another worker finishes or gives way
    CODE_FIX = "code-fix"  # it comes back until what produces it is mended
    NOBODY = "nobody"  # there is nothing to clear


NEEDS = {
    ClearsBy.REPLAN: Needs.NOBODY,
    ClearsBy.OPERATOR: Needs.OPERATOR,
    ClearsBy.TIME: Needs.TIME,
    ClearsBy.OTHER_WORKER: Needs.TIME,
    ClearsBy.CODE_FIX: Needs.OPERATOR,
    ClearsBy.NOBODY: Needs.NOBODY,
}


class Category(StrEnum):
    TRUE_DRAIN = "TRUE_DRAIN"  # nothing is left to do
    OPERATOR_GATE = "OPERATOR_GATE"  # somebody has to act, or to finish, first
    STALE_CLAIM = "STALE_CLAIM"  # what was claimed and what is true differ
    MISROUTE = "MISROUTE"  # it was asked of the wrong place
    RENDERER_BUG = "RENDERER_BUG"  # what was written down is not what was meant
    UNCLASSIFIED = "UNCLASSIFIED"


class Kind(StrEnum):
    """What it is a reason for."""

    REFUSAL = "refusal"  # a lane or a launch was refused
    HOLD = "hold"  # a unit is not offered
    CAUSE = "cause"  # a gate is blocked
    RESULT = "result"  # an agent ended without a result of its own
    STOP = "stop"  # a run stopped


class Reason(Struct, frozen=True, kw_only=True):
    token: str
    category: Category
    message: str
    kind: Kind = Kind.REFUSAL
    needs: Needs = Needs.OPERATOR
    clears_by: ClearsBy = ClearsBy.OPERATOR
    retryable: bool = False  # the same request can succeed later, with nothing changed by a person
    fix: str = ""
    refusal: bool = True  # False: it refuses nothing, a run only stopped for it
    see_also: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.token.strip():
            raise ValueError("a reason has no token")
        if self.category not in list(Category):
            raise ValueError(
                f"reason {self.token}: {self.category!r} is none of {', '.join(Category)}"
            )


def make_reason(
    kind: Kind,
    token: str,
    category: Category,
    clears_by: ClearsBy,
    message: str,
    fix: str,
    *see_also: str,
    needs: Needs | None = None,
    retryable: bool | None = None,
) -> Reason:
    """A row; who is needed and whether trying again helps follow from what clears it, unless they are given."""
    again = clears_by in (ClearsBy.TIME, ClearsBy.OTHER_WORKER, ClearsBy.REPLAN)
    return Reason(
        token=token,
        kind=kind,
        category=category,
        message=message,
        needs=NEEDS[clears_by] if needs is None else needs,
        clears_by=clears_by,
        retryable=again if retryable is None else retryable,
        fix=fix,
        refusal=kind is not Kind.STOP,
        see_also=see_also,
    )


_LIVE = "`dos lease-lane live` shows who holds what; ask for another lane, or wait."
_SHIPPED = "`dos status` shows what has landed by git's word."
_SIDECAR = "Write the packet again, with a prompt for every pick."

_row = partial(make_reason, Kind.REFUSAL)

REFUSALS = (
    _row("LANE_HELD", Category.OPERATOR_GATE, ClearsBy.OTHER_WORKER, "Somebody holds this lane.", _LIVE),
    _row(
        "LANE_EXCLUSIVE", Category.OPERATOR_GATE, ClearsBy.OTHER_WORKER,
        "An exclusive lane runs alone, and something else is live.", _LIVE, "lane global",
    ),
    _row(
        "REGION_OVERLAP", Category.OPERATOR_GATE, ClearsBy.OTHER_WORKER, "Its paths meet those of a lane that is held.",
        "Wait for that lane, or make the two trees disjoint in [lanes.trees]; `dos lint` lists overlaps.",
    ),
    _row(
        "REGION_UNKNOWN", Category.MISROUTE, ClearsBy.OPERATOR,
        "The lane has no tree, and a region nobody knows overlaps everything.",
        "Give it one: dos config set lanes.trees.LANE '[\"PATH/**\"]'",
    ),
    _row(
        "CLASS_BUDGET_EXHAUSTED", Category.OPERATOR_GATE, ClearsBy.OTHER_WORKER,
        "As many leases of this kind are live as [[concurrency_class]] allows.",
        "Wait for one of them, or raise max_concurrent.",
    ),
    _row(
        "UNKNOWN_LANE", Category.MISROUTE, ClearsBy.OPERATOR, "No lane and no alias has this name.",
        "`dos man lane` lists the lanes; [lanes] in dos.toml declares them.",
    ),
    _row(
        "SELF_MODIFY", Category.MISROUTE, ClearsBy.OPERATOR, "The request reaches files that no worker may change.",
        "Narrow the tree of the lane, or take the path out of [protect] globs.",
    ),
    _row(
        "PREDICATE", Category.OPERATOR_GATE, ClearsBy.OPERATOR, "An installed admission predicate said no, or failed.",
        "The reason names the predicate; clear what it asks for, or uninstall it.",
    ),
    _row(
        "NO_FREE_LANE", Category.OPERATOR_GATE, ClearsBy.OTHER_WORKER, "Every lane that is picked by itself is taken.",
        _LIVE,
    ),
    _row(
        "SCHEMA_UNREADABLE", Category.MISROUTE, ClearsBy.OPERATOR, "A newer dos wrote this record.",
        "pip install --upgrade dispatch-os", needs=Needs.ENVIRONMENT,
    ),
    _row(
        "LANE_DRAINED", Category.TRUE_DRAIN, ClearsBy.REPLAN, "No unit of the lane is left.",
        "Add units to a plan document.",
    ),
    _row(
        "LANE_BLOCKED_ON_SOAK_GATED_PHASES", Category.OPERATOR_GATE, ClearsBy.TIME,
        "The units that are left wait for a soak to end.", "Wait for its end, or close it.",
    ),
    _row(
        "LANE_LEASE_HELD_BY_LIVE_DISPATCH_LOOP", Category.OPERATOR_GATE, ClearsBy.OTHER_WORKER,
        "Another loop works on the lane and is alive.", _LIVE,
    ),
    _row(
        "LANE_ALL_BLOCKED_OR_STALE_STAMP", Category.OPERATOR_GATE, ClearsBy.OPERATOR,
        "What is left is blocked, or is marked as shipped and is not.", _SHIPPED,
    ),
    _row(
        "LANE_BLOCKED_ON_OPERATOR_DECISION", Category.OPERATOR_GATE, ClearsBy.OPERATOR,
        "A person has to decide something first.", "`dos status` says what waits, and for what.",
    ),
    _row(
        "LANE_ALL_INFLIGHT_OR_DEFERRED", Category.STALE_CLAIM, ClearsBy.REPLAN,
        "Everything that is left is being worked on, or was put off.", "`dos status` shows who is at what.",
    ),
    _row(
        "LANE_ALL_SHIPPED_INFLIGHT_OR_STALE_STAMP", Category.STALE_CLAIM, ClearsBy.OPERATOR,
        "Everything has shipped, is being worked on, or is marked as shipped and is not.", _SHIPPED,
    ),
    _row(
        "RENDERER_SIDECAR_DROPPED", Category.RENDERER_BUG, ClearsBy.CODE_FIX,
        "A packet was written, and the prompts that belong to it were not.", _SIDECAR,
    ),
    _row("sidecar_absent", Category.RENDERER_BUG, ClearsBy.CODE_FIX, "A packet has no file of prompts.", _SIDECAR),
    _row(
        "sidecar_corrupt", Category.RENDERER_BUG, ClearsBy.CODE_FIX, "A packet's file of prompts cannot be read.",
        _SIDECAR,
    ),
    _row(
        "sidecar_empty_bodies", Category.RENDERER_BUG, ClearsBy.CODE_FIX, "Some of a packet's prompts are empty.",
        _SIDECAR,
    ),
)  # fmt: skip


_hold = partial(make_reason, Kind.HOLD)
_ITSELF = "It clears by itself; take another unit meanwhile."

HOLDS = (
    _hold("SHIPPED", Category.TRUE_DRAIN, ClearsBy.NOBODY, "The unit has shipped.", "Take another unit."),
    _hold(
        "UNPARSEABLE", Category.UNCLASSIFIED, ClearsBy.OPERATOR,
        "What the plan document says of the unit is unreadable.",
        "Correct the plan document.",
    ),
    _hold("IN_FLIGHT", Category.STALE_CLAIM, ClearsBy.OTHER_WORKER, "A live run is at the unit.", _ITSELF),
    _hold(
        "SOFT_CLAIMED_ELSEWHERE", Category.STALE_CLAIM, ClearsBy.OTHER_WORKER, "Another packet has claimed the unit.",
        _ITSELF,
    ),
    _hold(
        "STALE_CLAIM", Category.STALE_CLAIM, ClearsBy.REPLAN, "The unit is claimed by somebody who is gone.",
        "A replan sweeps such claims.",
    ),
    _hold(
        "DRAFT_CLASS", Category.OPERATOR_GATE, ClearsBy.OPERATOR, "The plan that the unit belongs to is a draft.",
        "Change its class to active in the plan document.",
    ),
    _hold(
        "OPERATOR_GATED", Category.OPERATOR_GATE, ClearsBy.OPERATOR, "A person has to decide something first.",
        "Decide it, and take the gate out of the plan document.",
    ),
    _hold(
        "SOAK_OPEN", Category.OPERATOR_GATE, ClearsBy.TIME, "The unit waits for a soak to end.",
        "Wait for its end, or close it.",
    ),
    _hold(
        "DEPENDENCY_UNMET", Category.TRUE_DRAIN, ClearsBy.OTHER_WORKER,
        "A unit that this one builds on has not shipped.",
        "Ship that one first.",
    ),
    _hold(
        "COOLDOWN", Category.TRUE_DRAIN, ClearsBy.TIME, "The unit was tried a moment ago, and did not move.",
        "Wait for [cooldown] window_hours, or shorten it.",
    ),
)  # fmt: skip


_cause = partial(make_reason, Kind.CAUSE)
_result = partial(make_reason, Kind.RESULT)
_MEND = "Mend what produces it: dispatching again gives the same."

CAUSES = (
    _cause(
        "lane_soak_gated", Category.OPERATOR_GATE, ClearsBy.REPLAN, "What is left on the lane waits for a soak to end.",
        "A replan finds other units, or closes the soak.",
    ),
    _cause(
        "child_parked_pre_step9_no_envelope", Category.UNCLASSIFIED, ClearsBy.REPLAN,
        "The agent parked before it said how it ended.", "A replan takes the unit up again.",
    ),
    _cause(
        "data_gated_closeout", Category.OPERATOR_GATE, ClearsBy.REPLAN,
        "The last step waits for data that is not there yet.", "A replan puts it behind units that can go on.",
    ),
    _cause(
        "uncategorized_nonship", Category.UNCLASSIFIED, ClearsBy.REPLAN, "Nothing shipped, and nobody said why.",
        "A replan; if it comes back, look for what produces it.",
    ),
    _cause(
        "operator_decision", Category.OPERATOR_GATE, ClearsBy.OPERATOR, "A person has to decide something first.",
        "`dos status` says what waits, and for what.",
    ),
    _cause(
        "stale_claim_false_block", Category.STALE_CLAIM, ClearsBy.CODE_FIX,
        "A claim of somebody who is gone keeps units back.", _MEND,
    ),
    _cause(
        "ship_oracle_false_positive", Category.STALE_CLAIM, ClearsBy.CODE_FIX,
        "A unit counts as shipped and has not.", _MEND,
    ),
    _cause(
        "lying_verdict_token", Category.STALE_CLAIM, ClearsBy.CODE_FIX,
        "What a dispatch said of itself is not what happened.", _MEND,
    ),
    _cause(
        "preflight_scratch_race", Category.UNCLASSIFIED, ClearsBy.CODE_FIX,
        "Two launches wrote the same scratch files.", _MEND,
    ),
    _cause(
        "wait_marker_runaway", Category.UNCLASSIFIED, ClearsBy.CODE_FIX,
        "An agent waited again and again and did nothing.",
        _MEND,
    ),
    _cause(
        "child2_fanout_died_pre_ship", Category.UNCLASSIFIED, ClearsBy.CODE_FIX,
        "Agents that were started for the picks died before they shipped.", _MEND,
    ),
    _cause(
        "packet_incoherence", Category.RENDERER_BUG, ClearsBy.CODE_FIX, "The parts of a packet contradict one another.",
        _MEND,
    ),
    _cause(
        "encoding_mojibake", Category.RENDERER_BUG, ClearsBy.CODE_FIX,
        "Text was read in another encoding than written.",
        _MEND,
    ),
    _cause(
        "gate_wedge_unspecified", Category.UNCLASSIFIED, ClearsBy.CODE_FIX,
        "The gate is blocked and does not say by what.",
        _MEND,
    ),
    _cause("body_empty_picks", Category.RENDERER_BUG, ClearsBy.CODE_FIX, "Picks were rendered with no prompt.", _MEND),
)  # fmt: skip

# A refusal of the same name says the same thing, so it has one row: among the refusals.
CAUSE_KEYS = frozenset({"lane_all_inflight_or_deferred", *(row.token for row in CAUSES)})
# A first one may be chance; one that comes back is no longer a matter of planning.
UNSPECIFIC = frozenset({"uncategorized_nonship", "gate_wedge_unspecified"})

RESULTS = (
    _result(
        "RESULT_DEAD_RATE_LIMIT", Category.UNCLASSIFIED, ClearsBy.TIME, "The provider took no more requests.",
        "Wait, and start the agent again.",
    ),
    _result(
        "RESULT_DEAD_USAGE_LIMIT", Category.UNCLASSIFIED, ClearsBy.TIME, "The provider's usage window is used up.",
        "Wait for its reset, and start the agent again.",
    ),
    _result(
        "RESULT_DEAD_SERVER", Category.UNCLASSIFIED, ClearsBy.TIME, "The provider failed.",
        "Wait, and start the agent again.",
    ),
    _result(
        "RESULT_DEAD_AUTH", Category.OPERATOR_GATE, ClearsBy.OPERATOR, "The provider does not know the agent.",
        "Log the agent in again; `dos doctor` says whether it can be started.",
    ),
    _result(
        "RESULT_DEAD_OTHER", Category.UNCLASSIFIED, ClearsBy.OPERATOR,
        "The agent's program ended the turn with an error.",
        "Read its transcript.",
    ),
    _result(
        "RESULT_EMPTY", Category.UNCLASSIFIED, ClearsBy.OPERATOR, "The agent ended and said nothing.",
        "Read its transcript.",
    ),
)  # fmt: skip
