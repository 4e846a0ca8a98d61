"""Is the whole of what a run declared done, by git's word?"""

from enum import StrEnum

from msgspec import UNSET, Struct, UnsetType, field

from dos.runs.declared import Declaration, claimed_not_done, is_done


class Answer(StrEnum):
    COMPLETE = "COMPLETE"
    INCOMPLETE = "INCOMPLETE"
    INDETERMINATE = "INDETERMINATE"  # nothing was declared, or it cannot be read
    UNDERDECLARED = (
        "UNDERDECLARED"  # all that was declared is done, and more should have been declared
    )


class Evidence(Struct, frozen=True, kw_only=True):
    declared: Declaration
    diverged: str = ""  # why others' work stands in the way; it changes the reason only
    objections: tuple[
        str, ...
    ] = ()  # why the extent was too small; asked only when all of it is done


class Policy(Struct, frozen=True, kw_only=True):
    require_nonforgeable_rung: bool = True


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer = field(name="state")
    reason: str = ""
    run_id: str = ""
    residual: tuple[str, ...] = ()
    verified: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()
    is_done: bool = False
    fraction_done: float | UnsetType = UNSET


def judge(seen: Evidence, policy: Policy = Policy()) -> Verdict:
    declared = seen.declared
    if declared.unreadable_newer:
        return Verdict(
            answer=Answer.INDETERMINATE,
            reason="a newer version wrote its ledger",
            run_id=declared.run_id,
        )
    if not declared.has_intent:
        return Verdict(
            answer=Answer.INDETERMINATE,
            reason="nothing was declared for it",
            run_id=declared.run_id,
        )
    if declared.unknown:
        return Verdict(answer=Answer.INDETERMINATE, reason=declared.unknown, run_id=declared.run_id)
    if not declared.steps:
        reason = "no steps were declared, so that nothing can be checked off"
        return _verdict(
            Answer.INCOMPLETE, reason, declared, verified=(), residual=(declared.as_one,)
        )
    rung = policy.require_nonforgeable_rung
    done = tuple(
        step.id for step in declared.steps if is_done(step, require_nonforgeable_rung=rung)
    )
    residual = tuple(step.id for step in declared.steps if step.id not in done)
    if residual:
        return _verdict(
            Answer.INCOMPLETE, _left(seen, residual), declared, verified=done, residual=residual
        )
    if seen.objections:
        return _verdict(Answer.UNDERDECLARED, "; ".join(seen.objections), declared, verified=done)
    return _verdict(
        Answer.COMPLETE, f"all {len(done)} declared steps are in git", declared, verified=done
    )


def _verdict(
    answer: Answer,
    reason: str,
    declared: Declaration,
    *,
    verified: tuple[str, ...],
    residual: tuple[str, ...] = (),
) -> Verdict:
    steps = tuple(step.id for step in declared.steps)
    return Verdict(
        answer=answer,
        reason=reason,
        run_id=declared.run_id,
        residual=residual,
        verified=verified,
        declared=steps,
        is_done=answer is Answer.COMPLETE,
        fraction_done=round(len(verified) / len(steps), 4) if steps else UNSET,
    )


def _left(seen: Evidence, residual: tuple[str, ...]) -> str:
    declared = seen.declared
    parts = [f"{len(residual)} of {len(declared.steps)} steps are not done: {', '.join(residual)}"]
    if said := claimed_not_done(declared, residual):
        parts.append(f"{len(said)} of them only claimed")
    if kept := [step for step in declared.kept_steps if step in residual]:
        parts.append(f"{', '.join(kept)} left out by nobody's leave")
    if seen.diverged:
        parts.append(seen.diverged)
    return "; ".join(parts)
