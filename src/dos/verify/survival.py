"""Decide whether what a commit did is still there.

Lines are compared, not commits: a revert, a deletion, a merge that kept the other side and a
rewrite all show in what is left. Two kinds of work count: lines that were added and, where none
were, lines that were removed.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

ENOUGH = 0.5  # of the added lines must be left for the work to be live


class Survival(StrEnum):
    """What became of the work of a commit."""

    LIVE = "live"
    PARTIAL = "partial"  # some of it is left, and less than half
    OVERWRITTEN = "overwritten"  # nothing of it is left, and other work is in its place
    UNDONE = "undone"  # the files are as if the commit had never been


class File(Struct, frozen=True, kw_only=True):
    """The significant lines of a file before the commit, after it, and now; None: no file."""

    path: str
    old: Sequence[str] | None
    new: Sequence[str] | None
    now: Sequence[str] | None
    now_path: str = ""  # where it is now, if it moved

    @property
    def is_change(self) -> bool:
        """Whether the commit added or removed a line that counts."""
        return bool(self.weights)

    @property
    def weights(self) -> Counter[str]:
        """The lines that are the commit's work, with how often each counts."""
        return self.added or self.removed

    @property
    def kept(self) -> int:
        """How many of the weighted lines are still added, or still removed."""
        if (self.new is None) != (self.now is None):
            return 0  # the file is gone, or one that was deleted is back
        old = Counter(self.old or ())
        new = Counter(self.new or ())
        now = Counter(self.now or ())
        if not self.added:
            return sum(max(0, old[line] - max(new[line], now[line])) for line in self.removed)
        # A line whose indentation changed, into a class or out of it, is still there.
        reindented = _still_added(_flat(self.added), _flat(old), _flat(new), _flat(now))
        return max(_still_added(self.added, old, new, now), reindented)

    @property
    def is_undone(self) -> bool:
        """Whether the file is as it was before the commit."""
        if (self.now is None) != (self.new is None):
            return True
        return self.now is not None and self.now == self.old

    @property
    def added(self) -> Counter[str]:
        """The significant lines that the commit added."""
        return _significant(Counter(self.new or ()) - Counter(self.old or ()))

    @property
    def removed(self) -> Counter[str]:
        """The significant lines that the commit removed."""
        return _significant(Counter(self.old or ()) - Counter(self.new or ()))


class SurvivalVerdict(Struct, frozen=True, kw_only=True):
    """What became of the files that count in a commit, with the lines counted."""

    state: Survival
    kept: int
    total: int
    lost: str = ""  # a file of which nothing is left


def judge(files: Iterable[File]) -> SurvivalVerdict:
    """Decide what became of the work in these files, all of them together.

    One file that is as it was before is enough for UNDONE if nothing else is left, because a
    rewrite would have left other work in its place.
    """
    kept = 0
    total = 0
    lost = []
    for file in files:
        left = file.kept
        kept += left
        total += file.weights.total()
        if not left:
            lost.append(file)
    return SurvivalVerdict(
        state=_state(kept, total, lost),
        kept=kept,
        total=total,
        lost=lost[0].path if lost else "",
    )


def _state(kept: int, total: int, lost: Sequence[File]) -> Survival:
    """What became of the work: all of it, some of it, or none."""
    if kept >= ENOUGH * total and kept:
        return Survival.LIVE
    if kept:
        return Survival.PARTIAL
    if any(file.is_undone for file in lost):
        return Survival.UNDONE
    return Survival.OVERWRITTEN


def _still_added(
    added: Counter[str], old: Counter[str], new: Counter[str], now: Counter[str]
) -> int:
    """How many of the added lines are in the file now beyond those of before."""
    return sum(max(0, min(new[line], now[line]) - old[line]) for line in added)


def _flat(lines: Counter[str]) -> Counter[str]:
    """The lines without their indentation."""
    flat: Counter[str] = Counter()
    for line, count in lines.items():
        flat[line.strip()] += count
    return flat


# They are in every file: that one is still there proves nothing, and adding one does nothing.
_COMMONPLACE = frozenset(
    (
        "pass", "else", "else:", "try", "try:", "finally", "finally:", "end", "begin", "do",
        "done", "then", "fi", "esac", "return", "return;", "break", "break;", "continue",
        "continue;", "null", "nil", "true", "false",
    )
)  # fmt: skip


def _significant(lines: Counter[str]) -> Counter[str]:
    """The lines without punctuation alone and without commonplaces."""
    significant: Counter[str] = Counter()
    for line, count in lines.items():
        if any(map(str.isalnum, line)) and line.strip() not in _COMMONPLACE:
            significant[line] = count
    return significant
