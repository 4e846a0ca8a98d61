"""What a diff says of a claim, and how a reason tells it to people."""

from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from dos.audit.claims import vocabulary
from dos.audit.claims.claim_kinds import SubjectClaim
from dos.audit.claims.diff import Diff
from dos.git.changes import FileChange
from dos.text import join_some

_NAMED_FILES = 3  # at most, in a reason


class Finding(Enum):
    """Whether the diff is what the subject claims."""

    BACKED = "backed"
    REFUTED = "refuted"
    OPEN = "open"


class Backing(Struct, frozen=True, kw_only=True):
    """What the diff says of a claim, and why."""

    finding: Finding
    reason: str
    config_only: bool = False  # only settings or markup support a claim about code
    documents_only: bool = False  # refuted because only documents or data changed


def said(claim: SubjectClaim) -> str:
    """What the subject says was done, for a reason."""
    for known, noun in _NOUNS:
        if not known.isdisjoint(claim.leads):
            return noun
    return "a change of the program"


_NOUNS = (
    (vocabulary.FIXES, "a fix"),
    (vocabulary.ADDS | {"feat", "feature", "support", "implement"}, "an addition"),
    (vocabulary.REMOVES, "a removal"),
)


def actual_change(changes: Diff) -> str:
    """Say what the commit does instead of what it claims."""
    if not changes.files:
        return "only modes differ"
    cosmetic = [change for change in changes.files if changes.is_cosmetic(change)]
    others = [change for change in changes.files if change not in cosmetic]
    if cosmetic and others:
        return f"only {names(others)} changed, and comments or whitespace in {names(cosmetic)}"
    if cosmetic:
        return f"only comments or whitespace differ in {names(cosmetic)}"
    return f"only {names(changes.files)} changed"


def backed(files: Sequence[FileChange]) -> Backing:
    return Backing(finding=Finding.BACKED, reason=changes_of(files))


def unclear(files: Sequence[FileChange]) -> Backing:
    return Backing(finding=Finding.OPEN, reason=changes_of(files))


def refuted(reason: str) -> Backing:
    return Backing(finding=Finding.REFUTED, reason=reason)


def refuted_by_documents(claim: SubjectClaim, changes: Diff) -> Backing:
    reason = f"says {said(claim)}; {actual_change(changes)}"
    return Backing(finding=Finding.REFUTED, reason=reason, documents_only=True)


def changes_of(files: Sequence[FileChange]) -> str:
    return f"changes {names(files)}"


def names(files: Sequence[FileChange]) -> str:
    """Return the first few paths of the changes, for a reason."""
    return paths([change.path for change in files])


def paths(paths: Sequence[str]) -> str:
    return join_some(paths, _NAMED_FILES)
