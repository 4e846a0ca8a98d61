"""The parts of repeatable lanes: the paths of one unit, leased like a lane of their own.

Several workers share a repeatable lane, each on a part of it. A part is named after its lane and
its unit. Its region is what the unit declares to change, as far as that is surely inside of the
lane. A unit that declares less certain paths, or none, is worked on in the whole lane, alone.
"""

from collections.abc import Collection, Iterable
from typing import Protocol

from msgspec import structs

from dos.containment import is_surely_inside
from dos.errors import NameInvalid, RegionInvalid
from dos.fields import LONGEST_LANE_NAME
from dos.lanes.policy import PART_MARK, Lanes
from dos.regions import region
from dos.text import comparison_key, validated_name


class UnitInLane(Protocol):
    """A unit of work; `units.unit.Unit` is one."""

    @property
    def name(self) -> str: ...
    @property
    def lane(self) -> str: ...
    @property
    def paths(self) -> tuple[str, ...]: ...


class LanesWithParts(Lanes, frozen=True, kw_only=True, dict=True):
    """The lanes, in which each part counts as a lane with its own tree."""

    parts: dict[str, str]  # by name: the repeatable lane that each is a part of
    placed: frozenset[str]  # the parts that workers are placed on

    def __post_init__(self) -> None:
        """The lanes were checked as they were read, and `with_parts` checks each part."""

    def roster(self) -> list[str]:
        """The lanes that workers are placed on; a repeatable one follows its parts."""
        by_lane: dict[str, list[str]] = {}
        for part, lane in self.parts.items():
            if part in self.placed:
                by_lane.setdefault(lane, []).append(part)
        roster: list[str] = []
        for lane in super().roster():
            roster += by_lane.get(lane, ())
            roster.append(lane)
        return roster

    def whole_of(self, name: str) -> str:
        """The repeatable lane whose part has this name; empty if it is no name of a part."""
        part = self._by_folded.get(comparison_key(name.strip()), "")
        return self.parts.get(part, "") or super().whole_of(name)


def part_number(lanes: Lanes, part: str) -> int:
    """Return the place of a part among all of them, in the order of the units; 0 for another."""
    if not isinstance(lanes, LanesWithParts) or part not in lanes.parts:
        return 0
    return list(lanes.parts).index(part)


def part_name(lane: str, unit: str) -> str:
    """Return the name of the part of a lane in which a unit is worked on."""
    return f"{lane}{PART_MARK}{unit}"


def lane_of(lanes: Lanes, unit: UnitInLane) -> str | None:
    """Return the lane that a unit is worked on in: a part where it has one; None: undeclared.

    A unit that names no lane goes to the first lane of autopick.
    """
    if unit.lane:
        lane = lanes.canonical(unit.lane)
    elif lanes.autopick:
        lane = lanes.autopick[0]
    else:
        return None
    if not isinstance(lanes, LanesWithParts):
        return lane
    if lane is None or lane in lanes.parts:  # a plan cannot name a part
        return None
    part = part_name(lane, unit.name)
    return part if part in lanes.parts else lane


def with_parts(lanes: Lanes, units: Iterable[UnitInLane], *, landed: Collection[str] = ()) -> Lanes:
    """Return the lanes with the parts of the units that have one; the same where none has.

    No worker is placed on the part of a unit that has landed.
    """
    if not lanes.repeatable:
        return lanes
    shared = {lanes.canonical(name) for name in lanes.repeatable}
    parts: dict[str, str] = {}
    trees = dict(lanes.trees)
    placed = set()
    known: set[str] = set()
    for unit in units:
        lane = lane_of(lanes, unit)
        if lane is None or lane not in shared:
            continue
        part = part_name(lane, unit.name)
        is_new = comparison_key(part) not in known
        if not is_new or not _can_be_part(lanes, lane, part, unit.paths):
            continue
        known.add(comparison_key(part))
        parts[part] = lane
        trees[part] = unit.paths
        if unit.name not in landed:
            placed.add(part)
    if not parts:
        return lanes
    fields = structs.asdict(lanes)
    fields["trees"] = trees
    return LanesWithParts(**fields, parts=parts, placed=frozenset(placed))


def _can_be_part(lanes: Lanes, lane: str, part: str, paths: tuple[str, ...]) -> bool:
    """Whether the paths of a unit can be leased under this name, apart from the rest of a lane."""
    whole = region(lanes.trees.get(lane, ()))
    if not paths or not is_surely_inside(paths, whole) or lanes.canonical(part):
        return False
    try:
        validated_name(part, "lane name", longest=LONGEST_LANE_NAME)
        return region(paths).is_known
    except (NameInvalid, RegionInvalid):
        return False
