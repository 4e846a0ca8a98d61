"""Decide whether a commit's diff does the kind of thing that its subject says.

The verdict is about kinds of files and what is in them, never about whether the change is right.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct, structs

from dos.audit.claims.claim_kinds import ClaimKind, SubjectClaim
from dos.audit.claims.finding import Backing, Finding
from dos.audit.weakening import Weakening
from dos.git.changes import FileChange
from dos.text import join_some, replace_undecodable
from dos.verify import file_kinds

Names = tuple[str, ...]
_NAMED_FILES = 3  # at most, in a reason


class Answer(StrEnum):
    """The verdict on a commit, as `dos commit-audit --json` prints it.

    `ABSTAIN` is no accusation: the subject claims nothing, or the diff cannot be read.
    """

    OK = "OK"
    CLAIM_UNWITNESSED = "CLAIM_UNWITNESSED"
    TESTS_WEAKENED = "TESTS_WEAKENED"
    ABSTAIN = "ABSTAIN"


class Witness(StrEnum):
    """What supports the claim of a subject: the diff, or nothing but the subject itself."""

    DIFF_WITNESSED = "diff-witnessed"
    SUBJECT_ONLY = "subject-only"
    ABSTAIN = "abstain"


class Limit(StrEnum):
    """What could not be read of a commit."""

    SHALLOW = "shallow"  # the parent is not in this clone: what the commit changed is unknown
    UNREAD = "unread"  # a file that it changed is not in this clone


class Evidence(Struct, frozen=True, kw_only=True):
    """A commit's claim and files, and what was read of them."""

    sha: str
    subject: str
    claim: SubjectClaim
    files: tuple[FileChange, ...]
    backing: Backing
    weakened: tuple[Weakening, ...] = ()
    limits: tuple[Limit, ...] = ()


class Policy(Struct, frozen=True, kw_only=True):
    """What the caller of the audit allows.

    The default is the strict reading; a repository of documents may loosen it.
    """

    docs_ok: bool = False  # a change of documents alone supports a claim about code


class Verdict(Struct, frozen=True, kw_only=True):
    """The verdict on one commit. The field names are keys of `dos commit-audit --json`."""

    sha: str
    verdict: Answer
    claim_kind: ClaimKind
    witness: Witness
    reason: str
    source_files: Names
    test_files: Names
    ci_files: Names
    config_only: bool = False  # only settings or markup support a claim about code
    weakened: tuple[Weakening, ...] = ()
    limits: tuple[Limit, ...] = ()


_ANSWERS = {
    Finding.BACKED: Answer.OK,
    Finding.REFUTED: Answer.CLAIM_UNWITNESSED,
    Finding.OPEN: Answer.ABSTAIN,
}
_WITNESSES = {
    Finding.BACKED: Witness.DIFF_WITNESSED,
    Finding.REFUTED: Witness.SUBJECT_ONLY,
    Finding.OPEN: Witness.ABSTAIN,
}


def judge(evidence: Evidence, policy: Policy = Policy()) -> Verdict:
    """Decide whether a commit's diff supports the claim of its subject.

    Weakened tests come first, because they count whatever the subject says; `witness` still tells
    whether the claim is met. What cannot be read is never held against the commit: the verdict
    then abstains.
    """
    if Limit.SHALLOW in evidence.limits:
        reason = "its parent is not in this shallow clone, so the diff cannot be read"
        return _verdict(evidence, Answer.ABSTAIN, _open(reason))
    backing = _allowed(evidence, policy)
    if evidence.weakened:
        reason = str(evidence.weakened[0])
        if len(evidence.weakened) > 1:
            reason += f" (and {len(evidence.weakened) - 1} more)"
        return _verdict(evidence, Answer.TESTS_WEAKENED, structs.replace(backing, reason=reason))
    return _verdict(evidence, _ANSWERS[backing.finding], backing)


def _allowed(evidence: Evidence, policy: Policy) -> Backing:
    """Return what the diff says of the claim, within what the caller allows and could be read."""
    backing = evidence.backing
    kind = evidence.claim.kind
    if Limit.UNREAD in evidence.limits and kind in (ClaimKind.TEST, ClaimKind.CODE_EFFECT):
        return _open("the files that it changed cannot be read")
    if backing.documents_only and policy.docs_ok:
        paths = join_some([change.path for change in evidence.files], _NAMED_FILES)
        reason = f"changes {paths}, and documents are enough here"
        return Backing(finding=Finding.BACKED, reason=reason)
    return backing


