"""The reasons why runs stop: for each, what it means and what to do.

The loop's decision names most of them (`loop.decide`), and a worker the others, such as a lost
lease. What a row says of who has to act decides whether the supervisor starts the lane again by
itself or asks a person first.
"""

from functools import partial

from dos.reasons.reason import Category, ClearsBy, Kind, Needs, make_reason

_LIVE = "`dos lease-lane live` lists the leases; request another lane, or wait."
_AGAIN = "`dos up` starts it again."
_WAITS = "`dos status` shows what each unit waits for."
_UNITS = "Add units to a plan document."

_row = partial(make_reason, Kind.STOP)

STOPS = (
    # The work is done, or as much of it as one run does.
    _row("complete", Category.TRUE_DRAIN, ClearsBy.NOBODY, "Every declared unit is verified.", ""),
    _row(
        "drained-twice", Category.TRUE_DRAIN, ClearsBy.NOBODY,
        "The backlog is empty again after a replan refilled it.",
        _UNITS,
    ),
    _row(
        "iteration-cap", Category.UNCLASSIFIED, ClearsBy.NOBODY,
        "The run reached its limit of iterations.",
        "`dos up` starts the next run; `dos config set workers.max_iterations N` allows more.",
        retryable=True,
    ),
    # No unit is left. Only a person, or an agent that replans, can add more.
    _row(
        "drain", Category.TRUE_DRAIN, ClearsBy.REPLAN,
        "No unit is left to offer.",
        _UNITS, needs=Needs.OPERATOR, retryable=False,
    ),
    _row(
        "benign-drain", Category.TRUE_DRAIN, ClearsBy.OPERATOR,
        "No unit is left, and replans found no more.",
        _UNITS,
    ),
    # A person stopped the run, or has to answer before it continues.
    _row(
        "drain-requested", Category.UNCLASSIFIED, ClearsBy.OPERATOR,
        "The fleet was asked to stop.",
        _AGAIN, needs=Needs.NOBODY, retryable=True,
    ),
    _row(
        "halted", Category.UNCLASSIFIED, ClearsBy.OPERATOR,
        "A person stopped this run.",
        "`dos resume LANE`, or `dos up`, starts the lane again.",
    ),
    _row(
        "decision-needed", Category.OPERATOR_GATE, ClearsBy.OPERATOR,
        "The run needs an answer to continue.",
        "`dos decisions` shows the question and its choices.",
    ),
    _row(
        "not-ready", Category.OPERATOR_GATE, ClearsBy.CODE_FIX,
        "The setup command failed in the lane's worktree.",
        "`dos config get workers.setup` shows it; [workers] setup_seconds limits its time.",
        needs=Needs.ENVIRONMENT,
    ),
    # Another worker or the journal is in the way; nothing is wrong with the lane itself.
    _row(
        "lease-lost", Category.UNCLASSIFIED, ClearsBy.OTHER_WORKER,
        "Another worker has taken the lane.",
        "Work that did not land is saved; `dos status` names its refs.", needs=Needs.NOBODY,
    ),
    _row(
        "journal-away", Category.UNCLASSIFIED, ClearsBy.TIME,
        "The journal was unavailable for as long as a lease lasts.",
        "`dos doctor` shows what is wrong with it; " + _AGAIN,
    ),
    _row(
        "lane-held", Category.OPERATOR_GATE, ClearsBy.OTHER_WORKER,
        "Another worker holds the lane, or one that overlaps it.",
        _LIVE,
    ),
    # Time clears these. The lane starts again without a person.
    _row(
        "rate-limited", Category.UNCLASSIFIED, ClearsBy.TIME,
        "The provider's usage window is used up.",
        "Wait for its reset; " + _AGAIN,
    ),
    _row(
        "consecutive-overloaded", Category.UNCLASSIFIED, ClearsBy.TIME,
        "The provider was overloaded several times in a row.",
        "Wait; " + _AGAIN,
    ),
    _row(
        "pick-cooldown", Category.OPERATOR_GATE, ClearsBy.TIME,
        "All remaining units are on cooldown.",
        "Wait for [cooldown] window_hours, or shorten it.",
    ),
    # Something on this machine is broken: the agent does not start, or does not finish.
    _row(
        "launch-failed", Category.UNCLASSIFIED, ClearsBy.OPERATOR,
        "The agent's process did not start.",
        "`dos doctor` checks whether the agent can be started.", needs=Needs.ENVIRONMENT,
    ),
    _row(
        "consecutive-unclear", Category.UNCLASSIFIED, ClearsBy.CODE_FIX,
        "The agent ended without a result several times in a row.",
        "`dos logs LANE` shows what it printed.", needs=Needs.ENVIRONMENT,
    ),
    # Units are left, and none of them can be worked on.
    _row(
        "blocked", Category.OPERATOR_GATE, ClearsBy.OPERATOR,
        "Units are left, but none of them may be offered.",
        "`dos status` shows what holds each unit.",
    ),
    _row(
        "blocked-redispatch-invariant", Category.OPERATOR_GATE, ClearsBy.OPERATOR,
        "Neither a dispatch nor a replan can clear what blocks the lane.",
        _WAITS,
    ),
    _row(
        "pick-held-invariant", Category.OPERATOR_GATE, ClearsBy.OPERATOR,
        "Another dispatch cannot clear what holds the next unit.",
        _WAITS,
    ),
    # What agents report and what git shows differ.
    _row(
        "consecutive-dirty-zero", Category.STALE_CLAIM, ClearsBy.CODE_FIX,
        "The agent finished several times in a row, and nothing landed.",
        "`dos status` shows why each attempt did not land.",
    ),
    _row(
        "unmeasured-shipped", Category.STALE_CLAIM, ClearsBy.CODE_FIX,
        "A unit was reported as shipped without a measurement.",
        "Look for its commits: git log --grep UNIT",
    ),
    _row(
        "stale-stamp-unreconciled", Category.STALE_CLAIM, ClearsBy.CODE_FIX,
        "Units stay blocked, or have shipped without a mark in their plan; replans do not help.",
        "`dos plan` compares the plans with git; `dos plan --tick` marks what has shipped.",
    ),
    # The loop runs and gets nowhere. More iterations would only cost money.
    _row(
        "replan-stalled", Category.UNCLASSIFIED, ClearsBy.OPERATOR,
        "Replans find no new units.",
        _UNITS,
    ),
    _row(
        "thrashing", Category.UNCLASSIFIED, ClearsBy.OPERATOR,
        "The work goes back and forth, or its scope is not declared.",
        "Split the unit, or declare its whole scope in the plan.",
    ),
    _row(
        "spinning", Category.UNCLASSIFIED, ClearsBy.OPERATOR,
        "The run is alive, but nothing that it does reaches git.",
        "`dos status` shows what it is doing; `dos halt LANE` stops it.",
    ),
    _row(
        "not-ratcheting", Category.UNCLASSIFIED, ClearsBy.OPERATOR,
        "Iterations no longer improve what is measured.",
        "Keep the result, or change the goal.",
    ),
)  # fmt: skip
