"""Has a lease lost its holder? Only the dead are reaped: one that is slow, or whose process nobody can see, is not."""

from enum import StrEnum

from msgspec import Struct


class Answer(StrEnum):
    PROCESS_GONE = "PROCESS_GONE"
    RESTARTED = "RESTARTED"  # the machine was started again, so no process of before is left
    LAPSED = "LAPSED"  # its time is over: anybody may take it
    HELD = "HELD"


class Evidence(Struct, frozen=True, kw_only=True):
    left_ms: int  # by the store's clock; 0 or less when its time is over
    restarted: bool = False
    process_gone: bool = False  # only when the system says so, of that very process
    pid: int | None = None


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer
    reason: str

    @property
    def abandoned(self) -> bool:
        return self.answer is not Answer.HELD


def judge(seen: Evidence) -> Verdict:
    # First: of a dead process nothing more need be asked, and those who put things right free only these unasked.
    if seen.process_gone:
        return Verdict(answer=Answer.PROCESS_GONE, reason=f"its process {seen.pid} is gone")
    # Before the time, because the clocks of two starts cannot be compared.
    if seen.restarted:
        return Verdict(
            answer=Answer.RESTARTED, reason="the machine has restarted since it was granted"
        )
    if seen.left_ms <= 0:
        return Verdict(answer=Answer.LAPSED, reason=f"it lapsed {-seen.left_ms / 1000:.0f} s ago")
    return Verdict(answer=Answer.HELD, reason=f"it lasts {seen.left_ms / 1000:.0f} s more")
