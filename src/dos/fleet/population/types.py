"""The records of the population plan: its evidence, its policy and its verdict.

In JSON each record is an object of its fields. An absent field has its default, and an unknown one
is an error.
"""

from datetime import timedelta
from enum import StrEnum
from math import isfinite
from typing import Any

from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import force_setattr

from dos.backlog.waiting import WaitsOn
from dos.fields import (
    BadValue,
    Count,
    Milliseconds,
    Minutes,
    Positive,
    PublicRecord,
    Seconds,
    Table,
    check_text,
)
from dos.loop.verdicts import liveness


class Answer(StrEnum):
    """How many workers there are, compared with the target."""

    AT_TARGET = "AT_TARGET"
    FILLING = "FILLING"  # fewer than the target: some are started, or the plan says why not
    OVER_TARGET = "OVER_TARGET"
    TARGET_UNREACHABLE = "TARGET_UNREACHABLE"  # the lanes have no room for so many


class Disposition(StrEnum):
    """What the plan does about a lane."""

    SPAWN = "SPAWN"
    REAP = "REAP"
    FLAG = "FLAG"
    PROPOSE_HALT = "PROPOSE_HALT"
    HOLD = "HOLD"


def _check_count(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name} is {value!r}, and not a whole number from {least}")


def _tuple(given: Any) -> tuple[Any, ...]:
    if isinstance(given, str):  # would be read letter by letter
        raise ValueError(f"{given!r} stands where a list is expected")
    return tuple(given)


def _checked_age(age: Any) -> int:
    is_number = isinstance(age, int | float) and not isinstance(age, bool)
    if not is_number or not isfinite(age) or age < 0:
        raise ValueError(f"spin_halt_after_ms is {age!r}, and not a number from 0")
    return int(age)


Liveness = liveness.Answer


