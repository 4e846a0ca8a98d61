"""The reasons for refusals, holds, blocked gates and failed agents.

Each row says what happened, what clears it, and what to do. `table.py` puts the rows together with
those of `stops.py`. `dos man wedge` and docs/troubleshooting.md are made of them.

A token never changes: scripts compare it, and old journals contain it. The message is one sentence
for people who have not read the code. The fix is a command where there is one.
"""

from functools import partial

from dos.reasons.reason import Category, ClearsBy, Kind, Needs, make_reason

_LIVE = "`dos lease-lane live` lists the leases; request another lane, or wait."
_SHIPPED = "`dos status` shows which units git proves to be shipped."
_SIDECAR = "Write the packet again, with a prompt for every pick."

_row = partial(make_reason, Kind.REFUSAL)

REFUSALS = (
    # The arbiter refuses a lease because of other leases. Most of these clear by themselves.
    _row(
        "LANE_HELD", Category.OPERATOR_GATE, ClearsBy.OTHER_WORKER,
        "Another worker holds this lane.",
        _LIVE,
    ),
    _row(
        "LANE_EXCLUSIVE", Category.OPERATOR_GATE, ClearsBy.OTHER_WORKER,
        "An exclusive lane runs alone, and another lane is held.",
        _LIVE, "lane global",
    ),
    _row(
        "REGION_OVERLAP", Category.OPERATOR_GATE, ClearsBy.OTHER_WORKER,
        "Its paths overlap those of a lane that is held.",
        "Wait for that lane, or make the two trees disjoint; `dos lint` lists overlaps.",
    ),
    _row(
        "REGION_UNKNOWN", Category.MISROUTE, ClearsBy.OPERATOR,
        "The lane has no tree, so it overlaps every other lane.",
        "Give it one: dos config set lanes.trees.LANE '[\"PATH/**\"]'",
    ),
    _row(
        "CLASS_BUDGET_EXHAUSTED", Category.OPERATOR_GATE, ClearsBy.OTHER_WORKER,
        "No more leases of this kind, or no more parts of this repeatable lane, are allowed.",
        "Wait for one to end, or raise max_concurrent or [supervise] max_concurrency.",
    ),
    # Most of these are about the request itself: waiting alone does not help.
    _row(
        "UNKNOWN_LANE", Category.MISROUTE, ClearsBy.OPERATOR,
        "No lane and no alias has this name.",
        "`dos man lane` lists the lanes; [lanes] in dos.toml declares them.",
    ),
    _row(
        "SELF_MODIFY", Category.MISROUTE, ClearsBy.OPERATOR,
        "The request includes files that no worker may change.",
        "Narrow the tree of the lane, or remove the path from [protect] globs.",
    ),
    _row(
        "PREDICATE", Category.OPERATOR_GATE, ClearsBy.OPERATOR,
        "An installed admission predicate refused the request, or failed.",
        "The detail names the predicate; do what it asks for, or uninstall it.",
    ),
    _row(
        "NO_FREE_LANE", Category.OPERATOR_GATE, ClearsBy.OTHER_WORKER,
        "Every lane of [lanes] autopick is held.",
        _LIVE,
    ),
    _row(
        "SCHEMA_UNREADABLE", Category.MISROUTE, ClearsBy.OPERATOR,
        "A newer dos wrote this record.",
        "pip install --upgrade dispatch-os", needs=Needs.ENVIRONMENT,
    ),
    # dos-kernel refuses a launch by what is left on the lane. These tokens are still found in its
    # packets and journals, so they keep their rows.
    _row(
        "LANE_DRAINED", Category.TRUE_DRAIN, ClearsBy.REPLAN,
        "The lane has no unit left.",
        "Add units to a plan document.",
    ),
    _row(
        "LANE_BLOCKED_ON_SOAK_GATED_PHASES", Category.OPERATOR_GATE, ClearsBy.TIME,
        "The remaining units wait for a soak to end.",
        "Wait for its end, or close it.",
    ),
    _row(
        "LANE_LEASE_HELD_BY_LIVE_DISPATCH_LOOP", Category.OPERATOR_GATE, ClearsBy.OTHER_WORKER,
        "Another loop is working on the lane.",
        _LIVE,
    ),
    _row(
        "LANE_ALL_BLOCKED_OR_STALE_STAMP", Category.OPERATOR_GATE, ClearsBy.OPERATOR,
        "The remaining units are blocked, or have shipped without a mark in their plan.",
        _SHIPPED,
    ),
    _row(
        "LANE_BLOCKED_ON_OPERATOR_DECISION", Category.OPERATOR_GATE, ClearsBy.OPERATOR,
        "A person has to decide something first.",
        "`dos status` shows what each unit waits for.",
    ),
    _row(
        "LANE_ALL_INFLIGHT_OR_DEFERRED", Category.STALE_CLAIM, ClearsBy.REPLAN,
        "All remaining units are being worked on, or were deferred.",
        "`dos status` shows which run has each unit.",
    ),
    _row(
        "LANE_ALL_SHIPPED_INFLIGHT_OR_STALE_STAMP", Category.STALE_CLAIM, ClearsBy.OPERATOR,
        "All units have shipped, some without a mark in their plan, or are being worked on.",
        _SHIPPED,
    ),
    # A packet cannot be launched because its prompts are missing or broken. The names in lower case
    # are those that its writer reports.
    _row(
        "RENDERER_SIDECAR_DROPPED", Category.RENDERER_BUG, ClearsBy.CODE_FIX,
        "A packet was written without its prompts.",
        _SIDECAR,
    ),
    _row(
        "sidecar_absent", Category.RENDERER_BUG, ClearsBy.CODE_FIX,
        "The file of a packet's prompts is missing.",
        _SIDECAR,
    ),
    _row(
        "sidecar_corrupt", Category.RENDERER_BUG, ClearsBy.CODE_FIX,
        "The file of a packet's prompts cannot be read.",
        _SIDECAR,
    ),
    _row(
        "sidecar_empty_bodies", Category.RENDERER_BUG, ClearsBy.CODE_FIX,
        "Some of a packet's prompts are empty.",
        _SIDECAR,
    ),
)  # fmt: skip


