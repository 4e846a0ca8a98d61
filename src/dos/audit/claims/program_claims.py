"""Decide claims about what the program does, the kind that most subjects are of."""

import re
from collections.abc import Sequence

from dos.audit.claims import (
    claim_kinds,
    diff,
    document_claims,
    finding,
    terms,
    unfinished,
    vocabulary,
)
from dos.audit.claims.claim_kinds import Firmness, SubjectClaim, Topic
from dos.audit.claims.diff import Diff
from dos.audit.claims.finding import Backing, Finding
from dos.git.changes import FileChange
from dos.verify import file_kinds
from dos.verify.file_kinds import Kind
from dos.verify.mentions import is_ship_shaped
from dos.verify.stubs import only_stubs

# Files that help tests to run and have no cases of their own.
_HELPS_TESTS = re.compile(
    r"conftest|helper|fixture|support|mock|stub|util|setup|common|testdata|/data/|snapshot|golden"
    r"|\.(?:json|ya?ml|toml|txt|xml|csv|sh|mk)$|makefile",
    re.IGNORECASE,
)
_NAMED_TEST = re.compile(r"(?:Tests?|Spec|IT)\.\w+$")
_MOST_FILES = 8  # that are looked at for code that is not written yet
_SHORTEST_STEM = 3  # letters of a file's name that a subject can be about
_FEW_WORDS = 2  # below so many telling words an open subject says too little to be refuted
# With a word of these, a change of comments or layout can be what is spoken of.
_COSMETIC = (Topic.DOCUMENTS, Topic.LAYOUT, Topic.LINT, Topic.COMMENTS)
# With one of these a body that does nothing, or refuses, is what is spoken of.
_MAY_BE_EMPTY = re.compile(
    r"\b(?:rais|reject|refus|forbid|disallow|unsupport|unimplement|not implement|notimplement)\w*",
    re.IGNORECASE,
)


def weigh_code(claim: SubjectClaim, changes: Diff) -> Backing:
    """Decide a claim about the program: by source files, settings, tests, CI, documents."""
    source = next(changes.effective(Kind.SOURCE), None)
    if source is not None:
        return _weigh_program(claim, changes, source)
    ci = list(changes.effective(Kind.CI))
    if ci and claim.speaks_of(Topic.CI, Topic.TESTS, Topic.LAYOUT, Topic.LINT):
        return finding.backed(ci)
    config = next(changes.effective(Kind.CONFIG), None)
    if config is not None:
        return _weigh_program(claim, changes, config)
    return _weigh_without_program(claim, changes, ci)


def _weigh_without_program(claim: SubjectClaim, changes: Diff, ci: Sequence[FileChange]) -> Backing:
    """Decide by tests, workflow files, comments or documents, where neither code nor settings
    changed."""
    if changes.has(Kind.TEST):
        return _weigh_tests_alone(claim, changes)
    is_ci_hinted = not vocabulary.CI_HINTS.isdisjoint(claim.subject.parts)
    if ci and (claim.firmness is Firmness.OPEN or is_ci_hinted):
        return finding.unclear(ci)
    if ci:
        return weigh_by_words(claim, changes, ci)
    cosmetic = changes.of_kind(Kind.SOURCE, Kind.TEST, Kind.CONFIG)  # nothing else is left of them
    if cosmetic and claim.speaks_of(*_COSMETIC):
        return finding.backed(cosmetic)
    documents = changes.of_kind(Kind.DOCS, Kind.DATA)
    if documents:
        return _weigh_documents_alone(claim, changes, documents)
    return _weigh_cosmetic(claim, changes)


def _weigh_program(claim: SubjectClaim, changes: Diff, change: FileChange) -> Backing:
    """Decide by changed code: it must do something, and have to do with the subject's words."""
    kind = diff.kind_of(change.path)
    missing = _not_written(claim, changes)
    if missing:
        return finding.refuted(f"says {finding.said(claim)}; not written yet: {missing}")
    if _is_about_something_else(claim, changes):
        where = f"no word of it is near what changed in {finding.names(changes.files)}"
        return finding.refuted(f"says {finding.said(claim)}; {where}")
    reason = finding.changes_of(changes.not_known_cosmetic(kind))
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
        if suspicion is False and not _has_unwritten_file(changes, program):
            return ""
        is_suspicious = is_suspicious or suspicion is not None
    if not is_suspicious:
        return ""
    texts = [text for text in map(changes.text, program) if text is not None]
    return unfinished.not_written(texts)


def _has_unwritten_file(changes: Diff, program: Sequence[FileChange]) -> bool:
    """Whether a new file says that it is not written yet; the code beside it may only call it."""
    for change in program[:_MOST_FILES]:
        if change.status == "A" and unfinished.says_unwritten(changes.added(change)):
            return True
    return False


def _is_about_something_else(claim: SubjectClaim, changes: Diff) -> bool:
    """Whether none of the telling words of a subject is where something changed."""
    if claim.speaks_of(Topic.LAYOUT, Topic.LINT, Topic.CI) or not _is_english(claim):
        return False
    if not vocabulary.TYPOS.isdisjoint(claim.subject.parts):
        return False
    wanted = terms.telling(terms.terms(claim.subject))
    if wanted:
        return not changes.mentions(wanted, changes.files)
    if claim.speaks_of(Topic.DOCUMENTS) and not changes.of_kind(Kind.DOCS):
        return not document_claims.may_speak_of_code(claim, changes)
    return False


