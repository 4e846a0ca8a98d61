"""The forms in which people put a tracker's id into a subject.

`[PROJ-12] x`, `PROJ-12. x`, `PROJ-12 x`, `feat(PROJ-12): x`, `feat: PROJ-12 x`, `x (PROJ-12)`.
An id such as AUTH1 can be a word of prose. Where nothing but a space or a bracket sets it apart,
it is a name only if a plan declares the unit.
"""

import re
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct, structs

from dos.lazy_pattern import LazyPattern
from dos.verify.names.pattern import NamePattern
from dos.verify.names.spelling import JOINED

_MOST_TAGS = 4
_LONGEST_BRACKET = 210  # characters
_BRACKET = LazyPattern(r"[ \t]*[\[(](?P<inside>[^\[\]()]{1,200})[\])]")
# What decorates a subject: `:bug:` or a pictogram.
_SYMBOL = LazyPattern(
    r"(?:(?::[a-z0-9_+\-]{1,40}:|[\u2600-\u27bf\U0001f300-\U0001faff]\ufe0f?)[ \t]*){0,3}"
)
_TAGS = LazyPattern(r"(?:\[[^\[\]]{1,40}\][ \t]*){0,3}")
_SCOPE = LazyPattern(r"[\w\-]{1,30}\((?P<inside>[^()]{1,200})\)!?:")
_TYPE = LazyPattern(r"(?P<type>[\w.\-]{1,30})(?:\([^()]{0,60}\))?!?:[ \t]*[\[(]?")
_PULL_REQUEST = LazyPattern(r"[ \t]*\(#\d{1,9}\)[ \t]*$")
_LAST_BRACKET = LazyPattern(r"[\[(](?P<inside>[^\[\]()]{1,200})[\])][.!]?$")
_LAST_ID = LazyPattern(r"(?:,|[ \t](?:-{1,2}|[–—|]))[ \t]+(?P<id>#?[^\s,#]{1,100})$")
# Words before the last id by which it may explain another thing: `Log out after the login, ID`.
_POINTING = LazyPattern(
    r"\b(?ai:after|before|blocked|follow(?:s|ing|-?up)?|instead|like|needed|next|part|parts"
    r"|prepar(?:e[sd]?|ing|ation)|refs?|revert(?:s|ed)?|see|since|than|towards?|unlike|until)\b"
)
_ID_LIKE = LazyPattern(r"#?(?=[\w.'\-]{0,80}\d)[^\W_][\w.'\-]{0,80}")
_IN_CAPITALS = LazyPattern(r"[A-Z][A-Z0-9_]{1,60}[\-_]?\d")
# Between an id and what it is about: `ID. x`, `ID - x`, `ID — x`, `ID | x`, `ID; x`.
_MARK = LazyPattern(r"\.(?=[ \t])|[ \t]*[:;|>–—]|[ \t]+-{1,2}>?(?=[ \t])|[ \t]+=>")
_SLASH = LazyPattern(r"/(?=\w)")
_SPACE = LazyPattern(r"(?=[ \t]|$)")
_AFTER_TYPED = LazyPattern(r"[\])]?(?=[ \t:,;]|\.[ \t]|$)")
# Types after which an id is a reference and no subject: `see: PROJ-12`.
_REFERENCE = LazyPattern(
    r"(?ai:about|after|before|cc|cf|e\.g|for|from|i\.e|issues?|jira|note|part|prepare|re|refs?"
    r"|references?|related|relates|see|ticket|to|todo|towards?|unlike|via|with)"
)
_FOLLOW_UP = LazyPattern(r"(?ai:follow[ -]?ups?)")
# Words after an id that make it a part of a sentence about the unit, or of a list. In capitals
# they begin the title: `PROJ-12 Cannot log in`.
_PASSING = LazyPattern(
    r"[ \t]+(?:[&+,/]|(?:and|or|vs|versus|is|was|are|were|isn't|wasn't|has|had|hasn't|needs?"
    r"|requires?|depends|wants?|will|would|should|must|may|might|can|could|cannot|can't|won't"
    r"|does|did|doesn't|didn't|broke|breaks|introduced|introduces|caused|causes|follow(?:ed|s)?"
    r"|follow-?ups?|preparations?|prep|prerequisites?|related|regressions?|fallout|aftermath"
    r"|leftovers?)\b)"
)
# These say that it is done, and begin with a passing word.
_DONE = LazyPattern(
    r"[ \t]+(?ai:is|was|has been)[ \t]+(?:(?ai:now|all)[ \t]+)?"
    r"(?ai:done|finished|complete|completed|implemented|shipped)\b"
)


class Form(StrEnum):
    """Where in a subject an id stands."""

    BRACKETED = "bracketed"
    PUNCTUATED = "punctuated"
    LEADING = "leading"
    SCOPE = "scope"
    TYPED = "typed"
    ENDING = "ending"
    LIST = "list"


class FoundForm(Struct, frozen=True, kw_only=True):
    """A name in one of the forms, from `begin` to `end` of the subject."""

    form: Form
    begin: int
    end: int
    faint: bool = False
    needs_plan: bool = False  # it is a name only if a plan declares the unit


def at_beginning(subject: str, name: NamePattern) -> Iterator[FoundForm]:
    """Yield the forms that begin the subject, the plainest first."""
    at = _end_of(_SYMBOL.match(subject))
    yield from _in_brackets(subject, at, name)
    if match := _compact(subject, _end_of(_TAGS.match(subject, at)), name):
        yield from _first(subject, match)
    if scope := _SCOPE.match(subject, at):
        yield from _among(Form.SCOPE, scope, name)
    yield from _after_type(subject, at, name)


