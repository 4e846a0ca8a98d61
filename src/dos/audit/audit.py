"""Does the diff of a commit do the kind of thing that its subject says?

It speaks of kinds of files and of what is in them, never of whether the change is right.
"""

import re
from collections import Counter
from collections.abc import Sequence
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
    OK = "OK"
    CLAIM_UNWITNESSED = "CLAIM_UNWITNESSED"
    TESTS_WEAKENED = "TESTS_WEAKENED"
    ABSTAIN = "ABSTAIN"


class Witness(StrEnum):
    DIFF_WITNESSED = "diff-witnessed"
    SUBJECT_ONLY = "subject-only"
    ABSTAIN = "abstain"


class Limit(StrEnum):
    SHALLOW = "shallow"  # the parent is not in this clone: what the commit changed cannot be known
    UNREAD = "unread"  # a file that it changed is not in this clone


class Evidence(Struct, frozen=True, kw_only=True):
    sha: str
    subject: str
    claim: SubjectClaim
    files: tuple[FileChange, ...]
    cosmetic: frozenset[str] = frozenset()  # paths whose change means nothing to a program
    tests_shrank: bool = False  # the text of the test files lost more lines than it won
    weakened: tuple[Weakening, ...] = ()
    limits: tuple[Limit, ...] = ()


class Policy(Struct, frozen=True, kw_only=True):
    docs_ok: bool = False  # a change of documents alone stands behind a claim about code


class Verdict(Struct, frozen=True, kw_only=True):
    sha: str
    verdict: Answer
    claim_kind: ClaimKind
    witness: Witness
    reason: str
    source_files: Names
    test_files: Names
    ci_files: Names
    config_only: bool = (
        False  # settings or markup stand behind a claim about code, and nothing else does
    )
    weakened: tuple[Weakening, ...] = ()
    limits: tuple[Limit, ...] = ()


_ABOUT_MODES = re.compile(r"\b(?:chmod|executable|permissions?|mode|exec)\b", re.IGNORECASE)
_SHOWN = 3


def judge(evidence: Evidence, policy: Policy = Policy()) -> Verdict:
    if Limit.SHALLOW in evidence.limits:
        return _verdict(
            evidence,
            Answer.ABSTAIN,
            "its parent is cut off in this shallow clone: the diff cannot be read",
        )
    if evidence.weakened:
        more = f" (and {len(evidence.weakened) - 1} more)" if len(evidence.weakened) > 1 else ""
        return _verdict(evidence, Answer.TESTS_WEAKENED, f"{evidence.weakened[0]}{more}")
    if Limit.UNREAD in evidence.limits and evidence.claim.kind in (
        ClaimKind.TEST,
        ClaimKind.CODE_EFFECT,
    ):
        return _verdict(evidence, Answer.ABSTAIN, "what it changed cannot be read")
    match evidence.claim.kind:
        case ClaimKind.NONE:
            return _verdict(
                evidence, Answer.ABSTAIN, "the subject claims nothing that a diff could show"
            )
        case ClaimKind.DOC:
            return _of_documents(evidence)
        case ClaimKind.TEST:
            return _of_tests(evidence)
        case ClaimKind.CODE_EFFECT:
            return _of_code(evidence, policy)


def has_effect(change: FileChange, subject: str, cosmetic: frozenset[str]) -> bool:
    """Whether a changed file can be what a subject speaks of."""
    if change.path in cosmetic:
        return False
    is_only_mode = change.old_blob == change.new_blob and change.status == "M"
    return not is_only_mode or _ABOUT_MODES.search(subject) is not None


def _of_documents(seen: Evidence) -> Verdict:
    if not seen.files:
        return _verdict(seen, Answer.CLAIM_UNWITNESSED, "the commit is empty")
    return _verdict(seen, Answer.OK, f"changes {_all(seen.files)}")


def _of_tests(seen: Evidence) -> Verdict:
    tests = [change for change in seen.files if file_kinds.is_test(change.path)]
    if not tests:
        return _verdict(
            seen, Answer.CLAIM_UNWITNESSED, f"no test file was changed; {_what_was(seen)}"
        )
    changed = [change.path for change in tests if has_effect(change, seen.subject, seen.cosmetic)]
    if not changed:
        return _verdict(
            seen, Answer.CLAIM_UNWITNESSED, f"only comments or whitespace differ in {_all(tests)}"
        )
    if seen.tests_shrank and not seen.claim.says_moved:
        return _verdict(
            seen, Answer.CLAIM_UNWITNESSED, f"more test lines went than came in {_all(tests)}"
        )
    return _verdict(seen, Answer.OK, f"changes {join_some(changed, _SHOWN)}")


