"""Did a unit of work ship, and how do we know?

A commit that names it is a claim. What it changed, where, and whether that still stands is evidence; what a runner or
somebody else saw is more. The strongest candidate answers, and what speaks against the others is told.
"""

from collections.abc import Sequence
from enum import IntEnum, StrEnum

from msgspec import Struct

from dos.unknown import Unknown
from dos.verify.footprint import Footprint
from dos.verify.naming import Naming, Rung
from dos.verify.policy import Policy
from dos.verify.survival import Survival, SurvivalVerdict

SCHEMA = "dos.verify/2"


class Answer(StrEnum):
    SHIPPED = "SHIPPED"
    NOT_SHIPPED = "NOT_SHIPPED"
    UNPROVEN = "UNPROVEN"  # somebody says so, and nothing that we require stands behind it
    UNDONE = "UNDONE"  # it was there, and was taken away again
    CANNOT_TELL = "CANNOT_TELL"  # what would show it could not be read


EXIT_CODES = {
    Answer.SHIPPED: 0,
    Answer.NOT_SHIPPED: 1,
    Answer.UNPROVEN: 3,
    Answer.UNDONE: 4,
    Answer.CANNOT_TELL: 5,
}


class Source(StrEnum):
    """By what it is known that a unit shipped; the words are those of released versions."""

    NONE = "none"
    CI = "ci-green"
    REGISTRY = "registry"
    ARTIFACT = "grep-artifact"  # a commit that names it, and changes the files that it declared
    SUBJECT = "grep-subject"  # a commit that names it
    LANDING = "landing"
    BRANCH = "branch"  # landed on a branch of its own, for somebody to merge
    KEPT = "kept"  # a person kept what an agent had put there


class Tier(IntEnum):
    """How much stands behind it; the price of a lie goes up with it."""

    ABSENT = 0
    NAMED = 1  # a commit names it
    SUBSTANTIVE = 2  # and changed something that counts
    IN_SCOPE = 3  # where the unit said before that it would
    LIVE = 4  # and that still stands
    WITNESSED = 5  # a runner saw it work
    ATTESTED = 6  # somebody else says so


class Contradiction(StrEnum):
    EMPTY = "empty"
    BOOKKEEPING_ONLY = "bookkeeping_only"
    DOCS_ONLY = "docs_only"
    COSMETIC_ONLY = "cosmetic_only"
    OUT_OF_SCOPE = "out_of_scope"
    REVERTED = "reverted"
    REMOVED = "removed"
    OVERWRITTEN = "overwritten"
    NOT_MERGED = "not_merged"
    REGISTRY_UNBACKED = "registry_unbacked"
    NEGATED_SUBJECT = "negated_subject"
    CI_RED = "ci_red"
    CONFIG_DIRTY = "config_dirty"
    REPLACED_OBJECT = "replaced_object"


_REQUIRED = {
    "named": Tier.NAMED,
    "live": Tier.LIVE,
    "witnessed": Tier.WITNESSED,
    "attested": Tier.ATTESTED,
}
_HARD = {Contradiction.NEGATED_SUBJECT, Contradiction.BOOKKEEPING_ONLY, Contradiction.NOT_MERGED}


def required_tier(policy: Policy) -> Tier:
    return _REQUIRED[policy.require]


class CandidateCommit(Struct, frozen=True, kw_only=True):
    """A commit that names the unit, and what is known of it."""

    sha: str
    summary: str
    naming: Naming
    footprint: Footprint = Footprint()
    unreadable: str = ""  # why what it changed could not be read
    is_scoped: bool = False  # the unit had declared where its work would be
    survival: SurvivalVerdict | None = None  # of what counts in it
    undone_by: str = ""
    is_reverted: bool = False  # a later commit says that it takes it back
    looked_at: frozenset[str] = frozenset()  # the paths at the ref that this depends on
    is_walked: bool = False  # it depends on what came after the commit, too
    is_merged: bool = True  # into the branch that was asked for
    witnessed: str = ""  # what a runner saw
    attested: str = ""  # who else says so
    ci: str = ""  # GREEN, RED, PENDING, NO_SIGNAL


class Evidence(Struct, frozen=True, kw_only=True):
    plan: str
    phase: str
    ref: str
    commits: tuple[CandidateCommit, ...] = ()  # newest first
    limits: tuple[str, ...] = ()
    soaking: bool | Unknown = False  # it shipped, and is still being watched
    registry_unbacked: str = ""  # a registry calls it done, and names nothing that shows it
    config_dirty: bool = False
    replaced: bool = False  # git was told to show other objects in the place of some
    unreadable: str = ""  # why nothing could be read
    expected: tuple[str, ...] = ()  # where its work is to be


