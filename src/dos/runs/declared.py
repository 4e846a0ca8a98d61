"""What a run declared that it would do, and how much of it git confirms now.

Completion (`complete.py`) and resumption (`resume.py`) are both judged on a `Declaration`.
"""

from msgspec import Struct

from dos.runs.step import Answer, Verdict
from dos.unknown import Unknown

# How a step was found to be done: by git alone. A run cannot forge any of these.
NOT_FORGEABLE = frozenset({"file-path", "registry"})
UNNAMED = "(what was declared)"


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
