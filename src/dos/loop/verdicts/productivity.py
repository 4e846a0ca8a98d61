"""Decide whether the steps of a run do less and less work."""

from enum import StrEnum

from msgspec import Struct, field

from dos.fields import Count, Table, check_counts


class Answer(StrEnum):
    """How much work the last steps did."""

    PRODUCTIVE = "PRODUCTIVE"
    DIMINISHING = "DIMINISHING"  # two steps in a row below the floor
    STALLED = "STALLED"  # two steps in a row with nothing at all


class Evidence(Struct, frozen=True, kw_only=True):
    """The work of each step."""

    deltas: tuple[int, ...] = ()  # oldest first

    def __post_init__(self) -> None:
        for delta in self.deltas:
            check_counts(delta=delta)


class Policy(Table, frozen=True, kw_only=True):
    """[productivity]: how little a step may do before its work counts as fading."""

    min_steps: Count = 3
    """Fewest steps to judge a run by; with fewer it counts as productive."""
    floor: Count = 500
    """Least work of a step; two steps in a row below it count as diminishing."""

    def __post_init__(self) -> None:
        check_counts(min_steps=self.min_steps, floor=self.floor)


class History(Struct, frozen=True, kw_only=True):
    """The steps, as the answer shows them."""

    deltas: tuple[int, ...] = ()
    step_count: int = 0
    last_delta: int | None = None
    prior_delta: int | None = None


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether the work fades, and the steps that show it."""

    answer: Answer = field(name="verdict")
    reason: str = ""
    history: History = History()


def judge(evidence: Evidence, policy: Policy = Policy()) -> Verdict:
    """Judge the last two steps, once there are enough of them."""
    history = _history(evidence.deltas)
    last = history.last_delta
    prior = history.prior_delta

    def verdict(answer: Answer, reason: str) -> Verdict:
        return Verdict(answer=answer, reason=reason, history=history)

    if history.step_count < policy.min_steps or last is None:
        return verdict(
            Answer.PRODUCTIVE,
            f"{history.step_count} steps are too few to judge; {policy.min_steps} are needed",
        )
    # One weak step is no trend, not even an empty one: two in a row are needed.
    if prior is not None and last == prior == 0:
        return verdict(Answer.STALLED, "the last two steps did nothing")
    if prior is not None and last < policy.floor and prior < policy.floor:
        return verdict(
            Answer.DIMINISHING,
            f"the last two steps, {prior} and {last}, are below the floor of {policy.floor}",
        )
    return verdict(Answer.PRODUCTIVE, f"the last step did {last}; the floor is {policy.floor}")


def _history(deltas: tuple[int, ...]) -> History:
    return History(
        deltas=deltas,
        step_count=len(deltas),
        last_delta=deltas[-1] if deltas else None,
        prior_delta=deltas[-2] if len(deltas) > 1 else None,
    )
