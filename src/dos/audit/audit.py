"""Decide whether a commit's diff does the kind of thing that its subject says.

The verdict is about kinds of files and what is in them, never about whether the change is right.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from dos.audit.claim_kinds import ClaimKind, SubjectClaim
from dos.audit.weakening import Weakening
from dos.git.changes import FileChange
from dos.text import join_some, replace_undecodable
from dos.verify import file_kinds

Names = tuple[str, ...]


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
    """A commit's claim and files, and what was read of them.

    It holds only what decides the verdict: `cosmetic` is incomplete once a file supports the claim.
    """

    sha: str
    subject: str
    claim: SubjectClaim
    files: tuple[FileChange, ...]
    cosmetic: frozenset[str] = frozenset()  # paths whose change means nothing to a program
    tests_shrank: bool = False  # the test files lost more lines than they gained
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


_WITNESSES = {
    Answer.OK: Witness.DIFF_WITNESSED,
    Answer.TESTS_WEAKENED: Witness.DIFF_WITNESSED,
    Answer.CLAIM_UNWITNESSED: Witness.SUBJECT_ONLY,
    Answer.ABSTAIN: Witness.ABSTAIN,
}
# A change of the mode alone supports only a subject with one of these words.
_ABOUT_MODES = re.compile(r"\b(?:chmod|executable|permissions?|mode|exec)\b", re.IGNORECASE)
_NAMED_FILES = 3  # at most, in a reason
_EMPTY = "the commit is empty"


def judge(evidence: Evidence, policy: Policy = Policy()) -> Verdict:
    """Decide whether a commit's diff supports the claim of its subject.

    Weakened tests come first, because they count whatever the subject says. What cannot be read is
    never held against the commit: the verdict then abstains.
    """
    if Limit.SHALLOW in evidence.limits:
        reason = "its parent is not in this shallow clone, so the diff cannot be read"
        return _verdict(evidence, Answer.ABSTAIN, reason)
    if evidence.weakened:
        reason = str(evidence.weakened[0])
        if len(evidence.weakened) > 1:
            reason += f" (and {len(evidence.weakened) - 1} more)"
        return _verdict(evidence, Answer.TESTS_WEAKENED, reason)
    kind = evidence.claim.kind
    if Limit.UNREAD in evidence.limits and kind in (ClaimKind.TEST, ClaimKind.CODE_EFFECT):
        return _verdict(evidence, Answer.ABSTAIN, "the files that it changed cannot be read")
    match kind:
        case ClaimKind.NONE:
            reason = "the subject claims nothing that a diff could show"
            return _verdict(evidence, Answer.ABSTAIN, reason)
        case ClaimKind.DOC:
            return _judge_documents(evidence)
        case ClaimKind.TEST:
            return _judge_tests(evidence)
        case ClaimKind.CODE_EFFECT:
            return _judge_code(evidence, policy)


def has_effect(change: FileChange, subject: str, cosmetic: frozenset[str]) -> bool:
    """Whether a changed file can be what a subject claims.

    A cosmetic change cannot, and a change of the mode alone only if the subject is about modes.
    """
    if change.path in cosmetic:
        return False
    is_only_mode = change.old_blob == change.new_blob and change.status == "M"
    return not is_only_mode or _ABOUT_MODES.search(subject) is not None


def _judge_documents(evidence: Evidence) -> Verdict:
    """Decide a claim about documents: any changed file supports it, also one of code."""
    if not evidence.files:
        return _unwitnessed(evidence, _EMPTY)
    return _verdict(evidence, Answer.OK, f"changes {_paths_of(evidence.files)}")


def _judge_tests(evidence: Evidence) -> Verdict:
    """Decide a claim about tests: a test file must change in more than comments.

    Fewer lines than before are no support, unless the subject says that tests were moved.
    """
    tests = [change for change in evidence.files if file_kinds.is_test(change.path)]
    if not tests:
        reason = f"no test file was changed; {_actual_change(evidence)}"
        return _unwitnessed(evidence, reason)
    effective = _effective(evidence, tests)
    if not effective:
        reason = f"only comments or whitespace differ in {_paths_of(tests)}"
        return _unwitnessed(evidence, reason)
    if evidence.tests_shrank and not evidence.claim.says_moved:
        reason = f"more test lines were removed than added in {_paths_of(tests)}"
        return _unwitnessed(evidence, reason)
    return _verdict(evidence, Answer.OK, f"changes {join_some(effective, _NAMED_FILES)}")


def _judge_code(evidence: Evidence, policy: Policy) -> Verdict:
    """Decide a claim about code: by source files, else by CI files, else by settings.

    CI files support only a subject about CI. Settings support any claim, and `config_only` says so.
    """
    if not evidence.files:
        return _unwitnessed(evidence, _EMPTY)
    effective = _effective(evidence, evidence.files)
    source = _of_kind(effective, file_kinds.is_source)
    if source:
        return _verdict(evidence, Answer.OK, f"changes {join_some(source, _NAMED_FILES)}")
    ci = _of_kind(effective, file_kinds.is_ci)
    if evidence.claim.is_ci and ci:
        return _verdict(evidence, Answer.OK, f"changes {join_some(ci, _NAMED_FILES)}")
    config = _of_kind(effective, file_kinds.is_config)
    if config:
        reason = f"changes {join_some(config, _NAMED_FILES)}"
        return _verdict(evidence, Answer.OK, reason, config_only=True)
    if policy.docs_ok:
        reason = f"changes {_paths_of(evidence.files)}, and documents are enough here"
        return _verdict(evidence, Answer.OK, reason)
    return _unwitnessed(evidence, _actual_change(evidence))


def _actual_change(evidence: Evidence) -> str:
    """Say what the commit does instead of what it claims."""
    if not evidence.files:
        return _EMPTY
    effective = set(_effective(evidence, evidence.files))
    without_effect = [change for change in evidence.files if change.path not in effective]
    if without_effect:
        return f"only comments, whitespace or modes differ in {_paths_of(without_effect)}"
    return f"it changes only {_paths_of(evidence.files)}"


def _effective(evidence: Evidence, changes: Sequence[FileChange]) -> list[str]:
    """Return the paths among the changes that can be what the subject claims."""
    paths = []
    for change in changes:
        if has_effect(change, evidence.subject, evidence.cosmetic):
            paths.append(change.path)
    return paths


def _of_kind(paths: Sequence[str], is_kind: Callable[[str], bool]) -> list[str]:
    """Return the paths of one kind of files, in the same order."""
    return [path for path in paths if is_kind(path)]


def _unwitnessed(evidence: Evidence, reason: str) -> Verdict:
    """Return the verdict that nothing in the diff supports the subject."""
    return _verdict(evidence, Answer.CLAIM_UNWITNESSED, reason)


def _verdict(
    evidence: Evidence, answer: Answer, reason: str, *, config_only: bool = False
) -> Verdict:
    """Return the verdict, with names that JSON can hold.

    The files are listed by kind whatever the answer is, so that a reader can judge for themselves.
    """
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
        witness=_WITNESSES[answer],
        reason=replace_undecodable(reason),
        source_files=_printable(_of_kind(paths, file_kinds.is_source)),
        test_files=_printable(_of_kind(paths, file_kinds.is_test)),
        ci_files=_printable(_of_kind(paths, file_kinds.is_ci)),
        config_only=config_only,
        weakened=tuple(weakened),
        limits=evidence.limits,
    )


def _printable(paths: Sequence[str]) -> Names:
    """Return the paths without bytes that no JSON can hold."""
    return tuple(map(replace_undecodable, paths))


def _paths_of(changes: Sequence[FileChange]) -> str:
    """Return the first few paths of the changes, for a reason."""
    return join_some([change.path for change in changes], _NAMED_FILES)


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
