"""A commit that names a unit, and how far this commit alone proves that the unit shipped.

The tiers build on one another: a commit names the unit, changes something that counts, inside the
declared paths, and that is still there; then a runner or another party confirms it. A
contradiction is reported even if the policy asks for less than it contradicts.
"""

from enum import IntEnum, StrEnum

from msgspec import Struct

from dos.verify.footprint import Footprint
from dos.verify.naming import Naming, Rung
from dos.verify.survival import Survival, SurvivalVerdict


class Tier(IntEnum):
    """How much evidence there is; each tier is harder to fake than the one before."""

    ABSENT = 0
    NAMED = 1  # a commit names it
    SUBSTANTIVE = 2  # and changed something that counts
    IN_SCOPE = 3  # inside the paths that the unit had declared
    LIVE = 4  # and that is still there
    WITNESSED = 5  # a runner saw it work
    ATTESTED = 6  # another party says so


class Contradiction(StrEnum):
    """What speaks against a unit being shipped."""

    EMPTY = "empty"
    BOOKKEEPING_ONLY = "bookkeeping_only"
    DOCS_ONLY = "docs_only"
    COSMETIC_ONLY = "cosmetic_only"
    STUBS_ONLY = "stubs_only"
    DEAD_CODE_ONLY = "dead_code_only"
    OUT_OF_SCOPE = "out_of_scope"
    REVERTED = "reverted"
    REMOVED = "removed"
    OVERWRITTEN = "overwritten"
    NOT_MERGED = "not_merged"
    REGISTRY_UNBACKED = "registry_unbacked"
    NEGATED_SUBJECT = "negated_subject"
    CI_RED = "ci_red"
    CONFIG_DIRTY = "config_dirty"
    CONFIG_INVALID = "config_invalid"
    REPLACED_OBJECT = "replaced_object"


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
    is_reverted: bool = False  # a later commit says that it reverts this one
    looked_at: frozenset[str] = frozenset()  # the paths at the ref that this depends on
    is_walked: bool = False  # it depends on the commits after it, too
    unimported: str = ""  # a new module that nothing imports, if it added such modules alone
    is_merged: bool = True  # into the branch that was asked for
    witnessed: str = ""  # what a runner saw
    attested: str = ""  # which other party says so
    unwitnessed: str = ""  # why a runner that saw it pass is no witness
    ci: str = ""  # GREEN, RED, PENDING, NO_SIGNAL

    @property
    def is_taken_out(self) -> bool:
        """Whether its work is gone, by a revert or otherwise."""
        if self.survival is None:
            return False
        if self.survival.state is Survival.UNDONE:
            return True
        is_thinned = self.survival.state in (Survival.OVERWRITTEN, Survival.PARTIAL)
        return is_thinned and self.is_reverted


class Candidate(Struct, frozen=True, kw_only=True):
    """How far one commit alone proves the unit, as callers see it."""

    sha: str
    rung: Rung
    tier: Tier
    reasons: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()

    @property
    def is_taken_out(self) -> bool:
        """Whether the work was there, and was reverted or removed."""
        removals = {Contradiction.REVERTED, Contradiction.REMOVED}
        return not removals.isdisjoint(self.contradictions)


def assess(commit: CandidateCommit) -> Candidate:
    """The tier that one commit reaches by itself, and what speaks against it.

    What it changed is looked at only if it is merged and not negated: otherwise it is a claim, and
    nothing more, whatever it contains.
    """
    tier = Tier.NAMED
    against: list[Contradiction] = []
    reasons: list[str] = []
    if not commit.is_merged:
        against.append(Contradiction.NOT_MERGED)
        reasons.append("it is not merged there")
    if commit.naming.negated:
        against.append(Contradiction.NEGATED_SUBJECT)
        reasons.append(f"its message says that it is not done: {commit.naming.negated!r}")
    if commit.unreadable:
        reasons.append(commit.unreadable)
    elif commit.footprint.flaw:
        against.append(Contradiction(commit.footprint.flaw))
        reasons.append(commit.footprint.why)
    elif commit.is_merged and not commit.naming.negated:
        tier, more = _assess_change(commit, against)
        reasons += more
    if commit.ci == "RED":
        against.append(Contradiction.CI_RED)
        reasons.append("its CI run is red")
    return Candidate(
        sha=commit.sha,
        rung=commit.naming.rung,
        tier=tier,
        reasons=tuple(reasons),
        contradictions=tuple(against),
    )


def _assess_change(commit: CandidateCommit, against: list[Contradiction]) -> tuple[Tier, list[str]]:
    """The tier by what the commit changed and what is left of it; adds to `against`."""
    faint = commit.naming.faint
    if commit.footprint.out_of_scope:
        against.append(Contradiction.OUT_OF_SCOPE)
        tier = Tier.NAMED if faint else Tier.SUBSTANTIVE
        return tier, [commit.footprint.why]
    if faint and not commit.is_scoped:
        if commit.naming.rung is Rung.REGISTRY:
            against.append(Contradiction.REGISTRY_UNBACKED)
        reason = (
            f"it is named only in passing ({commit.naming.rung}), and no declared path backs it"
        )
        return Tier.NAMED, [reason]
    reached = Tier.IN_SCOPE if commit.is_scoped else Tier.SUBSTANTIVE
    if commit.survival is None:
        return reached, ["whether it is still there could not be read"]
    if commit.is_taken_out:
        return reached, [_taken_out(commit, commit.survival, against)]
    if commit.survival.state is Survival.OVERWRITTEN:
        return reached, [_overwritten(commit, commit.survival, against)]
    return _assess_live(commit, commit.survival)


def _taken_out(
    commit: CandidateCommit, survival: SurvivalVerdict, against: list[Contradiction]
) -> str:
    """Say that the work is gone, and by which commit; adds to `against`."""
    by = f" by {commit.undone_by[:7]}" if commit.undone_by else ""
    if commit.is_reverted:
        against.append(Contradiction.REVERTED)
        what = "reverted"
    else:
        against.append(Contradiction.REMOVED)
        what = "removed again"
    return f"it was {what}{by}: nothing of {survival.lost or 'it'} is left"


def _overwritten(
    commit: CandidateCommit, survival: SurvivalVerdict, against: list[Contradiction]
) -> str:
    """Say that other work replaced it; adds to `against`."""
    against.append(Contradiction.OVERWRITTEN)
    by = f" (last by {commit.undone_by[:7]})" if commit.undone_by else ""
    return f"{survival.lost} was rewritten, and none of its {survival.total} lines is left{by}"


def _assess_live(commit: CandidateCommit, survival: SurvivalVerdict) -> tuple[Tier, list[str]]:
    """The tier of work that is still there, by its best witness."""
    left = f"{survival.kept} of {survival.total} lines are still there"
    if survival.state is Survival.PARTIAL:
        left = f"only {left}"
    elif survival.kept == survival.total:
        left = "all its lines are still there"
    if survival.raised:
        left = f"{left}, {survival.raised} of them with a newer value"
    if commit.attested:
        return Tier.ATTESTED, [left, commit.attested]
    if commit.witnessed:
        return Tier.WITNESSED, [left, commit.witnessed]
    return Tier.LIVE, [left, *filter(None, [commit.unwitnessed])]
