"""What a run set out to do, and how much of it git bears out now. Completion and resumption are judged on it."""

from msgspec import Struct

from dos.runs import step as step_verdict
from dos.unknown import Unknown

# How a step was found done: by git alone. What a run says of itself is none of these.
NOT_FORGEABLE = frozenset({"file-path", "registry"})
UNNAMED = "(what was declared)"


class Step(Struct, frozen=True, kw_only=True):
    id: str
    claimed: str = ""  # the commit that the run names for it
    verified: str = ""  # the commit that was checked and written down, as it was written
    via: str = ""
    now: step_verdict.Verdict | None = None  # what git says of that commit at this moment


class Declaration(Struct, frozen=True, kw_only=True):
    run_id: str = ""
    has_intent: bool = False
    goal: str = ""
    plan: str = ""
    phase: str = ""
    steps: tuple[Step, ...] = ()
    kept_steps: tuple[str, ...] = ()  # left out by a later declaration that nobody approved
    start_sha: str = ""
    start_reachable: bool | Unknown = False
    unreadable_lines: int = 0
    unreadable_newer: bool = False

    @property
    def as_one(self) -> str:
        """All of it as a single unit, where no steps were declared."""
        return self.goal or " ".join(filter(None, (self.plan, self.phase))) or UNNAMED

    @property
    def unknown(self) -> str:
        """Why git could not be asked; empty when it could."""
        if isinstance(self.start_reachable, Unknown):
            return self.start_reachable.why
        return next(
            (step.now.reason for step in self.steps if step.now and _is_unknown(step.now)), ""
        )


def is_done(step: Step, *, require_nonforgeable_rung: bool = True) -> bool:
    """A claim alone never makes it so."""
    if not step.verified or step.now is None or not step.now.done:
        return False
    return step.via in NOT_FORGEABLE or not require_nonforgeable_rung


def claimed_not_done(declared: Declaration, residual: tuple[str, ...]) -> list[Step]:
    """What is said to be done and is not."""
    return [
        step for step in declared.steps if step.id in residual and (step.claimed or step.verified)
    ]


def _is_unknown(verdict: step_verdict.Verdict) -> bool:
    return verdict.answer is step_verdict.Answer.UNKNOWN