def _weigh_tests_alone(claim: SubjectClaim, changes: Diff) -> Backing:
    """Decide a claim about the program where only tests changed, and perhaps documents.

    What only helps tests to run may be what is fixed; a case or what it expects never is.
    """
    if claim.speaks_of(Topic.TESTS, Topic.LAYOUT, Topic.LINT, Topic.CI):
        return finding.backed(changes.files)
    helps = all(_helps_tests(change.path) for change in changes.effective(Kind.TEST))
    if claim.firmness is Firmness.OPEN or helps or "refactor" in claim.leads:
        return finding.unclear(changes.files)
    return finding.refuted(f"says {finding.said(claim)}; {finding.actual_change(changes)}")


def _helps_tests(path: str) -> bool:
    """Whether a file among tests has no cases of its own, by its name."""
    if file_kinds.is_named_test(path) or _NAMED_TEST.search(path):
        return False
    return _HELPS_TESTS.search(path) is not None


def _weigh_documents_alone(
    claim: SubjectClaim, changes: Diff, documents: Sequence[FileChange]
) -> Backing:
    """Decide a claim about the program where only documents or data changed."""
    if claim.speaks_of(Topic.DOCUMENTS):
        return finding.backed(documents)
    if claim.speaks_of(Topic.DATA) and changes.of_kind(Kind.DATA):
        return finding.backed(documents)
    telling = [change for change in documents if not diff.is_changelog(change.path)]
    if not telling or claim.firmness is Firmness.BEHAVIOUR or claim.subject.type_name == "ci":
        return finding.refuted_by_documents(claim, changes)
    if _names_code(claim) and not _names_files(claim, telling):
        return finding.refuted_by_documents(claim, changes)
    if claim.speaks_of(Topic.LAYOUT):
        return finding.backed(documents)
    if claim.firmness is not Firmness.OPEN and _is_announced(claim, changes, documents):
        return finding.refuted_by_documents(claim, changes)
    return weigh_by_words(claim, changes, telling)


def _is_announced(claim: SubjectClaim, changes: Diff, documents: Sequence[FileChange]) -> bool:
    """Whether a change log tells users of what the subject says: then it is no mere document."""
    logs = [change for change in documents if diff.is_changelog(change.path)]
    return bool(logs) and changes.mentions(terms.terms(claim.subject), logs)


def _names_code(claim: SubjectClaim) -> bool:
    """Whether a subject speaks of a program that runs, and of nothing that documents have too."""
    parts = claim.subject.parts
    if not vocabulary.DOCUMENT_HINTS.isdisjoint(parts):
        return False
    if not vocabulary.DEFECTS.isdisjoint(parts):
        return True
    if claim.firmness is Firmness.OPEN:
        return False
    names = (term.is_name for term in terms.terms(claim.subject))
    return claim_kinds.names_code(claim.subject) or any(names)


def _names_files(claim: SubjectClaim, files: Sequence[FileChange]) -> bool:
    """Whether a subject names one of the files."""
    said = claim.subject.bare.lower()
    for change in files:
        stem = change.path.rpartition("/")[2].partition(".")[0].lower()
        if len(stem) >= _SHORTEST_STEM and stem in said:
            return True
    return False


def weigh_by_words(claim: SubjectClaim, changes: Diff, files: Sequence[FileChange]) -> Backing:
    """Decide by the subject's words: a file that has one of them may be what it speaks of."""
    wanted = terms.terms(claim.subject)
    if wanted and changes.mentions(wanted, files):
        return finding.backed(files)
    says_little = claim.firmness is Firmness.OPEN and len(wanted) < _FEW_WORDS
    says_little = says_little or not vocabulary.DOCUMENT_HINTS.isdisjoint(claim.subject.parts)
    if says_little or not _is_english(claim):
        return finding.unclear(files)
    if _says_removal(claim) and all(map(changes.lost_text, files)):
        return finding.unclear(files)
    return finding.refuted_by_documents(claim, changes)


def _weigh_cosmetic(claim: SubjectClaim, changes: Diff) -> Backing:
    """Decide a claim about the program where only comments, layout or modes changed.

    Commented settings are documents: an open subject may speak of them.
    """
    if claim.speaks_of(*_COSMETIC):
        return finding.backed(changes.files)
    if changes.files and not _is_english(claim):
        return finding.unclear(changes.files)
    if changes.files and _says_removal(claim) and all(map(changes.lost_only, changes.files)):
        return finding.unclear(changes.files)
    settings = changes.of_kind(Kind.CONFIG, Kind.CI)
    is_open = claim.firmness is Firmness.OPEN
    if settings and is_open and changes.mentions(terms.terms(claim.subject), settings):
        return finding.unclear(settings)
    return finding.refuted(f"says {finding.said(claim)}; {finding.actual_change(changes)}")


def _says_removal(claim: SubjectClaim) -> bool:
    return not vocabulary.REMOVES.isdisjoint(claim.leads)


def _is_english(claim: SubjectClaim) -> bool:
    """Whether the subject has a verb or a word that these rules know; else they say nothing.

    A subject that ships a unit claims its work in any language.
    """
    has_verb = claim.firmness is not Firmness.OPEN or not _OPEN_VERBS.isdisjoint(claim.leads)
    if has_verb or not vocabulary.ENGLISH.isdisjoint(claim.subject.parts):
        return True
    return is_ship_shaped(claim.subject.text)


_OPEN_VERBS = vocabulary.REMOVES | vocabulary.REVERTS | vocabulary.LOOSE | vocabulary.KEEPS_TESTS
