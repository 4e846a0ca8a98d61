"""Decide whether git confirms everything that a run declared.

Only git decides. What a run claims about its own work, and what others changed meanwhile,
changes the reason of the verdict but never its answer.
"""

from enum import StrEnum

from msgspec import UNSET, Struct, UnsetType, field

from dos.runs.steps import Declaration, claimed_not_done, is_done


class Answer(StrEnum):
    """Whether a run's declared work is done; only COMPLETE lets a run end as done."""

    COMPLETE = "COMPLETE"
    INCOMPLETE = "INCOMPLETE"
    INDETERMINATE = "INDETERMINATE"  # nothing was declared, or it cannot be read
    UNDERDECLARED = "UNDERDECLARED"  # all declared steps are done, but more should be declared


class Evidence(Struct, frozen=True, kw_only=True):
    """What completion is judged on."""

    declared: Declaration
    diverged: str = ""  # why work of others is in the way; it changes only the reason
    # Why the declared extent is too small; read only when all of it is done.
    objections: tuple[str, ...] = ()


class Policy(Struct, frozen=True, kw_only=True):
    """Whether a step counts only when git alone shows it; see `declared.NOT_FORGEABLE`."""

    require_nonforgeable_rung: bool = True


class Verdict(Struct, frozen=True, kw_only=True):
    """The answer for one run, with the ids of its steps. `dos complete --json` prints it."""

    answer: Answer = field(name="state")
    reason: str = ""
    run_id: str = ""
    residual: tuple[str, ...] = ()
    verified: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()
    is_done: bool = False
    fraction_done: float | UnsetType = UNSET


def judge(evidence: Evidence, policy: Policy = Policy()) -> Verdict:
    """Decide whether everything that a run declared is in git."""
    declared = evidence.declared
    if declared.unreadable_newer:
        return _indeterminate(declared, "a newer version of dos wrote its ledger")
    if not declared.has_intent:
        return _indeterminate(declared, "the run declared nothing")
    if declared.unknown:
        return _indeterminate(declared, declared.unknown)
    if not declared.steps:
        reason = "the run declared no steps, so no step can be checked"
        return _verdict(
            Answer.INCOMPLETE, reason, declared, verified=(), residual=(declared.as_one,)
        )
    verified = []
    residual = []
    for step in declared.steps:
        if is_done(step, require_nonforgeable_rung=policy.require_nonforgeable_rung):
            verified.append(step.id)
        else:
            residual.append(step.id)
    done = tuple(verified)
    if residual:
        left = tuple(residual)
        reason = _what_is_left(evidence, left)
        return _verdict(Answer.INCOMPLETE, reason, declared, verified=done, residual=left)
    if evidence.objections:
        reason = "; ".join(evidence.objections)
        return _verdict(Answer.UNDERDECLARED, reason, declared, verified=done)
    reason = f"all {len(done)} declared steps are in git"
    return _verdict(Answer.COMPLETE, reason, declared, verified=done)


def _indeterminate(declared: Declaration, reason: str) -> Verdict:
    """A verdict without any step: completion cannot be judged at all."""
    return Verdict(answer=Answer.INDETERMINATE, reason=reason, run_id=declared.run_id)


def _verdict(
    answer: Answer,
    reason: str,
    declared: Declaration,
    *,
    verified: tuple[str, ...],
    residual: tuple[str, ...] = (),
) -> Verdict:
    """A verdict with the ids of all declared steps and the share of them that is done."""
    steps = tuple(step.id for step in declared.steps)
    fraction_done: float | UnsetType = UNSET
    if steps:
        fraction_done = round(len(verified) / len(steps), 4)
    return Verdict(
        answer=answer,
        reason=reason,
        run_id=declared.run_id,
        residual=residual,
        verified=verified,
        declared=steps,
        is_done=answer is Answer.COMPLETE,
        fraction_done=fraction_done,
    )


def _what_is_left(evidence: Evidence, residual: tuple[str, ...]) -> str:
    """The reason of an incomplete run: what is left, and what only claims to be done."""
    declared = evidence.declared
    parts = [f"{len(residual)} of {len(declared.steps)} steps are not done: {', '.join(residual)}"]
    claimed = claimed_not_done(declared, residual)
    if claimed:
        parts.append(f"{len(claimed)} of them only claimed")
    dropped = [step for step in declared.kept_steps if step in residual]
    if dropped:
        parts.append(f"{', '.join(dropped)} dropped from the plan without approval")
    if evidence.diverged:
        parts.append(evidence.diverged)
    return "; ".join(parts)
