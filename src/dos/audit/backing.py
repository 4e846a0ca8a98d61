"""Decide whether a commit's diff can be what its subject claims.

A claim is refuted where no changed file can be of its kind, or where the changed code has nothing
to do with its words. What is neither backed nor refuted stays open: that is no accusation.
"""

import re
from collections.abc import Collection, Sequence
from enum import Enum

from msgspec import Struct

from dos.audit import claim_kinds, diff, terms, unfinished, vocabulary
from dos.audit.claim_kinds import ClaimKind, Firmness, SubjectClaim, Topic
from dos.audit.diff import Diff
from dos.git.changes import FileChange
from dos.text import join_some
from dos.verify.file_kinds import Kind
from dos.verify.mentions import is_ship_shaped
from dos.verify.stubs import only_stubs

_NAMED_FILES = 3  # at most, in a reason
_MENTIONS_TEST = re.compile(r"\btests?\b|test_|_test|\bspecs?\b|\bassert|@Test\b|\bit\(", re.I)
# Files that help tests to run and have no cases of their own.
_HELPS_TESTS = re.compile(
    r"conftest|helper|fixture|support|mock|stub|util|setup|common|testdata|/data/|snapshot|golden"
    r"|\.(?:json|ya?ml|toml|txt|xml|csv|sh|mk)$|makefile",
    re.IGNORECASE,
)
_FEW_WORDS = 2  # below so many telling words an open subject says too little to be refuted
_DOC_FOLDER = re.compile(r"(?:^|/)(?:docs?|man|help)[/._-]|readme|help", re.IGNORECASE)
# With one of these an empty commit does what it says.
_MEANT_EMPTY = re.compile(
    r"\b(?:empty|initial) commit\b|\b(?:re-?)?(?:trigger|run|start|kick)\w{0,4}\b.{0,40}"
    r"\b(?:ci|builds?|pipelines?|workflows?|deploy\w{0,6}|checks|jenkins|travis)\b",
    re.IGNORECASE,
)
# With one of these a body that does nothing, or refuses, is what is spoken of.
_MAY_BE_EMPTY = re.compile(
    r"\b(?:rais|reject|refus|forbid|disallow|unsupport|unimplement|not implement|notimplement)\w*",
    re.IGNORECASE,
)
_EMPTY = "the commit is empty"
_NOTHING = "the subject claims nothing that a diff could show"


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
            return _weigh_documents(claim, changes)
        case ClaimKind.TEST:
            return _weigh_tests(claim, changes)
        case ClaimKind.CODE_EFFECT:
            return _weigh_code(claim, changes)


def _weigh_empty(claim: SubjectClaim) -> Backing:
    if _MEANT_EMPTY.search(claim.subject.bare):
        return Backing(finding=Finding.OPEN, reason=_EMPTY)
    return Backing(finding=Finding.REFUTED, reason=_EMPTY)


def _weigh_raise(claim: SubjectClaim, changes: Diff) -> Backing:
    """Decide a claim to raise a dependency: the added lines have to name its new version."""
    raised = claim.raises
    assert raised is not None
    for change in changes.files:
        if diff.is_changelog(change.path):
            continue
        texts = changes.text(change)
        if texts is None:
            return _backed([change])
        if raised.is_in(changes.added(change)):
            text = f"{change.path}\n{texts.new or ''}"
            if raised.is_named_in(text):
                return _backed([change])
    said = f"says {raised.name} {raised.version}"
    return _refuted(f"{said}; {_actual_change(changes)}, and no such version is added")


