"""The lines that a change of a file touches, and those around them."""

from collections.abc import Callable, Iterator, Sequence

_CONTEXT = 3  # lines before and after a changed one
_MOST_PLACES = 12  # changed places whose surrounding blocks are looked for
_FARTHEST = 400  # lines up from a changed one, for the blocks around it


class ChangedLines:
    """A text before and after. Lines that only moved count where nothing else changed."""

    def __init__(self, old: str, new: str) -> None:
        self._old = old.split("\n")
        self._new = new.split("\n")
        self._first = _common(self._old, self._new)
        self._last = _common_end(self._old, self._new, self._first)

    def added(self) -> list[str]:
        """Return the lines that only the new text has."""
        known = set(self._middle(self._old))
        return [line for line in self._middle(self._new) if line not in known]

    def lost(self) -> list[str]:
        """Return the lines that only the old text has."""
        known = set(self._middle(self._new))
        return [line for line in self._middle(self._old) if line not in known]

    def before(self) -> str:
        """Return the text before the first changed line."""
        return "\n".join(self._new[: self._first])

    def touched(self) -> str:
        """Return the changed lines of both texts with the lines around them."""
        parts: list[str] = []
        for lines, others in ((self._old, self._new), (self._new, self._old)):
            for start, end in self._runs(lines, others):
                parts += lines[max(0, start - _CONTEXT) : end + _CONTEXT]
        return "\n".join(parts)

    def places(self, is_wanted: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
        """Yield each wanted added line, and with it those before it and around its block."""
        known = set(self._middle(self._old))
        for number in range(self._first, len(self._new) - self._last):
            line = self._new[number]
            if line not in known and is_wanted(line):
                before = self._new[max(0, number - _CONTEXT) : number + 1]
                yield line, "\n".join([*before, *_openings(self._new, number)])

    def around(self) -> str:
        """Return the lines that open the blocks around changed lines, as indentation tells them."""
        parts: list[str] = []
        for start, _ in list(self._runs(self._new, self._old))[:_MOST_PLACES]:
            parts += _openings(self._new, start)
        return "\n".join(parts)

    def _middle(self, lines: list[str]) -> list[str]:
        return lines[self._first : len(lines) - self._last]

    def _runs(self, lines: list[str], others: list[str]) -> Iterator[tuple[int, int]]:
        """Yield the runs of lines that the other text lacks, or the middle if it has them all."""
        known = set(self._middle(others))
        end = len(lines) - self._last
        changed = [number for number in range(self._first, end) if lines[number] not in known]
        if not changed:
            yield self._first, end
            return
        start = previous = changed[0]
        for number in changed[1:]:
            if number > previous + 1:
                yield start, previous + 1
                start = number
            previous = number
        yield start, previous + 1


def _openings(lines: Sequence[str], at: int) -> Iterator[str]:
    """Yield the lines above one that are indented less and less, up to one at the margin."""
    depth = None
    for number in range(min(at, len(lines) - 1), max(-1, at - _FARTHEST), -1):
        line = lines[number]
        bare = line.lstrip()
        margin = len(line) - len(bare)
        if not bare or (depth is not None and margin >= depth):
            continue
        depth = margin
        yield line
        if not depth and bare[0] not in "{}#":
            return


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines two texts have in common at their beginning."""
    count = 0
    for line, other_line in zip(one, other, strict=False):
        if line != other_line:
            break
        count += 1
    return count


def _common_end(one: Sequence[str], other: Sequence[str], first: int) -> int:
    """How many lines after the first ones two texts have in common at their end."""
    most = min(len(one), len(other)) - first
    count = 0
    while count < most and one[-1 - count] == other[-1 - count]:
        count += 1
    return count