class Candidate(Struct, frozen=True, kw_only=True):
    sha: str
    rung: Rung
    tier: Tier
    reasons: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()


class Verdict(Struct, frozen=True, kw_only=True):
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

    @property
    def shipped(self) -> bool:
        return self.answer is Answer.SHIPPED

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.answer]


def judge(evidence: Evidence, policy: Policy = Policy()) -> Verdict:
    weighed = [
        (each, assess(each)) for each in evidence.commits if not _takes_back(each, evidence.commits)
    ]
    around = _around(evidence)
    if not weighed:
        return _without_candidates(evidence, around)
    # The newest of equals: `max` keeps the first, and they come newest first.
    best, candidate = max(weighed, key=lambda pair: _strength(pair[0], pair[1], policy))
    answer, why = _answer(best, candidate, evidence, policy)
    is_named = bool(candidate.tier)
    contradictions = dict.fromkeys([*candidate.contradictions, *around])
    return Verdict(
        answer=answer,
        plan=evidence.plan,
        phase=evidence.phase,
        ref=evidence.ref,
        tier=candidate.tier,
        reason=why,
        source=_source(best) if answer is Answer.SHIPPED else Source.NONE,
        sha=best.sha if is_named else "",
        summary=best.summary,
        rung=best.naming.rung,
        candidates=tuple(each for _, each in weighed),
        contradictions=tuple(contradictions),
        undone_by=best.undone_by or None if answer is Answer.UNDONE else None,
        limits=evidence.limits,
        expected=evidence.expected,
    )


def assess(seen: CandidateCommit) -> Candidate:
    """The tier that one commit reaches by itself, and what speaks against it."""
    tier, against, why = Tier.NAMED, [], []
    if not seen.is_merged:
        against.append(Contradiction.NOT_MERGED)
        why.append("it is not merged there")
    if seen.naming.negated:
        against.append(Contradiction.NEGATED_SUBJECT)
        why.append(
            f"its message says that it is not done: {seen.naming.negated!r} stands beside the name"
        )
    if seen.unreadable:
        why.append(seen.unreadable)
    elif seen.footprint.flaw:
        against.append(Contradiction(seen.footprint.flaw))
        why.append(seen.footprint.why)
    elif seen.is_merged and not seen.naming.negated:
        tier, said = _substantive(seen, against)
        why += said
    if seen.ci == "RED":
        against.append(Contradiction.CI_RED)
        why.append("its CI run is red")
    return Candidate(
        sha=seen.sha,
        rung=seen.naming.rung,
        tier=tier,
        reasons=tuple(why),
        contradictions=tuple(against),
    )


def _substantive(seen: CandidateCommit, against: list[Contradiction]) -> tuple[Tier, list[str]]:
    if seen.footprint.out_of_scope:
        against.append(Contradiction.OUT_OF_SCOPE)
        return Tier.NAMED if seen.naming.faint else Tier.SUBSTANTIVE, [seen.footprint.why]
    if seen.naming.faint and not seen.is_scoped:
        against += [Contradiction.REGISTRY_UNBACKED] if seen.naming.rung is Rung.REGISTRY else []
        return Tier.NAMED, [
            f"it is named only in passing ({seen.naming.rung}), and no declared path speaks for it"
        ]
    reached = Tier.IN_SCOPE if seen.is_scoped else Tier.SUBSTANTIVE
    found = seen.survival
    if found is None:
        return reached, ["whether it still stands could not be read"]
    if found.state is Survival.UNDONE or (
        found.state in (Survival.OVERWRITTEN, Survival.PARTIAL) and seen.is_reverted
    ):
        against.append(Contradiction.REVERTED if seen.is_reverted else Contradiction.REMOVED)
        by = f" by {seen.undone_by[:7]}" if seen.undone_by else ""
        what = "reverted" if seen.is_reverted else "taken out again"
        return reached, [f"it was {what}{by}: nothing of {found.lost or 'it'} is left"]
    if found.state is Survival.OVERWRITTEN:
        against.append(Contradiction.OVERWRITTEN)
        by = f" (last by {seen.undone_by[:7]})" if seen.undone_by else ""
        return reached, [
            f"{found.lost} was rewritten, and none of its {found.total} lines is left{by}"
        ]
    stands = f"{found.kept} of {found.total} lines stand"
    note = [f"only {stands}" if found.state is Survival.PARTIAL else stands]
    if seen.attested:
        return Tier.ATTESTED, [*note, seen.attested]
    return (Tier.WITNESSED, [*note, seen.witnessed]) if seen.witnessed else (Tier.LIVE, note)


