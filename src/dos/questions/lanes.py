"""Questions about a lane that nobody works on: its workers died, its run stopped, or its units failed."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from msgspec import Struct, convert, structs

from dos.backlog.waiting import WaitsOn
from dos.choices import ChoiceName
from dos.questions import subject
from dos.questions.question import (
    Choice,
    ClearLane,
    Consequence,
    Question,
    Record,
    SetAside,
    clear_units,
    question_id,
)
from dos.text import join_some, plural

_WORKED_ON = "the lane is worked on again"
_STAYS = "it stays as it is until the next `dos up`"


class LaneFailed(Question, frozen=True, kw_only=True):
    """The workers of a lane keep dying."""

    about: ClassVar[str] = "lane_failed"
    waits_on: ClassVar[WaitsOn] = WaitsOn.START_FAILED
    detail_keys: ClassVar[tuple[str, ...]] = ("lane", "reason")
    lane: str
    reason: str = ""

    @classmethod
    def ask(cls, lane: str, reason: str, *, ordinal: int = 1) -> Self:
        """`ordinal` counts how often the lane was given up on."""
        return cls(
            id=question_id(cls.about, lane, ordinal),
            text=f"The workers of lane {lane} keep dying: {reason}. What now?",
            waits=(subject.Lane(lane),),
            until_start=True,
            lane=lane,
            reason=reason,
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        return (
            Choice(
                name=ChoiceName.RETRY,
                meaning=_WORKED_ON,
                releases=True,
                effects=(ClearLane(lane=self.lane),),
            ),
            Choice(name=ChoiceName.LEAVE, meaning=_STAYS),
        )

    @property
    def otherwise(self) -> str:
        return ChoiceName.RETRY


class FailedUnit(Struct, frozen=True, kw_only=True):
    """A unit that was tried in vain."""

    unit: str = ""
    tries: int = 1
    why: str = ""  # the last reason
    text: str = ""  # its fingerprint: once it is rewritten, the question is not about it any more

    def __str__(self) -> str:
        last = f", last: {self.why}" if self.why else ""
        return f"{self.unit} ({plural(self.tries, 'attempt')}{last})"


class _StoppedRun(Question, frozen=True, kw_only=True):
    """The last run of a lane stopped for a reason that only a person can clear, and the lane has work.

    `failed` are units that were tried in vain: whoever answers `retry` wants them to be tried.
    """

    about: ClassVar[str] = "lane_stopped"
    lane: str
    run_id: str
    failed: tuple[FailedUnit, ...] = ()

    @classmethod
    def id_of(cls, run_id: str) -> str:
        return question_id(cls.about, run_id, 1)

    @classmethod
    def fields_of(cls, record: Record) -> dict[str, Any]:
        told = convert(record.detail.get("units", {}), dict[str, FailedUnit])
        failed = [structs.replace(each, unit=unit) for unit, each in told.items()]
        return {**super().fields_of(record), "failed": failed}

    @property
    def otherwise(self) -> str:
        return ChoiceName.RETRY

    @property
    def settled_choice(self) -> str:
        return ChoiceName.LEAVE

    @property
    def units(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*super().units, *(each.unit for each in self.failed)]))

    @property
    def detail(self) -> dict[str, Any]:
        units = {
            each.unit: {"tries": each.tries, "why": each.why, "text": each.text}
            for each in self.failed
        }
        return {**super().detail, "units": units}

    def unit_fingerprint(self, unit: str) -> str:
        return next((each.text for each in self.failed if each.unit == unit), "")

    def _retry(self, meaning: str) -> Choice:
        brings: tuple[Consequence, ...] = (
            ClearLane(lane=self.lane),
            *clear_units(self.units, self.lane),
        )
        return Choice(name=ChoiceName.RETRY, meaning=meaning, releases=True, effects=brings)


class LaneStopped(_StoppedRun, frozen=True, kw_only=True):
    """The lane itself waits."""

    detail_keys: ClassVar[tuple[str, ...]] = ("lane", "run_id", "reason")
    reason: str = ""

    @classmethod
    def ask(cls, lane: str, run_id: str, reason: str, failed: Sequence[FailedUnit] = ()) -> Self:
        return cls(
            id=cls.id_of(run_id),
            text=f"Lane {lane} stopped and has work left: {reason}. What now?",
            waits=(subject.Lane(lane),),
            until_start=True,
            lane=lane,
            run_id=run_id,
            reason=reason,
            failed=tuple(failed),
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        return (self._retry(_WORKED_ON), Choice(name=ChoiceName.LEAVE, meaning=_STAYS))


class UnitsFailed(_StoppedRun, frozen=True, kw_only=True):
    """These units failed one after the other. They wait; the lane's other units do not."""

    detail_keys: ClassVar[tuple[str, ...]] = ("lane", "run_id")

    @classmethod
    def ask(cls, lane: str, run_id: str, failed: Sequence[FailedUnit]) -> Self:
        shown = str(failed[0])
        them = "it"
        if len(failed) > 1:
            shown = f"{len(failed)} units: {join_some([str(each) for each in failed])}"
            them = "them"
        return cls(
            id=cls.id_of(run_id),
            text=f"Lane {lane} tried and did not land {shown}. Retry, or leave {them}?",
            waits=tuple(subject.Unit(each.unit) for each in failed),
            until_start=True,
            lane=lane,
            run_id=run_id,
            failed=tuple(failed),
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        they = "it is" if len(self.units) == 1 else "they are"
        left = (
            f"{they} not tried again until the next `dos up`; the lane's other units are worked on"
        )
        return (
            self._retry(f"{they} tried again now, without waiting for the end of the cooldown"),
            Choice(name=ChoiceName.LEAVE, meaning=left, sets_aside=SetAside.UNTIL_START_OR_CHANGE),
        )
