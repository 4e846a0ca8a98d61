"""Decide whether the remaining work gets less, round by round."""

from enum import StrEnum
from itertools import pairwise

from msgspec import Struct, field

from dos.fields import check_counts, check_positive


class Answer(StrEnum):
    """How the remaining work develops."""

    INSUFFICIENT = "INSUFFICIENT"  # fewer than two rounds
    CONVERGING = "CONVERGING"  # or too few rounds to say that it does not
    STARVED = "STARVED"  # no change at all
    THRASHING = "THRASHING"  # up and down, without a new low


class Evidence(Struct, frozen=True, kw_only=True):
    """The open units after each round."""

    residuals: tuple[int, ...] = ()  # oldest first

    def __post_init__(self) -> None:
        for residual in self.residuals:
            check_counts(residual=residual)


class Policy(Struct, frozen=True, kw_only=True):
    """How many rounds are needed for a verdict."""

    max_nonconverging: int = 3  # rounds without a gain before it counts as not converging
    window: int = 4  # rounds that are shown, and that must be equal before it counts as starved

    def __post_init__(self) -> None:
        check_positive(max_nonconverging=self.max_nonconverging, window=self.window)


class Verdict(Struct, frozen=True, kw_only=True):
    """How the remaining work develops, and the rounds that show it."""

    answer: Answer = field(name="state")
    reason: str = ""
    window: tuple[int, ...] = ()
    should_surface: bool = False


def judge(evidence: Evidence, policy: Policy = Policy()) -> Verdict:
    """Compare the last rounds with one another."""
    history = evidence.residuals
    rounds = policy.max_nonconverging

    def verdict(answer: Answer, reason: str) -> Verdict:
        return Verdict(
            answer=answer,
            reason=reason,
            window=history[-policy.window :],
            should_surface=answer in (Answer.STARVED, Answer.THRASHING),
        )

    if len(history) < 2:
        return verdict(Answer.INSUFFICIENT, f"{len(history)} rounds are too few to compare")
    if history[-1] == 0:
        return verdict(Answer.CONVERGING, "nothing is left")
    if len(history) <= rounds:
        return verdict(
            Answer.CONVERGING, f"{len(history)} rounds are too few to say that it does not get less"
        )
    still = history[-max(policy.window, rounds + 1) :]
    if len(set(still)) == 1:
        return verdict(
            Answer.STARVED, f"{history[-1]} are left, as they were {len(still) - 1} rounds ago"
        )
    recent = history[-rounds - 1 :]
    if any(new > old for old, new in pairwise(recent)) and recent[-1] >= min(recent[:-1]):
        listed = ", ".join(map(str, recent))
        return verdict(
            Answer.THRASHING, f"it went up within {rounds} rounds and reached no new low: {listed}"
        )
    return verdict(
        Answer.CONVERGING, f"{history[-1]} are left, from {recent[0]} {rounds} rounds ago"
    )
