"""Does what a commit did still stand?

Lines are compared and not commits: a revert, a deletion, a merge that kept the other side and a rewrite all come out by
what is left. Two kinds of work count: lines that were added, and, where none were, lines that were taken away.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

ENOUGH = 0.5  # of the lines that were added


class Survival(StrEnum):
    LIVE = "live"
    PARTIAL = "partial"  # some of it stands, and less than half
    OVERWRITTEN = "overwritten"  # nothing of it stands, and other work is there
    UNDONE = "undone"  # it is as if it had never been


class File(Struct, frozen=True, kw_only=True):
    """A file before the commit, after it, and where we look: the lines that mean something; None where it is not."""

    path: str
    old: Sequence[str] | None
    new: Sequence[str] | None
    now: Sequence[str] | None
    now_path: str = ""  # where it is now, when it moved

    @property
    def is_change(self) -> bool:
        return bool(self.weights)

    @property
    def weights(self) -> Counter[str]:
        """The lines that tell the commit's work, each as often as it counts."""
        return self.added or self.removed

    @property
    def kept(self) -> int:
        """How many of them stand."""
        if (self.new is None) != (self.now is None):
            return 0  # the file is gone, or one that was deleted is there again
        old, new, now = Counter(self.old or ()), Counter(self.new or ()), Counter(self.now or ())
        if self.added:
            # What went deeper or less deep, into a class or out of it, still stands.
            return max(
                _standing(self.added, old, new, now),
                _standing(*map(_flat, (self.added, old, new, now))),
            )
        return sum(max(0, old[line] - max(new[line], now[line])) for line in self.removed)

    @property
    def is_undone(self) -> bool:
        return (self.now is None) != (self.new is None) or (
            self.now is not None and self.now == self.old
        )

    @property
    def added(self) -> Counter[str]:
        return _weighty(Counter(self.new or ()) - Counter(self.old or ()))

    @property
    def removed(self) -> Counter[str]:
        return _weighty(Counter(self.old or ()) - Counter(self.new or ()))


class SurvivalVerdict(Struct, frozen=True, kw_only=True):
    state: Survival
    kept: int
    total: int
    lost: str = ""  # a file of which nothing is left


def judge(files: Iterable[File]) -> SurvivalVerdict:
    counted = [(file, file.kept, file.weights.total()) for file in files]
    kept, total = sum(each[1] for each in counted), sum(each[2] for each in counted)
    lost = [file for file, left, _ in counted if not left]
    if kept:
        fate = Survival.LIVE if kept >= ENOUGH * total else Survival.PARTIAL
    else:
        fate = Survival.UNDONE if any(file.is_undone for file in lost) else Survival.OVERWRITTEN
    return SurvivalVerdict(state=fate, kept=kept, total=total, lost=lost[0].path if lost else "")


def _standing(added: Counter[str], old: Counter[str], new: Counter[str], now: Counter[str]) -> int:
    return sum(max(0, min(new[line], now[line]) - old[line]) for line in added)


def _flat(lines: Counter[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for line, count in lines.items():
        found[line.strip()] += count
    return found


# They stand in every file, so that they are still there says nothing, and to add one does nothing.
_IDLE = frozenset(
    (
        "pass", "else", "else:", "try", "try:", "finally", "finally:", "end", "begin", "do", "done", "then", "fi",
        "esac", "return", "return;", "break", "break;", "continue", "continue;", "null", "nil", "true", "false",
    )
)  # fmt: skip


def _weighty(lines: Counter[str]) -> Counter[str]:
    return Counter(
        {
            line: count
            for line, count in lines.items()
            if any(map(str.isalnum, line)) and line.strip() not in _IDLE
        }
    )
