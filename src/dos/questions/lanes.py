"""Questions about a lane that stopped: its workers died, its run stopped, or its units failed."""

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
from dos.text import join_some

_RESTART_LANE = "start workers on the lane again"
_KEEP_STOPPED = "keep the lane stopped until the next `dos up`"


class LaneFailed(Question, frozen=True, kw_only=True):
    """The workers of a lane died several times in a row, and no more of them are started."""

    about: ClassVar[str] = "lane_failed"
    waits_on: ClassVar[WaitsOn] = WaitsOn.START_FAILED
    detail_keys: ClassVar[tuple[str, ...]] = ("lane", "reason")
    lane: str
    reason: str = ""

    @classmethod
    def ask(cls, lane: str, reason: str, *, ordinal: int = 1) -> Self:
        """Return the question. `ordinal` counts how often the supervisor disabled the lane."""
        return cls(
            id=question_id(cls.about, lane, ordinal),
            text=f"Lane {lane} is disabled because its workers keep dying: {reason}."
            " Retry, or leave it?",
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
                meaning=_RESTART_LANE,
                releases=True,
                effects=(ClearLane(lane=self.lane),),
            ),
            Choice(name=ChoiceName.LEAVE, meaning=_KEEP_STOPPED),
        )

    @property
    def otherwise(self) -> str:
        """A start retries every lane."""
        return ChoiceName.RETRY


class FailedUnit(Struct, frozen=True, kw_only=True):
    """A unit that was tried and did not land."""

    unit: str = ""
    tries: int = 1
    why: str = ""  # why the last attempt did not land
    text: str = ""  # the unit's fingerprint: the question ends once the unit is rewritten

    def __str__(self) -> str:
        """The unit among others that failed: `A/A1 (3 times, last: no commit was made)`."""
        last = f", last: {self.why}" if self.why else ""
        return f"{self.unit} ({self.times}{last})"

    @property
    def times(self) -> str:
        """How often it was tried, in words."""
        if self.tries == 1:
            return "once"
        return f"{self.tries} times"


class _StoppedRun(Question, frozen=True, kw_only=True):
    """The last run of a lane stopped for a reason that only a person can clear, and work is left.

    `failed` are the units that did not land. Answering `retry` clears their cooldowns.
    """

    about: ClassVar[str] = "lane_stopped"
    lane: str
    run_id: str
    failed: tuple[FailedUnit, ...] = ()

    @classmethod
    def id_of(cls, run_id: str) -> str:
        """The id of the one question about this run."""
        return question_id(cls.about, run_id, 1)

    @classmethod
    def fields_of(cls, record: Record) -> dict[str, Any]:
        """The failed units are stored by name under `units`."""
        stored = convert(record.detail.get("units", {}), dict[str, FailedUnit])
        failed = [structs.replace(entry, unit=unit) for unit, entry in stored.items()]
        return {**super().fields_of(record), "failed": failed}

    @property
    def otherwise(self) -> str:
        """A start retries every lane, except for units that are still on cooldown."""
        return ChoiceName.RETRY

    @property
    def settled_choice(self) -> str:
        """A lane whose cause is gone needs no retry."""
        return ChoiceName.LEAVE

    @property
    def units(self) -> tuple[str, ...]:
        """The units that wait, and those that a retry would start."""
        failed = [entry.unit for entry in self.failed]
        return tuple(dict.fromkeys([*super().units, *failed]))

    @property
    def detail(self) -> dict[str, Any]:
        """The stored fields, with the failed units by name."""
        units = {
            entry.unit: {"tries": entry.tries, "why": entry.why, "text": entry.text}
            for entry in self.failed
        }
        return {**super().detail, "units": units}

    def unit_fingerprint(self, unit: str) -> str:
        """The fingerprint of a failed unit when it was tried last."""
        for entry in self.failed:
            if entry.unit == unit:
                return entry.text
        return ""

    def _retry(self, meaning: str) -> Choice:
        """The choice that clears the lane's stop and the cooldowns of its units."""
        effects: tuple[Consequence, ...] = (
            ClearLane(lane=self.lane),
            *clear_units(self.units, self.lane),
        )
        return Choice(name=ChoiceName.RETRY, meaning=meaning, releases=True, effects=effects)


class LaneStopped(_StoppedRun, frozen=True, kw_only=True):
    """The run stopped, and the whole lane waits for the answer."""

    detail_keys: ClassVar[tuple[str, ...]] = ("lane", "run_id", "reason")
    reason: str = ""

    @classmethod
    def ask(cls, lane: str, run_id: str, reason: str, failed: Sequence[FailedUnit] = ()) -> Self:
        """Return the question about a run that stopped with work left."""
        return cls(
            id=cls.id_of(run_id),
            text=f"Lane {lane} stopped with work left: {reason}. Retry, or leave it?",
            waits=(subject.Lane(lane),),
            until_start=True,
            lane=lane,
            run_id=run_id,
            reason=reason,
            failed=tuple(failed),
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        return (
            self._retry(_RESTART_LANE),
            Choice(name=ChoiceName.LEAVE, meaning=_KEEP_STOPPED),
        )


class UnitsFailed(_StoppedRun, frozen=True, kw_only=True):
    """Units failed one after the other. They wait for the answer; the lane's other units do not."""

    detail_keys: ClassVar[tuple[str, ...]] = ("lane", "run_id")

    @classmethod
    def ask(cls, lane: str, run_id: str, failed: Sequence[FailedUnit]) -> Self:
        """Return the question about units that were tried and did not land."""
        if len(failed) == 1:
            (only,) = failed
            last = f" (last: {only.why})" if only.why else ""
            problem = f"{only.unit} failed {only.times} on lane {lane}{last}"
            pronoun = "it"
        else:
            units = join_some([str(entry) for entry in failed])
            problem = f"{len(failed)} units failed on lane {lane}: {units}"
            pronoun = "them"
        return cls(
            id=cls.id_of(run_id),
            text=f"{problem}. Retry, or leave {pronoun}?",
            waits=tuple(subject.Unit(entry.unit) for entry in failed),
            until_start=True,
            lane=lane,
            run_id=run_id,
            failed=tuple(failed),
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        """`retry` ends the cooldowns; `leave` sets the units aside until the next start."""
        is_one = len(self.units) == 1
        pronoun = "it" if is_one else "them"
        cooldown = "its cooldown lasts" if is_one else "their cooldowns last"
        return (
            self._retry(f"try {pronoun} again now, without waiting for the cooldown"),
            Choice(
                name=ChoiceName.LEAVE,
                meaning=f"skip {pronoun} until the next `dos up`, and for as long as {cooldown};"
                " the lane's other units continue",
                sets_aside=SetAside.UNTIL_START_OR_CHANGE,
            ),
        )
