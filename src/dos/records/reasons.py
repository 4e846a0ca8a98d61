"""Every reason for a refusal or a stop, once: what it means, who can clear it, and whether trying again can help.

`dos man wedge` shows this table, together with the [reasons] that a workspace declares.
"""

from enum import StrEnum

from msgspec import Struct


class Needs(StrEnum):
    """Who can clear it."""

    NOBODY = "nobody"  # it is over, or it clears itself
    OPERATOR = "operator"  # a person
    TIME = "time"
    ENVIRONMENT = "environment"  # something on this machine


class Category(StrEnum):
    TRUE_DRAIN = "TRUE_DRAIN"  # nothing is left to do
    OPERATOR_GATE = "OPERATOR_GATE"  # somebody has to act, or to finish, first
    STALE_CLAIM = "STALE_CLAIM"  # what was claimed and what is true differ
    MISROUTE = "MISROUTE"  # it was asked of the wrong place
    UNCLASSIFIED = "UNCLASSIFIED"


class Reason(Struct, frozen=True, kw_only=True):
    token: str
    category: Category
    message: str
    needs: Needs
    retryable: bool  # the same request can succeed later, with nothing changed by a person
    fix: str = ""
    refusal: bool = True  # False: a run stopped for it
    see_also: tuple[str, ...] = ()


def _refusal(token: str, category: Category, needs: Needs, message: str, fix: str, *see_also: str) -> Reason:
    retryable = needs in (Needs.TIME, Needs.NOBODY)
    return Reason(
        token=token, category=category, message=message, needs=needs, retryable=retryable, fix=fix, see_also=see_also
    )


def _stop(token: str, category: Category, needs: Needs, message: str, fix: str, *, retryable: bool = False) -> Reason:
    return Reason(
        token=token, category=category, message=message, needs=needs, retryable=retryable, fix=fix, refusal=False
    )


_LIVE = "`dos lease-lane live` shows who holds what; ask for another lane, or wait."
_AGAIN = "`dos up` starts it again."

REFUSALS = (
    _refusal("LANE_HELD", Category.OPERATOR_GATE, Needs.TIME, "Somebody holds this lane.", _LIVE),
    _refusal(
        "LANE_EXCLUSIVE", Category.OPERATOR_GATE, Needs.TIME,
        "An exclusive lane runs alone, and something else is live.", _LIVE, "lane global",
    ),
    _refusal(
        "REGION_OVERLAP", Category.OPERATOR_GATE, Needs.TIME, "Its paths meet those of a lane that is held.",
        "Wait for that lane, or make the two trees disjoint in [lanes.trees]; `dos lint` lists overlaps.",
    ),
    _refusal(
        "REGION_UNKNOWN", Category.MISROUTE, Needs.OPERATOR,
        "The lane has no tree, and a region nobody knows overlaps everything.",
        "Give it one: dos config set lanes.trees.LANE '[\"PATH/**\"]'",
    ),
    _refusal(
        "CLASS_BUDGET_EXHAUSTED", Category.OPERATOR_GATE, Needs.TIME,
        "As many leases of this kind are live as [[concurrency_class]] allows.",
        "Wait for one of them, or raise max_concurrent.",
    ),
    _refusal(
        "UNKNOWN_LANE", Category.MISROUTE, Needs.OPERATOR, "No lane and no alias has this name.",
        "`dos man lane` lists the lanes; [lanes] in dos.toml declares them.",
    ),
    _refusal(
        "SELF_MODIFY", Category.MISROUTE, Needs.OPERATOR, "The request reaches files that no worker may change.",
        "Narrow the tree of the lane, or take the path out of [protect] globs.",
    ),
    _refusal(
        "PREDICATE", Category.OPERATOR_GATE, Needs.OPERATOR, "An installed admission predicate said no, or failed.",
        "The reason names the predicate; clear what it asks for, or uninstall it.",
    ),
    _refusal(
        "NO_FREE_LANE", Category.OPERATOR_GATE, Needs.TIME, "Every lane that is picked by itself is taken.", _LIVE
    ),
    _refusal(
        "SCHEMA_UNREADABLE", Category.MISROUTE, Needs.ENVIRONMENT, "A newer dos wrote this record.",
        "pip install --upgrade dispatch-os",
    ),
    _refusal(
        "LANE_DRAINED", Category.TRUE_DRAIN, Needs.NOBODY, "No unit of the lane is left.",
        "Add units to a plan document.",
    ),
    _refusal(
        "LANE_BLOCKED_ON_SOAK_GATED_PHASES", Category.OPERATOR_GATE, Needs.TIME,
        "The units that are left wait for a soak to end.", "Wait for its end, or close it.",
    ),
    _refusal(
        "LANE_LEASE_HELD_BY_LIVE_DISPATCH_LOOP", Category.OPERATOR_GATE, Needs.TIME,
        "Another loop works on the lane and is alive.", _LIVE,
    ),
    _refusal(
        "LANE_ALL_BLOCKED_OR_STALE_STAMP", Category.OPERATOR_GATE, Needs.OPERATOR,
        "What is left is blocked, or is marked as shipped and is not.",
        "`dos status` shows what has landed by git's word.",
    ),
    _refusal(
        "LANE_BLOCKED_ON_OPERATOR_DECISION", Category.OPERATOR_GATE, Needs.OPERATOR,
        "A person has to decide something first.",
        "`dos status` says what waits, and for what.",
    ),
    _refusal(
        "LANE_ALL_INFLIGHT_OR_DEFERRED", Category.STALE_CLAIM, Needs.TIME,
        "Everything that is left is being worked on, or was put off.", "`dos status` shows who is at what.",
    ),
    _refusal(
        "LANE_ALL_SHIPPED_INFLIGHT_OR_STALE_STAMP", Category.STALE_CLAIM, Needs.OPERATOR,
        "Everything has shipped, is being worked on, or is marked as shipped and is not.",
        "`dos status` shows what has landed by git's word.",
    ),
)  # fmt: skip