def at_end(subject: str, name: NamePattern) -> Iterator[FoundForm]:
    """Yield the forms in brackets at the end of the subject, before `(#42)`."""
    for _ in range(_MOST_TAGS):
        begin = max(0, len(subject) - _LONGEST_BRACKET)
        if last := _LAST_BRACKET.search(subject, begin):
            yield from _last(last, name)
        if last := _LAST_ID.search(subject.rstrip(".!"), begin):
            yield from _last_unbracketed(last, name)
        request = _PULL_REQUEST.search(subject, begin)
        if request is None:
            return
        subject = subject[: request.start()]


def _in_brackets(subject: str, at: int, name: NamePattern) -> Iterator[FoundForm]:
    """`[ID] x`, `(ID) x`, `[ID][SQL] x`, `[3.11][ID] x`; behind another id it is one of a list."""
    brackets = list(_brackets(subject, at))
    if any(_FOLLOW_UP.fullmatch(bracket["inside"]) for bracket in brackets):
        return
    is_second = False
    for bracket in brackets:
        for found in _among(Form.BRACKETED, bracket, name):
            if is_second:
                found = structs.replace(found, form=Form.LIST, faint=True)
            yield found
        inside = bracket["inside"]
        if name.is_other_of_plan(inside) or _IN_CAPITALS.match(inside):
            is_second = True


def _brackets(subject: str, at: int) -> Iterator[re.Match[str]]:
    """The brackets that follow each other from a place of the subject."""
    for _ in range(_MOST_TAGS):
        bracket = _BRACKET.match(subject, at)
        if bracket is None:
            return
        yield bracket
        at = bracket.end()


def _first(subject: str, match: re.Match[str]) -> Iterator[FoundForm]:
    """`ID. x` and the like, `ID x`, and `ID/x`, where x is no second id."""
    is_word = match.lastgroup == "word"
    begin, end = match.span()
    if mark := _MARK.match(subject, end):
        yield FoundForm(form=Form.PUNCTUATED, begin=begin, end=mark.end())
    slash = _SLASH.match(subject, end)
    if slash and not _ID_LIKE.match(subject, slash.end()):
        yield FoundForm(form=Form.PUNCTUATED, begin=begin, end=slash.end(), needs_plan=is_word)
    if _SPACE.match(subject, end) and not _is_passing(subject, end):
        yield FoundForm(form=Form.LEADING, begin=begin, end=end, needs_plan=is_word)


def _after_type(subject: str, at: int, name: NamePattern) -> Iterator[FoundForm]:
    """`feat: ID x`, `feat(api): [ID] x`."""
    prefix = _TYPE.match(subject, at)
    if prefix is None or _REFERENCE.fullmatch(prefix["type"]):
        return
    match = _compact(subject, prefix.end(), name)
    if match is None or not _AFTER_TYPED.match(subject, match.end()):
        return
    if not _is_passing(subject, match.end()):
        begin, end = match.span()
        is_word = match.lastgroup == "word"
        yield FoundForm(form=Form.TYPED, begin=begin, end=end, faint=is_word, needs_plan=is_word)


def _last(bracket: re.Match[str], name: NamePattern) -> Iterator[FoundForm]:
    """The unit in the last bracket. A number there is mostly that of the pull request."""
    inside = bracket["inside"]
    is_number = bool(name.number) and inside.endswith(name.number)
    for found in _among(Form.ENDING, bracket, name):
        items = [inside.strip(), *re.split(JOINED, inside.strip())]
        kinds = {match.lastgroup for match in map(name.fullmatch, items) if match}
        if "spaced" not in kinds:
            faint = found.faint or is_number
            yield structs.replace(found, faint=faint, needs_plan="key" not in kinds)


def _last_unbracketed(last: re.Match[str], name: NamePattern) -> Iterator[FoundForm]:
    """`x, ID` and `x - ID`, where the id is a key, and neither one of a list nor an explanation."""
    match = name.fullmatch(last["id"])
    before = last.string[: last.start()]
    words = before.split()
    if match is None or match.lastgroup != "key" or not words or _POINTING.search(before):
        return
    if not _ID_LIKE.fullmatch(words[-1]):
        begin, end = last.span("id")
        yield FoundForm(form=Form.ENDING, begin=begin, end=end, faint=True, needs_plan=True)


def _among(form: Form, around: re.Match[str], name: NamePattern) -> Iterator[FoundForm]:
    """The unit as the only text inside of something, or as one of a list of ids there."""
    inside = around["inside"]
    begin, end = around.span("inside")
    if name.fullmatch(inside.strip()):
        yield FoundForm(form=form, begin=begin, end=end)
        return
    items = re.split(JOINED, inside.strip())
    others = [item for item in items if not name.fullmatch(item)]
    if len(others) == len(items):
        return
    ids = [item for item in others if _ID_LIKE.fullmatch(item)]
    if form is Form.SCOPE and not ids:
        yield FoundForm(form=form, begin=begin, end=end)
    elif ids == others:
        yield FoundForm(form=Form.LIST, begin=begin, end=end, faint=True)


def _compact(subject: str, at: int, name: NamePattern) -> re.Match[str] | None:
    """The name at a place of the subject, unless it is a plan and an id with a space between."""
    match = name.match(subject, at)
    if match is None and subject[at : at + 1] == "#":
        match = name.match(subject, at + 1)
    if match is None or match.lastgroup == "spaced":
        return None
    return match


def _is_passing(subject: str, at: int) -> bool:
    """Whether the words after an id speak about its unit, as in `PROJ-12 needs a lock`."""
    return _PASSING.match(subject, at) is not None and _DONE.match(subject, at) is None


def _end_of(match: re.Match[str] | None) -> int:
    return match.end() if match else 0
