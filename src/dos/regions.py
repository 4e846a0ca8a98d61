"""Regions: the paths that a lane may change, as lists of globs.

Regions are compared by the literal folders that their globs start with. Two are disjoint only when
no
file on any file system can belong to both. A region without globs is unknown and overlaps
everything.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from dos.errors import BadInput
from dos.globs import can_match, invalid_glob, matches, path_key
from dos.globs import prefix as prefix


class Mode(StrEnum):
    """Whether two holders may share a region: only when both are SHARED."""

    SHARED = "SHARED"
    EXCLUSIVE = "EXCLUSIVE"


class Verdict(StrEnum):
    """Whether a request may be admitted beside what is held."""

    ADMIT_DISJOINT = "admit_disjoint"
    ADMIT_SOFT = "admit_soft"  # they overlap, within what the caller tolerates
    REFUSE_EXACT_GLOB = "refuse_exact_glob"
    REFUSE_OVERLAP = "refuse_overlap"


class Score(Struct, frozen=True, kw_only=True):
    """How much of a request touches what is held, and the verdict on it."""

    verdict: Verdict
    shared: int  # requested entries that touch what is held
    requested: int  # distinct entries, blanks not counted
    reason: str

    @property
    def admissible(self) -> bool:
        """Whether the request may be admitted."""
        return self.verdict in (Verdict.ADMIT_DISJOINT, Verdict.ADMIT_SOFT)


class Region(Struct, frozen=True, kw_only=True):
    """The paths of a lane. Create it with `region()`, which derives the prefixes from the globs."""

    globs: tuple[str, ...]  # as written
    prefixes: tuple[str, ...]  # sorted, none under another

    @property
    def is_known(self) -> bool:
        """Whether it has any globs."""
        return bool(self.prefixes)

    @property
    def reach(self) -> tuple[str, ...]:
        """The folders that it may touch: everything, while it is unknown."""
        return self.prefixes or ("",)


def region(globs: Iterable[str]) -> Region:
    """Return the region of some globs. Raises RegionInvalid for a glob that cannot be read."""
    written = _checked_list(globs)
    return Region(globs=written, prefixes=_minimal(prefix(glob) for glob in written))


def overlaps(a: Region, b: Region) -> bool:
    """Whether a file may belong to both regions."""
    # Both are sorted, and neither has a prefix below another of its own. So of two prefixes that do
    # not meet, the smaller one meets nothing later either.
    mine = a.reach
    theirs = b.reach
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
    """Whether no file can belong to both regions."""
    return not overlaps(a, b)


def is_within(a: Region, b: Region) -> bool:
    """Whether all folders of the first region are inside those of the second."""
    return all(_is_inside(folder, b.reach) for folder in a.reach)


def first_collision(a: Region, b: Region) -> tuple[str, str] | None:
    """Return two globs that overlap, as written; "" stands for an unknown region.

    None: disjoint.
    """
    if disjoint(a, b):
        return None
    mine = next((glob for glob in a.globs if _meets(prefix(glob), b.reach)), "")
    folder = prefix(mine) if mine else ""
    theirs = next((glob for glob in b.globs if _related(prefix(glob), folder)), "")
    return mine, theirs


def overlapping_pairs(regions: Sequence[Region]) -> Iterator[tuple[int, int]]:
    """Yield every overlapping pair once, as indexes, the smaller first.

    The sorted folders are walked once instead of comparing all pairs.
    """
    folders: list[tuple[str, int]] = []
    for index, one in enumerate(regions):
        folders += [(folder, index) for folder in one.reach]
    found: set[tuple[int, int]] = set()
    above: list[tuple[str, int]] = []  # the folders around the current one
    for folder, index in sorted(folders):
        while above and not folder.startswith(above[-1][0]):
            above.pop()
        for _, other in above:
            pair = (min(index, other), max(index, other))
            if index != other and pair not in found:
                found.add(pair)
                yield pair
        above.append((folder, index))


def lane_holds(region: Region, path: str, root: str = "") -> bool:
    """Whether a file, by the name that git gives it, is inside a lane.

    The globs of the lane start in the folder `root`, which is "" at the top of the repository and
    ends with "/" elsewhere. An unknown region holds no file, and no lane holds a file that a glob
    cannot name.
    """
    if not can_match(path) or not path.startswith(root):
        return False
    return contains_path(region, path[len(root) :])


def contains_path(region: Region, path: str) -> bool:
    """Whether a path, as people type it, matches one of the globs.

    This is stricter than comparing prefixes, and never wider.
    """
    key = path_key(path)
    return key is not None and any(matches(glob, key) for glob in region.globs)


def modes_conflict(a: Mode, b: Mode) -> bool:
    """Whether two holders with these modes exclude each other where they overlap."""
    return not (a is Mode.SHARED and b is Mode.SHARED)


def conflict(a: Region, mode_a: Mode, b: Region, mode_b: Mode) -> bool:
    """Whether two holders cannot work at the same time."""
    return modes_conflict(mode_a, mode_b) and overlaps(a, b)


def score(requested: Sequence[str], held: Sequence[str], ratio_max: float = 0.0) -> Score:
    """Return how much of a request touches what is held, and whether that is tolerated.

    `ratio_max` is the tolerated share of the requested entries. An empty request counts as
    disjoint,
    so a caller without a region has to treat it as unknown before. Raises BadInput for a share
    outside of 0 to 1.
    """
    if not 0 <= ratio_max <= 1:  # also catches NaN, which would admit everything
        raise BadInput(
            f"an overlap tolerance of {ratio_max} is not a share",
            hint="Give a number between 0 and 1.",
        )
    requested_globs: dict[str, str] = {}  # the first glob of each folder
    for glob in _checked_list(requested):
        if glob.strip():
            requested_globs.setdefault(prefix(glob), glob)
    held_folders = {prefix(glob) for glob in _checked_list(held) if glob.strip()} or {""}

    exact = [glob for folder, glob in requested_globs.items() if folder and folder in held_folders]
    shared = 0
    for folder in requested_globs:
        if any(_related(folder, other) for other in held_folders):
            shared += 1
    count = f"{shared} of {len(requested_globs)} requested entries"
    if exact:
        verdict = Verdict.REFUSE_EXACT_GLOB
        reason = "exact-glob overlap on " + ", ".join(map(repr, exact[:3]))
    elif not shared:
        verdict = Verdict.ADMIT_DISJOINT
        reason = "nothing requested touches what is held"
    elif shared / len(requested_globs) > ratio_max:
        verdict = Verdict.REFUSE_OVERLAP
        reason = f"{count} touch what is held; tolerated is {ratio_max:.0%}"
    else:
        verdict = Verdict.ADMIT_SOFT
        reason = f"{count} touch what is held, within the {ratio_max:.0%} tolerated"
    return Score(verdict=verdict, shared=shared, requested=len(requested_globs), reason=reason)


def _checked_list(globs: Iterable[str]) -> tuple[str, ...]:
    """The globs as a tuple. Raises RegionInvalid for one string, which would be read by letters."""
    if isinstance(globs, str):
        raise invalid_glob(
            globs,
            "is a string where a list of globs is expected",
            f"Write it in a list, as [{globs!r}].",
        )
    return tuple(globs)


def _related(a: str, b: str) -> bool:
    """Whether one of two folders is inside the other."""
    return a.startswith(b) or b.startswith(a)


def _is_inside(folder: str, prefixes: Sequence[str]) -> bool:
    """Whether the folder is inside one of the sorted prefixes, none of which is inside another.

    Only the last prefix before the folder can be around it.
    """
    position = bisect_right(prefixes, folder)
    return position > 0 and folder.startswith(prefixes[position - 1])


def _meets(folder: str, prefixes: Sequence[str]) -> bool:
    """Whether the folder is inside one of the prefixes, or around one."""
    if _is_inside(folder, prefixes):
        return True
    position = bisect_right(prefixes, folder)
    return position < len(prefixes) and prefixes[position].startswith(folder)


def _minimal(prefixes: Iterable[str]) -> tuple[str, ...]:
    """The prefixes, sorted, without those inside another."""
    kept: list[str] = []
    for folder in sorted(prefixes):
        if not kept or not folder.startswith(kept[-1]):
            kept.append(folder)
    return tuple(kept)