class LaneLiveness(PublicRecord, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A lane with the worker that holds it, if any.

    A lane that several workers hold is listed once for each of them.
    """

    lane: str
    liveness: Liveness | None = None  # None: not held
    tree: tuple[str, ...] = ()  # empty: unknown, which overlaps everything
    is_exclusive: bool = False  # runs alone
    pending: bool = False  # a worker was launched and has no lease yet
    spinning_age_ms: int | None = None  # since the last progress
    repeatable: bool = False  # several workers may be launched under this name
    off_roster: bool | UnsetType = UNSET  # it has only a lease: no worker is started on it
    why: str | UnsetType = UNSET  # what the liveness rests on
    waits: str | UnsetType = UNSET  # why no worker may be started on it now
    is_person: bool | UnsetType = UNSET  # held by a person: it is busy, and counts as no worker
    part_of: str | UnsetType = UNSET  # the repeatable lane that it is a part of

    def __post_init__(self) -> None:
        if not self.lane.strip():
            raise ValueError("a lane has no name")
        if self.repeatable and self.is_exclusive:
            raise ValueError(f"the lane {self.lane!r} cannot be repeatable and exclusive")
        if self.spinning_age_ms is not None:
            _check_count("spinning_age_ms", self.spinning_age_ms, 0)
        if self.liveness is not None and not isinstance(self.liveness, Liveness):
            force_setattr(self, "liveness", Liveness(self.liveness))
        if not isinstance(self.tree, tuple):
            force_setattr(self, "tree", _tuple(self.tree))


class SuperviseEvidence(PublicRecord, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the plan decides by: the lanes, and how many workers are wanted."""

    lanes: tuple[LaneLiveness, ...] = ()  # in the order of the roster
    target: int = 1

    def __post_init__(self) -> None:
        _check_count("target", self.target, 0)
        if not isinstance(self.lanes, tuple):
            force_setattr(self, "lanes", _tuple(self.lanes))


class SupervisePolicy(PublicRecord, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rules of the plan."""

    target: int = 1  # for the gatherer of evidence; the plan uses the evidence's target
    count_spinning_as_alive: bool = True
    reap_stalled: bool = True
    spin_halt_after_ms: int | None = None  # None: no halt is proposed
    worker_launch_template: str = "/dos-dispatch-loop --lane {lane}"
    # The most workers on one repeatable lane. None: no bound, and only parts share a lane.
    max_concurrency: int | None = None

    def __post_init__(self) -> None:
        _check_count("target", self.target, 0)
        for name in ("count_spinning_as_alive", "reap_stalled"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} is {getattr(self, name)!r}, and not true or false")
        if self.spin_halt_after_ms is not None:
            age_ms = _checked_age(self.spin_halt_after_ms)
            force_setattr(self, "spin_halt_after_ms", age_ms)
        template = self.worker_launch_template
        if not isinstance(template, str) or "{lane}" not in template:
            raise ValueError(f"worker_launch_template has no {{lane}} in it: {template!r}")
        if self.max_concurrency is not None:
            _check_count("max_concurrency", self.max_concurrency, 1)


class Supervise(Table, frozen=True, kw_only=True):
    """[supervise]: how many workers to keep alive, and what counts as one."""

    target: Count = 1
    """Number of workers that `dos up` keeps running, as far as lanes and units allow."""
    count_spinning_as_alive: bool = True
    """Count a spinning worker towards the target; false starts one on another lane beside it."""
    reap_stalled: bool = True
    """Revoke the lease of a dead worker at once; false blocks its lane until the lease expires."""
    spin_halt_after_ms: Milliseconds | None = None
    """How long a spinning worker may land nothing before a person is asked; unset: at once."""
    spin_halt_after_minutes: Minutes | None = None
    """The same as `spin_halt_after_ms`, in minutes; only one of the two may be set."""
    worker_launch_template: str = "/dos-dispatch-loop --lane {lane}"
    """Command that `dos loop` prints for a lane; `dos up` does not use it."""
    max_concurrency: Positive | None = None
    """Most workers on one repeatable lane; `dos loop` also plans so many on autopick lanes."""
    restart_intensity: Positive = 3
    """Deaths of workers of one lane within the period after which a person is asked."""
    restart_period_seconds: Seconds = 60.0
    """Period in which the deaths of a lane's workers count, by the time of their start."""
    restart_backoff_seconds: Seconds = 1.0
    """Time between starts after a death; doubles with each, up to period / (2 * intensity)."""

    def __post_init__(self) -> None:
        if self.spin_halt_after_ms is not None and self.spin_halt_after_minutes is not None:
            raise BadValue(
                ("spin_halt_after_minutes",),
                "spin_halt_after_ms and spin_halt_after_minutes say the same thing twice",
                "Keep one of the two.",
            )
        check_text(self.worker_launch_template, ("worker_launch_template",))
        if "{lane}" not in self.worker_launch_template:
            raise BadValue(
                ("worker_launch_template",),
                f"worker_launch_template has no {{lane}} in it: {self.worker_launch_template!r}",
                "Write {lane} where the name of the lane goes.",
            )

    @property
    def spin_halt_after(self) -> timedelta | None:
        """How long a worker may spin before a halt is proposed; None: not set."""
        if self.spin_halt_after_minutes is not None:
            return timedelta(milliseconds=int(self.spin_halt_after_minutes * 60_000))
        if self.spin_halt_after_ms is None:
            return None
        return timedelta(milliseconds=int(self.spin_halt_after_ms))

    def policy(
        self, *, target: int | None = None, max_concurrency: int | None = None
    ) -> SupervisePolicy:
        """Return the policy of the file; the arguments take precedence over it."""
        halt_after_ms: int | None = None
        if self.spin_halt_after is not None:
            halt_after_ms = round(self.spin_halt_after.total_seconds() * 1000)
        return SupervisePolicy(
            target=self.target if target is None else target,
            count_spinning_as_alive=self.count_spinning_as_alive,
            reap_stalled=self.reap_stalled,
            spin_halt_after_ms=halt_after_ms,
            worker_launch_template=self.worker_launch_template,
            max_concurrency=self.max_concurrency if max_concurrency is None else max_concurrency,
        )


class PlanRow(PublicRecord, frozen=True, kw_only=True):
    """What the plan does about one lane, and why."""

    lane: str
    disposition: Disposition
    reason: str


class Blocked(PublicRecord, frozen=True, kw_only=True):
    """Why a lane gets no worker although workers are missing."""

    lane: str
    reason: str


class Obstacle(Struct, frozen=True, kw_only=True):
    """Why a lane that could have a worker gets none."""

    lane: str
    waits_on: WaitsOn
    reason: str


class SuperviseVerdict(PublicRecord, frozen=True, kw_only=True):
    """The population plan."""

    answer: Answer = field(name="verdict")
    reason: str = ""
    alive: int = 0
    admissible: int = 0  # how many the lanes have room for at once
    target: int = 1
    spawn: tuple[PlanRow, ...] = ()
    reap: tuple[PlanRow, ...] = ()
    flag: tuple[PlanRow, ...] = ()
    proposed_halt: tuple[PlanRow, ...] = ()
    hold: tuple[PlanRow, ...] = ()  # the leases and launches that stay as they are
    blocked: tuple[Blocked, ...] = ()  # when workers are missing: why no other lane gets one
    evidence: SuperviseEvidence = SuperviseEvidence()

    @property
    def verdict(self) -> Answer:
        return self.answer
