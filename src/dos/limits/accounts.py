"""Whose budget it is, what it counts, and how people read both.

An account is the fleet's or a lane's of one day, a run's, or one of its iterations.

Events and JSON hold an account as a scope and a word, such as `lane` and `2027-01-15/api`. Only
this module writes and reads that word.
"""

from enum import StrEnum
from typing import ClassVar

from msgspec import Struct


class Scope(StrEnum):
    """The kinds of accounts, as events and settings name them."""

    ITERATION = "iteration"
    RUN = "run"
    LANE = "lane"  # of one day
    DAY = "day"  # of the whole fleet


class Iteration(Struct, frozen=True, kw_only=True, tag="iteration"):
    """One iteration of a run."""

    scope: ClassVar[Scope] = Scope.ITERATION
    run_id: str
    number: int

    @property
    def owner(self) -> str:
        return self.run_id

    @property
    def words(self) -> str:
        return f"iteration {self.number} of run {self.run_id}"

    def __str__(self) -> str:
        return f"{self.run_id}/{self.number}"


class RunAccount(Struct, frozen=True, kw_only=True, tag="run"):
    """A whole run."""

    scope: ClassVar[Scope] = Scope.RUN
    run_id: str

    @property
    def owner(self) -> str:
        return self.run_id

    @property
    def words(self) -> str:
        return f"run {self.run_id}"

    def __str__(self) -> str:
        return self.run_id


class LaneDay(Struct, frozen=True, kw_only=True, tag="lane"):
    """One lane, on one day in UTC."""

    scope: ClassVar[Scope] = Scope.LANE
    day: str
    lane: str

    @property
    def owner(self) -> str:
        return self.day

    @property
    def words(self) -> str:
        return f"lane {self.lane} on {self.day}"

    def __str__(self) -> str:
        return f"{self.day}/{self.lane}"


class Day(Struct, frozen=True, kw_only=True, tag="day"):
    """The whole fleet, on one day in UTC."""

    scope: ClassVar[Scope] = Scope.DAY
    day: str

    @property
    def owner(self) -> str:
        return self.day

    @property
    def words(self) -> str:
        return f"the fleet on {self.day}"

    def __str__(self) -> str:
        return self.day


Account = Iteration | RunAccount | LaneDay | Day


def describe(scope: str, word: str) -> str:
    """The account of an event in words; the scope and the word for one that cannot be read."""
    try:
        return parse(scope, word).words
    except ValueError:
        return f"{scope} {word}"


def parse(scope: str, word: str) -> Account:
    """The account of a scope and a word, the inverse of `str`. Raises ValueError for no account."""
    owner, _, part = word.partition("/")
    match Scope(scope):
        case Scope.ITERATION:
            return Iteration(run_id=owner, number=int(part))
        case Scope.RUN:
            return RunAccount(run_id=word)
        case Scope.LANE:
            return LaneDay(day=owner, lane=part)
        case Scope.DAY:
            return Day(day=word)


class Measure(StrEnum):
    """What a budget counts."""

    USD = "usd"
    TOKENS = "tokens"
    WALL_MINUTES = "wall_minutes"
    ITERATIONS = "iterations"


_UNITS: dict[str, str] = {
    Measure.TOKENS: "tokens",
    Measure.WALL_MINUTES: "minutes",
    Measure.ITERATIONS: "iterations",
}


def dollars(usd: float) -> str:
    """An amount of money, such as `$1,204.50`; below a cent with the digits that count."""
    if 0 < usd < 0.01:
        return f"${usd:.2g}"
    return f"${usd:,.2f}"


def format_amount(amount: float, measure: str) -> str:
    """An amount with its unit, such as `$5.00`, `120,000 tokens` or `90 minutes`."""
    if measure == Measure.USD:
        return dollars(amount)
    return f"{_number(amount)} {_UNITS.get(measure, measure)}"


def format_share(amount: float, limit: float, measure: str) -> str:
    """What is used of a limit, such as `$4.20 of $5.00` or `3 of 8 iterations`."""
    if measure == Measure.USD:
        return f"{dollars(amount)} of {dollars(limit)}"
    return f"{_number(amount)} of {format_amount(limit, measure)}"


def _number(amount: float) -> str:
    """A count with at most one digit behind the point."""
    if amount == int(amount):
        return f"{amount:,.0f}"
    return f"{amount:,.1f}"