def _of_code(seen: Evidence, policy: Policy) -> Verdict:
    if not seen.files:
        return _verdict(seen, Answer.CLAIM_UNWITNESSED, "the commit is empty")
    effective = [
        change.path for change in seen.files if has_effect(change, seen.subject, seen.cosmetic)
    ]
    if source := [path for path in effective if file_kinds.is_source(path)]:
        return _verdict(seen, Answer.OK, f"changes {join_some(source, _SHOWN)}")
    if seen.claim.is_ci and (ci := [path for path in effective if file_kinds.is_ci(path)]):
        return _verdict(seen, Answer.OK, f"changes {join_some(ci, _SHOWN)}")
    if config := [path for path in effective if file_kinds.is_config(path)]:
        return _verdict(seen, Answer.OK, f"changes {join_some(config, _SHOWN)}", config_only=True)
    if policy.docs_ok:
        return _verdict(
            seen, Answer.OK, f"changes {_all(seen.files)}, and documents are enough here"
        )
    return _verdict(seen, Answer.CLAIM_UNWITNESSED, _what_was(seen))


def _what_was(seen: Evidence) -> str:
    """What the commit does instead."""
    if not seen.files:
        return "the commit is empty"
    cosmetic = [
        change for change in seen.files if not has_effect(change, seen.subject, seen.cosmetic)
    ]
    if cosmetic:
        return f"only comments, whitespace or modes differ in {_all(cosmetic)}"
    return f"it changes only {_all(seen.files)}"


def _verdict(seen: Evidence, answer: Answer, reason: str, *, config_only: bool = False) -> Verdict:
    witness = {
        Answer.OK: Witness.DIFF_WITNESSED,
        Answer.TESTS_WEAKENED: Witness.DIFF_WITNESSED,
        Answer.CLAIM_UNWITNESSED: Witness.SUBJECT_ONLY,
        Answer.ABSTAIN: Witness.ABSTAIN,
    }[answer]
    touched = [(change.path, replace_undecodable(change.path)) for change in seen.files]
    unread = "; a file of it is not in this clone" if Limit.UNREAD in seen.limits else ""
    return Verdict(
        sha=seen.sha,
        verdict=answer,
        claim_kind=seen.claim.kind,
        witness=witness,
        reason=replace_undecodable(reason + unread),
        source_files=tuple(name for path, name in touched if file_kinds.is_source(path)),
        test_files=tuple(name for path, name in touched if file_kinds.is_test(path)),
        ci_files=tuple(name for path, name in touched if file_kinds.is_ci(path)),
        config_only=config_only,
        weakened=tuple(
            Weakening(
                path=replace_undecodable(each.path),
                what=each.what,
                detail=replace_undecodable(each.detail),
            )
            for each in seen.weakened
        ),
        limits=seen.limits,
    )


def _all(changes: Sequence[FileChange]) -> str:
    return join_some([change.path for change in changes], _SHOWN)


_COLUMNS = {
    Answer.OK: "witnessed",
    Answer.CLAIM_UNWITNESSED: "unwitnessed",
    Answer.TESTS_WEAKENED: "tests_weakened",
    Answer.ABSTAIN: "abstain",
}


class Sweep:
    """Counts; the verdicts themselves are not kept."""

    def __init__(self) -> None:
        self._counts: Counter[Answer] = Counter()
        self._kinds: dict[str, dict[str, int]] = {}
        self._shas: dict[Answer, list[str]] = {
            Answer.CLAIM_UNWITNESSED: [],
            Answer.TESTS_WEAKENED: [],
        }
        self._limits: Counter[str] = Counter()

    def add(self, verdict: Verdict) -> None:
        self._counts[verdict.verdict] += 1
        columns = self._kinds.setdefault(verdict.claim_kind, dict.fromkeys(_COLUMNS.values(), 0))
        columns[_COLUMNS[verdict.verdict]] += 1
        if verdict.verdict in self._shas:
            self._shas[verdict.verdict].append(verdict.sha)
        self._limits.update(verdict.limits)

    @property
    def commits(self) -> int:
        return self._counts.total()

    @property
    def findings(self) -> int:
        return self._counts[Answer.CLAIM_UNWITNESSED] + self._counts[Answer.TESTS_WEAKENED]

    def as_data(self) -> dict[str, Any]:
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
