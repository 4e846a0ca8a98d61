"""The errors of litellm, by which several programs reach their providers: named by their class."""

import re
from datetime import datetime

from dos.agents import provider_errors
from dos.agents.adapter import AgentOutcome, Ending, Waiting

_CLASSES = {
    "APIConnectionError": Ending.TRANSIENT,
    "APIError": Ending.TRANSIENT,
    "AuthenticationError": Ending.AUTH,
    "BadGatewayError": Ending.TRANSIENT,
    "BudgetExceededError": Ending.BUDGET_CAP,
    "ContextWindowExceededError": Ending.CONTEXT,
    "InternalServerError": Ending.TRANSIENT,
    "NotFoundError": Ending.MODEL_UNAVAILABLE,
    "PermissionDeniedError": Ending.AUTH,
    "RateLimitError": Ending.TRANSIENT,
    "ServiceUnavailableError": Ending.OVERLOADED,
    "Timeout": Ending.TRANSIENT,
}
_NAMED = re.compile(r"(?:litellm\.)?(?:exceptions\.)?(\w+)")


def classify(message: str, now: datetime) -> AgentOutcome:
    """The outcome of an error message that begins with its class, as litellm writes it.

    Its words come first: a limit of days is a RateLimitError too.
    """
    return provider_errors.classify_failure(message, now, otherwise=_by_class(message))


def classify_retry(message: str, seconds: float | None) -> Waiting:
    """What a program waits for that tries again after such an error."""
    by_words = provider_errors.classify_retry(message, seconds=seconds)
    if by_words.ending is not Ending.TRANSIENT:
        return by_words
    ending = _by_class(message)
    if ending is Ending.UNKNOWN:
        ending = Ending.TRANSIENT
    return Waiting(ending=ending, seconds=seconds, text=by_words.text)


def _by_class(message: str) -> Ending:
    named = _NAMED.match(message)
    if named is None:
        return Ending.UNKNOWN
    return _CLASSES.get(named[1], Ending.UNKNOWN)
