"""Account for every declared unit: landed, in progress, interrupted, held, on cooldown or free.

The account answers "is the plan done, and if not, does anything move?". It never calls a plan done
because nothing was declared, or because git could not be read.
"""

from collections.abc import Collection, Mapping
from enum import StrEnum

from msgspec import Struct, field

from dos.text import plural
from dos.unknown import Unknown


class Answer(StrEnum):
    """How far the declared work is."""

    SETTLED = "SETTLED"  # everything that was declared has landed
    EMPTY = "EMPTY"  # nothing was declared, so nothing is done either
    OPEN = "OPEN"  # a run works on what is left, or can
    STUCK = "STUCK"  # no run works on what is left, and none may take any of it now
    UNKNOWN = "UNKNOWN"


class Evidence(Struct, frozen=True, kw_only=True):
    """The declared units, and what git and the journal hold about each."""

    declared: tuple[str, ...]
    landed: Collection[str] | Unknown
    in_flight: Mapping[str, str] = {}  # unit -> the run that works on it
    interrupted: Mapping[str, str] = {}  # unit -> the run that died while it worked on it
    held: Mapping[str, str] = {}  # unit -> why
    resting: Collection[str] = ()  # on cooldown
    waiting: Collection[str] = ()  # units that no run may take now, for whatever reason
    undeclared: tuple[str, ...] = ()  # landed or claimed, and in no plan any more


class Verdict(Struct, frozen=True, kw_only=True):
    """Every declared unit is in exactly one of the lists."""

    answer: Answer = field(name="verdict")
    reason: str = ""
    declared: int = 0
    landed: list[str] = []
    in_flight: dict[str, str] = {}
    interrupted: dict[str, str] = {}
    held: dict[str, str] = {}
    resting: list[str] = []
    open: list[str] = []
    undeclared: list[str] = []


def judge(evidence: Evidence) -> Verdict:
    """Put every declared unit into one list, and decide how far the work is.

    A unit that fits several lists is in the first of: landed, in progress, held, interrupted, on
    cooldown, free.
    """
    if isinstance(evidence.landed, Unknown):
        reason = f"what has landed could not be read: {evidence.landed.why}"
        return Verdict(answer=Answer.UNKNOWN, reason=reason)
    landed: list[str] = []
    in_flight: dict[str, str] = {}
    held: dict[str, str] = {}
    interrupted: dict[str, str] = {}
    resting: list[str] = []
    free: list[str] = []
    for unit in evidence.declared:
        if unit in evidence.landed:
            landed.append(unit)
        elif unit in evidence.in_flight:
            in_flight[unit] = evidence.in_flight[unit]
        elif unit in evidence.held:
            held[unit] = evidence.held[unit]
        elif unit in evidence.interrupted:
            interrupted[unit] = evidence.interrupted[unit]
        elif unit in evidence.resting:
            resting.append(unit)
        else:
            free.append(unit)
    can_move = any(unit not in evidence.waiting for unit in (*interrupted, *free))
    is_left = len(landed) < len(evidence.declared)
    counts = {
        "landed": len(landed),
        "in progress": len(in_flight),
        "interrupted": len(interrupted),
        "held": len(held),
        "on cooldown": len(resting),
        "free": len(free),
    }
    return Verdict(
        answer=_answer(evidence, is_left=is_left, is_moving=bool(in_flight) or can_move),
        reason=_reason(evidence, counts),
        declared=len(evidence.declared),
        landed=landed,
        in_flight=in_flight,
        interrupted=interrupted,
        held=held,
        resting=resting,
        open=free,
        undeclared=list(evidence.undeclared),
    )


def _answer(evidence: Evidence, *, is_left: bool, is_moving: bool) -> Answer:
    """How far the work is, as one token."""
    if not evidence.declared:
        return Answer.EMPTY
    if not is_left:
        return Answer.SETTLED
    if is_moving:
        return Answer.OPEN
    return Answer.STUCK


def _reason(evidence: Evidence, counts: Mapping[str, int]) -> str:
    """The counts, in one sentence."""
    if not evidence.declared:
        return "no plan declares a unit"
    parts = [f"{count} {name}" for name, count in counts.items() if count]
    return f"{plural(len(evidence.declared), 'unit')}: {', '.join(parts)}"
