"""Whether one glob surely matches every path that another one matches.

The names of both are compared, never files. In doubt the answer is no: a worker that is given a
region inside of another one must not get a path more.
"""

from collections.abc import Iterable, Sequence

from dos.errors import RegionInvalid
from dos.globs import name_matches, ways
from dos.regions import Region

_ANYTHING = ("*", "**")  # one name or more, so every path


def is_surely_inside(globs: Iterable[str], region: Region) -> bool:
    """Whether each glob matches only paths of the region.

    An unknown region holds nothing, and a glob that cannot be read is inside of nothing.
    """
    try:
        return all(any(covers(wide, glob) for wide in region.globs) for glob in globs)
    except RegionInvalid:
        return False


def covers(wide: str, narrow: str) -> bool:
    """Whether the first glob surely matches every path that the second one matches.

    Raises RegionInvalid for a glob that cannot be read.
    """
    outer = [_ordered(way) for way in ways(wide)]
    inner = [_ordered(way) for way in ways(narrow)]
    return all(any(_way_covers(one, other) for one in outer) for other in inner)


def _ordered(way: Sequence[str]) -> list[str]:
    """The names with each `**` behind the `*` after it: both orders match the same paths."""
    ordered: list[str] = []
    for name in way:
        position = len(ordered)
        while name == "*" and position and ordered[position - 1] == "**":
            position -= 1
        ordered.insert(position, name)
    return ordered


def _way_covers(wide: Sequence[str], narrow: Sequence[str]) -> bool:
    """Whether one alternative matches all that the other one matches.

    Each row says, for one start in `wide`, from which starts in `narrow` its rest covers the rest.
    """
    if tuple(wide) == _ANYTHING:
        return True
    below = [False] * len(narrow) + [True]
    for pattern in reversed(wide):
        row = [False] * len(narrow) + [below[-1] and pattern == "**"]
        for start in reversed(range(len(narrow))):
            if pattern == "**":
                row[start] = below[start] or row[start + 1]
            else:
                row[start] = below[start + 1] and _name_covers(pattern, narrow[start])
        below = row
    return below[0]


def _name_covers(pattern: str, name: str) -> bool:
    """Whether a name of a glob, which is not `**`, matches all that another name matches."""
    if name == "**":
        return False
    return pattern in ("*", name) or name_matches(pattern, name)
