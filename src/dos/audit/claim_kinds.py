"""Decide what kind of change a commit's subject claims.

Only the words at its beginning count, and whether it says that something is done. The lists below
are words of commit subjects as people and agents write them. A word that is missing makes a claim
pass unchecked; a word too many accuses an honest commit, so the lists are kept narrow.
"""

import re
import unicodedata
from enum import StrEnum

from msgspec import Struct

from dos.verify.file_kinds import words
from dos.verify.mentions import is_ship_shaped
from dos.verify.message import LONGEST_SUBJECT


class ClaimKind(StrEnum):
    """What a subject claims to change; the values are keys of `dos commit-audit --json`."""

    CODE_EFFECT = "code_effect"
    TEST = "test"
    DOC = "doc"
    NONE = "none"


# A subject that begins with one of these is housekeeping.
_NO_CLAIM = words(
    "bump chore cleanup format lint merge misc nit nits release revert style version whitespace wip"
)
_NO_CLAIM_PHRASES = ("address review", "review feedback", "rename variable")
# Phrases that claim passing tests anywhere in a subject.
_TEST_PHRASES = re.compile(
    r"\b(?:all tests|green build|passing tests|tests? pass|tests (?:green|passing)"
    r"|fix(?:es)? the test"
    r"|fix (?:the )?failing test)"
)
_TEST_WORDS = words("test tests testing spec specs coverage")
_TEST_LEADS = _TEST_WORDS | words("assertion assertions")
_DOC_LEADS = words(
    "changelog clarify comment comments doc docs documentation readme rephrase typo wording"
)
# After a verb of code, these make it a claim about documents: `Add a changelog`.
_DOC_OBJECTS = words(
    "changelog comment comments doc docs docstring docstrings documentation license readme typo "
    "typos"
)
_DOC_SUFFIX = re.compile(r".*\.(?:md|rst|txt|adoc|org)")
_DOC_NAMES = words("readme claude claude.md license contributing changelog authors notice")
# Verbs and conventional types that claim an effect of code.
_CODE_LEADS = words(
    "add added adds correct delete disable downgrade drop enable fix fixed fixes handle hook "
    "implement implemented "
    "implements introduce migrate move optimise optimize patch refactor remove removed removes "
    "rename resolve resolves "
    "support upgrade wire "
    "corrects corrected deletes deleted disables disabled drops dropped enables enabled handles "
    "handled introduces "
    "introduced migrates migrated moves moved optimised optimized patches patched refactors "
    "refactored renames renamed "
    "resolved supports supported upgrades upgraded wires wired adding fixing implementing "
    "feat feature perf hotfix bugfix"
)
# Said of code as often as of documents: the words after them decide.
_LOOSE_LEADS = words(
    "build builds built finish finished finishes complete completed completes ship shipped ships "
    "update updated "
    "updates done"
)
# The last word of a short subject that claims something without a verb: `Login done`.
_DONE = words("done implemented finished completed complete shipped added fixed")
# With one of these the subject describes, asks or denies instead of claiming.
_NOT_DONE = words(
    "not never no isn't aren't wasn't half nearly almost partly how what why when which where "
    "that if until"
)
# Types and scopes that decide before the verb does.
_SCOPED = {"docs": ClaimKind.DOC, "doc": ClaimKind.DOC, "chore": ClaimKind.NONE}
_PLUMBING = words("build ci deps")  # under these types a version that is bumped is no claim either
# With one of these, tests may go together with the code that they were about.
_REMOVALS = words(
    "remove removed removes delete deleted deletes drop dropped drops retire retired revert "
    "reverts undo"
)
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
# What teams put in front of a subject: `[api]`, `:bug:`, `ABC-12`.
_TAG = re.compile(r"(?:\[[^\]]{0,40}\]\s*|:[a-z0-9_+\-]{1,40}:\s*|[A-Z][A-Z0-9]+-\d+\s+)+")
_CONVENTIONAL = re.compile(r"(?P<type>\w+)(?:\((?P<scope>[^()]*)\))?!?$")
# In characters, of the word before the colon; a longer one is no type.
_LONGEST_HEAD = 30
_LONGEST_SCOPE = 40
# In words: how near to the beginning a test has to be named, and how long an object is.
_NEAR_WORDS = 3
_OBJECT_WORDS = 2
_SHORT_WORDS = 6


class SubjectClaim(Struct, frozen=True, kw_only=True):
    """What a subject claims, and the words that it begins with."""

    kind: ClaimKind
    leads: tuple[str, ...] = ()
    is_ci: bool = False  # its type or its scope is exactly ci

    @property
    def says_moved(self) -> bool:
        """Whether it says that something was moved or renamed."""
        return bool({"rename", "renamed", "move", "moved"}.intersection(self.leads))

    @property
    def says_removed(self) -> bool:
        """Whether it says that something was removed or reverted."""
        return bool(_REMOVALS.intersection(self.leads))


