"""Why a run stopped."""

from functools import partial

from dos.reasons.rows import Category, ClearsBy, Kind, Needs, make_reason

_LIVE = "`dos lease-lane live` shows who holds what; ask for another lane, or wait."
_AGAIN = "`dos up` starts it again."
_WAITS = "`dos status` says what waits, and for what."
_UNITS = "Add units to a plan document."

_row = partial(make_reason, Kind.STOP)

STOPS = (
    _row("complete", Category.TRUE_DRAIN, ClearsBy.NOBODY, "Every declared unit is verified.", ""),
    _row(
        "drained-twice", Category.TRUE_DRAIN, ClearsBy.NOBODY, "A replan refilled the backlog, and it is empty again.",
        _UNITS,
    ),
    _row(
        "iteration-cap", Category.UNCLASSIFIED, ClearsBy.NOBODY, "The run did as many iterations as it may.",
        "`dos up` starts the next run; dos config set workers.max_iterations N allows more.", retryable=True,
    ),
    _row(
        "drain", Category.TRUE_DRAIN, ClearsBy.REPLAN, "No unit is left to offer.", _UNITS,
        needs=Needs.OPERATOR, retryable=False,
    ),
    _row(
        "benign-drain", Category.TRUE_DRAIN, ClearsBy.OPERATOR, "Nothing is left, and replans found nothing more.",
        _UNITS,
    ),
    _row(
        "drain-requested", Category.UNCLASSIFIED, ClearsBy.OPERATOR, "The fleet was asked to stop.", _AGAIN,
        needs=Needs.NOBODY, retryable=True,
    ),
    _row(
        "halted", Category.UNCLASSIFIED, ClearsBy.OPERATOR, "A person stopped this run.",
        "`dos resume LANE` lets the lane go on; so does `dos up`.",
    ),
    _row(
        "decision-needed", Category.OPERATOR_GATE, ClearsBy.OPERATOR, "It cannot go on until a person has answered.",
        "`dos decisions` shows the question and the choices.",
    ),
    _row(
        "not-ready", Category.OPERATOR_GATE, ClearsBy.CODE_FIX, "The setup command failed in its worktree.",
        "`dos config get workers.setup` shows the command; `[workers] setup_seconds` its time.",
        needs=Needs.ENVIRONMENT,
    ),
    _row(
        "lease-lost", Category.UNCLASSIFIED, ClearsBy.OTHER_WORKER, "Somebody else has the lane now.",
        "What was not landed is salvaged; `dos status` names the refs.", needs=Needs.NOBODY,
    ),
    _row(
        "journal-away", Category.UNCLASSIFIED, ClearsBy.TIME, "The journal stayed away for as long as a lease lasts.",
        "`dos doctor` says what is wrong with it; " + _AGAIN,
    ),
    _row(
        "lane-held", Category.OPERATOR_GATE, ClearsBy.OTHER_WORKER, "The lane, or one that overlaps it, was taken.",
        _LIVE,
    ),
    _row(
        "rate-limited", Category.UNCLASSIFIED, ClearsBy.TIME, "The provider's usage window is used up.",
        "Wait for its reset; " + _AGAIN,
    ),
    _row(
        "consecutive-overloaded", Category.UNCLASSIFIED, ClearsBy.TIME, "The provider was overloaded again and again.",
        "Wait; " + _AGAIN,
    ),
    _row(
        "pick-cooldown", Category.OPERATOR_GATE, ClearsBy.TIME, "Only units that were tried a moment ago are left.",
        "Wait for [cooldown] window_hours, or shorten it.",
    ),
    _row(
        "launch-failed", Category.UNCLASSIFIED, ClearsBy.OPERATOR, "The agent's process did not come up.",
        "`dos doctor` says whether the agent can be started.", needs=Needs.ENVIRONMENT,
    ),
    _row(
        "consecutive-unclear", Category.UNCLASSIFIED, ClearsBy.CODE_FIX,
        "The agent ended without a result again and again.",
        "`dos logs LANE` shows what it printed.", needs=Needs.ENVIRONMENT,
    ),
    _row(
        "blocked", Category.OPERATOR_GATE, ClearsBy.OPERATOR, "Units are left, and none of them may be offered.",
        "`dos status` shows the units; clear what holds them.",
    ),
    _row(
        "blocked-redispatch-invariant", Category.OPERATOR_GATE, ClearsBy.OPERATOR,
        "What blocks the lane cannot be cleared by another dispatch or replan.", _WAITS,
    ),
    _row(
        "pick-held-invariant", Category.OPERATOR_GATE, ClearsBy.OPERATOR,
        "The next unit is held by something that another dispatch cannot change.", _WAITS,
    ),
    _row(
        "consecutive-dirty-zero", Category.STALE_CLAIM, ClearsBy.CODE_FIX,
        "The agent said it was done again and again, and nothing landed.",
        "`dos status` says why each try did not land.",
    ),
    _row(
        "unmeasured-shipped", Category.STALE_CLAIM, ClearsBy.CODE_FIX,
        "A unit is said to have shipped, and nobody measured it.", "Look for its commits: git log --grep UNIT",
    ),
    _row(
        "stale-stamp-unreconciled", Category.STALE_CLAIM, ClearsBy.CODE_FIX,
        "What is marked as shipped is not, and replans do not mend it.", "Correct the plan document.",
    ),
    _row("replan-stalled", Category.UNCLASSIFIED, ClearsBy.OPERATOR, "Replans refill nothing.", _UNITS),
    _row(
        "thrashing", Category.UNCLASSIFIED, ClearsBy.OPERATOR,
        "The work moves back and forth, or its scope is not declared.",
        "Split the unit, or state all of its scope in the plan.",
    ),
    _row(
        "spinning", Category.UNCLASSIFIED, ClearsBy.OPERATOR, "The run is alive, and nothing it does reaches git.",
        "`dos status` shows what it is at; end its process if that is nothing.",
    ),
    _row(
        "not-ratcheting", Category.UNCLASSIFIED, ClearsBy.OPERATOR, "Iterations no longer improve what is measured.",
        "Keep what is there, or change the aim.",
    ),
)  # fmt: skip
