"""Did a conversation end with an answer, or with a failure that the program around the model wrote in its place?"""

from enum import StrEnum
from typing import Any

from msgspec import Struct, field

SYNTHETIC_MODEL = "<synthetic>"  # no model wrote it


class Answer(StrEnum):
    HEALTHY = "HEALTHY"
    SYNTHETIC = "SYNTHETIC"  # the last word is a failure notice
    EMPTY = "EMPTY"  # there is no last word
    UNREADABLE = "UNREADABLE"  # nothing can be said, and so nobody is called dead


class FailureClass(StrEnum):
    RATE_LIMIT = "RATE_LIMIT"
    AUTH = "AUTH"
    SERVER = "SERVER"
    USAGE_LIMIT = "USAGE_LIMIT"
    OTHER = "OTHER"
    NONE = "NONE"


# The first row that fits decides: the status, or a phrase of the notice.
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
    """The last record of an assistant in a transcript."""

    readable: bool = True
    why: str = ""  # it is not
    found: bool = False
    model: str = ""
    stop_reason: str = ""
    is_api_error: bool = False
    api_status: int | None = None
    text: str = ""  # its beginning
    has_content: bool = False


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer = field(name="state")
    dead: bool = False
    cause: FailureClass = field(name="class", default=FailureClass.NONE)
    api_status: int | None = None
    reason: str = ""

    @property
    def envelope(self) -> dict[str, Any]:
        """What whoever shows results is to do with it."""
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
    if not seen.readable:
        why = f": {seen.why}" if seen.why else ""
        return Verdict(answer=Answer.UNREADABLE, reason=f"the transcript cannot be read{why}")
    # By who wrote it, never by what it says: a model may well talk about errors.
    if seen.model == SYNTHETIC_MODEL or seen.is_api_error:
        cause = _class(seen)
        reason = f"the last word was not the model's: {seen.text[:80] or cause}"
        return Verdict(
            answer=Answer.SYNTHETIC,
            dead=True,
            cause=cause,
            api_status=seen.api_status,
            reason=reason,
        )
    if not seen.found:
        return Verdict(answer=Answer.EMPTY, dead=True, reason="no assistant ever spoke")
    if not seen.has_content:
        return Verdict(
            answer=Answer.EMPTY,
            dead=True,
            api_status=seen.api_status,
            reason="the last word is empty",
        )
    return Verdict(
        answer=Answer.HEALTHY, api_status=seen.api_status, reason="a model had the last word"
    )


def _class(seen: Evidence) -> FailureClass:
    said = seen.text.lower()
    fits = (
        kind
        for kind, status, phrases in _CLASSES
        if seen.api_status == status or any(p in said for p in phrases)
    )
    return next(fits, FailureClass.OTHER)
