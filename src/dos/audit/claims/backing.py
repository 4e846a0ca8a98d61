"""Decide whether a commit's diff can be what its subject claims.

A claim is refuted where no changed file can be of its kind, or where the changed code has nothing
to do with its words. What is neither backed nor refuted stays open: that is no accusation.
"""

import re
from collections.abc import Collection, Sequence

from dos.audit.claims import diff, document_claims, finding, program_claims, unfinished, vocabulary
from dos.audit.claims.claim_kinds import ClaimKind, Firmness, SubjectClaim, Topic
from dos.audit.claims.dependency import DependencyRaise
from dos.audit.claims.diff import Diff
from dos.audit.claims.finding import Backing, Finding
from dos.git.changes import FileChange
from dos.verify.file_kinds import Kind, words

# What a line of a test has, wherever it stands: Rust has tests beside the code.
_SAYS_TEST = words("test tests testing tested testcase testcases coverage")
_MENTIONS_TEST = re.compile(r"\btests?\b|test_|_test|\bspecs?\b|\bassert|@Test\b|\bit\(", re.I)
# What tests are built from: it asks nothing by itself.
_SET_UP = words(
    "fixture fixtures helper helpers harness mock mocks setup factory factories utility utilities"
)
# With one of these an empty commit does what it says.
_MEANT_EMPTY = re.compile(
    r"\b(?:empty|initial) commit\b|\b(?:re-?)?(?:trigger|run|start|kick)\w{0,4}\b.{0,40}"
    r"\b(?:ci|builds?|pipelines?|workflows?|deploy\w{0,6}|checks|jenkins|travis)\b",
    re.IGNORECASE,
)
_EMPTY = "the commit is empty"
_NOTHING = "the subject claims nothing that a diff could show"


def weigh(claim: SubjectClaim, changes: Diff, reverted: Collection[str] = ()) -> Backing:
    """Return what a diff says of a claim; `reverted` are the paths of the commit taken back."""
    if claim.kind is ClaimKind.NONE:
        return Backing(finding=Finding.OPEN, reason=_NOTHING)
    if changes.is_empty:
        return _weigh_empty(claim)
    if claim.raises is not None:
        return _weigh_raise(claim, changes)
    if claim.reverts:
        return _weigh_revert(claim, changes, reverted)
    match claim.kind:
        case ClaimKind.DOC:
            return document_claims.weigh_documents(claim, changes)
        case ClaimKind.TEST:
            return _weigh_tests(claim, changes)
        case ClaimKind.CODE_EFFECT:
            return program_claims.weigh_code(claim, changes)


def _weigh_empty(claim: SubjectClaim) -> Backing:
    if _MEANT_EMPTY.search(claim.subject.bare):
        return Backing(finding=Finding.OPEN, reason=_EMPTY)
    return Backing(finding=Finding.REFUTED, reason=_EMPTY)


def _weigh_raise(claim: SubjectClaim, changes: Diff) -> Backing:
    """Decide a claim to raise a dependency: the added lines have to name its new version."""
    raised = claim.raises
    assert raised is not None
    for change in changes.files:
        if not diff.is_changelog(change.path) and _raises(raised, changes, change):
            return finding.backed([change])
    said = f"says {raised.name} {raised.version}"
    return finding.refuted(
        f"{said}; {finding.actual_change(changes)}, and no such version is added"
    )


def _raises(raised: DependencyRaise, changes: Diff, change: FileChange) -> bool:
    """Whether a file gets the new version of a dependency; what is no text may have it.

    The version is that of the dependency if its name is near. A file that has the name elsewhere
    raises another one.
    """
    lines = changes.lines(change)
    texts = changes.text(change)
    if lines is None or texts is None:
        return True
    places = list(lines.places(raised.is_version))
    if any(raised.is_at(line, place) for line, place in places):
        return True
    whole = f"{change.path}\n{texts.new or ''}"
    return bool(places) and not raised.is_named(whole) and raised.is_hinted(whole)


