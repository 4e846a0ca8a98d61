"""All the words that questions to a person are answered with."""

from enum import StrEnum


class ChoiceName(StrEnum):
    """All the words that questions are answered with; what each means, its question says."""

    RETRY = "retry"
    AGAIN = "again"
    START = "start"
    FIXED = "fixed"
    LIFT = "lift"
    RAISE = "raise"
    USE = "use"
    KEEP = "keep"
    LEAVE = "leave"
    WAIT = "wait"
    HOLD = "hold"
    DROP = "drop"
    STOP = "stop"
    HALT = "halt"
    DONE = "done"
    DISMISS = "dismiss"
    PASSED = "passed"  # no person answers so: the check that was asked about has passed