def _takes_back(seen: CandidateCommit, others: Sequence[CandidateCommit]) -> bool:
    """Who only takes out again what others brought in for the unit has not shipped it."""
    found = seen.footprint
    if found.added or not found.removed:
        return False
    return found.removed <= {
        line for other in others if other is not seen for line in other.footprint.added
    }


def _strength(
    seen: CandidateCommit, candidate: Candidate, policy: Policy
) -> tuple[bool, bool, bool, bool, int, bool]:
    """What answers: one that meets the policy, then one that was there and is gone, then the highest."""
    undone = not {Contradiction.REVERTED, Contradiction.REMOVED}.isdisjoint(
        candidate.contradictions
    )
    is_green = not policy.ci_required or seen.ci == "GREEN"
    return (
        _meets(seen, candidate, policy),
        is_green,
        seen.is_merged,
        undone,
        candidate.tier,
        not seen.naming.faint,
    )


def _meets(seen: CandidateCommit, candidate: Candidate, policy: Policy) -> bool:
    if candidate.tier < required_tier(policy) or not seen.is_merged:
        return False
    if policy.require == "named":
        return _HARD.isdisjoint(candidate.contradictions) and not seen.naming.faint
    return True


def _answer(
    best: CandidateCommit, candidate: Candidate, seen: Evidence, policy: Policy
) -> tuple[Answer, str]:
    why = "; ".join(candidate.reasons)
    if not best.is_merged:
        return Answer.NOT_SHIPPED, why
    if not _meets(best, candidate, policy):
        if {Contradiction.REVERTED, Contradiction.REMOVED} & set(candidate.contradictions):
            return Answer.UNDONE, why
        if not candidate.contradictions and candidate.tier >= Tier.LIVE:
            missing = (
                "nobody else vouches for it"
                if policy.require == "attested"
                else "no runner has seen it work"
            )
            why = f"{why}; {missing}, which [verify] require = {policy.require!r} asks for"
        return Answer.CANNOT_TELL if best.unreadable else Answer.UNPROVEN, why
    if policy.ci_required and best.ci == "RED":
        return Answer.NOT_SHIPPED, "its CI run is red, and [verify] ci requires it"
    if policy.ci_required and best.ci != "GREEN":
        return (
            Answer.UNPROVEN,
            f"{why}; its CI run is not green ({best.ci or 'NO_SIGNAL'}), and [verify] ci requires it",
        )
    if isinstance(seen.soaking, Unknown):
        return (
            Answer.CANNOT_TELL,
            f"{why}; and whether it still soaks is not known: {seen.soaking.why}",
        )
    if seen.soaking:
        return Answer.NOT_SHIPPED, f"{why}; and it is still soaking"
    return Answer.SHIPPED, why


def _around(seen: Evidence) -> list[Contradiction]:
    found = [Contradiction.REGISTRY_UNBACKED] if seen.registry_unbacked else []
    found += [Contradiction.CONFIG_DIRTY] if seen.config_dirty else []
    return found + ([Contradiction.REPLACED_OBJECT] if seen.replaced else [])


def _without_candidates(seen: Evidence, around: Sequence[Contradiction]) -> Verdict:
    if seen.unreadable:
        answer, why = Answer.CANNOT_TELL, seen.unreadable
    elif seen.registry_unbacked:
        answer, why = Answer.UNPROVEN, seen.registry_unbacked
    elif "shallow" in seen.limits:
        answer, why = Answer.CANNOT_TELL, "no commit here names it, and the history here is cut off"
    else:
        answer, why = Answer.NOT_SHIPPED, f"no commit of {seen.ref} names it as done"
    return Verdict(
        answer=answer,
        plan=seen.plan,
        phase=seen.phase,
        ref=seen.ref,
        tier=Tier.NAMED if answer is Answer.UNPROVEN else Tier.ABSENT,
        reason=why,
        contradictions=tuple(around),
        limits=seen.limits,
        expected=seen.expected,
    )


def _source(seen: CandidateCommit) -> Source:
    if seen.ci == "GREEN":
        return Source.CI
    if seen.naming.rung is Rung.REGISTRY:
        return Source.REGISTRY
    return Source.ARTIFACT if seen.is_scoped else Source.SUBJECT
