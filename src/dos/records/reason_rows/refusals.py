"""Why a lane, or a launch on it, was refused."""

from functools import partial

from dos.records.reason_rows.row import Category, ClearsBy, Kind, Needs, reason

_LIVE = "`dos lease-lane live` shows who holds what; ask for another lane, or wait."
_SHIPPED = "`dos status` shows what has landed by git's word."
_SIDECAR = "Write the packet again, with a prompt for every pick."

_row = partial(reason, Kind.REFUSAL)

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