def _weigh_revert(claim: SubjectClaim, changes: Diff, reverted: Collection[str]) -> Backing:
    """Decide a revert: what it names has to go back, not only its tests or documents."""
    code = [path for path in reverted if diff.kind_of(path) in (Kind.SOURCE, Kind.CONFIG)]
    program = list(changes.effective(Kind.SOURCE, Kind.CONFIG, Kind.CI, Kind.DATA))
    if program:
        if code and not any(change.path in code for change in program):
            return finding.refuted(f"says a revert; {finding.paths(code)} stays as it is")
        return finding.backed(program)
    if reverted and not code:
        return finding.backed(changes.files)
    if claim.speaks_of(Topic.TESTS) and changes.has(Kind.TEST):
        return finding.backed(changes.files)
    if claim.speaks_of(Topic.DOCUMENTS) and not changes.has(Kind.TEST):
        return finding.backed(changes.files)
    return finding.refuted(f"says a revert; {finding.actual_change(changes)}")


def _weigh_tests(claim: SubjectClaim, changes: Diff) -> Backing:
    """Decide a claim about tests: a test has to change in more than comments."""
    tests = list(changes.effective(Kind.TEST))
    if tests:
        return _weigh_changed_tests(claim, changes, tests)
    cosmetic = changes.of_kind(Kind.TEST)
    if cosmetic and claim.speaks_of(Topic.LAYOUT, Topic.LINT, Topic.COMMENTS, Topic.DOCUMENTS):
        return finding.backed(cosmetic)
    program = list(changes.effective(Kind.SOURCE, Kind.CONFIG, Kind.CI))
    if program and not claim.needs_tests:
        return finding.backed(program)
    settings = changes.of_kind(Kind.CONFIG, Kind.CI)
    if settings and _may_be_settings(claim):
        return finding.backed(settings)
    for change in program:
        if changes.text(change) is None or any(map(_MENTIONS_TEST.search, changes.added(change))):
            return finding.backed([change])
    if not cosmetic and not program and _may_be_written(claim):
        return program_claims.weigh_by_words(claim, changes, changes.files)
    if cosmetic:
        return finding.refuted(
            f"says tests; only comments or whitespace differ in {finding.names(cosmetic)}"
        )
    return finding.refuted(
        f"says tests; no test file was changed, {finding.actual_change(changes)}"
    )


def _may_be_settings(claim: SubjectClaim) -> bool:
    """Whether settings of tests can be meant: `test: use tox`, `Run the tests on Travis`."""
    if claim.firmness is Firmness.OPEN or _may_be_written(claim):
        return True
    return claim.subject.type_name in vocabulary.TESTS or claim.speaks_of(Topic.CI)


def _may_be_written(claim: SubjectClaim) -> bool:
    """Whether a document or a format can be meant: "spec" and "testing guide" are no tests."""
    says_test = not _SAYS_TEST.isdisjoint(claim.subject.parts)
    is_document = claim.speaks_of(Topic.DOCUMENTS) or not claim.needs_tests
    return not says_test or (is_document and not claim.says_passing)


def _weigh_changed_tests(
    claim: SubjectClaim, changes: Diff, tests: Sequence[FileChange]
) -> Backing:
    """Decide by the changed tests: tests that pass are not fewer, and new ones ask something."""
    program = changes.has(Kind.SOURCE, Kind.CONFIG, Kind.CI)
    if claim.says_passing and not program and all(map(changes.lost_only, tests)):
        return finding.refuted(
            f"says that tests pass; lines were only removed from {finding.names(tests)}"
        )
    if claim.needs_tests and _SET_UP.isdisjoint(claim.subject.parts):
        texts = [text for text in map(changes.text, tests) if text is not None]
        if unfinished.asks_nothing(texts):
            return finding.refuted(f"says tests; what is new in {finding.names(tests)} cannot fail")
    return finding.backed(tests)
