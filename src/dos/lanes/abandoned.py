"""Decide whether a lease has lost its holder.

Only dead holders lose a lease: one that is slow, or whose process cannot be seen from here, keeps
it until its time is over.
"""

from enum import StrEnum

from msgspec import Struct

from dos.times import format_duration


class Answer(StrEnum):
    """What is known of the holder of a lease."""

    PROCESS_GONE = "PROCESS_GONE"
    RESTARTED = "RESTARTED"  # the machine restarted, so no process of before is left
    LAPSED = "LAPSED"  # its time is over: anybody may take it
    HELD = "HELD"


class Evidence(Struct, frozen=True, kw_only=True):
    """What the store's clock and the system say of a lease's holder."""

    left_ms: int  # by the store's clock; 0 or less if its time is over
    restarted: bool = False
    process_gone: bool = False  # only if the system says so, of that very process
    pid: int | None = None


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether the holder is gone, and by what that is known."""

    answer: Answer
    reason: str

    @property
    def abandoned(self) -> bool:
        """Whether the lease may be revoked."""
        return self.answer is not Answer.HELD


def judge(evidence: Evidence) -> Verdict:
    """Decide whether a lease has lost its holder, and by what that is known."""
    # First, because `dos doctor --fix` releases only these without being asked.
    if evidence.process_gone:
        return Verdict(answer=Answer.PROCESS_GONE, reason=f"its process {evidence.pid} has exited")
    # Before the time, because the clocks of two boots cannot be compared.
    if evidence.restarted:
        reason = "the machine has restarted since it was granted"
        return Verdict(answer=Answer.RESTARTED, reason=reason)
    seconds = evidence.left_ms / 1000
    if seconds <= 0:
        reason = f"it expired {format_duration(-seconds)} ago"
        return Verdict(answer=Answer.LAPSED, reason=reason)
    return Verdict(answer=Answer.HELD, reason=f"it expires in {format_duration(seconds)}")