def _witness(answer: Answer, backing: Backing) -> Witness:
    """Return what supports the claim; weakened tests are seen in the diff, whatever is claimed."""
    if answer is Answer.TESTS_WEAKENED and backing.finding is Finding.OPEN:
        return Witness.DIFF_WITNESSED
    return _WITNESSES[backing.finding]


def _open(reason: str) -> Backing:
    return Backing(finding=Finding.OPEN, reason=reason)


def _of_kind(paths: Sequence[str], is_kind: Callable[[str], bool]) -> list[str]:
    """Return the paths of one kind of files, in the same order."""
    return [path for path in paths if is_kind(path)]


def _verdict(evidence: Evidence, answer: Answer, backing: Backing) -> Verdict:
    """Return the verdict, with names that JSON can hold.

    The files are listed by kind whatever the answer is, so that a reader can judge for themselves.
    """
    reason = backing.reason
    if Limit.UNREAD in evidence.limits:
        reason += "; one of its files is not in this clone"
    paths = [change.path for change in evidence.files]
    weakened = []
    for weakening in evidence.weakened:
        path = replace_undecodable(weakening.path)
        detail = replace_undecodable(weakening.detail)
        weakened.append(Weakening(path=path, what=weakening.what, detail=detail))
    return Verdict(
        sha=evidence.sha,
        verdict=answer,
        claim_kind=evidence.claim.kind,
        witness=_witness(answer, backing),
        reason=replace_undecodable(reason),
        source_files=_printable(_of_kind(paths, file_kinds.is_source)),
        test_files=_printable(_of_kind(paths, file_kinds.is_test)),
        ci_files=_printable(_of_kind(paths, file_kinds.is_ci)),
        config_only=backing.config_only,
        weakened=tuple(weakened),
        limits=evidence.limits,
    )


def _printable(paths: Sequence[str]) -> Names:
    """Return the paths without bytes that no JSON can hold."""
    return tuple(map(replace_undecodable, paths))


_COLUMNS = {
    Answer.OK: "witnessed",
    Answer.CLAIM_UNWITNESSED: "unwitnessed",
    Answer.TESTS_WEAKENED: "tests_weakened",
    Answer.ABSTAIN: "abstain",
}


class Sweep:
    """Counts of the verdicts on a range of commits.

    The verdicts themselves are not kept, so that a sweep over a long history needs little memory.
    The commits with findings are kept by their names.
    """

    def __init__(self) -> None:
        self._counts: Counter[Answer] = Counter()
        self._kinds: dict[str, dict[str, int]] = {}
        self._shas: dict[Answer, list[str]] = {
            Answer.CLAIM_UNWITNESSED: [],
            Answer.TESTS_WEAKENED: [],
        }
        self._limits: Counter[str] = Counter()

    def add(self, verdict: Verdict) -> None:
        """Count one verdict."""
        self._counts[verdict.verdict] += 1
        columns = self._kinds.setdefault(verdict.claim_kind, dict.fromkeys(_COLUMNS.values(), 0))
        columns[_COLUMNS[verdict.verdict]] += 1
        if verdict.verdict in self._shas:
            self._shas[verdict.verdict].append(verdict.sha)
        self._limits.update(verdict.limits)

    @property
    def commits(self) -> int:
        """How many commits were counted."""
        return self._counts.total()

    @property
    def findings(self) -> int:
        """How many of them are unwitnessed or weaken tests."""
        return self._counts[Answer.CLAIM_UNWITNESSED] + self._counts[Answer.TESTS_WEAKENED]

    def as_data(self) -> dict[str, Any]:
        """Return the counts as `dos commit-audit --json` prints them.

        `drift_rate` is the share of unwitnessed commits among those that could be checked.
        """
        unwitnessed = self._counts[Answer.CLAIM_UNWITNESSED]
        checkable = self.commits - self._counts[Answer.ABSTAIN]
        return {
            "commits": self.commits,
            "checkable": checkable,
            "abstained": self._counts[Answer.ABSTAIN],
            "witnessed": self._counts[Answer.OK],
            "unwitnessed": unwitnessed,
            "tests_weakened": self._counts[Answer.TESTS_WEAKENED],
            "drift_rate": unwitnessed / checkable if checkable else 0.0,
            "by_kind": self._kinds,
            "unwitnessed_shas": self._shas[Answer.CLAIM_UNWITNESSED],
            "weakened_shas": self._shas[Answer.TESTS_WEAKENED],
            "limits": dict(self._limits),
        }