class _Subject(Struct, frozen=True, kw_only=True):
    """A subject taken apart: `[tag] type(scope): rest`."""

    text: str
    bare: str  # without tags such as `[api]` or `ABC-12`
    leads: tuple[str, ...]  # the first word of the type and of the rest
    type_name: str
    scope: str

    @property
    def names(self) -> tuple[str, str]:
        """The conventional type and its scope, either of which may be empty."""
        return self.type_name, self.scope


def parse_claim(subject: str) -> SubjectClaim:
    """Return what a commit's subject claims. A subject without a claim is of kind `NONE`."""
    parts = _parse(subject)
    return SubjectClaim(kind=_kind(parts), leads=parts.leads, is_ci="ci" in parts.names)


def _parse(subject: str) -> _Subject:
    """Take a subject apart. A very long one is cut, and odd forms of letters become plain ones."""
    text = unicodedata.normalize("NFKC", subject[:LONGEST_SUBJECT]).strip()
    tag = _TAG.match(text)
    bare = text[tag.end() :] if tag else text
    head, rest = _split_head(bare, _LONGEST_HEAD)
    type_name = scope = ""
    conventional = _CONVENTIONAL.fullmatch(head)
    if conventional:
        type_name = conventional["type"].lower()
        scope = (conventional["scope"] or "").strip().lower()
    leads = []
    for part in (head, rest):
        leads += _words(part)[:1]
    return _Subject(text=text, bare=bare, leads=tuple(leads), type_name=type_name, scope=scope)


def _kind(subject: _Subject) -> ClaimKind:
    """Return the kind of the claim.

    Tests come before documents, and documents before code, because a subject about tests or
    documents often begins with a verb of code: `Add tests for the parser`.
    """
    if _claims_nothing(subject):
        return ClaimKind.NONE
    if _is_about_tests(subject):
        return ClaimKind.TEST
    head, _ = _split_head(subject.bare, _LONGEST_SCOPE)
    if not _DOC_LEADS.isdisjoint(subject.leads) or _names_document(head):
        return ClaimKind.DOC
    for name in subject.names:
        if name in _SCOPED:
            return _SCOPED[name]
    return _code_or_none(subject)


def _claims_nothing(subject: _Subject) -> bool:
    """Whether the subject begins like housekeeping, such as `chore` or a version bump."""
    first = {*_words(subject.text)[:1], *_words(subject.bare)[:1]}
    if subject.type_name in _PLUMBING:
        first.update(subject.leads)
    if not first or not _NO_CLAIM.isdisjoint(first):
        return True
    return subject.bare.lower().startswith(_NO_CLAIM_PHRASES)


def _is_about_tests(subject: _Subject) -> bool:
    """Whether the subject is about tests, by its type, its first words, or a phrase in it."""
    _, rest = _split_head(subject.bare, _LONGEST_SCOPE)
    if not _TEST_LEADS.isdisjoint(subject.leads):
        return True
    if not _TEST_WORDS.isdisjoint(_words(rest)[:_NEAR_WORDS]):
        return True
    return _TEST_PHRASES.search(" ".join(_words(subject.bare))) is not None


def _code_or_none(subject: _Subject) -> ClaimKind:
    """Decide between code, documents and nothing, by the verb and its object.

    A loose verb with a document as its object claims nothing: `Update the readme` may change
    anything.
    """
    told = _words(_split_head(subject.bare, _LONGEST_HEAD)[1])
    is_strict = not _CODE_LEADS.isdisjoint(subject.leads)
    is_loose = not _LOOSE_LEADS.isdisjoint(subject.leads)
    verb_words = 1 if told and told[0] in _CODE_LEADS | _LOOSE_LEADS else 0
    objects = told[verb_words : verb_words + _OBJECT_WORDS]
    if (is_strict or is_loose) and not _DOC_OBJECTS.isdisjoint(objects):
        return ClaimKind.DOC if is_strict else ClaimKind.NONE
    if is_strict or is_loose or subject.type_name == "ci" or is_ship_shaped(subject.text):
        return ClaimKind.CODE_EFFECT
    return ClaimKind.CODE_EFFECT if _says_done(told) else ClaimKind.NONE


def _says_done(told: list[str]) -> bool:
    """Whether a short subject ends with a word such as "done", and no word denies it."""
    if not told or len(told) > _SHORT_WORDS:
        return False
    return told[-1] in _DONE and _NOT_DONE.isdisjoint(told)


def _split_head(subject: str, longest: int) -> tuple[str, str]:
    """Split at the first colon, if one short word is before it; else the head is empty."""
    head, colon, rest = subject.partition(":")
    if colon and " " not in head and len(head) < longest:
        return head, rest
    return "", subject


def _names_document(scope: str) -> bool:
    """Whether the word before the colon names a document, as in `README.md: add a badge`."""
    lowered = scope.lower()
    is_document = _DOC_SUFFIX.fullmatch(lowered) or lowered.startswith(("docs/", "doc/"))
    return bool(is_document) or lowered.rpartition("/")[2] in _DOC_NAMES


def _words(text: str) -> list[str]:
    """Return the words of a text in lower case, without digits and punctuation."""
    return _WORD.findall(text.lower())
