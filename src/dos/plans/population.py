"""Which lanes get a worker, whose lease is taken back, and which lane is given up on?"""

from collections.abc import Sequence

from msgspec import Struct

from dos.records import regions
from dos.records.regions import Region

MOST_STARTS = 3  # of one lane within the period, then it is a person's decision


class Lane(Struct, frozen=True, kw_only=True):
    """A lane of the roster, as seen now."""

    name: str
    region: Region
    exclusive: bool = False
    offerable: int = 0  # units that a worker could take
    held: bool = False  # somebody has a lease on it that has not lapsed
    ours: bool = True  # a worker holds it; a person's lease keeps the region and fills no place
    holder_gone: bool = False  # the lease is there and its process, by the system's word, is not
    pending: bool = False  # a worker was started and has no lease yet
    failed: bool = False  # given up on until a person clears it
    resting: bool = False  # its last run was told to wait, and it has not waited long enough
    recent_starts: int = 0  # of workers that ended without a word


class Spawn(Struct, frozen=True, tag="spawn"):
    lane: str


class Reap(Struct, frozen=True, tag="reap"):
    lane: str
    reason: str


class GiveUp(Struct, frozen=True, tag="give_up"):
    lane: str
    reason: str


Action = Spawn | Reap | GiveUp


def plan(lanes: Sequence[Lane], target: int) -> list[Action]:
    """Reap the dead, then fill up to the target with lanes that meet nothing held, nothing pending, nothing chosen."""
    actions: list[Action] = [Reap(lane.name, "its process is gone") for lane in lanes if lane.held and lane.holder_gone]
    taken = [lane for lane in lanes if (lane.held and not lane.holder_gone) or lane.pending]
    wanted = target - sum(lane.ours for lane in taken)
    for lane in lanes:
        if lane.held or lane.pending or lane.failed or lane.resting or not lane.offerable:
            continue
        if lane.recent_starts >= MOST_STARTS:
            actions.append(GiveUp(lane.name, f"{lane.recent_starts} workers died within a minute; their logs say why"))
        elif wanted > 0 and _fits(lane, taken):
            actions.append(Spawn(lane.name))
            taken.append(lane)
            wanted -= 1
    return actions


def _fits(lane: Lane, taken: Sequence[Lane]) -> bool:
    if any(other.exclusive for other in taken) or (lane.exclusive and taken):
        return False
    return all(regions.disjoint(lane.region, other.region) for other in taken)
