"""What kind of change does a subject claim? Only the words at its beginning count, and whether it says "done"."""

import re
import unicodedata
from enum import StrEnum

from msgspec import Struct

from dos.verify.file_kinds import words
from dos.verify.mentions import is_ship_shaped
from dos.verify.message import LONGEST_SUBJECT


class ClaimKind(StrEnum):
    CODE_EFFECT = "code_effect"
    TEST = "test"
    DOC = "doc"
    NONE = "none"


_NO_CLAIM = words(
    "bump chore cleanup format lint merge misc nit nits release revert style version whitespace wip"
)
_NO_CLAIM_PHRASES = ("address review", "review feedback", "rename variable")
_TEST_PHRASES = re.compile(
    r"\b(?:all tests|green build|passing tests|tests? pass|tests (?:green|passing)|fix(?:es)? the test"
    r"|fix (?:the )?failing test)"
)
_TEST_WORDS = words("test tests testing spec specs coverage")
_TEST_LEADS = _TEST_WORDS | words("assertion assertions")
_DOC_LEADS = words(
    "changelog clarify comment comments doc docs documentation readme rephrase typo wording"
)
_DOC_OBJECTS = words(
    "changelog comment comments doc docs docstring docstrings documentation license readme typo typos"
)
_DOC_SUFFIX = re.compile(r".*\.(?:md|rst|txt|adoc|org)")
_DOC_NAMES = words("readme claude claude.md license contributing changelog authors notice")
_CODE_LEADS = words(
    "add added adds correct delete disable downgrade drop enable fix fixed fixes handle hook implement implemented "
    "implements introduce migrate move optimise optimize patch refactor remove removed removes rename resolve resolves "
    "support upgrade wire "
    "corrects corrected deletes deleted disables disabled drops dropped enables enabled handles handled introduces "
    "introduced migrates migrated moves moved optimised optimized patches patched refactors refactored renames renamed "
    "resolved supports supported upgrades upgraded wires wired adding fixing implementing "
    "feat feature perf hotfix bugfix"
)
# Said of code as often as of a document: what they are followed by decides.
_LOOSE_LEADS = words(
    "build builds built finish finished finishes complete completed completes ship shipped ships update updated "
    "updates done"
)
_DONE = words("done implemented finished completed complete shipped added fixed")
# With one of these it is told what is or was, or that it is not so.
_NOT_DONE = words(
    "not never no isn't aren't wasn't half nearly almost partly how what why when which where that if until"
)
_SCOPED = {"docs": ClaimKind.DOC, "doc": ClaimKind.DOC, "chore": ClaimKind.NONE}
_PLUMBING = words("build ci deps")  # under these types a version that is bumped is no claim either
_REMOVALS = words(
    "remove removed removes delete deleted deletes drop dropped drops retire retired revert reverts undo"
)
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_TAG = re.compile(r"(?:\[[^\]]{0,40}\]\s*|:[a-z0-9_+\-]{1,40}:\s*|[A-Z][A-Z0-9]+-\d+\s+)+")
_CONVENTIONAL = re.compile(r"(?P<type>\w+)(?:\((?P<scope>[^()]*)\))?!?$")
_LONGEST_HEAD = 30
_LONGEST_SCOPE = 40
_NEAR_WORDS = 3
_OBJECT_WORDS = 2
_SHORT_WORDS = 6


class SubjectClaim(Struct, frozen=True, kw_only=True):
    kind: ClaimKind
    leads: tuple[str, ...] = ()
    is_ci: bool = False  # its type or its scope is exactly ci

    @property
    def says_moved(self) -> bool:
        return bool({"rename", "renamed", "move", "moved"}.intersection(self.leads))

    @property
    def says_removed(self) -> bool:
        return bool(_REMOVALS.intersection(self.leads))


def parse_claim(subject: str) -> SubjectClaim:
    subject = unicodedata.normalize("NFKC", subject[:LONGEST_SUBJECT]).strip()
    bare = subject[tag.end() :] if (tag := _TAG.match(subject)) else subject
    head, rest = _head(bare, _LONGEST_HEAD)
    parts = _CONVENTIONAL.fullmatch(head)
    names = (parts["type"].lower(), (parts["scope"] or "").strip().lower()) if parts else ("", "")
    leads = tuple(found[0] for text in (head, rest) if (found := _words(text)))
    kind = _kind(subject, bare, leads, names)
    return SubjectClaim(kind=kind, leads=leads, is_ci="ci" in names)


def _kind(subject: str, bare: str, leads: tuple[str, ...], names: tuple[str, str]) -> ClaimKind:
    first = {words[0] for words in (_words(subject), _words(bare)) if words}
    if names[0] in _PLUMBING:
        first.update(leads)
    if not first or bare.lower().startswith(_NO_CLAIM_PHRASES) or not _NO_CLAIM.isdisjoint(first):
        return ClaimKind.NONE
    scope, rest = _head(bare, _LONGEST_SCOPE)
    if not _TEST_LEADS.isdisjoint(leads) or not _TEST_WORDS.isdisjoint(_words(rest)[:_NEAR_WORDS]):
        return ClaimKind.TEST
    if _TEST_PHRASES.search(" ".join(_words(bare))):
        return ClaimKind.TEST
    if not _DOC_LEADS.isdisjoint(leads) or _names_document(scope):
        return ClaimKind.DOC
    scoped = next((_SCOPED[name] for name in names if name in _SCOPED), None)
    return scoped or _code_or_none(subject, _words(_head(bare, _LONGEST_HEAD)[1]), leads, names[0])


def _code_or_none(
    subject: str, told: list[str], leads: tuple[str, ...], type_name: str
) -> ClaimKind:
    strict, loose = not _CODE_LEADS.isdisjoint(leads), not _LOOSE_LEADS.isdisjoint(leads)
    verb = 1 if told and told[0] in _CODE_LEADS | _LOOSE_LEADS else 0
    if (strict or loose) and not _DOC_OBJECTS.isdisjoint(told[verb : verb + _OBJECT_WORDS]):
        return ClaimKind.DOC if strict else ClaimKind.NONE
    if strict or loose or type_name == "ci" or is_ship_shaped(subject):
        return ClaimKind.CODE_EFFECT
    is_done = (
        told[-1:] and told[-1] in _DONE and len(told) <= _SHORT_WORDS and _NOT_DONE.isdisjoint(told)
    )
    return ClaimKind.CODE_EFFECT if is_done else ClaimKind.NONE


def _head(subject: str, longest: int) -> tuple[str, str]:
    """What stands before the first colon, when it is one short word, and what stands after it."""
    head, colon, rest = subject.partition(":")
    return (head, rest) if colon and " " not in head and len(head) < longest else ("", subject)


def _names_document(scope: str) -> bool:
    lowered = scope.lower()
    is_document = _DOC_SUFFIX.fullmatch(lowered) or lowered.startswith(("docs/", "doc/"))
    return bool(is_document) or lowered.rpartition("/")[2] in _DOC_NAMES


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
