"""The words that questions to a person are answered with.

They are here, below `questions/`, because budgets and limits are answered with them too.
"""

from enum import StrEnum


class ChoiceName(StrEnum):
    """The names of all choices. What each does is part of its question."""

    RETRY = "retry"
    AGAIN = "again"
    START = "start"
    FIXED = "fixed"
    LIFT = "lift"
    RAISE = "raise"
    USE = "use"
    ALLOW = "allow"
    ALLOW_RUN = "allow-run"
    DENY = "deny"
    ACCEPT = "accept"
    KEEP = "keep"
    LEAVE = "leave"
    WAIT = "wait"
    HOLD = "hold"
    DROP = "drop"
    STOP = "stop"
    HALT = "halt"
    DONE = "done"
    DISMISS = "dismiss"
    # Never a person's answer: the check that the question is about has passed since.
    PASSED = "passed"
