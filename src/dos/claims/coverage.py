"""Judges how many of the workers that were sent out returned a result.

A conclusion from ten workers of which three died silently is a conclusion from seven. The verdict
has the numbers, and a sentence for the prompt of the agent that concludes.
"""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct, field, to_builtins

from dos.claims import result


class Answer(StrEnum):
    """How the results compare with the number of workers."""

    FULL = "FULL"
    UNDERFILLED = "UNDERFILLED"
    STARVED = "STARVED"  # no worker returned a result
    OVERFILLED = "OVERFILLED"  # more results than workers: the number or the results are wrong
    EMPTY = "EMPTY"  # no worker was sent out


EXIT_CODES = {
    Answer.FULL: 0,
    Answer.EMPTY: 0,
    Answer.UNDERFILLED: 3,
    Answer.STARVED: 3,
    Answer.OVERFILLED: 3,
}


class WorkerResult(Struct, frozen=True, kw_only=True):
    """How one worker ended, by the last message of its transcript."""

    state: result.Answer
    cause: result.FailureClass = result.FailureClass.NONE


class Evidence(Struct, frozen=True, kw_only=True):
    """The workers that were sent out, and those that returned.

    Raises ValueError for a quorum that is not between 0 and 1.
    """

    declared: int  # how many were sent: the caller's number, never counted from the results
    returned: Sequence[WorkerResult] = ()
    grounded: bool = True  # read from transcripts, not typed
    min_quorum: float | None = None

    def __post_init__(self) -> None:
        if self.min_quorum is not None and not 0 <= self.min_quorum <= 1:
            raise ValueError(f"a quorum is between 0 and 1, not {self.min_quorum:g}")


class Verdict(Struct, frozen=True, kw_only=True):
    """The coverage, its numbers, and a line for the prompt that uses the results."""

    answer: Answer = field(name="state")
    declared: int
    healthy: int
    dead: int
    unreadable: int
    unaccounted: int
    fraction: float | None
    dead_classes: list[tuple[str, int]]
    quorum_met: bool | None
    grounded: bool
    prompt_line: str  # for the prompt of the agent that continues with the results
    reason: str

    @property
    def foldable(self) -> bool:
        """Whether there is any result to continue with."""
        return self.answer is not Answer.STARVED

    @property
    def should_caveat(self) -> bool:
        """Whether a conclusion has to mention missing results."""
        return EXIT_CODES[self.answer] != 0

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and properties for JSON."""
        return {**to_builtins(self), "foldable": self.foldable, "should_caveat": self.should_caveat}


def judge(seen: Evidence) -> Verdict:
    """Compare the workers that returned a healthy result with those that were sent out.

    An unreadable transcript counts neither as healthy nor as dead.
    """
    states = Counter(worker.state for worker in seen.returned)
    healthy = states[result.Answer.HEALTHY]
    unreadable = states[result.Answer.UNREADABLE]
    dead = len(seen.returned) - healthy - unreadable
    missing = max(0, seen.declared - len(seen.returned))
    answer = _answer(seen.declared, healthy)
    fraction = None
    quorum_met = None
    if seen.declared > 0:
        fraction = healthy / seen.declared
        if seen.min_quorum is not None:
            quorum_met = fraction >= seen.min_quorum
        fraction = round(fraction, 4)
    gaps = {"dead": dead, "unreadable": unreadable, "unaccounted for": missing}
    listed = ", ".join(f"{count} {kind}" for kind, count in gaps.items() if count)
    why = f" ({listed})" if listed else ""
    return Verdict(
        answer=answer,
        declared=seen.declared,
        healthy=healthy,
        dead=dead,
        unreadable=unreadable,
        unaccounted=missing,
        fraction=fraction,
        dead_classes=_dead_classes(seen.returned),
        quorum_met=quorum_met,
        grounded=seen.grounded,
        prompt_line=_prompt_line(answer, seen.declared, healthy, why),
        reason=f"{healthy}/{max(0, seen.declared)} healthy{why}",
    )


def _dead_classes(returned: Sequence[WorkerResult]) -> list[tuple[str, int]]:
    """Return how often each cause of a failure occurred, the most frequent first."""
    failed = (result.Answer.SYNTHETIC, result.Answer.EMPTY)
    classes = Counter(str(worker.cause) for worker in returned if worker.state in failed)
    return sorted(classes.items(), key=_by_frequency)


def _by_frequency(entry: tuple[str, int]) -> tuple[int, str]:
    """The sort key of a cause: the most frequent first, then by name."""
    name, count = entry
    return -count, name


def _answer(declared: int, healthy: int) -> Answer:
    """Compare the number of healthy results with the number of workers."""
    if declared <= 0:
        return Answer.EMPTY
    if healthy > declared:
        return Answer.OVERFILLED
    if healthy == declared:
        return Answer.FULL
    if healthy:
        return Answer.UNDERFILLED
    return Answer.STARVED


def _prompt_line(answer: Answer, declared: int, healthy: int, why: str) -> str:
    """Return the sentence that tells the next agent how complete the results are."""
    match answer:
        case Answer.EMPTY:
            return "No worker was sent out, so there is no result."
        case Answer.FULL:
            return f"All {declared} of {declared} workers returned a result."
        case Answer.STARVED:
            nothing = "there is nothing to conclude from"
            return f"None of {declared} workers returned a result{why}: {nothing}."
        case Answer.OVERFILLED:
            twice = "some were counted twice. Say so"
            return f"{healthy} results came from {declared} workers{why}: {twice}."
    rest = "Say so, and do not speak for the others"
    return f"Only {healthy} of {declared} workers returned a result{why}. {rest}."