# Holds: why one unit is not offered. The rows are in the order of precedence, which
# `backlog.pickable` decides by; the first hold that applies is the one that people see.
_hold = partial(make_reason, Kind.HOLD)
_ITSELF = "It clears by itself; work on another unit meanwhile."

HOLDS = (
    _hold(
        "SHIPPED", Category.TRUE_DRAIN, ClearsBy.NOBODY,
        "The unit has shipped.",
        "Work on another unit.",
    ),
    _hold(
        "UNPARSEABLE", Category.UNCLASSIFIED, ClearsBy.OPERATOR,
        "The plan document's entry for the unit cannot be read.",
        "Correct the plan document.",
    ),
    _hold(
        "IN_FLIGHT", Category.STALE_CLAIM, ClearsBy.OTHER_WORKER,
        "A live run is working on the unit.",
        _ITSELF,
    ),
    _hold(
        "SOFT_CLAIMED_ELSEWHERE", Category.STALE_CLAIM, ClearsBy.OTHER_WORKER,
        "Another packet has claimed the unit.",
        _ITSELF,
    ),
    _hold(
        "STALE_CLAIM", Category.STALE_CLAIM, ClearsBy.REPLAN,
        "The run that claimed the unit no longer exists.",
        "A replan removes such claims.",
    ),
    # Another dispatch cannot change the next four: a person, a date or another unit has to.
    _hold(
        "DRAFT_CLASS", Category.OPERATOR_GATE, ClearsBy.OPERATOR,
        "The unit's plan is a draft.",
        "Change its class to active in the plan document.",
    ),
    _hold(
        "OPERATOR_GATED", Category.OPERATOR_GATE, ClearsBy.OPERATOR,
        "A person has to decide something first.",
        "Decide it, and remove the gate from the plan document.",
    ),
    _hold(
        "SOAK_OPEN", Category.OPERATOR_GATE, ClearsBy.TIME,
        "The unit waits for a soak to end.",
        "Wait for its end, or close it.",
    ),
    _hold(
        "DEPENDENCY_UNMET", Category.TRUE_DRAIN, ClearsBy.OTHER_WORKER,
        "A unit that this one depends on has not shipped.",
        "Ship that unit first.",
    ),
    _hold(
        "COOLDOWN", Category.TRUE_DRAIN, ClearsBy.TIME,
        "The last attempt on the unit did not land, and it is on cooldown.",
        "Wait for [cooldown] window_hours, or shorten it.",
    ),
)  # fmt: skip


# Causes: why a gate is blocked, by the keys of dos-kernel's catalogue. The loop asks only whether a
# replan clears the cause; if not, it stops instead of trying again.
_cause = partial(make_reason, Kind.CAUSE)
_result = partial(make_reason, Kind.RESULT)
_FIX = "Fix its cause; another dispatch has the same result."

