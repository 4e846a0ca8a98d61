"""Has a kind of failure happened often enough to stop: so many times in a row, or so many in all?"""

from enum import StrEnum
from typing import Literal

from msgspec import Struct, field

from dos.fields import BadValue, Count, Table
from dos.loop.verdicts.numbers import check_counts


class Answer(StrEnum):
    CLOSED = "CLOSED"
    OPEN = "OPEN"  # as a circuit breaker that has tripped


class Escalation(StrEnum):
    NONE = "NONE"
    JUDGE = "JUDGE"
    HUMAN = "HUMAN"


class Evidence(Struct, frozen=True, kw_only=True):
    consecutive: int = 0
    total: int = 0

    def __post_init__(self) -> None:
        check_counts(consecutive=self.consecutive, total=self.total)


class Policy(Table, frozen=True, kw_only=True):
    """[breaker]: how many failures of a kind are too many, and who is asked then; 0 switches a limit off."""

    max_consecutive: Count = 3
    """Failures of one kind in a row that trip the breaker; 0 is no limit."""
    max_total: Count = 20
    """Failures of one kind in total that trip the breaker; 0 is no limit."""
    on_trip: Literal["none", "judge", "human"] = "none"
    """Who decides after a trip: no one, a judge, or a person."""

    def __post_init__(self) -> None:
        check_counts(max_consecutive=self.max_consecutive, max_total=self.max_total)
        if not self.max_consecutive and not self.max_total:
            raise BadValue(
                ("max_consecutive",),
                "max_consecutive and max_total are both 0, so the breaker never trips",
                "Give at least one of them a number.",
            )

    @property
    def escalation(self) -> Escalation:
        return Escalation(self.on_trip.upper())


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer = field(name="state")
    escalation: Escalation = Escalation.NONE
    reason: str = ""
    tripped_on: str | None = None  # consecutive | total


def judge(seen: Evidence, policy: Policy = Policy()) -> Verdict:
    # The row comes first: it says more about now than the sum does.
    for name, count, most in (
        ("consecutive", seen.consecutive, policy.max_consecutive),
        ("total", seen.total, policy.max_total),
    ):
        if most and count >= most:
            how = "in a row" if name == "consecutive" else "in all"
            reason = f"{count} failures {how}; {most} are the limit"
            return Verdict(
                answer=Answer.OPEN, escalation=policy.escalation, reason=reason, tripped_on=name
            )
    return Verdict(
        answer=Answer.CLOSED, reason=f"{seen.consecutive} failures in a row, {seen.total} in all"
    )


def record_failure(seen: Evidence, policy: Policy = Policy()) -> tuple[Evidence, Verdict]:
    counted = Evidence(consecutive=seen.consecutive + 1, total=seen.total + 1)
    return counted, judge(counted, policy)


def record_success(seen: Evidence, policy: Policy = Policy()) -> tuple[Evidence, Verdict]:
    """The row is broken; what it cost in all is not forgotten."""
    counted = Evidence(total=seen.total)
    return counted, judge(counted, policy)