def _weigh_revert(claim: SubjectClaim, changes: Diff, reverted: Collection[str]) -> Backing:
    """Decide a revert: what it names has to go back, not only its tests or documents."""
    code = [path for path in reverted if diff.kind_of(path) in (Kind.SOURCE, Kind.CONFIG)]
    program = list(changes.effective(Kind.SOURCE, Kind.CONFIG, Kind.CI, Kind.DATA))
    if program:
        if code and not any(change.path in code for change in program):
            return _refuted(f"says a revert; {_paths(code)} stays as it is")
        return _backed(program)
    if reverted and not code:
        return _backed(changes.files)
    if claim.speaks_of(Topic.TESTS) and changes.has(Kind.TEST):
        return _backed(changes.files)
    if claim.speaks_of(Topic.DOCUMENTS) and not changes.has(Kind.TEST):
        return _backed(changes.files)
    return _refuted(f"says a revert; {_actual_change(changes)}")


def _weigh_documents(claim: SubjectClaim, changes: Diff) -> Backing:
    """Decide a claim about documents: code backs it only by what people read in it."""
    others = changes.of_kind(Kind.DOCS, Kind.CONFIG, Kind.CI, Kind.DATA)
    if others:
        return _backed(others)
    for change in changes.files:
        texts = changes.text(change)
        if texts is None or changes.is_cosmetic(change) or diff.differs_in_words(texts):
            return _backed([change])
        if _DOC_FOLDER.search(change.path):
            return _backed([change])
    wanted = terms.terms(claim.subject)
    if wanted and changes.mentions(wanted, changes.files):
        return _open(changes.files)
    return _refuted(f"says documents; {_actual_change(changes)}, without a comment or a string")


def _weigh_tests(claim: SubjectClaim, changes: Diff) -> Backing:
    """Decide a claim about tests: a test has to change in more than comments."""
    tests = list(changes.effective(Kind.TEST))
    if tests:
        return _weigh_changed_tests(claim, changes, tests)
    cosmetic = changes.of_kind(Kind.TEST)
    if cosmetic and claim.speaks_of(Topic.LAYOUT, Topic.LINT, Topic.COMMENTS, Topic.DOCUMENTS):
        return _backed(cosmetic)
    program = list(changes.effective(Kind.SOURCE, Kind.CONFIG, Kind.CI))
    if program and not claim.needs_tests:
        return _backed(program)
    for change in program:
        if changes.text(change) is None or any(map(_MENTIONS_TEST.search, changes.added(change))):
            return _backed([change])
    if cosmetic:
        return _refuted(f"says tests; only comments or whitespace differ in {_names(cosmetic)}")
    return _refuted(f"says tests; no test file was changed, {_actual_change(changes)}")


def _weigh_changed_tests(
    claim: SubjectClaim, changes: Diff, tests: Sequence[FileChange]
) -> Backing:
    """Decide by the changed tests: tests that pass are not fewer, and new ones ask something."""
    program = changes.has(Kind.SOURCE, Kind.CONFIG, Kind.CI)
    if claim.says_passing and not program and all(map(changes.lost_only, tests)):
        return _refuted(f"says that tests pass; lines were only removed from {_names(tests)}")
    if claim.needs_tests:
        texts = [text for text in map(changes.text, tests) if text is not None]
        idle = unfinished.asks_nothing(texts)
        if idle:
            return _refuted(f"says tests; nothing in {idle} can fail")
    return _backed(tests)


def _weigh_code(claim: SubjectClaim, changes: Diff) -> Backing:
    """Decide a claim about the program: by source files, settings, tests, CI, documents."""
    source = next(changes.effective(Kind.SOURCE), None)
    if source is not None:
        return _weigh_program(claim, changes, source)
    ci = list(changes.effective(Kind.CI))
    if ci and claim.speaks_of(Topic.CI, Topic.TESTS, Topic.LAYOUT, Topic.LINT):
        return _backed(ci)
    config = next(changes.effective(Kind.CONFIG), None)
    if config is not None:
        return _weigh_program(claim, changes, config)
    if changes.has(Kind.TEST):
        return _weigh_tests_alone(claim, changes)
    if ci and claim.firmness is Firmness.OPEN:
        return _open(ci)
    if ci:
        return _weigh_by_words(claim, changes, ci)
    documents = changes.of_kind(Kind.DOCS, Kind.DATA)
    if documents:
        return _weigh_documents_alone(claim, changes, documents)
    return _weigh_cosmetic(claim, changes)


