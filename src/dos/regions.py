"""Which paths may somebody write? Lists of globs, compared by the literal folders that they start with.

Two regions are disjoint only when no file on any file system can belong to both. A region of which nothing is known
overlaps everything.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from dos.errors import BadInput
from dos.globs import can_match, invalid_glob, matches, path_key
from dos.globs import prefix as prefix


class Mode(StrEnum):
    SHARED = "SHARED"
    EXCLUSIVE = "EXCLUSIVE"


class Verdict(StrEnum):
    ADMIT_DISJOINT = "admit_disjoint"
    ADMIT_SOFT = "admit_soft"  # they share less than the caller tolerates
    REFUSE_EXACT_GLOB = "refuse_exact_glob"
    REFUSE_OVERLAP = "refuse_overlap"


class Score(Struct, frozen=True, kw_only=True):
    verdict: Verdict
    shared: int  # requested entries that touch what is held
    requested: int  # distinct entries, blanks not counted
    reason: str

    @property
    def admissible(self) -> bool:
        return self.verdict in (Verdict.ADMIT_DISJOINT, Verdict.ADMIT_SOFT)


class Region(Struct, frozen=True, kw_only=True):
    """Make it with `region()`, which keeps the prefixes true to the globs."""

    globs: tuple[str, ...]  # as written
    prefixes: tuple[str, ...]  # sorted, none under another

    @property
    def is_known(self) -> bool:
        return bool(self.prefixes)

    @property
    def reach(self) -> tuple[str, ...]:
        """What it may touch: everything, while nothing is known."""
        return self.prefixes or ("",)


def region(globs: Iterable[str]) -> Region:
    written = _listed(globs)
    return Region(globs=written, prefixes=_minimal(prefix(glob) for glob in written))


def overlaps(a: Region, b: Region) -> bool:
    # Both are sorted and neither holds a prefix under another, so the smaller of two strangers meets nothing later.
    mine, theirs = a.reach, b.reach
    i = j = 0
    while i < len(mine) and j < len(theirs):
        if _related(mine[i], theirs[j]):
            return True
        if mine[i] < theirs[j]:
            i += 1
        else:
            j += 1
    return False


def disjoint(a: Region, b: Region) -> bool:
    return not overlaps(a, b)


def is_within(a: Region, b: Region) -> bool:
    """Does all that the first may touch lie inside what the second may?"""
    return all(_around(place, b.reach) for place in a.reach)


def first_collision(a: Region, b: Region) -> tuple[str, str] | None:
    """Two globs that collide, as written; "" stands for a region of which nothing is known."""
    if disjoint(a, b):
        return None
    mine = next((glob for glob in a.globs if _meets(prefix(glob), b.reach)), "")
    place = prefix(mine) if mine else ""
    return mine, next((glob for glob in b.globs if _related(prefix(glob), place)), "")


def overlapping_pairs(regions: Sequence[Region]) -> Iterator[tuple[int, int]]:
    """Every pair that overlaps, once, the smaller index first; sorted prefixes are walked once, not all pairs."""
    seen: set[tuple[int, int]] = set()
    above: list[tuple[str, int]] = []
    for here, index in sorted(
        (place, index) for index, each in enumerate(regions) for place in each.reach
    ):
        while above and not here.startswith(above[-1][0]):
            above.pop()
        for _, other in above:
            pair = (min(index, other), max(index, other))
            if index != other and pair not in seen:
                seen.add(pair)
                yield pair
        above.append((here, index))


def lane_holds(region: Region, path: str, root: str = "") -> bool:
    """Is a file, by the name that git gives it, inside a lane whose globs start in the folder `root`?

    Git names files from the top of the repository; `root` is "" there, and ends with "/" elsewhere. A region of which
    nothing is known holds no file, and no lane holds a name that a glob cannot mean.
    """
    if not can_match(path) or not path.startswith(root):
        return False
    return contains_path(region, path[len(root) :])


def contains_path(region: Region, path: str) -> bool:
    """Is a file inside, as people spell its path? By what the globs mean: stricter than the prefixes, never wider."""
    place = path_key(path)
    return place is not None and any(matches(glob, place) for glob in region.globs)


def modes_conflict(a: Mode, b: Mode) -> bool:
    return not (a is Mode.SHARED and b is Mode.SHARED)


def conflict(a: Region, mode_a: Mode, b: Region, mode_b: Mode) -> bool:
    return modes_conflict(mode_a, mode_b) and overlaps(a, b)


def score(requested: Sequence[str], held: Sequence[str], ratio_max: float = 0.0) -> Score:
    """How much of a request touches what is held; more than 0 is tolerated only by callers that say so.

    An empty request is disjoint here: callers that cannot name a region must treat it as unknown before they ask.
    """
    if not 0 <= ratio_max <= 1:  # also catches NaN, which would admit everything
        raise BadInput(
            f"an overlap tolerance of {ratio_max} means nothing",
            hint="Give a share between 0 and 1.",
        )
    asked: dict[str, str] = {}
    for glob in filter(str.strip, _listed(requested)):
        asked.setdefault(prefix(glob), glob)
    taken = {prefix(glob) for glob in _listed(held) if glob.strip()} or {""}

    exact = [glob for place, glob in asked.items() if place and place in taken]
    shared = sum(any(_related(place, other) for other in taken) for place in asked)
    count = f"{shared} of {len(asked)} requested entries"
    if exact:
        verdict, reason = (
            Verdict.REFUSE_EXACT_GLOB,
            "exact-glob overlap on " + ", ".join(map(repr, exact[:3])),
        )
    elif not shared:
        verdict, reason = Verdict.ADMIT_DISJOINT, "nothing requested touches what is held"
    elif shared / len(asked) > ratio_max:
        verdict, reason = (
            Verdict.REFUSE_OVERLAP,
            f"{count} touch what is held; tolerated is {ratio_max:.0%}",
        )
    else:
        verdict, reason = (
            Verdict.ADMIT_SOFT,
            f"{count} touch what is held, within the {ratio_max:.0%} tolerated",
        )
    return Score(verdict=verdict, shared=shared, requested=len(asked), reason=reason)


def _listed(globs: Iterable[str]) -> tuple[str, ...]:
    if isinstance(globs, str):  # would be read letter by letter
        raise invalid_glob(
            globs,
            "stands where a list of globs is expected",
            f"Write it in a list, as [{globs!r}].",
        )
    return tuple(globs)


def _related(a: str, b: str) -> bool:
    return a.startswith(b) or b.startswith(a)


def _around(place: str, prefixes: Sequence[str]) -> bool:
    """Is the place in one of the sorted prefixes, none of which is under another? Then it is the last before it."""
    at = bisect_right(prefixes, place)
    return at > 0 and place.startswith(prefixes[at - 1])


def _meets(place: str, prefixes: Sequence[str]) -> bool:
    at = bisect_right(prefixes, place)
    return _around(place, prefixes) or (at < len(prefixes) and prefixes[at].startswith(place))


def _minimal(prefixes: Iterable[str]) -> tuple[str, ...]:
    kept: list[str] = []
    for place in sorted(prefixes):
        if not kept or not place.startswith(kept[-1]):
            kept.append(place)
    return tuple(kept)
