"""Decide what a limit of a provider means: whether it passes, when, and who has to act."""

from enum import StrEnum

from msgspec import Struct, field

from dos.times import Backoff

BACKOFF = Backoff((60, 270, 1200))  # in seconds; a loop waits by it
MOST_RETRIES = 3


class Answer(StrEnum):
    """The kinds of limits."""

    TRANSIENT_OVERLOAD = "transient_overload"
    USAGE_WINDOW = "usage_window"
    HARD_QUOTA = "hard_quota"
    NONE = "none"


class Verdict(Struct, frozen=True, kw_only=True):
    """What a loop does about a limit."""

    answer: Answer = field(name="category")
    retry_same_iteration: bool = False
    backoff_seconds: tuple[float, ...] = ()
    escalate_after: int = 1
    operator_action_required: bool = False
    clears_on_timer: bool = False


VERDICTS = {
    Answer.TRANSIENT_OVERLOAD: Verdict(
        answer=Answer.TRANSIENT_OVERLOAD,
        retry_same_iteration=True,
        backoff_seconds=BACKOFF.delays,
        escalate_after=MOST_RETRIES,
        clears_on_timer=True,
    ),
    Answer.USAGE_WINDOW: Verdict(answer=Answer.USAGE_WINDOW, clears_on_timer=True),
    Answer.HARD_QUOTA: Verdict(answer=Answer.HARD_QUOTA, operator_action_required=True),
    Answer.NONE: Verdict(answer=Answer.NONE),
}

# The words that loops, quota errors and outcomes use.
_WORDS = {
    "OVERLOADED": Answer.TRANSIENT_OVERLOAD,
    "RPM_THROTTLED": Answer.TRANSIENT_OVERLOAD,
    "TRANSIENT_429": Answer.TRANSIENT_OVERLOAD,
    "RATE_LIMITED": Answer.USAGE_WINDOW,
    "DAILY_QUOTA_EXHAUSTED": Answer.USAGE_WINDOW,
    "SUBSCRIPTION_BLACKOUT": Answer.USAGE_WINDOW,
    "LLM-QUOTA-EXHAUSTED": Answer.USAGE_WINDOW,
    "LLM-QUOTA-EXHAUSTED-DURABLE": Answer.USAGE_WINDOW,
    "CREDIT_LOW": Answer.HARD_QUOTA,
}


def judge(word: str | None) -> Verdict:
    """Return what the word for a limit means; an unknown word is no limit."""
    key = (word or "").strip().upper()
    return VERDICTS[_WORDS.get(key, Answer.NONE)]
