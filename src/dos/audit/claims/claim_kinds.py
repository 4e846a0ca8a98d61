"""Decide what a commit's subject claims: the kind of change, how firmly, and about what.

Nearly every subject claims a change of what the program does. Others name tests, documents, the
layout or CI; with their words, a change of such files is what the subject speaks of.
"""

import re
from collections.abc import Iterable
from enum import Enum, StrEnum
from itertools import pairwise

from msgspec import Struct

from dos.audit.claims import dependency, subject, vocabulary
from dos.audit.claims.dependency import DependencyRaise
from dos.audit.claims.subject import LONGEST_HEAD, LONGEST_SCOPE, Subject
from dos.verify.file_kinds import words
from dos.verify.mentions import is_ship_shaped


class ClaimKind(StrEnum):
    """What a subject claims to change; the values are keys of `dos commit-audit --json`."""

    CODE_EFFECT = "code_effect"
    TEST = "test"
    DOC = "doc"
    NONE = "none"


class Topic(Enum):
    """What the words of a subject speak of, beside the program itself."""

    TESTS = "tests"
    DOCUMENTS = "documents"
    DATA = "data"
    LAYOUT = "layout"
    LINT = "lint"
    COMMENTS = "comments"
    CI = "ci"


class Firmness(Enum):
    """How surely a subject speaks of what the program does."""

    OPEN = 0  # `Update the parser`: a document or a test may be meant
    FIRM = 1  # `Fix the parser`, `Add a parser`
    BEHAVIOUR = 2  # `Allow nested lists`: no document allows anything


# Phrases that claim passing tests anywhere in a subject.
_PASSING = re.compile(
    r"\b(?:all tests|green build|passing tests|tests? pass|tests (?:green|passing))"
)
_FIXED_TEST = re.compile(r"\bfix(?:es)? the (?:failing )?test\b")
# `Add more unit tests for …`, `Add a parser spec`: a test is what is added.
_TEST_OBJECT = re.compile(
    r".{0,80}?\b(?:tests?|testcases?|specs?|assertions?|(?:test|code|unit) coverage|coverage$"
    r"|(?:test|spec) (?:cases?|suite|files?|names?|class|classes|helpers?))"
    r"(?: (?:for|of|to|in|that|when|with|on|about|which|and|around|by|as|where|from)\b|$)"
)
_TEST_LEADS = vocabulary.TESTS | {"assertion", "assertions"}
_TEST_WRITERS = vocabulary.ADDS | {"improve", "improves", "improved", "expand", "more"}
_TEST_VERBS = _TEST_WRITERS | vocabulary.KEEPS_TESTS
_FIRM_VERBS = vocabulary.FIXES | vocabulary.ADDS
_VERBS = _FIRM_VERBS | vocabulary.REMOVES | vocabulary.LOOSE | vocabulary.BEHAVES
# Words of documents that are said of programs too, and count after such a verb.
_DOCUMENT_WORDS = {
    Firmness.OPEN: vocabulary.DOCUMENT_OBJECTS | vocabulary.DOCUMENT_PARTS,
    Firmness.FIRM: vocabulary.DOCUMENT_OBJECTS,
    Firmness.BEHAVIOUR: frozenset[str](),
}
_DOC_SUFFIX = re.compile(r".*\.(?:md|rst|txt|adoc|org)")
_DOC_NAMES = words("readme claude claude.md license contributing changelog authors notice")
# Names of documents in capitals; in small letters they are words: "changes", "history".
_DOC_CAPITALS = re.compile(
    r"\b(?:CHANGES|NEWS|HISTORY|AUTHORS|NOTICE|COPYING|INSTALL|TODO"
    r"|(?i:change log|release notes))\b"
)
# Types and scopes that decide before the verb does.
_SCOPED = {"docs": ClaimKind.DOC, "doc": ClaimKind.DOC, "chore": ClaimKind.NONE}
_AUTOMATIC = re.compile(r"(?i)\[?(?:pre-?commit|auto-?fix)")  # what linters change by themselves
_PLUMBING = frozenset(("build", "ci", "deps"))
_QUOTED = re.compile(r"[\"'“](?P<title>.*)[\"'”]")
_VERSION = re.compile(r"v?\d++(?:[.\-+]?\w++)*+")
_MOST_NESTED = 4  # reverts of reverts
# In words: how near to the beginning a test or a document has to be named.
_NEAR_WORDS = 3
_OBJECT_WORDS = 2
_SHORT_WORDS = 6


