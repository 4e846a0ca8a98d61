"""Why no worker is on a lane or a unit right now: one value that every surface prints.

`dos status`, `dos top`, the report and every question show these waits, so they cannot disagree.
Of several waits the one that clears last comes first: clearing another one changes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from dos.text import join_some, plural
from dos.times import utc_stamp

SOON = timedelta(days=1)
MOST_SHOWN = 3  # units of those that wait for the same


class WaitsOn(StrEnum):
    """What has to change. Reasons without a known end are shown in this order."""

    PERSON = "person"  # an answer
    LOGIN = "login"  # no user is logged in to the agent program
    START_FAILED = "start_failed"  # workers of the lane die when they start
    ENVIRONMENT = "environment"  # the workspace's own setup or test
    BUDGET = "budget"
    LIMIT = "limit"  # of a provider
    PAUSE = "pause"
    PLAN_PROBLEM = "plan_problem"  # a plan cannot be read
    NO_LANE = "no_lane"  # no worker is ever placed on the unit's lane
    GATE = "gate"  # a draft, or gated in its plan
    SOAK = "soak"
    DEPENDENCY = "dependency"  # another unit has to land first
    COOLDOWN = "cooldown"
    LANDING = "landing"  # the work is done, and waits to land
    REGION_HELD = "region_held"  # the lane is held, or one that overlaps it is
    EXCLUSIVE = "exclusive"  # it runs alone, or another lane does
    HOST_FULL = "host_full"  # as many workers as wanted are at work
    JOURNAL_AWAY = "journal_away"
    UNKNOWN = "unknown"  # what would show it could not be read


_TITLES = {
    WaitsOn.PERSON: "needs an answer",
    WaitsOn.LOGIN: "not logged in",
    WaitsOn.START_FAILED: "workers fail to start",
    WaitsOn.ENVIRONMENT: "environment not ready",
    WaitsOn.BUDGET: "budget spent",
    WaitsOn.LIMIT: "provider limit",
    WaitsOn.PAUSE: "paused",
    WaitsOn.PLAN_PROBLEM: "problem in a plan",
    WaitsOn.NO_LANE: "no lane",
    WaitsOn.GATE: "held by its plan",
    WaitsOn.SOAK: "soaking",
    WaitsOn.DEPENDENCY: "waits for another unit",
    WaitsOn.COOLDOWN: "on cooldown",
    WaitsOn.LANDING: "waits to land",
    WaitsOn.REGION_HELD: "region held",
    WaitsOn.EXCLUSIVE: "exclusive lane",
    WaitsOn.HOST_FULL: "no free worker",
    WaitsOn.JOURNAL_AWAY: "journal unavailable",
    WaitsOn.UNKNOWN: "unknown",
}
# Only a person clears these: a lane that waits for one of them waits until then.
_CLEARED_BY_PEOPLE = frozenset(
    {
        WaitsOn.PERSON,
        WaitsOn.LOGIN,
        WaitsOn.START_FAILED,
        WaitsOn.ENVIRONMENT,
        WaitsOn.BUDGET,
        WaitsOn.LIMIT,
    }
)
_ORDER = {on: number for number, on in enumerate(WaitsOn)}


class Waiting(Struct, frozen=True, kw_only=True):
    """One reason why no worker is on a lane or a unit right now."""

    on: WaitsOn
    subject: str  # the lane or the unit that it is about
    why: str = ""  # in words
    since: datetime | None = None
    until: datetime | None = None  # None: it cannot be known
    clears_with: str = ""  # a command that can be typed; empty: it clears by itself
    question: str = ""  # the id of the open question that holds it

    @property
    def needs_person(self) -> bool:
        """Whether only a person can clear it."""
        return bool(self.question) or (
            self.on in _CLEARED_BY_PEOPLE and self.until is None and bool(self.clears_with)
        )

    def __str__(self) -> str:
        """The wait for people: what it is, until when, why."""
        until = f" until {utc_stamp(int(self.until.timestamp() * 1000))}" if self.until else ""
        why = f": {self.why}" if self.why else ""
        return f"{_TITLES[self.on]}{until}{why}"


Waits = tuple[Waiting, ...]


def by_clearing_time(found: Iterable[Waiting]) -> Waits:
    """Each wait once, the one that clears last first; one without a known end is the last."""
    return tuple(sorted(dict.fromkeys(found), key=_clearing))


def _clearing(waiting: Waiting) -> tuple[bool, float, int]:
    """The sort key: no known end first, then the latest end, then the order of causes."""
    until = waiting.until.timestamp() if waiting.until else 0.0
    return waiting.until is not None, -until, _ORDER[waiting.on]


def clears_first(found: Iterable[Waits], now: datetime) -> Waits:
    """The waits of that subject, of several of which any would do, that is likely free first.

    What a person can clear comes before what takes longer than a day.
    """

    def likelihood(waits: Waits) -> tuple[int, float]:
        if not waits:
            return 0, 0.0
        last = waits[0]
        if last.until is None:
            return 2 if last.clears_with else 4, 0.0
        is_soon = last.until - now <= SOON
        return 1 if is_soon else 3, last.until.timestamp()

    return min(found, key=likelihood, default=())


def describe_waits(waits: Sequence[Waiting]) -> str:
    """The first wait, how many more there are, and what to type."""
    first = waits[0]
    more = f" (and {len(waits) - 1} more)" if len(waits) > 1 else ""
    command = f"; {first.clears_with}" if first.clears_with else ""
    return f"{first}{more}{command}"


def _detail(waiting: Waiting) -> str:
    """Why a unit waits, and the command that clears it."""
    command = f"; {waiting.clears_with}" if waiting.clears_with else ""
    return f"{waiting.why or waiting.subject}{command}"


def describe_remaining_units(units: Mapping[str, Waits]) -> str:
    """How many units are left when no worker runs any more, and what they wait for."""
    by_cause: dict[WaitsOn, list[str]] = {}
    free = []
    for name, waits in units.items():
        if waits:
            by_cause.setdefault(waits[0].on, []).append(f"{name}: {_detail(waits[0])}")
        else:
            free.append(name)
    parts = []
    for on in WaitsOn:
        if on in by_cause:
            details = by_cause[on]
            parts.append(f"{len(details)} {_TITLES[on]} ({join_some(details, MOST_SHOWN)})")
    if free:
        parts.append(f"{len(free)} can be started ({join_some(free, MOST_SHOWN)})")
    return f"{plural(len(units), 'unit')} left: {'; '.join(parts)}"


class FleetWaits(Struct, frozen=True, kw_only=True):
    """What each lane with work and each unit that has not landed waits for; empty: for nothing."""

    lanes: dict[str, Waits] = {}
    units: dict[str, Waits] = {}

    def waits_besides(
        self, question: str, *, lanes: Iterable[str] = (), units: Iterable[str] = ()
    ) -> Waits:
        """What these lanes and units wait for besides the answer to a question."""
        waits: list[Waiting] = []
        for lane in lanes:
            waits += self.lanes.get(lane, ())
        for unit in units:
            waits += self.units.get(unit, ())
        return by_clearing_time(wait for wait in waits if wait.question != question)

    def all_waits(self) -> list[Waiting]:
        """Every wait once, those that clear last first."""
        waits: list[Waiting] = []
        for subject_waits in (*self.lanes.values(), *self.units.values()):
            waits += subject_waits
        return list(by_clearing_time(waits))