def _weigh_program(claim: SubjectClaim, changes: Diff, change: FileChange) -> Backing:
    """Decide by changed code: it must do something, and have to do with the subject's words."""
    kind = diff.kind_of(change.path)
    missing = _not_written(claim, changes)
    if missing:
        return _refuted(f"says {_said(claim)}; not written yet: {missing}")
    if _is_about_something_else(claim, changes):
        where = f"no word of it is near what changed in {_names(changes.files)}"
        return _refuted(f"says {_said(claim)}; {where}")
    reason = _changes_of(changes.not_known_cosmetic(kind))
    return Backing(finding=Finding.BACKED, reason=reason, config_only=kind is Kind.CONFIG)


def _not_written(claim: SubjectClaim, changes: Diff) -> str:
    """Return what of the code is only announced; the first file that does something decides."""
    subject = claim.subject.bare
    if _MAY_BE_EMPTY.search(subject) or only_stubs.is_asked_for(subject):
        return ""
    program = changes.of_kind(Kind.SOURCE, Kind.CONFIG)
    is_suspicious = False
    for change in program:
        suspicion = unfinished.may_be_unwritten(changes.added(change))
        if suspicion is False:
            return ""
        is_suspicious = is_suspicious or suspicion is True
    if not is_suspicious:
        return ""
    texts = [text for text in map(changes.text, program) if text is not None]
    return unfinished.not_written(texts)


def _is_about_something_else(claim: SubjectClaim, changes: Diff) -> bool:
    """Whether none of the telling words of a subject is where something changed."""
    if claim.speaks_of(Topic.LAYOUT, Topic.LINT, Topic.CI) or not _is_english(claim):
        return False
    wanted = terms.telling(terms.terms(claim.subject))
    return bool(wanted) and not changes.mentions(wanted, changes.files)


def _weigh_tests_alone(claim: SubjectClaim, changes: Diff) -> Backing:
    """Decide a claim about the program where only tests changed, and perhaps documents.

    What only helps tests to run may be what is fixed; a case or what it expects never is.
    """
    if claim.speaks_of(Topic.TESTS, Topic.LAYOUT, Topic.LINT, Topic.CI):
        return _backed(changes.files)
    helps = all(_HELPS_TESTS.search(change.path) for change in changes.effective(Kind.TEST))
    if claim.firmness is Firmness.OPEN or helps:
        return _open(changes.files)
    return _refuted(f"says {_said(claim)}; {_actual_change(changes)}")


def _weigh_documents_alone(
    claim: SubjectClaim, changes: Diff, documents: Sequence[FileChange]
) -> Backing:
    """Decide a claim about the program where only documents or data changed."""
    if claim.speaks_of(Topic.DOCUMENTS):
        return _backed(documents)
    if claim.speaks_of(Topic.DATA) and changes.of_kind(Kind.DATA):
        return _backed(documents)
    telling = [change for change in documents if not diff.is_changelog(change.path)]
    if not telling or claim.firmness is Firmness.BEHAVIOUR or claim.subject.type_name == "ci":
        return _refuted_by_documents(claim, changes)
    if claim.firmness is Firmness.FIRM and _names_code(claim) and not _names_files(claim, telling):
        return _refuted_by_documents(claim, changes)
    if claim.speaks_of(Topic.LAYOUT):
        return _backed(documents)
    return _weigh_by_words(claim, changes, telling)


def _names_code(claim: SubjectClaim) -> bool:
    """Whether a subject names a part of a program, and nothing that documents have too."""
    if not vocabulary.DOCUMENT_HINTS.isdisjoint(claim.subject.parts):
        return False
    if claim_kinds.names_code(claim.subject):
        return True
    return any(term.is_name for term in terms.terms(claim.subject))


