"""Where is every unit that was declared: landed, under way, to be taken up again, held, resting, or free?"""

from collections.abc import Collection, Mapping
from enum import StrEnum

from msgspec import Struct, field

from dos.text import plural
from dos.unknown import Unknown


class Answer(StrEnum):
    SETTLED = "SETTLED"  # everything that was declared has landed
    EMPTY = "EMPTY"  # nothing was declared, so nothing is done either
    OPEN = "OPEN"  # somebody is at what is left, or can be
    STUCK = "STUCK"  # nobody is at what is left, and nobody may take any of it now
    UNKNOWN = "UNKNOWN"


class Evidence(Struct, frozen=True, kw_only=True):
    declared: tuple[str, ...]
    landed: Collection[str] | Unknown
    in_flight: Mapping[str, str] = {}  # unit -> the run that is at it
    interrupted: Mapping[str, str] = {}  # unit -> the run that died at it
    held: Mapping[str, str] = {}  # unit -> why
    resting: Collection[str] = ()
    waiting: Collection[str] = ()  # those that nobody may take now, for whatever reason
    undeclared: tuple[str, ...] = ()  # landed or claimed, and in no plan any more


class Verdict(Struct, frozen=True, kw_only=True):
    """Every declared unit stands in exactly one of the lists."""

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


def judge(seen: Evidence) -> Verdict:
    if isinstance(seen.landed, Unknown):
        return Verdict(
            answer=Answer.UNKNOWN, reason=f"what has landed could not be read: {seen.landed.why}"
        )
    landed: list[str] = []
    left: list[str] = []
    for unit in seen.declared:
        (landed if unit in seen.landed else left).append(unit)
    in_flight = {unit: seen.in_flight[unit] for unit in left if unit in seen.in_flight}
    idle = [unit for unit in left if unit not in in_flight]
    held = {unit: seen.held[unit] for unit in idle if unit in seen.held}
    interrupted = {
        unit: seen.interrupted[unit]
        for unit in idle
        if unit in seen.interrupted and unit not in held
    }
    waiting = [unit for unit in idle if unit not in held and unit not in interrupted]
    resting = [unit for unit in waiting if unit in seen.resting]
    free = [unit for unit in waiting if unit not in seen.resting]
    takeable = [*interrupted, *free]
    parts = {
        "landed": landed, "under way": in_flight, "to be taken up again": interrupted, "held": held,
        "resting": resting, "free": free,
    }  # fmt: skip
    told = ", ".join(f"{len(units)} {name}" for name, units in parts.items() if units)
    return Verdict(
        answer=_answer(
            seen, left, moving=bool(in_flight) or any(unit not in seen.waiting for unit in takeable)
        ),
        reason=f"{plural(len(seen.declared), 'unit')}: {told}"
        if seen.declared
        else "no plan declares a unit",
        declared=len(seen.declared),
        landed=landed,
        in_flight=in_flight,
        interrupted=interrupted,
        held=held,
        resting=resting,
        open=free,
        undeclared=list(seen.undeclared),
    )


def _answer(seen: Evidence, left: list[str], *, moving: bool) -> Answer:
    if not seen.declared:
        return Answer.EMPTY
    if not left:
        return Answer.SETTLED
    return Answer.OPEN if moving else Answer.STUCK
