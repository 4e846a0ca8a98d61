"""Decide whether a unit of work shipped, and by what evidence.

A commit that names the unit is a claim. What it changed, where, and whether that is still there
is evidence; what a runner or another party saw is more. The strongest candidate decides the
answer, and the verdict lists what speaks against it.
"""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from dos.unknown import Unknown
from dos.verify import red_before
from dos.verify.candidate import Candidate, CandidateCommit, Contradiction, Tier, assess
from dos.verify.naming import Rung
from dos.verify.policy import Policy

SCHEMA = "dos.verify/2"


class Answer(StrEnum):
    """Whether a unit shipped."""

    SHIPPED = "SHIPPED"
    NOT_SHIPPED = "NOT_SHIPPED"
    UNPROVEN = "UNPROVEN"  # a commit claims it, and the required evidence is missing
    UNDONE = "UNDONE"  # it was there, and was removed again
    CANNOT_TELL = "CANNOT_TELL"  # what would show it could not be read


EXIT_CODES = {
    Answer.SHIPPED: 0,
    Answer.NOT_SHIPPED: 1,
    Answer.UNPROVEN: 3,
    Answer.UNDONE: 4,
    Answer.CANNOT_TELL: 5,
}


class Source(StrEnum):
    """By what it is known that a unit shipped; the tokens are those of dos-kernel ≤ 0.30."""

    NONE = "none"
    CI = "ci-green"
    REGISTRY = "registry"
    ARTIFACT = "grep-artifact"  # a commit that names it, and changes the files that it declared
    SUBJECT = "grep-subject"  # a commit that names it
    LANDING = "landing"
    BRANCH = "branch"  # landed on a branch of its own, to be merged
    KEPT = "kept"  # a person accepted what an agent had committed


_REQUIRED = {
    "named": Tier.NAMED,
    "live": Tier.LIVE,
    "witnessed": Tier.WITNESSED,
    "attested": Tier.ATTESTED,
}
# Named alone is never enough with one of these.
_DISQUALIFYING = {
    Contradiction.NEGATED_SUBJECT,
    Contradiction.BOOKKEEPING_ONLY,
    Contradiction.NOT_MERGED,
}


def required_tier(policy: Policy) -> Tier:
    """The tier that a policy asks for."""
    return _REQUIRED[policy.require]


def why_unreachable(
    policy: Policy,
    *,
    has_acceptance: bool,
    passes_without_work: bool | None = None,
    needs_only_tests: bool = False,
) -> str:
    """Return why work that is to land cannot be witnessed, if the policy asks for that; else "".

    Nobody has watched work that has not landed, but the landing itself is a witness: its acceptance
    command fails without the work and passes with it. Where that cannot be, the work would never
    be called shipped.

    `passes_without_work` is the result of the acceptance command on the commit below the work;
    None while that is not known. With `needs_only_tests` it passes there with the work's tests
    alone. A CI that is asked later can attest work that no command tells.
    """
    if required_tier(policy) < Tier.WITNESSED or policy.non_git_oracle:
        return ""
    asked = f"[verify] require = {policy.require!r} asks for a runner that saw it work"
    if not has_acceptance:
        return f"{asked}, and the unit has no acceptance command"
    if passes_without_work:
        passes = red_before.how_green(needs_only_tests=needs_only_tests)
        return f"{asked}, and its acceptance command {passes}"
    return ""


def git_policy(policy: Policy) -> Policy:
    """Return the part of a policy that git alone can meet before a landing."""
    if policy.require == "named":
        return Policy(require="named")
    return Policy(require="live")


def stricter(one: Policy, other: Policy) -> Policy:
    """Return the policy that requires more."""
    return max(one, other, key=required_tier)


