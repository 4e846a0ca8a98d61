"""Whose budget it is: the fleet's of one day, a lane's of one day, a run's, or that of one of its iterations.

Events and JSON hold it as a scope and a word, such as `lane` and `2027-01-15/api`. Only this module writes and reads
that word.
"""

from enum import StrEnum
from typing import ClassVar

from msgspec import Struct


class Scope(StrEnum):
    ITERATION = "iteration"
    RUN = "run"
    LANE = "lane"  # of one day
    DAY = "day"  # of the whole fleet


class Iteration(Struct, frozen=True, kw_only=True, tag="iteration"):
    scope: ClassVar[Scope] = Scope.ITERATION
    run_id: str
    number: int

    @property
    def owner(self) -> str:
        return self.run_id

    def __str__(self) -> str:
        return f"{self.run_id}/{self.number}"


class RunAccount(Struct, frozen=True, kw_only=True, tag="run"):
    scope: ClassVar[Scope] = Scope.RUN
    run_id: str

    @property
    def owner(self) -> str:
        return self.run_id

    def __str__(self) -> str:
        return self.run_id


class LaneDay(Struct, frozen=True, kw_only=True, tag="lane"):
    scope: ClassVar[Scope] = Scope.LANE
    day: str
    lane: str

    @property
    def owner(self) -> str:
        return self.day

    def __str__(self) -> str:
        return f"{self.day}/{self.lane}"


class Day(Struct, frozen=True, kw_only=True, tag="day"):
    scope: ClassVar[Scope] = Scope.DAY
    day: str

    @property
    def owner(self) -> str:
        return self.day

    def __str__(self) -> str:
        return self.day


Account = Iteration | RunAccount | LaneDay | Day


def parse(scope: str, word: str) -> Account:
    """The account that `str` made the word of. Raises ValueError for a scope or a word that no account has."""
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
