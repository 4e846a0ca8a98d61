"""May a worker take this unit now, and if not, for which one reason?"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr

from dos.text import quote
from dos.times import utc_stamp

MOST_DEATHS = 2  # of runs at one unit, in a row: then a person has to look
_LATEST_MS = 1 << 62


class Answer(StrEnum):
    """What holds it, in the order of precedence."""

    SHIPPED = "SHIPPED"
    UNPARSEABLE = "UNPARSEABLE"
    IN_FLIGHT = "IN_FLIGHT"
    SOFT_CLAIMED_ELSEWHERE = "SOFT_CLAIMED_ELSEWHERE"
    STALE_CLAIM = "STALE_CLAIM"
    DRAFT_CLASS = "DRAFT_CLASS"
    OPERATOR_GATED = "OPERATOR_GATED"
    SOAK_OPEN = "SOAK_OPEN"
    DEPENDENCY_UNMET = "DEPENDENCY_UNMET"
    COOLDOWN = "COOLDOWN"


OFFERABLE = "OFFERABLE"
EXIT_CODES = {
    Answer.DRAFT_CLASS: 10,
    Answer.OPERATOR_GATED: 11,
    Answer.SOAK_OPEN: 12,
    Answer.DEPENDENCY_UNMET: 13,
    Answer.IN_FLIGHT: 20,
    Answer.SOFT_CLAIMED_ELSEWHERE: 21,
    Answer.STALE_CLAIM: 22,
    Answer.COOLDOWN: 23,
    Answer.UNPARSEABLE: 24,
    Answer.SHIPPED: 25,
}
# Dispatching the unit again cannot change it.
INVARIANT = frozenset(
    {Answer.DRAFT_CLASS, Answer.OPERATOR_GATED, Answer.SOAK_OPEN, Answer.DEPENDENCY_UNMET}
)

Flag = bool | str  # a text says what exactly


class Evidence(Struct, frozen=True, kw_only=True):
    unit: str = ""
    shipped: Flag = False
    unparseable: Flag = False
    in_flight: Flag = False
    soft_claimed_elsewhere: Flag = False
    stale_claim: Flag = False
    plan_class: str = ""
    operator_gated: Flag = False
    soak_open: Flag = False
    dependency_unmet: Flag = False
    cooldown_until_ms: int = 0
    now_ms: int = 0


class Verdict(Struct, frozen=True, kw_only=True):
    held: bool
    reason: Answer | None = None
    evidence: str = ""
    redispatch_invariant: bool = False  # follows from the reason, whatever is written
    unit: str = ""

    def __post_init__(self) -> None:
        if self.held != (self.reason is not None):
            raise ValueError(
                f"a unit is held for a reason or not at all; held is {self.held}, reason {self.reason}"
            )
        force_setattr(self, "redispatch_invariant", self.reason in INVARIANT)

    @property
    def is_redispatch_invariant(self) -> bool:
        return self.redispatch_invariant

    @property
    def exit_code(self) -> int:
        return 0 if self.reason is None else EXIT_CODES[self.reason]


def judge(seen: Evidence) -> Verdict:
    draft = seen.plan_class.strip().upper() == "DRAFT"
    cooling = seen.cooldown_until_ms > 0 and seen.now_ms < seen.cooldown_until_ms
    holds: tuple[tuple[Answer, Flag, str], ...] = (
        (Answer.SHIPPED, seen.shipped, "it has shipped"),
        (Answer.UNPARSEABLE, seen.unparseable, "what is written about it cannot be read"),
        (Answer.IN_FLIGHT, seen.in_flight, "somebody is at it"),
        (
            Answer.SOFT_CLAIMED_ELSEWHERE,
            seen.soft_claimed_elsewhere,
            "another packet has claimed it",
        ),
        (Answer.STALE_CLAIM, seen.stale_claim, "it is claimed by somebody who is gone"),
        (Answer.DRAFT_CLASS, draft, "its plan is a draft"),
        (Answer.OPERATOR_GATED, seen.operator_gated, "a person has to decide first"),
        (Answer.SOAK_OPEN, seen.soak_open, "its soak has not ended"),
        (Answer.DEPENDENCY_UNMET, seen.dependency_unmet, "what it builds on has not shipped"),
        (
            Answer.COOLDOWN,
            cooling,
            f"it was just tried; it rests until {utc_stamp(seen.cooldown_until_ms)}",
        ),
    )
    for reason, held, because in holds:
        if held:
            detail = f"{because}: {held}" if isinstance(held, str) else because
            return Verdict(held=True, reason=reason, evidence=detail, unit=seen.unit)
    return Verdict(held=False, unit=seen.unit)


def evidence(state: Mapping[str, Any] | None, *, unit: str = "", now_ms: int = 0) -> Evidence:
    """What a caller wrote down. A key that is missing is false, one that nobody knows is left alone; it never fails."""
    given = state or {}
    plan_class = given.get("plan_class")
    return Evidence(
        unit=unit,
        plan_class=plan_class if isinstance(plan_class, str) else "",
        cooldown_until_ms=_milliseconds(given.get("cooldown_until_ms")),
        now_ms=now_ms,
        **{name: _flag(given.get(name)) for name in _FLAGS},
    )


_FLAGS = tuple(
    name
    for name in Evidence.__struct_fields__
    if name not in ("unit", "plan_class", "now_ms", "cooldown_until_ms")
)


def _flag(value: object) -> Flag:
    return quote(value) if isinstance(value, str) and value else bool(value)


def _milliseconds(value: object) -> int:
    if not isinstance(value, int | float | str):
        return 0
    try:
        return min(int(value), _LATEST_MS)
    except (ValueError, OverflowError):
        return 0