class Evidence(Struct, frozen=True, kw_only=True):
    """What git and other witnesses hold about a unit at a ref."""

    plan: str
    phase: str
    ref: str
    commits: tuple[CandidateCommit, ...] = ()  # newest first
    limits: tuple[str, ...] = ()
    soaking: bool | Unknown = False  # it shipped, and is still being watched
    registry_unbacked: str = ""  # a registry calls it done, and names nothing that shows it
    config_dirty: bool = False  # dos.toml on disk would judge differently from the committed one
    config_invalid: bool = False  # dos.toml on disk has errors; the committed one has none
    replaced: bool = False  # git replaces some objects by others (refs/replace)
    unreadable: str = ""  # why nothing could be read
    expected: tuple[str, ...] = ()  # where its work is to be
    is_declared: bool = True  # False: the plans and dos.toml of the ref do not have the unit


class Verdict(Struct, frozen=True, kw_only=True):
    """The answer about one unit, with the commit that decided it."""

    answer: Answer
    plan: str
    phase: str
    ref: str
    tier: Tier
    reason: str
    source: Source = Source.NONE
    sha: str = ""
    summary: str = ""
    rung: str = ""
    candidates: tuple[Candidate, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    undone_by: str | None = None
    limits: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    is_declared: bool = True
    soaking: bool = False  # it would have shipped, but its soak has not ended, as far as known
    imported_nowhere: str = ""  # a new module of the commit that nothing refers to: a note

    @property
    def shipped(self) -> bool:
        return self.answer is Answer.SHIPPED

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.answer]


def judge(evidence: Evidence, policy: Policy = Policy()) -> Verdict:
    """Decide whether a unit shipped, by its strongest candidate.

    The answer is CANNOT_TELL if what would decide could not be read; an unreadable history is
    never taken for one in which the unit is missing.
    """
    assessed = []
    for commit in evidence.commits:
        if not _only_removes_others_lines(commit, evidence.commits):
            assessed.append((commit, assess(commit)))
    general = _general_contradictions(evidence)
    if not assessed:
        return _without_candidates(evidence, general)
    # The newest of equals: `max` keeps the first, and they come newest first.
    best, candidate = max(assessed, key=lambda pair: _strength(pair[0], pair[1], policy))
    answer, reason = _answer(best, candidate, policy)
    soaking = answer is Answer.SHIPPED and evidence.soaking is not False
    if answer is Answer.SHIPPED:
        answer, reason = _after_soak(reason, evidence.soaking)
    undone_by = best.undone_by or None
    return Verdict(
        answer=answer,
        plan=evidence.plan,
        phase=evidence.phase,
        ref=evidence.ref,
        tier=candidate.tier,
        reason=reason,
        source=_source(best) if answer is Answer.SHIPPED else Source.NONE,
        sha=best.sha if candidate.tier else "",
        summary=best.summary,
        rung=best.naming.rung,
        candidates=tuple(candidate for _, candidate in assessed),
        contradictions=tuple(dict.fromkeys([*candidate.contradictions, *general])),
        undone_by=undone_by if answer is Answer.UNDONE else None,
        limits=evidence.limits,
        expected=evidence.expected,
        soaking=soaking,
        imported_nowhere=best.unimported if answer is Answer.SHIPPED else "",
    )


def _only_removes_others_lines(commit: CandidateCommit, commits: Sequence[CandidateCommit]) -> bool:
    """Whether a commit only removes what other candidates added: it has not shipped the unit."""
    footprint = commit.footprint
    if footprint.added or not footprint.removed:
        return False
    added_by_others: set[str] = set()
    for other in commits:
        if other is not commit:
            added_by_others |= other.footprint.added
    return footprint.removed <= added_by_others


def _strength(
    commit: CandidateCommit, candidate: Candidate, policy: Policy
) -> tuple[bool, bool, bool, bool, int, bool]:
    """The sort key: first who meets the policy, then who was there and is gone, then the tier."""
    return (
        _meets(commit, candidate, policy),
        not policy.ci_required or commit.ci == "GREEN",
        commit.is_merged,
        candidate.is_taken_out,
        candidate.tier,
        not commit.naming.faint,
    )


def _meets(commit: CandidateCommit, candidate: Candidate, policy: Policy) -> bool:
    """Whether a candidate has the evidence that the policy requires; CI is judged apart."""
    if candidate.tier < required_tier(policy) or not commit.is_merged:
        return False
    if policy.require == "named":
        return _DISQUALIFYING.isdisjoint(candidate.contradictions) and not commit.naming.faint
    return True


