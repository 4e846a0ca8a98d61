"""Can a run that ended go on, and from which commit? The prefix of its steps that git bears out is where."""

from enum import StrEnum

from msgspec import Struct, field

from dos.runs.declared import Declaration, Step, claimed_not_done, is_done
from dos.unknown import Unknown

ABANDONED = "abandoned"  # the result of a run that nobody is to go on with


class Answer(StrEnum):
    RESUMABLE = "RESUMABLE"
    COMPLETE = "COMPLETE"  # nothing is left to go on with
    DIVERGED = "DIVERGED"  # others changed its files since: a person has to look
    UNRESUMABLE = "UNRESUMABLE"  # nobody knows what it set out to do, or it is not to go on
    UNKNOWN = "UNKNOWN"  # the repository could not be read


EXIT_CODES = {
    Answer.RESUMABLE: 0,
    Answer.COMPLETE: 0,
    Answer.DIVERGED: 3,
    Answer.UNRESUMABLE: 4,
    Answer.UNKNOWN: 5,
}


class Evidence(Struct, frozen=True, kw_only=True):
    declared: Declaration
    diverged: str | Unknown = (
        ""  # whose commits touched its files after the point where it would go on
    )
    result: str = ""  # how it was ended; empty while it was not
    suspended: bool = False
    proposed: bool = False
    successor: str = ""


class Policy(Struct, frozen=True, kw_only=True):
    strict: bool = False  # a ledger with lines that cannot be read is none
    require_nonforgeable_rung: bool = True


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer = field(name="verdict")
    reason: str = ""
    run_id: str = ""
    resume_sha: str = ""
    residual: tuple[str, ...] = ()
    verified: tuple[str, ...] = ()
    predecessor_run_id: str = ""
    already_proposed: bool = False


class Point(Struct, frozen=True, kw_only=True):
    """Where it would go on."""

    sha: str  # as it was written down; empty when no commit is safe
    verified: tuple[str, ...]
    residual: tuple[str, ...]


def judge(seen: Evidence, policy: Policy = Policy()) -> Verdict:
    declared = seen.declared
    if why := _unresumable(declared, policy):
        return _verdict(Answer.UNRESUMABLE, why, seen)
    if declared.unknown:
        return _verdict(Answer.UNKNOWN, declared.unknown, seen)
    point = resume_point(declared, policy)
    # Before divergence: what is done is done, whatever others did since.
    if not point.residual:
        return _verdict(
            Answer.COMPLETE, f"all {len(point.verified)} declared steps are in git", seen, point
        )
    if seen.result == ABANDONED:
        return _verdict(Answer.UNRESUMABLE, "it was abandoned", seen, point)
    if isinstance(seen.diverged, Unknown):
        return _verdict(Answer.UNKNOWN, seen.diverged.why, seen, point)
    if seen.diverged:
        return _verdict(Answer.DIVERGED, seen.diverged, seen, point)
    return _verdict(Answer.RESUMABLE, _going_on(seen, point), seen, point)


def resume_point(declared: Declaration, policy: Policy = Policy()) -> Point:
    """After the unbroken run of done steps from the first one: a step done beyond a gap has to be looked at again."""
    start = declared.start_sha if declared.start_reachable is True else ""
    if not declared.steps:
        return Point(sha=start, verified=(), residual=(declared.as_one,))
    prefix: list[Step] = []
    for step in declared.steps:
        if not is_done(step, require_nonforgeable_rung=policy.require_nonforgeable_rung):
            break
        prefix.append(step)
    return Point(
        sha=prefix[-1].verified if prefix else start,
        verified=tuple(step.id for step in prefix),
        residual=tuple(step.id for step in declared.steps[len(prefix) :]),
    )


def _unresumable(declared: Declaration, policy: Policy) -> str:
    if declared.unreadable_newer:
        return "a newer version wrote its ledger, and guessing would be worse than stopping"
    if policy.strict and declared.unreadable_lines:
        return f"{declared.unreadable_lines} lines of its ledger cannot be read"
    return "" if declared.has_intent else "nothing was declared for it"


def _going_on(seen: Evidence, point: Point) -> str:
    parts = [f"{len(point.residual)} left to do, from {point.sha[:9] or 'wherever HEAD is'}"]
    if said := claimed_not_done(seen.declared, point.residual):
        parts.append(f"{len(said)} of them claimed and not borne out")
    if seen.suspended:
        parts.append("it is suspended")
    if seen.successor:
        parts.append(f"{seen.successor} goes on with it")
    return "; ".join(parts)


def _verdict(answer: Answer, reason: str, seen: Evidence, point: Point | None = None) -> Verdict:
    return Verdict(
        answer=answer,
        reason=reason,
        run_id=seen.declared.run_id,
        resume_sha=point.sha if point else "",
        residual=point.residual if point else (),
        verified=point.verified if point else (),
        already_proposed=seen.proposed or bool(seen.successor),
    )


class Reachability(StrEnum):
    REACHABLE = "REACHABLE"
    COLLECTIBLE = "COLLECTIBLE"


class ReachabilityVerdict(Struct, frozen=True, kw_only=True):
    answer: Reachability
    reason: str = ""


def judge_reachability(found: Verdict, *, suspended: bool) -> ReachabilityVerdict:
    """What could go on stays, however old it is; and so does what could not be judged."""
    if found.answer in (Answer.COMPLETE, Answer.UNRESUMABLE):
        return ReachabilityVerdict(
            answer=Reachability.COLLECTIBLE, reason=f"{found.answer}: {found.reason}"
        )
    parked = "SUSPENDED: " if suspended else ""
    return ReachabilityVerdict(
        answer=Reachability.REACHABLE, reason=f"{parked}{found.answer}: {found.reason}"
    )
