"""The steps that a run declared, and whether a commit did one of them.

`judge` decides for one commit: it exists, is newer than the run, and was not undone. The facts are
judged in the order of their cost: whether HEAD contains the commit, whether it is newer than the
run, which files it touches, and whether their content is still there. Completion (`complete.py`)
and resumption (`resume.py`) are both judged on a `Declaration`.
"""

from enum import StrEnum

from msgspec import Struct

from dos import regions
from dos.errors import RegionInvalid
from dos.unknown import Unknown

SHOWN = 9  # characters of a commit
# Ways of checking a step that rely on git alone, so that a run cannot forge them.
NOT_FORGEABLE = frozenset({"file-path", "registry"})
UNNAMED = "(what was declared)"


class Answer(StrEnum):
    """Whether a commit did the step; every value but DONE names what is missing."""

    DONE = "DONE"
    NOT_THERE = "NOT_THERE"  # HEAD does not contain such a commit
    TOO_OLD = "TOO_OLD"  # it existed when the run began, or the run's start is not known
    EMPTY = "EMPTY"  # it touches no file
    OUTSIDE = "OUTSIDE"  # none of the files it touches belongs to the step
    UNDONE = "UNDONE"  # its files are as they were before it, or a later commit reverted it
    UNKNOWN = "UNKNOWN"  # the repository could not be read


class FileState(StrEnum):
    """The state at HEAD of one file that the commit touched."""

    KEPT = "KEPT"  # as the commit left it
    UNDONE = "UNDONE"  # as it was before the commit, or deleted
    REWRITTEN = "REWRITTEN"  # by later work, or moved


class Evidence(Struct, frozen=True, kw_only=True):
    """What git says of one commit that is claimed to have done a step."""

    sha: str
    reachable: bool | Unknown = False
    after_start: bool | Unknown = False  # it descends from the run's first commit
    touched: dict[str, FileState] | Unknown = {}
    reverted_by: str = ""  # a later commit that says so, and that was not reverted itself
    globs: tuple[str, ...] = ()  # the step's files; none: every file


class Verdict(Struct, frozen=True, kw_only=True):
    """The answer, with a reason that begins with the commit."""

    answer: Answer
    reason: str = ""

    @property
    def done(self) -> bool:
        return self.answer is Answer.DONE


def judge(evidence: Evidence) -> Verdict:
    """Decide whether the commit did the step, by the first fact that speaks against it."""

    def verdict(answer: Answer, reason: str) -> Verdict:
        return Verdict(answer=answer, reason=f"{evidence.sha[:SHOWN] or 'no commit'} {reason}")

    for fact in (evidence.reachable, evidence.after_start, evidence.touched):
        if isinstance(fact, Unknown):
            return verdict(Answer.UNKNOWN, f"cannot be judged: {fact.why}")
    if not evidence.reachable:
        return verdict(Answer.NOT_THERE, "is not a commit that HEAD contains")
    if not evidence.after_start:
        return verdict(Answer.TOO_OLD, "does not come after the commit that the run began at")
    if isinstance(evidence.touched, Unknown) or not evidence.touched:
        return verdict(Answer.EMPTY, "touches no file")
    inside = _inside(evidence.touched, evidence.globs)
    if not inside:
        names = _first_and_count(evidence.touched)
        return verdict(
            Answer.OUTSIDE, f"touches {names} and nothing in {', '.join(evidence.globs)}"
        )
    undone = _why_undone(inside, evidence.reverted_by)
    if undone:
        return verdict(Answer.UNDONE, undone)
    return verdict(Answer.DONE, f"touches {_first_and_count(inside)}")


def _inside(touched: dict[str, FileState], globs: tuple[str, ...]) -> dict[str, FileState]:
    """The touched files that belong to the step; all of them for a step without globs."""
    if not globs:
        return touched
    try:
        region = regions.region(globs)
    except RegionInvalid:  # another program wrote the ledger: no file can match such a glob
        return {}
    return {path: state for path, state in touched.items() if regions.lane_holds(region, path)}


def _why_undone(touched: dict[str, FileState], reverted_by: str) -> str:
    """Why nothing of the commit is left; empty when something is.

    The content of the files decides. A revert message counts only where later work has rewritten
    them, because then their content no longer tells.
    """
    states = set(touched.values())
    by_commit = ""
    if reverted_by:
        by_commit = f" by {reverted_by[:SHOWN]}"
    if states == {FileState.UNDONE}:
        return f"was undone{by_commit}: nothing of it is left"
    if reverted_by and FileState.KEPT not in states:
        return f"was reverted{by_commit}"
    return ""


def _first_and_count(paths: dict[str, FileState]) -> str:
    """The first path, and how many more there are."""
    names = list(paths)
    if len(names) == 1:
        return names[0]
    return f"{names[0]} and {len(names) - 1} more"


class Step(Struct, frozen=True, kw_only=True):
    """One declared step: what the run claims for it, and what git says of it now."""

    id: str
    claimed: str = ""  # the commit that the run names for it
    verified: str = ""  # the commit that was checked and recorded, as it was recorded
    via: str = ""  # how it was checked
    now: Verdict | None = None  # what git says of the verified commit at this moment


class Declaration(Struct, frozen=True, kw_only=True):
    """The work that a run declared, with the state of each step."""

    run_id: str = ""
    has_intent: bool = False
    goal: str = ""
    plan: str = ""
    phase: str = ""
    steps: tuple[Step, ...] = ()
    kept_steps: tuple[str, ...] = ()  # a later declaration dropped them without approval
    start_sha: str = ""
    start_reachable: bool | Unknown = False
    unreadable_lines: int = 0
    unreadable_newer: bool = False

    @property
    def as_one(self) -> str:
        """All of the work as one unit, for a run that declared no steps."""
        if self.goal:
            return self.goal
        names = [name for name in (self.plan, self.phase) if name]
        return " ".join(names) or UNNAMED

    @property
    def unknown(self) -> str:
        """Why git could not be asked; empty when it could."""
        if isinstance(self.start_reachable, Unknown):
            return self.start_reachable.why
        for step in self.steps:
            if step.now and step.now.answer is Answer.UNKNOWN:
                return step.now.reason
        return ""


def is_done(step: Step, *, require_nonforgeable_rung: bool = True) -> bool:
    """Whether a step is verified and git still confirms it. A claim alone never makes it so."""
    if not step.verified or step.now is None or not step.now.done:
        return False
    return step.via in NOT_FORGEABLE or not require_nonforgeable_rung


def claimed_not_done(declared: Declaration, residual: tuple[str, ...]) -> list[Step]:
    """The steps among `residual` that the run says are done."""
    left = [step for step in declared.steps if step.id in residual]
    return [step for step in left if step.claimed or step.verified]
