"""Which lanes fit beside one another?

Few lanes are weighed exactly. Of many the narrow ones come first, by sorted folders: no two lanes are compared.
"""

from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from dos import regions
from dos.errors import RegionInvalid
from dos.regions import Region

EXACT_UP_TO = 16
NO_OWNER = -1


@lru_cache(maxsize=1 << 16)
def region_of(tree: tuple[str, ...]) -> Region:
    """A tree that cannot be read is a region of which nothing is known: it overlaps everything."""
    try:
        return regions.region(tree)
    except RegionInvalid:
        return Region(globs=tree, prefixes=())


class Placement(Struct, frozen=True):
    chosen: list[int]  # candidates, as numbers, in their own order
    blocked_by: dict[
        int, int
    ]  # of each other candidate: what it overlaps; held ones count first, then candidates


def capacity(lanes: Sequence[Region]) -> int:
    """How many of them can be worked on at once."""
    if len(lanes) > EXACT_UP_TO:
        return len(_narrow_first(_Ground(lanes), dict(enumerate(lanes)), len(lanes)))
    return _Graph(lanes).largest()


def place(candidates: Sequence[Region], held: Sequence[Region], most: int) -> Placement:
    """As many candidates as can be had, up to `most`, that overlap nothing held and not one another."""
    ground = _Ground([*held, *candidates])
    ground.hold(held)
    names = range(len(held), len(held) + len(candidates))
    free = {
        name: lane
        for name, lane in zip(names, candidates, strict=True)
        if ground.owner(lane) == NO_OWNER
    }
    if len(free) <= EXACT_UP_TO:
        graph = _Graph(list(free.values()))
        chosen = [list(free)[number] for number in graph.first(min(most, graph.largest()))]
        for name in chosen:
            ground.take(free[name], name)
    else:
        chosen = sorted(_narrow_first(ground, free, most))
    left = set(names).difference(chosen)
    owners = {name: ground.owner(candidates[name - names.start]) for name in left}
    return Placement(
        [name - names.start for name in chosen],
        {name - names.start: owner for name, owner in owners.items() if owner != NO_OWNER},
    )


def _narrow_first(ground: "_Ground", lanes: dict[int, Region], most: int) -> list[int]:
    """Who has fewest others inside comes first, then who is listed first."""
    breadth = {name: ground.breadth(region) for name, region in lanes.items()}
    chosen: list[int] = []
    for name in sorted(lanes, key=breadth.__getitem__):
        if len(chosen) >= most:
            break
        if ground.owner(lanes[name]) == NO_OWNER:
            ground.take(lanes[name], name)
            chosen.append(name)
    return chosen


class _Ground:
    """The folders of all lanes, sorted, so that whatever lies inside a folder follows it; and who has taken what."""

    __slots__ = ("_above", "_end", "_listed", "_owner", "_rank")

    def __init__(self, lanes: Sequence[Region]) -> None:
        listed: dict[str, int] = {}
        for region in lanes:
            for place in region.reach:
                listed[place] = listed.get(place, 0) + 1
        places = sorted(listed)
        count = len(places)
        self._rank = dict(zip(places, range(count), strict=True))
        self._above = [NO_OWNER] * count  # the nearest folder around each
        self._end = [count] * count  # the first folder after it that does not lie inside
        self._owner = [NO_OWNER] * count
        self._listed = [0]  # how many lanes name one of the folders before each
        around: list[int] = []
        for number, place in enumerate(places):
            while around and not place.startswith(places[around[-1]]):
                self._end[around.pop()] = number
            if around:
                self._above[number] = around[-1]
            around.append(number)
            self._listed.append(self._listed[-1] + listed[place])

    def breadth(self, region: Region) -> int:
        return sum(
            self._listed[self._end[rank]] - self._listed[rank]
            for rank in map(self._rank.__getitem__, region.reach)
        )

    def owner(self, region: Region) -> int:
        """Who has taken something that the region touches."""
        for place in region.reach:
            if (owner := self._owner[self._rank[place]]) != NO_OWNER:
                return owner
        return NO_OWNER

    def hold(self, held: Sequence[Region]) -> None:
        """Take what may overlap: outer folders first, so that whatever lies inside them is taken already."""
        for place, owner in sorted(
            (place, owner) for owner, region in enumerate(held) for place in region.reach
        ):
            if self._owner[self._rank[place]] == NO_OWNER:
                self._take(self._rank[place], owner)

    def take(self, region: Region, owner: int) -> None:
        for place in region.reach:
            self._take(self._rank[place], owner)

    def _take(self, rank: int, owner: int) -> None:
        self._owner[rank : self._end[rank]] = [owner] * (self._end[rank] - rank)
        # Whatever lies around a taken folder is marked up to the top already.
        around = self._above[rank]
        while around != NO_OWNER and self._owner[around] == NO_OWNER:
            self._owner[around] = owner
            around = self._above[around]


class _Graph:
    """A few regions, and which of them overlap; sets of them are the bits of a number."""

    __slots__ = ("_beside", "_known", "_size")

    def __init__(self, lanes: Sequence[Region]) -> None:
        self._size = len(lanes)
        self._beside = [
            ~(1 << number) for number in range(self._size)
        ]  # who may be chosen with each
        for one, other in regions.overlapping_pairs(lanes):
            self._beside[one] &= ~(1 << other)
            self._beside[other] &= ~(1 << one)
        self._known: dict[int, int] = {0: 0}

    def largest(self) -> int:
        """The size of the largest set in which no two overlap."""
        return self._most((1 << self._size) - 1)

    def first(self, size: int) -> list[int]:
        """The set of this size, in which no two overlap, whose numbers come first."""
        chosen: list[int] = []
        left = (1 << self._size) - 1
        for number in range(self._size):
            rest = left & self._beside[number] & ~((1 << number) - 1)
            if (
                len(chosen) < size
                and left >> number & 1
                and len(chosen) + 1 + self._most(rest) >= size
            ):
                chosen.append(number)
                left = rest
        return chosen

    def _most(self, among: int) -> int:
        found = self._known.get(among)
        if found is None:
            lowest = among & -among
            rest = among & self._beside[lowest.bit_length() - 1]
            found = 1 + self._most(rest)
            if (
                rest != among & ~lowest
            ):  # else it overlaps none of them, and nothing is lost by taking it
                found = max(found, self._most(among & ~lowest))
            self._known[among] = found
        return found
