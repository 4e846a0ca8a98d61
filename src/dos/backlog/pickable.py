"""Decide whether a worker may take a unit now and, if not, the one reason that counts.

The order of the reasons is part of the contract: callers act on the first, so what a new dispatch
cannot change has to come before what time alone clears.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr

from dos.text import quote
from dos.times import format_local_time, utc_datetime

MOST_DEATHS = 2  # of runs at one unit, in a row; then a person has to decide
_LATEST_MS = 1 << 62


class Answer(StrEnum):
    """What holds a unit, in the order of precedence."""

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
# Dispatching the unit again cannot change these.
INVARIANT = frozenset(
    {Answer.DRAFT_CLASS, Answer.OPERATOR_GATED, Answer.SOAK_OPEN, Answer.DEPENDENCY_UNMET}
)

Flag = bool | str  # a text is True, and says what exactly


class Evidence(Struct, frozen=True, kw_only=True):
    """What is known of a unit; each flag that is set holds it."""

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
    """Whether a unit is held, and why. Raises ValueError for a hold without a reason."""

    held: bool
    reason: Answer | None = None
    evidence: str = ""
    redispatch_invariant: bool = False  # follows from the reason, whatever the caller passes
    unit: str = ""

    def __post_init__(self) -> None:
        if self.held != (self.reason is not None):
            raise ValueError(
                f"held is {self.held} and reason is {self.reason}: a held unit needs a reason,"
                " and no other unit has one"
            )
        force_setattr(self, "redispatch_invariant", self.reason in INVARIANT)

    @property
    def is_redispatch_invariant(self) -> bool:
        """Whether dispatching the unit again cannot change the answer."""
        return self.redispatch_invariant

    @property
    def exit_code(self) -> int:
        if self.reason is None:
            return 0
        return EXIT_CODES[self.reason]


def judge(evidence: Evidence) -> Verdict:
    """Decide whether a unit may be taken; of several holds the first in precedence counts."""
    for reason, held, because in _holds(evidence):
        if held:
            if isinstance(held, str):
                detail = f"{because}: {held}"
            else:
                detail = because
            return Verdict(held=True, reason=reason, evidence=detail, unit=evidence.unit)
    return Verdict(held=False, unit=evidence.unit)


def _holds(evidence: Evidence) -> tuple[tuple[Answer, Flag, str], ...]:
    """Each possible hold with whether it applies, and its sentence for people."""
    is_draft = evidence.plan_class.strip().upper() == "DRAFT"
    until_ms = evidence.cooldown_until_ms
    is_cooling = until_ms > 0 and evidence.now_ms < until_ms
    until = format_local_time(utc_datetime(until_ms), utc_datetime(evidence.now_ms))
    claimed = evidence.soft_claimed_elsewhere
    return (
        (Answer.SHIPPED, evidence.shipped, "it has shipped"),
        (Answer.UNPARSEABLE, evidence.unparseable, "its text in the plan cannot be read"),
        (Answer.IN_FLIGHT, evidence.in_flight, "a run works on it"),
        (Answer.SOFT_CLAIMED_ELSEWHERE, claimed, "another packet has claimed it"),
        (Answer.STALE_CLAIM, evidence.stale_claim, "it is claimed by a run that has ended"),
        (Answer.DRAFT_CLASS, is_draft, "its plan is a draft"),
        (Answer.OPERATOR_GATED, evidence.operator_gated, "a person decides"),
        (Answer.SOAK_OPEN, evidence.soak_open, "its soak period has not ended"),
        (Answer.DEPENDENCY_UNMET, evidence.dependency_unmet, "a dependency has not shipped"),
        (Answer.COOLDOWN, is_cooling, f"on cooldown until {until} after an attempt"),
    )


def evidence(state: Mapping[str, Any] | None, *, unit: str = "", now_ms: int = 0) -> Evidence:
    """Evidence from a caller's JSON. A missing key is false, an unknown one is ignored."""
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
    """A flag from JSON; a text is kept, for people."""
    if isinstance(value, str) and value:
        return quote(value)
    return bool(value)


def _milliseconds(value: object) -> int:
    """A moment from JSON; 0 for what is none."""
    if not isinstance(value, int | float | str):
        return 0
    try:
        return min(int(value), _LATEST_MS)
    except (ValueError, OverflowError):
        return 0
