"""Did a commit do a step: is it there, newer than the run, about the step's files, and not undone since?"""

from enum import StrEnum

from msgspec import Struct

from dos import regions
from dos.errors import RegionInvalid
from dos.unknown import Unknown

SHOWN = 9  # characters of a commit


class Answer(StrEnum):
    DONE = "DONE"
    NOT_THERE = "NOT_THERE"  # no such commit leads to HEAD
    TOO_OLD = "TOO_OLD"  # it was there when the run began, or nobody knows when that was
    EMPTY = "EMPTY"  # it touches no file
    OUTSIDE = "OUTSIDE"  # none of the files it touches belongs to the step
    UNDONE = "UNDONE"  # its files are as they were before it, or a later commit took it back
    UNKNOWN = "UNKNOWN"  # the repository could not be read


class FileState(StrEnum):
    """What became of one touched file by now."""

    KEPT = "KEPT"  # as the commit left it
    UNDONE = "UNDONE"  # as it was before the commit, or gone
    REWRITTEN = "REWRITTEN"  # by later work, or moved


class Evidence(Struct, frozen=True, kw_only=True):
    sha: str
    reachable: bool | Unknown = False
    after_start: bool | Unknown = False  # the run's first commit leads to it and is another
    touched: dict[str, FileState] | Unknown = {}
    reverted_by: str = (
        ""  # a later commit says so, and none says that this one was taken back in turn
    )
    globs: tuple[str, ...] = ()  # the step's files; all when there are none


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer
    reason: str = ""

    @property
    def done(self) -> bool:
        return self.answer is Answer.DONE


def judge(seen: Evidence) -> Verdict:
    def verdict(answer: Answer, reason: str) -> Verdict:
        return Verdict(answer=answer, reason=f"{seen.sha[:SHOWN] or 'no commit'} {reason}")

    for fact in (seen.reachable, seen.after_start, seen.touched):
        if isinstance(fact, Unknown):
            return verdict(Answer.UNKNOWN, f"cannot be judged: {fact.why}")
    if not seen.reachable:
        return verdict(Answer.NOT_THERE, "is no commit that HEAD contains")
    if not seen.after_start:
        return verdict(Answer.TOO_OLD, "does not come after the commit that the run began at")
    touched = seen.touched if isinstance(seen.touched, dict) else {}
    if not touched:
        return verdict(Answer.EMPTY, "touches no file")
    inside = _inside(touched, seen.globs)
    if not inside:
        return verdict(
            Answer.OUTSIDE,
            f"touches {_first_and_count(touched)} and nothing in {', '.join(seen.globs)}",
        )
    if why := _undone(inside, seen.reverted_by):
        return verdict(Answer.UNDONE, why)
    return verdict(Answer.DONE, f"touches {_first_and_count(inside)}")


def _inside(touched: dict[str, FileState], globs: tuple[str, ...]) -> dict[str, FileState]:
    if not globs:
        return touched
    try:
        region = regions.region(globs)
    except RegionInvalid:  # in a ledger that another program wrote: nothing can be in it
        return {}
    return {path: fate for path, fate in touched.items() if regions.lane_holds(region, path)}


def _undone(touched: dict[str, FileState], reverted_by: str) -> str:
    """What the files hold decides; only where later work has rewritten them is a message asked."""
    fates = set(touched.values())
    by = f" by {reverted_by[:SHOWN]}" if reverted_by else ""
    if fates == {FileState.UNDONE}:
        return f"was undone{by}: nothing of it is left"
    if reverted_by and FileState.KEPT not in fates:
        return f"was reverted{by}"
    return ""


def _first_and_count(paths: dict[str, FileState]) -> str:
    names = list(paths)
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{names[0]}{more}"
