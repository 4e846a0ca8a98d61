"""Why a gate is blocked, and why an agent ended without a result of its own."""

from functools import partial

from dos.records.reason_rows.row import Category, ClearsBy, Kind, reason

_cause = partial(reason, Kind.CAUSE)
_result = partial(reason, Kind.RESULT)
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
