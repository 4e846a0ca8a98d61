"""How many of the workers that were sent out came back with something?"""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct, field, to_builtins

from dos.claims import result


class Answer(StrEnum):
    FULL = "FULL"
    UNDERFILLED = "UNDERFILLED"
    STARVED = "STARVED"  # nobody came back
    OVERFILLED = "OVERFILLED"  # more than were sent: the number is wrong, or the results are
    EMPTY = "EMPTY"  # nobody was sent


EXIT_CODES = {
    Answer.FULL: 0,
    Answer.EMPTY: 0,
    Answer.UNDERFILLED: 3,
    Answer.STARVED: 3,
    Answer.OVERFILLED: 3,
}


class WorkerResult(Struct, frozen=True, kw_only=True):
    """One worker's end."""

    state: result.Answer
    cause: result.FailureClass = result.FailureClass.NONE


class Evidence(Struct, frozen=True, kw_only=True):
    declared: int  # how many were sent: said by the caller, and never counted from what came back
    returned: Sequence[WorkerResult] = ()
    grounded: bool = True  # read from transcripts, and not typed
    min_quorum: float | None = None

    def __post_init__(self) -> None:
        if self.min_quorum is not None and not 0 <= self.min_quorum <= 1:
            raise ValueError(f"a quorum is a part between 0 and 1, and not {self.min_quorum:g}")


class Verdict(Struct, frozen=True, kw_only=True):
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
    prompt_line: str  # to be put into the prompt of whoever goes on with the results
    reason: str

    @property
    def foldable(self) -> bool:
        return self.answer is not Answer.STARVED

    @property
    def should_caveat(self) -> bool:
        return EXIT_CODES[self.answer] != 0

    def to_dict(self) -> dict[str, Any]:
        return {**to_builtins(self), "foldable": self.foldable, "should_caveat": self.should_caveat}


def judge(seen: Evidence) -> Verdict:
    states = Counter(each.state for each in seen.returned)
    healthy, unreadable = states[result.Answer.HEALTHY], states[result.Answer.UNREADABLE]
    dead = len(seen.returned) - healthy - unreadable
    classed = (result.Answer.SYNTHETIC, result.Answer.EMPTY)
    classes = Counter(str(each.cause) for each in seen.returned if each.state in classed)
    missing = max(0, seen.declared - len(seen.returned))
    answer = _answer(seen.declared, healthy)
    fraction = healthy / seen.declared if seen.declared > 0 else None
    gaps = {"dead": dead, "unreadable": unreadable, "unaccounted for": missing}
    listed = ", ".join(f"{count} {what}" for what, count in gaps.items() if count)
    why = f" ({listed})" if listed else ""
    return Verdict(
        answer=answer,
        declared=seen.declared,
        healthy=healthy,
        dead=dead,
        unreadable=unreadable,
        unaccounted=missing,
        fraction=None if fraction is None else round(fraction, 4),
        dead_classes=sorted(classes.items(), key=lambda row: (-row[1], row[0])),
        quorum_met=None
        if seen.min_quorum is None or fraction is None
        else fraction >= seen.min_quorum,
        grounded=seen.grounded,
        prompt_line=_prompt_line(answer, seen.declared, healthy, why),
        reason=f"{healthy}/{max(0, seen.declared)} healthy{why}",
    )


def _answer(declared: int, healthy: int) -> Answer:
    if declared <= 0:
        return Answer.EMPTY
    if healthy > declared:
        return Answer.OVERFILLED
    if healthy == declared:
        return Answer.FULL
    return Answer.UNDERFILLED if healthy else Answer.STARVED


def _prompt_line(answer: Answer, declared: int, healthy: int, why: str) -> str:
    match answer:
        case Answer.EMPTY:
            return "No worker was sent out, so there is no result."
        case Answer.FULL:
            return f"All {declared} of {declared} workers returned a result."
        case Answer.STARVED:
            return f"None of {declared} workers returned a result{why}: there is nothing to conclude from."
        case Answer.OVERFILLED:
            return f"{healthy} results came from {declared} workers{why}: some were counted twice. Say so."
    return f"Only {healthy} of {declared} workers returned a result{why}. Say so, and do not speak for the others."