STOPS = (
    _stop("complete", Category.TRUE_DRAIN, Needs.NOBODY, "Every declared unit is verified.", ""),
    _stop("drain", Category.TRUE_DRAIN, Needs.NOBODY, "No unit is left to offer.", "Add units to a plan document."),
    _stop(
        "drained-twice", Category.TRUE_DRAIN, Needs.NOBODY, "A replan refilled the backlog, and it is empty again.",
        "Add units to a plan document.",
    ),
    _stop(
        "benign-drain", Category.TRUE_DRAIN, Needs.OPERATOR, "Nothing is left, and replans found nothing more.",
        "Add units to a plan document.",
    ),
    _stop(
        "iteration-cap", Category.UNCLASSIFIED, Needs.NOBODY, "The run did as many iterations as it may.",
        "`dos up` starts the next run; dos config set workers.max_iterations N allows more.", retryable=True,
    ),
    _stop(
        "drain-requested", Category.UNCLASSIFIED, Needs.NOBODY, "The fleet was asked to stop.", _AGAIN, retryable=True
    ),
    _stop(
        "lease-lost", Category.UNCLASSIFIED, Needs.NOBODY, "Somebody else has the lane now.",
        "What was not landed is salvaged; `dos status` names the refs.", retryable=True,
    ),
    _stop(
        "lane-held", Category.OPERATOR_GATE, Needs.TIME, "The lane, or one that overlaps it, was taken.", _LIVE,
        retryable=True,
    ),
    _stop(
        "rate-limited", Category.UNCLASSIFIED, Needs.TIME, "The provider's usage window is used up.",
        "Wait for its reset; " + _AGAIN, retryable=True,
    ),
    _stop(
        "consecutive-overloaded", Category.UNCLASSIFIED, Needs.TIME, "The provider was overloaded again and again.",
        "Wait; " + _AGAIN, retryable=True,
    ),
    _stop(
        "pick-cooldown", Category.OPERATOR_GATE, Needs.TIME, "Only units that were tried a moment ago are left.",
        "Wait for [cooldown] window_hours, or shorten it.", retryable=True,
    ),
    _stop(
        "launch-failed", Category.UNCLASSIFIED, Needs.ENVIRONMENT, "The agent's process did not come up.",
        "`dos doctor` says whether the agent can be started.",
    ),
    _stop(
        "blocked", Category.OPERATOR_GATE, Needs.OPERATOR, "Units are left, and none of them may be offered.",
        "`dos status` shows the units; clear what holds them.",
    ),
    _stop(
        "blocked-redispatch-invariant", Category.OPERATOR_GATE, Needs.OPERATOR,
        "What blocks the lane cannot be cleared by another dispatch or replan.",
        "`dos status` says what waits, and for what.",
    ),
    _stop(
        "pick-held-invariant", Category.OPERATOR_GATE, Needs.OPERATOR,
        "The next unit is held by something that another dispatch cannot change.",
        "`dos status` says what waits, and for what.",
    ),
    _stop(
        "consecutive-unclear", Category.UNCLASSIFIED, Needs.OPERATOR,
        "The agent ended without a result again and again.",
        "Read its log under the state directory (`dos doctor` names it).",
    ),
    _stop(
        "consecutive-dirty-zero", Category.STALE_CLAIM, Needs.OPERATOR,
        "The agent said it was done again and again, and nothing landed.",
        "`dos status` says why each try did not land.",
    ),
    _stop(
        "unmeasured-shipped", Category.STALE_CLAIM, Needs.OPERATOR,
        "A unit is said to have shipped, and nobody measured it.",
        "Look for its commits: git log --grep UNIT",
    ),
    _stop(
        "stale-stamp-unreconciled", Category.STALE_CLAIM, Needs.OPERATOR,
        "What is marked as shipped is not, and replans do not mend it.", "Correct the plan document.",
    ),
    _stop(
        "replan-stalled", Category.UNCLASSIFIED, Needs.OPERATOR, "Replans refill nothing.",
        "Add units to a plan document.",
    ),
    _stop(
        "thrashing", Category.UNCLASSIFIED, Needs.OPERATOR,
        "The work moves back and forth, or its scope is not declared.",
        "Split the unit, or state all of its scope in the plan.",
    ),
    _stop(
        "spinning", Category.UNCLASSIFIED, Needs.OPERATOR, "The run is alive, and nothing it does reaches git.",
        "`dos status` shows what it is at; end its process if that is nothing.",
    ),
    _stop(
        "not-ratcheting", Category.UNCLASSIFIED, Needs.OPERATOR, "Iterations no longer improve what is measured.",
        "Keep what is there, or change the aim.",
    ),
)  # fmt: skip

TABLE = (*REFUSALS, *STOPS)
_BY_TOKEN = {reason.token.upper(): reason for reason in TABLE}


def find(token: str) -> Reason | None:
    """A built-in reason by its token, in any case."""
    return _BY_TOKEN.get(token.strip().upper())
