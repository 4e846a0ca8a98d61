"""Judges whether a conversation ended with an answer of the model.

The alternative is a failure notice that the program around the model wrote in its place.
"""

from enum import StrEnum
from typing import Any

from msgspec import Struct, field

SYNTHETIC_MODEL = "<synthetic>"  # no model wrote it


class Answer(StrEnum):
    """How a conversation ended."""

    HEALTHY = "HEALTHY"
    SYNTHETIC = "SYNTHETIC"  # the last message is a failure notice
    EMPTY = "EMPTY"  # there is no last message
    UNREADABLE = "UNREADABLE"  # unknown, so the worker does not count as dead


class FailureClass(StrEnum):
    """What a failure notice is about."""

    RATE_LIMIT = "RATE_LIMIT"
    AUTH = "AUTH"
    SERVER = "SERVER"
    USAGE_LIMIT = "USAGE_LIMIT"
    OTHER = "OTHER"
    NONE = "NONE"


# The first row that matches decides, by the HTTP status or by a phrase of the notice.
_CLASSES: tuple[tuple[FailureClass, int, tuple[str, ...]], ...] = (
    (FailureClass.RATE_LIMIT, 429, ("rate limited",)),
    (FailureClass.AUTH, 401, ("authentication",)),
    (FailureClass.SERVER, 500, ("internal server error", "server-side")),
    (
        FailureClass.USAGE_LIMIT,
        403,
        ("disabled claude", "out of extra usage", "session limit", "usage limit", "weekly limit"),
    ),
)


class Evidence(Struct, frozen=True, kw_only=True):
    """The last message of the assistant in a transcript, as the program recorded it."""

    readable: bool = True
    why: str = ""  # it is not readable
    found: bool = False
    model: str = ""
    stop_reason: str = ""
    is_api_error: bool = False
    api_status: int | None = None
    text: str = ""  # its beginning
    has_content: bool = False


class Verdict(Struct, frozen=True, kw_only=True):
    """How a conversation ended, and whether its result can be used."""

    answer: Answer = field(name="state")
    dead: bool = False
    cause: FailureClass = field(name="class", default=FailureClass.NONE)
    api_status: int | None = None
    reason: str = ""

    @property
    def envelope(self) -> dict[str, Any]:
        """What a program that shows results has to do with this one."""
        if self.answer is Answer.UNREADABLE:
            return {"all_clear": False, "verdict": "UNCLEAR"}
        if not self.dead:
            return {"all_clear": True, "verdict": "LIVE"}
        is_empty = self.answer is Answer.EMPTY
        return {
            "all_clear": False,
            "blocked": True,
            "do_not_render": True,
            "reason_class": "RESULT_EMPTY" if is_empty else f"RESULT_DEAD_{self.cause}",
            "verdict": "WEDGE",
        }


def judge(seen: Evidence) -> Verdict:
    """Decide by who wrote the last message, never by what it says: models talk about errors too."""
    if not seen.readable:
        why = f": {seen.why}" if seen.why else ""
        return Verdict(answer=Answer.UNREADABLE, reason=f"the transcript cannot be read{why}")
    status = seen.api_status
    if seen.model == SYNTHETIC_MODEL or seen.is_api_error:
        cause = _failure_class(seen)
        notice = seen.text[:80] or cause
        return Verdict(
            answer=Answer.SYNTHETIC,
            dead=True,
            cause=cause,
            api_status=status,
            reason=f"the last message is not the model's: {notice}",
        )
    if not seen.found:
        return Verdict(answer=Answer.EMPTY, dead=True, reason="there is no assistant message")
    if not seen.has_content:
        reason = "the last message is empty"
        return Verdict(answer=Answer.EMPTY, dead=True, api_status=status, reason=reason)
    reason = "the model wrote the last message"
    return Verdict(answer=Answer.HEALTHY, api_status=status, reason=reason)


def _failure_class(seen: Evidence) -> FailureClass:
    """Return what a failure notice is about: by its HTTP status or by its words."""
    text = seen.text.lower()
    for failure, status, phrases in _CLASSES:
        if seen.api_status == status or any(phrase in text for phrase in phrases):
            return failure
    return FailureClass.OTHER
