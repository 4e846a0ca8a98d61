"""Decide whether what a commit did is still there.

Lines are compared, not commits: a revert, a deletion, a merge that kept the other side and a
rewrite all show in what is left. Two kinds of work count: lines that were added and, where none
were, lines that were removed. A pin or a setting that was raised again is still there.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct, structs

from dos.verify import content

ENOUGH = 0.5  # of the added lines must be left for the work to be live


class Survival(StrEnum):
    """What became of the work of a commit."""

    LIVE = "live"
    PARTIAL = "partial"  # some of it is left, and less than half
    OVERWRITTEN = "overwritten"  # nothing of it is left, and other work is in its place
    UNDONE = "undone"  # the files are as if the commit had never been


class Standing(NamedTuple):
    """How many lost lines stand with a newer value, and whether a value was set back."""

    raised: int = 0
    is_set_back: bool = False


class File(Struct, frozen=True, kw_only=True, dict=True):
    """The significant lines of a file before the commit, after it, and now; None: no file.

    A file that is no text has one line, made by `opaque_line`.
    """

    path: str
    old: Sequence[str] | None
    new: Sequence[str] | None
    now: Sequence[str] | None
    now_path: str = ""  # where it is now, if it moved
    is_order: bool = False  # the lines are pairs of adjacent ones: only their order is new
    moved_from: str = ""  # where it was before the commit, if moving it is the work
    ignored: frozenset[str] = frozenset()  # lines that are no work, such as the project's version
    counts_presence: bool = False  # the unit asks for this file, though it has no lines
    # Modes as git prints them; they count only if the unit asks for another mode.
    counts_mode: bool = False
    old_mode: str = ""
    new_mode: str = ""
    now_mode: str = ""

    @property
    def is_change(self) -> bool:
        """Whether the commit added or removed a line that counts, or a mode or file that does."""
        return self.total > 0

    @property
    def total(self) -> int:
        """How much the commit's work on this file weighs, in lines."""
        return self.weights.total() + self.counts_mode + self.counts_presence

    @property
    def weights(self) -> Counter[str]:
        """The lines that are the commit's work, with how often each counts."""
        return self.added or self.removed

    @property
    def kept(self) -> int:
        """How much of the weight is there: lines still added or removed, the mode, the file."""
        kept = self._kept_lines + self.standing.raised
        if self.counts_mode:
            kept += self.now_mode == self.new_mode
        if self.counts_presence:
            kept += self.now is not None
        return min(kept, self.total)

    @cached_property
    def standing(self) -> Standing:
        """What became of pins and settings whose lines are not there any more."""
        if not self.new or not self.now or self.now == self.new:
            return Standing()
        if self._is_opaque:
            return Standing(raised=int(self._is_replaced))
        added = self.added
        if not added or self._kept_lines == added.total():
            return Standing()
        from dos.verify.work import pins  # at use: most work is still there as it was

        lost = added - Counter(self.now)
        return Standing(*pins.standing(self.path, self.old or (), self.new, self.now, lost))

    @property
    def is_undone(self) -> bool:
        """Whether the file is as it was before the commit, or its mode or a pin was set back."""
        if (self.now is None) != (self.new is None):
            return True
        if self.counts_mode and self.now_mode == self.old_mode:
            return True
        if self.now is not None and self.now == self.old:
            return True
        return self.standing.is_set_back

    @cached_property
    def added(self) -> Counter[str]:
        """The significant lines that the commit added."""
        return self._significant(Counter(self.new or ()) - Counter(self.old or ()))

    @cached_property
    def removed(self) -> Counter[str]:
        """The significant lines that the commit removed."""
        return self._significant(Counter(self.old or ()) - Counter(self.new or ()))

    @property
    def is_version_alone(self) -> bool:
        """Whether it changed, and nothing but the project's own version."""
        return bool(self.ignored) and self.old != self.new and not self.is_change

    @cached_property
    def _kept_lines(self) -> int:
        """How many of the weighted lines are still added, or still removed."""
        if self.now == self.new:
            return self.weights.total()
        if (self.new is None) != (self.now is None):
            return 0  # the file is gone, or one that was deleted is back
        old = Counter(self.old or ())
        new = Counter(self.new or ())
        now = Counter(self.now or ())
        added = self.added
        if not added:
            return sum(max(0, old[line] - max(new[line], now[line])) for line in self.removed)
        # A line whose indentation changed, into a class or out of it, is still there.
        reindented = _still_added(_flat(added), _flat(old), _flat(new), _flat(now))
        return max(_still_added(added, old, new, now), reindented)

    @property
    def _is_opaque(self) -> bool:
        """Whether the commit left a submodule, a link or a file that is no text."""
        return self.new is not None and "".join(self.new[:1]).startswith(_OPAQUE)

    @property
    def _is_replaced(self) -> bool:
        """Whether a newer submodule, link or binary file is in its place, and not the old one."""
        if not self.new or not self.now or self.now == self.old:
            return False
        return self.now[0].partition(" ")[0] == self.new[0].partition(" ")[0]

    def _significant(self, lines: Counter[str]) -> Counter[str]:
        """The lines without those that are no work."""
        significant = _significant(lines)
        for line in self.ignored:
            del significant[line]
        return significant


def opaque_line(kind: str, name: str) -> str:
    """The only line of a submodule, a link or a file that is no text; `name` tells its content."""
    return f"{_OPAQUE}{kind} {name}"


def with_plain_quotes(file: File) -> File:
    """The file with the same quotes around all strings, where its language reads them alike."""
    old, new, now = (_plain_quotes(file.path, lines) for lines in (file.old, file.new, file.now))
    ignored = frozenset(content.plain_quotes(file.path, [*file.ignored]))
    return structs.replace(file, old=old, new=new, now=now, ignored=ignored)


def _plain_quotes(path: str, lines: Sequence[str] | None) -> Sequence[str] | None:
    return None if lines is None else content.plain_quotes(path, lines)


class SurvivalVerdict(Struct, frozen=True, kw_only=True):
    """What became of the files that count in a commit, with the lines counted."""

    state: Survival
    kept: int
    total: int
    raised: int = 0  # of the kept lines, those that were set to something newer since
    lost: str = ""  # a file of which nothing is left


def judge(files: Iterable[File]) -> SurvivalVerdict:
    """Decide what became of the work in these files, all of them together.

    One file that is as it was before is enough for UNDONE if nothing else is left, because a
    rewrite would have left other work in its place.
    """
    kept = 0
    total = 0
    raised = 0
    lost = []
    for file in files:
        left = file.kept
        kept += left
        total += file.total
        raised += file.standing.raised
        if not left:
            lost.append(file)
    return SurvivalVerdict(
        state=_state(kept, total, lost),
        kept=kept,
        total=total,
        raised=raised,
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


_OPAQUE = "\0"  # begins the line of what is no text; no line of a text does
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