CAUSES = (
    _cause(
        "lane_soak_gated", Category.OPERATOR_GATE, ClearsBy.REPLAN,
        "The lane's remaining units wait for a soak to end.",
        "A replan finds other units, or closes the soak.",
    ),
    _cause(
        "child_parked_pre_step9_no_envelope", Category.UNCLASSIFIED, ClearsBy.REPLAN,
        "The agent parked before it reported a result.",
        "A replan offers the unit again.",
    ),
    _cause(
        "data_gated_closeout", Category.OPERATOR_GATE, ClearsBy.REPLAN,
        "The last step waits for data that does not exist yet.",
        "A replan puts it behind units that can continue.",
    ),
    _cause(
        "uncategorized_nonship", Category.UNCLASSIFIED, ClearsBy.REPLAN,
        "Nothing shipped, for no known reason.",
        "Replan; if it comes back, look for its cause.",
    ),
    _cause(
        "operator_decision", Category.OPERATOR_GATE, ClearsBy.OPERATOR,
        "A person has to decide something first.",
        "`dos status` shows what each unit waits for.",
    ),
    # A program is at fault for the rest, and comes to the same result until it is corrected.
    _cause(
        "stale_claim_false_block", Category.STALE_CLAIM, ClearsBy.CODE_FIX,
        "The claim of a run that no longer exists blocks units.",
        _FIX,
    ),
    _cause(
        "ship_oracle_false_positive", Category.STALE_CLAIM, ClearsBy.CODE_FIX,
        "A unit counts as shipped although it is not.",
        _FIX,
    ),
    _cause(
        "lying_verdict_token", Category.STALE_CLAIM, ClearsBy.CODE_FIX,
        "A dispatch reported something else than what happened.",
        _FIX,
    ),
    _cause(
        "preflight_scratch_race", Category.UNCLASSIFIED, ClearsBy.CODE_FIX,
        "Two launches wrote the same scratch files.",
        _FIX,
    ),
    _cause(
        "wait_marker_runaway", Category.UNCLASSIFIED, ClearsBy.CODE_FIX,
        "An agent waited repeatedly and did nothing.",
        _FIX,
    ),
    _cause(
        "child2_fanout_died_pre_ship", Category.UNCLASSIFIED, ClearsBy.CODE_FIX,
        "Agents that were started for the picks died before they shipped.",
        _FIX,
    ),
    _cause(
        "packet_incoherence", Category.RENDERER_BUG, ClearsBy.CODE_FIX,
        "The parts of a packet contradict one another.",
        _FIX,
    ),
    _cause(
        "encoding_mojibake", Category.RENDERER_BUG, ClearsBy.CODE_FIX,
        "Text was read in another encoding than it was written in.",
        _FIX,
    ),
    _cause(
        "gate_wedge_unspecified", Category.UNCLASSIFIED, ClearsBy.CODE_FIX,
        "The gate is blocked for no known reason.",
        _FIX,
    ),
    _cause(
        "body_empty_picks", Category.RENDERER_BUG, ClearsBy.CODE_FIX,
        "Picks were rendered with no prompt.",
        _FIX,
    ),
)  # fmt: skip

# A cause that is also a refusal has one row, among the refusals.
CAUSE_KEYS = frozenset({"lane_all_inflight_or_deferred", *(row.token for row in CAUSES)})
# The first one may be chance; one that comes back is not solved by a replan.
UNSPECIFIC = frozenset({"uncategorized_nonship", "gate_wedge_unspecified"})

# Results: how an agent ended without an answer. `claims.result` finds out which, by the transcript.
RESULTS = (
    _result(
        "RESULT_DEAD_RATE_LIMIT", Category.UNCLASSIFIED, ClearsBy.TIME,
        "The provider accepts no more requests for now.",
        "Wait, and start the agent again.",
    ),
    _result(
        "RESULT_DEAD_USAGE_LIMIT", Category.UNCLASSIFIED, ClearsBy.TIME,
        "The provider's usage window is used up.",
        "Wait for its reset, and start the agent again.",
    ),
    _result(
        "RESULT_DEAD_SERVER", Category.UNCLASSIFIED, ClearsBy.TIME,
        "The provider failed with a server error.",
        "Wait, and start the agent again.",
    ),
    _result(
        "RESULT_DEAD_AUTH", Category.OPERATOR_GATE, ClearsBy.OPERATOR,
        "The provider rejected the agent's login.",
        "Log in again; `dos doctor` checks whether the agent can be started.",
    ),
    _result(
        "RESULT_DEAD_OTHER", Category.UNCLASSIFIED, ClearsBy.OPERATOR,
        "The agent's program ended with an error.",
        "Read its transcript.",
    ),
    _result(
        "RESULT_EMPTY", Category.UNCLASSIFIED, ClearsBy.OPERATOR,
        "The agent ended without any output.",
        "Read its transcript.",
    ),
)  # fmt: skip
