"""Which lanes can be worked on at the same time, because their regions do not overlap.

For few lanes the largest set is found exactly. Of many lanes the narrow ones come first, by sorted
folders, so that no two lanes have to be compared.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from dos import regions
from dos.errors import RegionInvalid
from dos.fleet.population.types import LaneLiveness
from dos.regions import Region

EXACT_UP_TO = 16
NO_OWNER = -1


@lru_cache(maxsize=1 << 16)
def region_of(tree: tuple[str, ...]) -> Region:
    """Return the region of a tree; one that cannot be parsed is unknown and overlaps everything."""
    try:
        return regions.region(tree)
    except RegionInvalid:
        return Region(globs=tree, prefixes=())


class Placement(Struct, frozen=True):
    """The candidates that are chosen, and what keeps each of the others waiting."""

    chosen: list[int]  # the numbers of candidates, in their own order
    blocked_by: dict[int, int]  # another candidate -> what it overlaps; held regions count first


def capacity(lanes: Sequence[Region]) -> int:
    """Return how many of the lanes can be worked on at once."""
    if len(lanes) > EXACT_UP_TO:
        return len(_narrow_first(_FolderMap(lanes), dict(enumerate(lanes)), len(lanes)))
    return _Graph(lanes).largest()


def place(candidates: Sequence[Region], held: Sequence[Region], most: int) -> Placement:
    """Choose as many candidates as possible, up to `most`.

    The chosen ones overlap nothing that is held, and not one another.
    """
    folders = _FolderMap([*held, *candidates])
    folders.hold(held)
    names = range(len(held), len(held) + len(candidates))
    free = {
        name: lane
        for name, lane in zip(names, candidates, strict=True)
        if folders.owner(lane) == NO_OWNER
    }
    if len(free) <= EXACT_UP_TO:
        graph = _Graph(list(free.values()))
        chosen = [list(free)[number] for number in graph.first(min(most, graph.largest()))]
        for name in chosen:
            folders.take(free[name], name)
    else:
        chosen = sorted(_narrow_first(folders, free, most))
    left = set(names).difference(chosen)
    owners = {name: folders.owner(candidates[name - names.start]) for name in left}
    return Placement(
        [name - names.start for name in chosen],
        {name - names.start: owner for name, owner in owners.items() if owner != NO_OWNER},
    )


def place_with_room(
    candidates: Sequence[Region],
    held: Sequence[Region],
    most: int,
    *,
    lanes: Sequence[str],
    room: Mapping[str, int],
) -> Placement:
    """Choose candidates as `place` does, of each lane at most as many as it has room for.

    `lanes` says of each candidate the repeatable lane that it is a part of; "": it is none.
    """
    allowed = [number for number, lane in enumerate(lanes) if room.get(lane, 1) > 0]
    while True:
        placed = place([candidates[number] for number in allowed], held, most)
        chosen = [allowed[number] for number in placed.chosen]
        full = _first_full(chosen, lanes, room)
        if full is None:
            blocked = {allowed[number]: owner for number, owner in placed.blocked_by.items()}
            return Placement(chosen, {n: _owner(o, held, allowed) for n, o in blocked.items()})
        lane, kept = full
        allowed = [number for number in allowed if lanes[number] != lane or number in kept]


def _first_full(
    chosen: Sequence[int], lanes: Sequence[str], room: Mapping[str, int]
) -> tuple[str, set[int]] | None:
    """Return a lane of which more is chosen than fits, and the numbers that fit; None: all fit."""
    by_lane: dict[str, list[int]] = {}
    for number in chosen:
        by_lane.setdefault(lanes[number], []).append(number)
    for lane, numbers in by_lane.items():
        if lane in room and len(numbers) > room[lane]:
            return lane, set(numbers[: room[lane]])
    return None


def _owner(owner: int, held: Sequence[Region], allowed: Sequence[int]) -> int:
    """Return an owner among the held regions and all candidates, for one among those allowed."""
    if owner < len(held):
        return owner
    return len(held) + allowed[owner - len(held)]


def overlapping_concurrent_lanes(
    lanes: Iterable[tuple[str, Sequence[str], bool]],
) -> list[tuple[str, str]]:
    """Return the pairs of lanes, by name, that never run at the same time.

    Exclusive lanes are left out: they run alone anyway.
    """
    names: list[str] = []
    lane_regions: list[Region] = []
    for name, tree, is_exclusive in lanes:
        if not is_exclusive:
            names.append(name)
            lane_regions.append(region_of(tuple(tree)))
    pairs = set()
    for one, other in regions.overlapping_pairs(lane_regions):
        first, second = sorted((names[one], names[other]))
        if first != second:
            pairs.add((first, second))
    return sorted(pairs)


def _narrow_first(folders: "_FolderMap", lanes: dict[int, Region], most: int) -> list[int]:
    """Choose lanes greedily: those with the fewest others inside first, then in their order."""
    breadth = {name: folders.breadth(region) for name, region in lanes.items()}
    chosen: list[int] = []
    for name in sorted(lanes, key=breadth.__getitem__):
        if len(chosen) >= most:
            break
        if folders.owner(lanes[name]) == NO_OWNER:
            folders.take(lanes[name], name)
            chosen.append(name)
    return chosen


class _FolderMap:
    """The folders of all lanes and their owners, sorted: what lies inside a folder follows it."""

    __slots__ = ("_above", "_end", "_listed", "_owner", "_rank")

    def __init__(self, lanes: Sequence[Region]) -> None:
        listed: dict[str, int] = {}
        for region in lanes:
            for folder in region.reach:
                listed[folder] = listed.get(folder, 0) + 1
        paths = sorted(listed)
        count = len(paths)
        self._rank = dict(zip(paths, range(count), strict=True))
        self._above = [NO_OWNER] * count  # the nearest folder around each
        self._end = [count] * count  # the first folder after it that does not lie inside
        self._owner = [NO_OWNER] * count
        self._listed = [0]  # how many lanes name one of the folders before each
        around: list[int] = []
        for number, folder in enumerate(paths):
            while around and not folder.startswith(paths[around[-1]]):
                self._end[around.pop()] = number
            if around:
                self._above[number] = around[-1]
            around.append(number)
            self._listed.append(self._listed[-1] + listed[folder])

    def breadth(self, region: Region) -> int:
        """Return how many lanes name a folder inside the region."""
        return sum(
            self._listed[self._end[rank]] - self._listed[rank]
            for rank in map(self._rank.__getitem__, region.reach)
        )

    def owner(self, region: Region) -> int:
        """Return an owner of something that the region touches."""
        for folder in region.reach:
            owner = self._owner[self._rank[folder]]
            if owner != NO_OWNER:
                return owner
        return NO_OWNER

    def hold(self, held: Sequence[Region]) -> None:
        """Take regions that may overlap.

        Outer folders come first, so that what lies inside them is taken already.
        """
        owned = [(folder, owner) for owner, region in enumerate(held) for folder in region.reach]
        for folder, owner in sorted(owned):
            if self._owner[self._rank[folder]] == NO_OWNER:
                self._take(self._rank[folder], owner)

    def take(self, region: Region, owner: int) -> None:
        for folder in region.reach:
            self._take(self._rank[folder], owner)

    def _take(self, rank: int, owner: int) -> None:
        self._owner[rank : self._end[rank]] = [owner] * (self._end[rank] - rank)
        # The folders around a taken one are marked up to the top already.
        around = self._above[rank]
        while around != NO_OWNER and self._owner[around] == NO_OWNER:
            self._owner[around] = owner
            around = self._above[around]


class _Graph:
    """A few regions and which of them overlap; a set of regions is the bits of a number."""

    __slots__ = ("_beside", "_known", "_size")

    def __init__(self, lanes: Sequence[Region]) -> None:
        self._size = len(lanes)
        # For each region the others that may be chosen with it.
        self._beside = [~(1 << number) for number in range(self._size)]
        for one, other in regions.overlapping_pairs(lanes):
            self._beside[one] &= ~(1 << other)
            self._beside[other] &= ~(1 << one)
        self._known: dict[int, int] = {0: 0}

    def largest(self) -> int:
        """Return the size of the largest set in which no two overlap."""
        return self._most((1 << self._size) - 1)

    def first(self, size: int) -> list[int]:
        """Return the first set of this size, by its numbers, in which no two overlap."""
        chosen: list[int] = []
        left = (1 << self._size) - 1
        for number in range(self._size):
            rest = left & self._beside[number] & ~((1 << number) - 1)
            is_free = len(chosen) < size and left >> number & 1
            if is_free and len(chosen) + 1 + self._most(rest) >= size:
                chosen.append(number)
                left = rest
        return chosen

    def _most(self, among: int) -> int:
        """Return the size of the largest set among these in which no two overlap."""
        found = self._known.get(among)
        if found is None:
            lowest = among & -among
            rest = among & self._beside[lowest.bit_length() - 1]
            found = 1 + self._most(rest)
            # A region that overlaps none of the others can be taken without loss.
            if rest != among & ~lowest:
                found = max(found, self._most(among & ~lowest))
            self._known[among] = found
        return found


class RosterLane:
    """One lane of the roster: what all entries of the population plan say about it together.

    A lane has several entries when more than one worker may share its name.
    """

    __slots__ = (
        "advancing",
        "entries",
        "exclusive",
        "free",
        "kept",
        "off_roster",
        "part_of",
        "placed",
        "region",
        "repeats",
        "unknown",
        "waits",
    )

    def __init__(self) -> None:
        self.entries: list[LaneLiveness] = []
        self.region = region_of(())
        self.placed = False  # the region is that of an entry
        self.exclusive = False
        self.repeats = False
        self.off_roster = True
        self.part_of = ""  # the repeatable lane that it is a part of
        self.free = False  # an entry is free, or will be after this tick
        self.kept = False  # an entry stays as it is
        self.advancing = False
        self.unknown = False
        self.waits = ""  # why no worker may be started on it

    def add(self, entry: LaneLiveness, *, repeats: bool, stays: bool) -> None:
        """Add an entry; `stays` says whether its holder is still there after the tick."""
        self.entries.append(entry)
        self.part_of = entry.part_of or ""
        self.exclusive = self.exclusive or entry.is_exclusive
        self.repeats = (self.repeats or repeats) and not self.exclusive
        self.off_roster = self.off_roster and entry.off_roster is True
        if entry.off_roster is True and not stays:
            return  # no worker is started there again, so that its region does not matter
        if not self.placed:
            self.placed = True
            self.region = region_of(entry.tree)
        elif entry.tree != self.region.globs:
            both_known = self.region.is_known and region_of(entry.tree).is_known
            tree = (*self.region.globs, *entry.tree) if both_known else ()
            self.region = region_of(tree)
