"""Decide whether a kind of failure has happened too often, in a row or in total."""

from enum import StrEnum
from typing import Literal

from msgspec import Struct, field

from dos.fields import BadValue, Count, Table, check_counts


class Answer(StrEnum):
    """The state of a circuit breaker."""

    CLOSED = "CLOSED"
    OPEN = "OPEN"  # it has tripped


class Escalation(StrEnum):
    """Who decides after a trip."""

    NONE = "NONE"
    JUDGE = "JUDGE"
    HUMAN = "HUMAN"


class Evidence(Struct, frozen=True, kw_only=True):
    """How often it has failed."""

    consecutive: int = 0
    total: int = 0

    def __post_init__(self) -> None:
        check_counts(consecutive=self.consecutive, total=self.total)


class Policy(Table, frozen=True, kw_only=True):
    """[breaker]: at how many failures `dos breaker` opens, and who is asked; 0 is no limit."""

    max_consecutive: Count = 3
    """Failures in a row at which the breaker opens; 0 is no limit."""
    max_total: Count = 20
    """Failures in total at which the breaker opens; 0 is no limit."""
    on_trip: Literal["none", "judge", "human"] = "none"
    """Who decides once the breaker is open: no one, a judge, or a person."""

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
    """Whether the breaker has tripped, and on which limit."""

    answer: Answer = field(name="state")
    escalation: Escalation = Escalation.NONE
    reason: str = ""
    tripped_on: str | None = None  # consecutive | total


def judge(evidence: Evidence, policy: Policy = Policy()) -> Verdict:
    """Compare the failures with the limits of the policy.

    Failures in a row come first, because they say more about the present than the total.
    """
    for name, count, most in (
        ("consecutive", evidence.consecutive, policy.max_consecutive),
        ("total", evidence.total, policy.max_total),
    ):
        if most and count >= most:
            how = "in a row" if name == "consecutive" else "in all"
            reason = f"{count} failures {how}; {most} are the limit"
            return Verdict(
                answer=Answer.OPEN, escalation=policy.escalation, reason=reason, tripped_on=name
            )
    return Verdict(
        answer=Answer.CLOSED,
        reason=f"{evidence.consecutive} failures in a row, {evidence.total} in all",
    )


def record_failure(evidence: Evidence, policy: Policy = Policy()) -> tuple[Evidence, Verdict]:
    """Count one more failure; return the new counts and the verdict on them."""
    counted = Evidence(consecutive=evidence.consecutive + 1, total=evidence.total + 1)
    return counted, judge(counted, policy)


def record_success(evidence: Evidence, policy: Policy = Policy()) -> tuple[Evidence, Verdict]:
    """Reset the failures in a row, keep the total; return the new counts and the verdict."""
    counted = Evidence(total=evidence.total)
    return counted, judge(counted, policy)