def _answer(best: CandidateCommit, candidate: Candidate, policy: Policy) -> tuple[Answer, str]:
    """The answer by the strongest candidate, with its reason.

    CI and soaks can only lower an answer: they are asked after the evidence in git suffices, soaks
    last (`_after_soak`).
    """
    reason = "; ".join(candidate.reasons)
    if not best.is_merged:
        return Answer.NOT_SHIPPED, reason
    if not _meets(best, candidate, policy):
        return _insufficient(best, candidate, policy)
    if policy.ci_required and best.ci == "RED":
        return Answer.NOT_SHIPPED, "its CI run is red, and [verify] ci requires it"
    if policy.ci_required and best.ci != "GREEN":
        state = best.ci or "NO_SIGNAL"
        why = f"its CI run is not green ({state}), and [verify] ci requires it"
        return Answer.UNPROVEN, f"{reason}; {why}"
    return Answer.SHIPPED, reason


def _after_soak(reason: str, soaking: bool | Unknown) -> tuple[Answer, str]:
    """The answer for work that is there: it ships when its soak is over."""
    if isinstance(soaking, Unknown):
        why = f"whether it is still soaking could not be read: {soaking.why}"
        return Answer.CANNOT_TELL, f"{reason}; {why}"
    if soaking:
        return Answer.NOT_SHIPPED, f"{reason}; it is still soaking"
    return Answer.SHIPPED, reason


def _insufficient(
    best: CandidateCommit, candidate: Candidate, policy: Policy
) -> tuple[Answer, str]:
    """The answer for a merged candidate that does not meet the policy."""
    reason = "; ".join(candidate.reasons)
    if candidate.is_taken_out:
        return Answer.UNDONE, reason
    if not candidate.contradictions and candidate.tier >= Tier.LIVE:
        if policy.require == "attested":
            missing = "no other party attests it"
        else:
            missing = "no runner has seen it work"
        reason = f"{reason}; {missing}, which [verify] require = {policy.require!r} asks for"
    if best.unreadable:
        return Answer.CANNOT_TELL, reason
    return Answer.UNPROVEN, reason


def _general_contradictions(evidence: Evidence) -> list[Contradiction]:
    """What speaks against every candidate alike."""
    found = []
    if evidence.registry_unbacked:
        found.append(Contradiction.REGISTRY_UNBACKED)
    if evidence.config_dirty:
        found.append(Contradiction.CONFIG_DIRTY)
    if evidence.config_invalid:
        found.append(Contradiction.CONFIG_INVALID)
    if evidence.replaced:
        found.append(Contradiction.REPLACED_OBJECT)
    return found


def _without_candidates(evidence: Evidence, general: Sequence[Contradiction]) -> Verdict:
    """The verdict if no commit names the unit."""
    tier = Tier.ABSENT
    if evidence.unreadable:
        answer = Answer.CANNOT_TELL
        reason = evidence.unreadable
    elif evidence.registry_unbacked:
        answer = Answer.UNPROVEN
        reason = evidence.registry_unbacked
        tier = Tier.NAMED
    elif "shallow" in evidence.limits:
        answer = Answer.CANNOT_TELL
        reason = "no commit here names it, and this clone is shallow"
    else:
        answer = Answer.NOT_SHIPPED
        reason = f"no commit of {evidence.ref} names it as done"
        if not evidence.is_declared:
            reason += ", and no plan there declares it"
    return Verdict(
        answer=answer,
        plan=evidence.plan,
        phase=evidence.phase,
        ref=evidence.ref,
        tier=tier,
        reason=reason,
        contradictions=tuple(general),
        limits=evidence.limits,
        expected=evidence.expected,
        is_declared=evidence.is_declared,
    )


def _source(commit: CandidateCommit) -> Source:
    """By what the unit is known to have shipped, as a released token."""
    if commit.ci == "GREEN":
        return Source.CI
    if commit.naming.rung is Rung.REGISTRY:
        return Source.REGISTRY
    if commit.is_scoped:
        return Source.ARTIFACT
    return Source.SUBJECT