class SubjectClaim(Struct, frozen=True, kw_only=True):
    """What a subject claims, and the words that it begins with."""

    kind: ClaimKind
    subject: Subject
    firmness: Firmness = Firmness.OPEN
    topics: frozenset[Topic] = frozenset()
    raises: DependencyRaise | None = None
    reverts: bool = False
    needs_tests: bool = False  # tests were written or pass: code does not do instead of them

    @property
    def leads(self) -> tuple[str, ...]:
        """The first word of the type and of the rest."""
        return self.subject.leads

    @property
    def is_ci(self) -> bool:
        """Whether the type or the scope is exactly ci."""
        return "ci" in self.subject.names

    @property
    def says_moved(self) -> bool:
        """Whether it says that something was moved or renamed."""
        return not {"rename", "renamed", "move", "moved"}.isdisjoint(self.leads)

    @property
    def says_removed(self) -> bool:
        """Whether it says that something was removed or reverted."""
        return not vocabulary.REMOVALS.isdisjoint(self.leads)

    @property
    def says_passing(self) -> bool:
        """Whether it says that tests pass."""
        return _says_passing(self.subject)

    def speaks_of(self, *topics: Topic) -> bool:
        """Whether the subject has a word of one of the topics."""
        return not self.topics.isdisjoint(topics)


def parse_claim(text: str) -> SubjectClaim:
    """Return what a commit's subject claims. A subject without a claim is of kind `NONE`."""
    return _claim(subject.parse(text), _MOST_NESTED)


def _claim(parts: Subject, nested: int) -> SubjectClaim:
    raised = dependency.parse_raise(parts)
    if raised is not None:
        return SubjectClaim(kind=ClaimKind.CODE_EFFECT, subject=parts, raises=raised)
    if nested and not vocabulary.REVERTS.isdisjoint(parts.leads):
        return _reverting(parts, nested)
    kind = _kind(parts)
    firmness = _firmness(parts)
    return SubjectClaim(
        kind=kind,
        subject=parts,
        firmness=firmness,
        topics=_topics(parts, firmness),
        needs_tests=kind is ClaimKind.TEST and _needs_tests(parts),
    )


def _reverting(parts: Subject, nested: int) -> SubjectClaim:
    """Return the claim of a revert: it takes back the kind of thing that it names."""
    quoted = _QUOTED.search(parts.bare)
    title = quoted["title"] if quoted else subject.split_head(parts.bare, LONGEST_HEAD)[1]
    inner = _claim(subject.parse(title), nested - 1)
    kind = inner.kind
    if kind is ClaimKind.NONE:
        kind = ClaimKind.CODE_EFFECT
    return SubjectClaim(
        kind=kind, subject=parts, firmness=Firmness.FIRM, topics=inner.topics, reverts=True
    )


def _kind(parts: Subject) -> ClaimKind:
    """Return the kind of the claim.

    Tests come before documents, and documents before code, because a subject about tests or
    documents often begins with a verb of code: `Add tests for the parser`.
    """
    if _claims_nothing(parts):
        return ClaimKind.NONE
    if "ci" in parts.names:
        return ClaimKind.CODE_EFFECT
    if _is_about_tests(parts):
        return ClaimKind.TEST
    head, _ = subject.split_head(parts.bare, LONGEST_SCOPE)
    if not vocabulary.DOCUMENTS.isdisjoint(parts.leads) or _is_document_name(head):
        return ClaimKind.DOC
    for name in parts.names:
        if name in _SCOPED:
            return _SCOPED[name]
    return _documents_or_code(parts)


