"""Why no worker is on a lane or a unit right now: one value that every surface prints.

`dos status`, `dos top`, the report and every question show these waits, so they cannot disagree.
Of several waits the one that clears last comes first: clearing another one changes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from dos.text import join_some, plural
from dos.times import format_local_time

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
    HOST_FULL = "host_full"  # the fleet runs as many workers as it may
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
    WaitsOn.REGION_HELD: "lane busy",
    WaitsOn.EXCLUSIVE: "exclusive lane",
    WaitsOn.HOST_FULL: "no free worker",
    WaitsOn.JOURNAL_AWAY: "journal unavailable",
    WaitsOn.UNKNOWN: "unknown",
}
# The titles of lists of units, where the title of one wait would not fit several.
_HEADINGS = {
    WaitsOn.PERSON: "Waiting for you",
    WaitsOn.GATE: "Held by their plans",
    WaitsOn.DEPENDENCY: "Waiting for other units",
    WaitsOn.LANDING: "Waiting to land",
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

    @property
    def is_probed(self) -> bool:
        """Whether a run tests the provider that it waits for, so that it may clear any moment."""
        is_of_provider = self.on in (WaitsOn.LIMIT, WaitsOn.LOGIN)
        return is_of_provider and self.until is None and not self.clears_with

    @property
    def is_left_to_person(self) -> bool:
        """Whether it waits until a person starts it again, and no question asks about that.

        A halted lane is one of these, and a unit that a person decided to leave.
        """
        return self.on is WaitsOn.PERSON and not self.question

    def __str__(self) -> str:
        """The wait for people: what it is, until when, why.

        Where a person has to act and is asked nothing, the wait's own words say what it is.
        """
        text = self.brief
        if self.why and not self.is_left_to_person:
            text += f": {self.why}"
        return text

    @property
    def title(self) -> str:
        """What it is, without until when and why: `provider limit`."""
        return _TITLES[self.on]

    @property
    def brief(self) -> str:
        """What it is and until when, without why: `provider limit until 18:38`."""
        if self.is_left_to_person and self.why:
            return self.why
        text = self.title
        if self.until:
            text += f" until {format_local_time(self.until)}"
        return text


Waits = tuple[Waiting, ...]


def by_clearing_time(found: Iterable[Waiting]) -> Waits:
    """Each wait once, the one that clears last first.

    One without a known end is the last to clear, except a limit that is tested now: it is the
    first.
    """
    return tuple(sorted(dict.fromkeys(found), key=_clearing))


def _clearing(waiting: Waiting) -> tuple[bool, float, int]:
    """The sort key: no known end first, then the latest end, then the order of causes."""
    until = waiting.until.timestamp() if waiting.until else 0.0
    if waiting.is_probed:
        return True, 0.0, _ORDER[waiting.on]
    return waiting.until is not None, -until, _ORDER[waiting.on]


def clears_first(found: Iterable[Waits], now: datetime) -> Waits:
    """The waits of that subject, of several of which any would do, that is likely free first.

    What a person can clear comes before what takes longer than a day.
    """

    def likelihood(waits: Waits) -> tuple[int, float]:
        if not waits:
            return 0, 0.0
        last = waits[0]
        if last.is_probed:
            return 1, 0.0
        if last.until is None:
            return 2 if last.clears_with else 4, 0.0
        is_soon = last.until - now <= SOON
        return 1 if is_soon else 3, last.until.timestamp()

    return min(found, key=likelihood, default=())


def describe_waits(waits: Sequence[Waiting]) -> str:
    """The first wait with what to type, then briefly the others."""
    first = waits[0]
    return str(first) + _command(first) + describe_other_waits(waits)


def describe_other_waits(waits: Sequence[Waiting]) -> str:
    """All waits but the first, as the end of a sentence; empty where there is only one."""
    others = waits[1:]
    if not others:
        return ""
    reasons = plural(len(others), "more reason")
    return f"; {reasons}: {join_some([wait.brief for wait in others], MOST_SHOWN)}"


def _command(waiting: Waiting) -> str:
    """The command that clears a wait, as the end of a sentence; empty where there is none."""
    if not waiting.clears_with:
        return ""
    if waiting.is_left_to_person:
        return f"; `{waiting.clears_with}` starts it again"
    return f"; {waiting.clears_with}"


def describe_remaining_units(units: Mapping[str, Waits]) -> str:
    """How many units are left when no worker runs any more, and what they wait for.

    The units are listed by what their first wait is for, each with why and what to type.
    """
    by_cause: dict[WaitsOn, list[str]] = {}
    free = []
    for name, waits in units.items():
        if waits:
            by_cause.setdefault(waits[0].on, []).append(_describe_unit(name, waits[0]))
        else:
            free.append(name)
    sentences = [f"{plural(len(units), 'unit')} left."]
    for on in WaitsOn:
        if on in by_cause:
            heading = _HEADINGS.get(on, _TITLES[on].capitalize())
            sentences.append(f"{heading}: {join_some(by_cause[on], MOST_SHOWN)}.")
    if free:
        sentences.append(f"Can be started: {join_some(free, MOST_SHOWN)}.")
    return " ".join(sentences)


def _describe_unit(name: str, waiting: Waiting) -> str:
    """A unit with what is known of its wait in brackets."""
    known = []
    if waiting.until:
        known.append(f"until {format_local_time(waiting.until)}")
    if waiting.why:
        known.append(waiting.why)
    detail = ": ".join(known) + _command(waiting)
    if not detail:
        return name
    return f"{name} ({detail.removeprefix('; ')})"


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
