"""Which of two units of the same rank goes first? The one that was never tried, then the one tried longest ago.

It only breaks ties: its key goes behind the caller's own.
"""

from enum import StrEnum

from msgspec import Struct, field


class Answer(StrEnum):
    NEVER_ATTEMPTED = "NEVER_ATTEMPTED"
    ATTEMPTED = "ATTEMPTED"


EXIT_CODES = {Answer.NEVER_ATTEMPTED: 0, Answer.ATTEMPTED: 3}


class Evidence(Struct, frozen=True, kw_only=True):
    unit_id: str
    attempted: bool = False
    last_attempt_ms: int | None = None  # None: never, or nobody can read when


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer = field(name="freshness")
    unit_id: str = ""
    last_attempt_ms: int | None = None
    sort_key: tuple[int, int] = (0, 0)  # ascending
    reason: str = ""


def judge(seen: Evidence) -> Verdict:
    if not seen.attempted:
        return Verdict(
            answer=Answer.NEVER_ATTEMPTED, unit_id=seen.unit_id, reason="it was never tried"
        )
    return Verdict(
        answer=Answer.ATTEMPTED,
        unit_id=seen.unit_id,
        last_attempt_ms=seen.last_attempt_ms,
        sort_key=(1, seen.last_attempt_ms or 0),
        reason="it was tried; units that were tried longer ago go first",
    )