def _claims_nothing(parts: Subject) -> bool:
    """Whether the subject begins like housekeeping, or only announces a release."""
    told = parts.rest
    first = {*subject.words(parts.text)[:1], *subject.words(parts.bare)[:1]}
    if parts.type_name in _PLUMBING:
        first.update(parts.leads)
    if not first or not vocabulary.HOUSEKEEPING.isdisjoint(first):
        return True
    if _announces_release(told) or _VERSION.fullmatch(parts.bare):
        return not parts.type_name or parts.type_name in vocabulary.HOUSEKEEPING
    return parts.bare.lower().startswith(vocabulary.HOUSEKEEPING_PHRASES)


def _announces_release(told: list[str]) -> bool:
    """Whether a subject has words of releases and nothing else that tells something."""
    rest = set(told) - vocabulary.STOP
    return vocabulary.RELEASE.issuperset(rest) and (bool(rest) or not told)


def _is_about_tests(parts: Subject) -> bool:
    """Whether the subject is about tests, by its type, its first words, or a phrase in it."""
    if not _TEST_LEADS.isdisjoint(parts.leads):
        return True
    near = [*parts.rest[: _NEAR_WORDS + 1], "", ""][: _NEAR_WORDS + 1]
    for word, following in pairwise(near):
        if word in vocabulary.TESTS and following not in vocabulary.AFTER_TEST:
            return True
    if parts.rest[:1] and parts.rest[0] in _TEST_WRITERS and _adds_tests(parts.rest):
        return True
    return _says_passing(parts) or _FIXED_TEST.search(" ".join(parts.rest)) is not None


def _says_passing(parts: Subject) -> bool:
    return _PASSING.search(" ".join(parts.rest)) is not None


def _needs_tests(parts: Subject) -> bool:
    """Whether the claim is one of changed tests, which a change of code alone does not meet.

    Tests are fixed, and made to pass, by changing code too; and "test" may be a verb.
    """
    if parts.type_name in ("test", "tests"):
        return True
    told = " ".join(parts.rest)
    if _FIXED_TEST.search(told):
        return True
    lead, _, after = told.partition(" ")
    if lead in ("test", "tests"):
        return after.startswith(("that ", "for ", "case", "coverage"))
    return lead in _TEST_VERBS and _adds_tests(parts.rest)


def _adds_tests(told: list[str]) -> bool:
    """Whether a test is the object of the first word, by what follows it."""
    return _TEST_OBJECT.match(" ".join(told[1:])) is not None


def _documents_or_code(parts: Subject) -> ClaimKind:
    """Decide between documents, code and nothing: by the object of the verb, if it has one."""
    told = parts.rest
    verb_words = 1 if told and told[0] in _VERBS else 0
    objects = told[verb_words : verb_words + _OBJECT_WORDS + 1]
    if verb_words and _is_document(objects):
        return ClaimKind.DOC
    if verb_words and _DOC_CAPITALS.search(parts.bare):
        return ClaimKind.DOC
    if verb_words or is_ship_shaped(parts.text) or not _is_vague(parts):
        return ClaimKind.CODE_EFFECT
    return ClaimKind.NONE


def _is_document(objects: list[str]) -> bool:
    """Whether a document is among the first words after a verb, and not a part of a program."""
    for word, following in pairwise([*objects, "", ""][: _OBJECT_WORDS + 1]):
        if word in vocabulary.DOCUMENTS and following not in vocabulary.AFTER_DOCUMENT:
            return True
        if word in ("man", "manual") and following in ("page", "pages"):
            return True
    return False


def _is_vague(parts: Subject) -> bool:
    """Whether no word of the subject says what it is about."""
    if _says_done(parts.rest) or not vocabulary.CHANGES_CODE.isdisjoint(parts.leads):
        return False
    untelling = vocabulary.STOP, vocabulary.GENERIC
    return not any(len(word) > 1 for word in parts.parts.difference(*untelling))