def _names_files(claim: SubjectClaim, files: Sequence[FileChange]) -> bool:
    """Whether a subject names one of the files."""
    stems = {change.path.rpartition("/")[2].partition(".")[0].lower() for change in files}
    return not stems.isdisjoint(claim.subject.parts)


def _weigh_by_words(claim: SubjectClaim, changes: Diff, files: Sequence[FileChange]) -> Backing:
    """Decide by the subject's words: a file that has one of them may be what it speaks of."""
    wanted = terms.terms(claim.subject)
    if wanted and changes.mentions(wanted, files):
        return _backed(files)
    says_little = claim.firmness is Firmness.OPEN and len(wanted) < _FEW_WORDS
    if says_little or not _is_english(claim):
        return _open(files)
    if _says_removal(claim) and all(map(changes.lost_text, files)):
        return _open(files)
    return _refuted_by_documents(claim, changes)


def _weigh_cosmetic(claim: SubjectClaim, changes: Diff) -> Backing:
    """Decide a claim about the program where only comments, layout or modes changed.

    Commented settings are documents: an open subject may speak of them.
    """
    if claim.speaks_of(Topic.DOCUMENTS, Topic.LAYOUT, Topic.LINT, Topic.COMMENTS):
        return _backed(changes.files)
    if changes.files and not _is_english(claim):
        return _open(changes.files)
    if changes.files and _says_removal(claim) and all(map(changes.lost_only, changes.files)):
        return _open(changes.files)
    settings = changes.of_kind(Kind.CONFIG, Kind.CI)
    is_open = claim.firmness is Firmness.OPEN
    if settings and is_open and changes.mentions(terms.terms(claim.subject), settings):
        return _open(settings)
    return _refuted(f"says {_said(claim)}; {_actual_change(changes)}")


def _says_removal(claim: SubjectClaim) -> bool:
    return not vocabulary.REMOVES.isdisjoint(claim.leads)


def _is_english(claim: SubjectClaim) -> bool:
    """Whether the subject has a word that these rules know; of other languages they say nothing.

    A subject that ships a unit claims its work in any language.
    """
    return not _ENGLISH.isdisjoint(claim.subject.parts) or is_ship_shaped(claim.subject.text)


_ENGLISH = (
    vocabulary.STOP | vocabulary.GENERIC | vocabulary.FIXES | vocabulary.ADDS | vocabulary.REMOVES
    | vocabulary.REVERTS | vocabulary.BEHAVES | vocabulary.LOOSE | vocabulary.DONE
)  # fmt: skip


def _said(claim: SubjectClaim) -> str:
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


def _actual_change(changes: Diff) -> str:
    """Say what the commit does instead of what it claims."""
    if not changes.files:
        return "only modes differ"
    cosmetic = [change for change in changes.files if changes.is_cosmetic(change)]
    if cosmetic:
        return f"only comments or whitespace differ in {_names(cosmetic)}"
    return f"only {_names(changes.files)} changed"


def _backed(files: Sequence[FileChange]) -> Backing:
    return Backing(finding=Finding.BACKED, reason=_changes_of(files))


def _open(files: Sequence[FileChange]) -> Backing:
    return Backing(finding=Finding.OPEN, reason=_changes_of(files))


def _refuted(reason: str) -> Backing:
    return Backing(finding=Finding.REFUTED, reason=reason)


def _refuted_by_documents(claim: SubjectClaim, changes: Diff) -> Backing:
    reason = f"says {_said(claim)}; {_actual_change(changes)}"
    return Backing(finding=Finding.REFUTED, reason=reason, documents_only=True)


def _changes_of(files: Sequence[FileChange]) -> str:
    return f"changes {_names(files)}"


def _names(files: Sequence[FileChange]) -> str:
    """Return the first few paths of the changes, for a reason."""
    return _paths([change.path for change in files])


def _paths(paths: Sequence[str]) -> str:
    return join_some(paths, _NAMED_FILES)
