"""What does a supervisor find when it comes, and what becomes of each? And what is left when it goes?"""

from collections.abc import Collection, Sequence
from enum import StrEnum

from msgspec import Struct

from dos.records import reasons
from dos.records.names import counted, listed
from dos.records.reasons import ClearsBy

MOST_TOLD = 3  # units of those that wait for the same


class Left(Struct, frozen=True, kw_only=True):
    """A lane on which a worker was at work when the journal was last written."""

    lane: str
    holder: str = ""  # who has the lease; empty: nobody
    process_gone: bool = False  # by the system's word
    iterations: int = 0  # the last one that its run committed
    unit: str = ""  # begun, and not committed
    landed: bool = False  # the unit is on the target branch, or its landing was under way


class Found(Struct, frozen=True, kw_only=True):
    adopted: list[str]
    fenced: list[str]
    resumed: list[str]
    repeated: list[str]
    skipped: list[str]

    @property
    def is_empty(self) -> bool:
        return not (self.adopted or self.fenced or self.resumed or self.repeated or self.skipped)


def plan(left: Collection[Left]) -> Found:
    dead = [each for each in left if not each.holder or each.process_gone]
    return Found(
        adopted=[f"{each.lane}: {each.holder}" for each in left if each.holder and not each.process_gone],
        fenced=[f"{each.lane}: {each.holder} is gone" for each in left if each.holder and each.process_gone],
        resumed=[f"{each.lane}: after iteration {each.iterations}" for each in dead if each.iterations],
        repeated=[each.unit for each in dead if each.unit and not each.landed],
        skipped=[each.unit for each in dead if each.unit and each.landed],
    )


class WaitsFor(StrEnum):
    PERSON = "a person"
    UNIT = "another unit"
    TIME = "time"


class Unfinished(Struct, frozen=True, kw_only=True):
    """A unit that has not landed when nobody works any more."""

    unit: str
    waits_for: WaitsFor
    why: str


_CLEARED_BY = {ClearsBy.TIME: WaitsFor.TIME, ClearsBy.OTHER_WORKER: WaitsFor.UNIT}


def cleared_by(hold: str) -> WaitsFor:
    """Who can lift what holds a unit."""
    row = reasons.find(hold)
    return _CLEARED_BY.get(row.clears_by, WaitsFor.PERSON) if row else WaitsFor.PERSON


def told(left: Sequence[Unfinished]) -> str:
    """How many units are left, and what they wait for."""
    parts = []
    for waits_for in WaitsFor:
        units = [f"{each.unit}: {each.why}" for each in left if each.waits_for is waits_for]
        if units:
            verb = "waits" if len(units) == 1 else "wait"
            parts.append(f"{len(units)} {verb} for {waits_for} ({listed(units, MOST_TOLD)})")
    return f"{counted(len(left), 'unit')} left: {'; '.join(parts)}"