def _says_done(told: list[str]) -> bool:
    """Whether a short subject ends with a word such as "done", and no word denies it."""
    if not told or len(told) > _SHORT_WORDS:
        return False
    return told[-1] in vocabulary.DONE and vocabulary.NOT_DONE.isdisjoint(told)


def _firmness(parts: Subject) -> Firmness:
    """Return how surely the subject speaks of what the program does, by its type and its verb."""
    if not vocabulary.BEHAVES.isdisjoint(parts.leads) or parts.type_name == "feature":
        return Firmness.BEHAVIOUR
    if not _FIRM_VERBS.isdisjoint(parts.leads) or _says_done(parts.rest):
        return Firmness.FIRM
    return Firmness.OPEN


def _topics(parts: Subject, firmness: Firmness) -> frozenset[Topic]:
    """Return what the subject's words speak of.

    Words that are said of programs too count where the verb can be about them.
    """
    topics = {topic for topic, known in _WORDS if not known.isdisjoint(parts.words)}
    if _speaks_of_tests(parts, firmness):
        topics.add(Topic.TESTS)
    near = _near_verb(parts, firmness)
    if names_document(parts) or not _DOCUMENT_WORDS[firmness].isdisjoint(near):
        topics.add(Topic.DOCUMENTS)
    if not vocabulary.COMMENT_OBJECTS.isdisjoint(near):
        topics.add(Topic.COMMENTS)
    if _AUTOMATIC.match(parts.text):
        topics.add(Topic.LINT)
    ends = [*parts.rest[: _NEAR_WORDS + 1], *parts.rest[-1:]]
    is_about_layout = not vocabulary.LAYOUT_HINTS.isdisjoint(ends)
    if is_about_layout and firmness is not Firmness.BEHAVIOUR and not names_code(parts):
        topics.add(Topic.LAYOUT)
    return frozenset(topics)


def _speaks_of_tests(parts: Subject, firmness: Firmness) -> bool:
    """Whether a word, or a part of a name such as `LoginTest`, is one of tests."""
    if not vocabulary.ABOUT_TESTS.isdisjoint(parts.parts):
        return True
    if firmness is Firmness.OPEN:
        return not vocabulary.TEST_HINTS.isdisjoint(parts.words)
    return not vocabulary.TEST_HINTS.isdisjoint(parts.leads)


def _near_verb(parts: Subject, firmness: Firmness) -> Iterable[str]:
    """The words that a verb may be about: all, the next few, or none of those above."""
    match firmness:
        case Firmness.OPEN:
            return parts.words
        case Firmness.FIRM:
            return parts.rest[: _NEAR_WORDS + 2]
        case Firmness.BEHAVIOUR:
            return ()


def names_document(parts: Subject) -> bool:
    """Whether the subject names a document that is a file, as in `Update CHANGES`."""
    if not vocabulary.DOCUMENT_FILES.isdisjoint(parts.words) or _DOC_CAPITALS.search(parts.bare):
        return True
    return _is_document_name(parts.bare.partition(" ")[0])


def names_code(parts: Subject) -> bool:
    """Whether the subject has a noun that is said of parts of a program alone."""
    return not vocabulary.CODE_NOUNS.isdisjoint(parts.parts)


_WORDS = (
    (Topic.DOCUMENTS, vocabulary.ABOUT_DOCUMENTS),
    (Topic.LAYOUT, vocabulary.ABOUT_LAYOUT),
    (Topic.DATA, vocabulary.ABOUT_DATA),
    (Topic.LINT, vocabulary.ABOUT_LINT),
    (Topic.COMMENTS, vocabulary.ABOUT_COMMENTS),
    (Topic.CI, vocabulary.ABOUT_CI),
)


def _is_document_name(scope: str) -> bool:
    """Whether a word names a document, as in `README.md: add a badge`."""
    lowered = scope.lower()
    is_document = _DOC_SUFFIX.fullmatch(lowered) or lowered.startswith(("docs/", "doc/"))
    return bool(is_document) or lowered.rpartition("/")[2] in _DOC_NAMES
