"""Decide whether an ended run can resume, and from which commit.

A run resumes after the unbroken prefix of its steps that git confirms.
"""

from enum import StrEnum

from msgspec import Struct, field

from dos.runs.steps import Declaration, Step, claimed_not_done, is_done
from dos.unknown import Unknown

ABANDONED = "abandoned"  # the result of a run that must not be resumed


class Answer(StrEnum):
    """Whether a run can resume."""

    RESUMABLE = "RESUMABLE"
    COMPLETE = "COMPLETE"  # no step is left
    DIVERGED = "DIVERGED"  # others changed its files since: a person has to decide
    UNRESUMABLE = "UNRESUMABLE"  # its declaration is missing or unreadable, or it was abandoned
    UNKNOWN = "UNKNOWN"  # the repository could not be read


EXIT_CODES = {
    Answer.RESUMABLE: 0,
    Answer.COMPLETE: 0,
    Answer.DIVERGED: 3,
    Answer.UNRESUMABLE: 4,
    Answer.UNKNOWN: 5,
}


class Evidence(Struct, frozen=True, kw_only=True):
    """What resumption is judged on."""

    declared: Declaration
    # Which commits of others touched its files after the resume point; empty: none.
    diverged: str | Unknown = ""
    result: str = ""  # how the run was ended; empty while it was not
    suspended: bool = False
    proposed: bool = False
    successor: str = ""  # the run that continues this one


class Policy(Struct, frozen=True, kw_only=True):
    """How strictly a ledger is read."""

    strict: bool = False  # refuse a ledger with any unreadable line
    require_nonforgeable_rung: bool = True


class Verdict(Struct, frozen=True, kw_only=True):
    """The answer for one run, with the commit to resume from. `dos resume --json` prints it."""

    answer: Answer = field(name="verdict")
    reason: str = ""
    run_id: str = ""
    resume_sha: str = ""
    residual: tuple[str, ...] = ()
    verified: tuple[str, ...] = ()
    predecessor_run_id: str = ""
    already_proposed: bool = False


class Point(Struct, frozen=True, kw_only=True):
    """Where a run would resume, and which steps lie before and after it."""

    sha: str  # as it was recorded; empty when no commit is safe
    verified: tuple[str, ...]
    residual: tuple[str, ...]


NOWHERE = Point(sha="", verified=(), residual=())


def judge(evidence: Evidence, policy: Policy = Policy()) -> Verdict:
    """Decide whether a run can resume, and from which commit."""
    declared = evidence.declared
    unresumable = _why_unresumable(declared, policy)
    if unresumable:
        return _verdict(Answer.UNRESUMABLE, unresumable, evidence)
    if declared.unknown:
        return _verdict(Answer.UNKNOWN, declared.unknown, evidence)
    point = resume_point(declared, policy)
    # Before divergence: finished work stays finished, whatever others did since.
    if not point.residual:
        reason = f"all {len(point.verified)} declared steps are in git"
        return _verdict(Answer.COMPLETE, reason, evidence, point)
    if evidence.result == ABANDONED:
        return _verdict(Answer.UNRESUMABLE, "the run was abandoned", evidence, point)
    if isinstance(evidence.diverged, Unknown):
        return _verdict(Answer.UNKNOWN, evidence.diverged.why, evidence, point)
    if evidence.diverged:
        return _verdict(Answer.DIVERGED, evidence.diverged, evidence, point)
    return _verdict(Answer.RESUMABLE, _what_is_left(evidence, point), evidence, point)


def resume_point(declared: Declaration, policy: Policy = Policy()) -> Point:
    """The point after the unbroken prefix of done steps.

    A step that is done beyond a gap is not trusted: it has to be checked again.
    """
    start = ""
    if declared.start_reachable is True:
        start = declared.start_sha
    if not declared.steps:
        return Point(sha=start, verified=(), residual=(declared.as_one,))
    prefix: list[Step] = []
    for step in declared.steps:
        if not is_done(step, require_nonforgeable_rung=policy.require_nonforgeable_rung):
            break
        prefix.append(step)
    if prefix:
        start = prefix[-1].verified
    return Point(
        sha=start,
        verified=tuple(step.id for step in prefix),
        residual=tuple(step.id for step in declared.steps[len(prefix) :]),
    )


def _why_unresumable(declared: Declaration, policy: Policy) -> str:
    """Why the declaration does not allow a resume at all; empty when it does."""
    if declared.unreadable_newer:
        return "a newer version of dos wrote its ledger; this version cannot read it safely"
    if policy.strict and declared.unreadable_lines:
        return f"{declared.unreadable_lines} lines of its ledger cannot be read"
    if not declared.has_intent:
        return "the run declared nothing"
    return ""


def _what_is_left(evidence: Evidence, point: Point) -> str:
    """The reason of a resumable run: what is left and from where."""
    parts = [f"{len(point.residual)} steps left, from {point.sha[:9] or 'the current HEAD'}"]
    claimed = claimed_not_done(evidence.declared, point.residual)
    if claimed:
        parts.append(f"{len(claimed)} of them claimed but not confirmed by git")
    if evidence.suspended:
        parts.append("the run is suspended")
    if evidence.successor:
        parts.append(f"{evidence.successor} continues it")
    return "; ".join(parts)


def _verdict(answer: Answer, reason: str, evidence: Evidence, point: Point = NOWHERE) -> Verdict:
    """A verdict at a resume point; a run that was proposed or continued before says so."""
    return Verdict(
        answer=answer,
        reason=reason,
        run_id=evidence.declared.run_id,
        resume_sha=point.sha,
        residual=point.residual,
        verified=point.verified,
        already_proposed=evidence.proposed or bool(evidence.successor),
    )
