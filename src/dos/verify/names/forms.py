"""The forms in which people put a tracker's id into a subject.

`[PROJ-12] x`, `PROJ-12. x`, `PROJ-12 x`, `feat(PROJ-12): x`, `feat: PROJ-12 x`, `x (PROJ-12)`.
An id such as AUTH1 can be a word of prose. Where nothing but a space or a bracket sets it apart,
it is a name only if a plan declares the unit.
"""

import re
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

from dos.verify.names.spelling import JOINED, any_of, contains_plan, is_key, issue_number

_MOST_TAGS = 4
_BRACKET = re.compile(r"[ \t]*(?P<open>[\[(])(?P<inside>[^\[\]()]{1,200})[\])]")
_TAGS = r"(?:\[[^\[\]]{1,40}\][ \t]*){0,3}+"
_SCOPE = re.compile(r"[\w\-]{1,30}\((?P<inside>[^()]{1,200})\)!?:")
_PULL_REQUEST = re.compile(r"[ \t]*\(#\d{1,9}\)[ \t]*$")
_LAST = 210  # characters; a bracket at the end is not longer
_LAST_BRACKET = re.compile(r"[\[(](?P<inside>[^\[\]()]{1,200})[\])][.!]?$")
_ID_LIKE = re.compile(r"#?(?=[\w.'\-]{0,80}\d)[^\W_][\w.'\-]{0,80}")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9_]{1,60}[\-_]?\d")
# Between an id and what it is about: `ID. x`, `ID - x`, `ID — x`, `ID | x`, `ID; x`.
_MARK = r"(?:\.(?=[ \t])|[ \t]*(?:[;|>]|[–—])|[ \t]+-{1,2}>?(?=[ \t])|[ \t]+=>)"
# Types after which an id is a reference and no subject: `see: PROJ-12`.
_REFERENCE = re.compile(
    r"(?ai:about|after|before|cc|cf|e\.g|for|from|i\.e|issues?|jira|note|part|prepare|re|refs?"
    r"|references?|related|relates|see|ticket|to|todo|towards?|unlike|via|with)"
)
# Words after an id that make it a part of a sentence about the unit, or of a list.
_PASSING = re.compile(
    r"[ \t]+(?:[&+,/]|(?ai:and|or|vs|versus|is|was|are|were|isn't|wasn't|has|had|hasn't|needs?"
    r"|requires?|depends|wants?|will|would|should|must|may|might|can|could|cannot|can't|won't"
    r"|does|did|doesn't|didn't|broke|breaks|introduced|introduces|caused|causes|follow(?:ed|s)?"
    r"|follow-?ups?|preparations?|prep|prerequisites?|related|regressions?|fallout|aftermath"
    r"|leftovers?)\b)"
)
# These say that it is done, and begin with a passing word.
_DONE = re.compile(
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
    """An id in one of the forms, from `begin` to `end` of the subject."""

    form: Form
    begin: int
    end: int
    faint: bool = False
    needs_plan: bool = False  # it is a name only if a plan declares the unit


class SubjectForms:
    """The forms of one unit, compiled for searching subjects."""

    def __init__(self, plan: str, phase: str, spellings: list[str]) -> None:
        self.plan = plan
        bare = [each for each in spellings if contains_plan(plan, each) and " " not in each]
        self._number = issue_number(plan, phase)
        keys = [f"{plan}/{each}" for each in spellings] + [each for each in bare if is_key(each)]
        if self._number:
            keys += [f"#{self._number}", f"GH-{self._number}"]
        words = [each for each in bare if each not in keys]
        self.keys = any_of(keys)
        # A link to an issue ends in its number.
        self.closing_keys = any_of([*keys, f"issues/{self._number}"] if self._number else keys)
        self.ids = any_of([f"{plan} {each}" for each in spellings] + words)
        self._key = re.compile(self.keys)
        self._compact = re.compile(any_of(keys + words))
        self._whole = re.compile(f"{self.keys}|{self.ids}")
        first = f"(?P<key>{self.keys})"
        if words:
            first = f"(?:{first}|(?P<word>{any_of(words)}))"
        self._punctuated = re.compile(rf"{_TAGS}{first}(?:(?P<mark>{_MARK}|:)|/(?=\w))")
        self._leading = re.compile(rf"{_TAGS}{first}(?=[ \t]|$)")
        self._typed = re.compile(
            rf"(?P<type>[\w.\-]{{1,30}})(?:\([^()]{{0,60}}\))?!?:[ \t]*[\[(]?{first}(?=[\])]?"
            r"(?:[ \t:,;]|\.[ \t]|$))"
        )

    def at_beginning(self, subject: str) -> Iterator[FoundForm]:
        """Yield the forms that begin the subject, the plainest first."""
        yield from self._in_brackets(subject)
        if match := self._punctuated.match(subject):
            yield from self._with_mark(subject, match)
        match = self._leading.match(subject)
        if match and not is_passing(subject[match.end() :]):
            yield _found(Form.LEADING, match, needs_plan=_is_word(match))
        if match := _SCOPE.match(subject):
            yield from self._among(Form.SCOPE, match["inside"], match.start("inside"), self._whole)
        match = self._typed.match(subject)
        if match is None or _REFERENCE.fullmatch(match["type"]):
            return
        if not is_passing(subject[match.end() :]):
            is_word = _is_word(match)
            yield _found(Form.TYPED, match, faint=is_word, needs_plan=is_word)

    def at_end(self, subject: str) -> Iterator[FoundForm]:
        """Yield the forms in brackets at the end of the subject, before `(#42)`."""
        for _ in range(_MOST_TAGS):
            begin = max(0, len(subject) - _LAST)
            if last := _LAST_BRACKET.search(subject, begin):
                yield from self._at_end(last["inside"], last.start("inside"))
            shorter = _PULL_REQUEST.sub("", subject[begin:])
            if begin + len(shorter) == len(subject):
                return
            subject = subject[:begin] + shorter

    def _at_end(self, inside: str, begin: int) -> Iterator[FoundForm]:
        """The unit in the last bracket. A number there is mostly that of the pull request."""
        is_number = bool(self._number) and inside.endswith(self._number)
        for found in self._among(Form.ENDING, inside, begin, self._compact):
            yield FoundForm(
                form=found.form,
                begin=found.begin,
                end=found.end,
                faint=found.faint or is_number,
                needs_plan=self._key.search(inside) is None,
            )

    def _in_brackets(self, subject: str) -> Iterator[FoundForm]:
        """`[ID] x`, `(ID) x`, `[ID][SQL] x`, `[3.11][ID] x`; behind another id it is a list."""
        at = 0
        is_second = False
        for _ in range(_MOST_TAGS):
            match = _BRACKET.match(subject, at)
            if match is None:
                return
            inside, begin = match["inside"], match.start("inside")
            for found in self._among(Form.BRACKETED, inside, begin, self._whole):
                form = Form.LIST if is_second else found.form
                yield FoundForm(
                    form=form, begin=found.begin, end=found.end, faint=found.faint or is_second
                )
            is_second = is_second or self._is_other_id(inside)
            at = match.end()

    def _is_other_id(self, text: str) -> bool:
        """Whether a tag is a unit, too: another number of the plan, or a key in capitals."""
        is_of_plan = contains_plan(self.plan, text) and any(map(str.isdigit, text))
        return is_of_plan or _CAPITALS.match(text) is not None

    def _among(
        self, form: Form, inside: str, begin: int, names: re.Pattern[str]
    ) -> Iterator[FoundForm]:
        """The unit as the only text inside of something, or as one of a list of ids there."""
        end = begin + len(inside)
        if names.fullmatch(inside.strip()):
            yield FoundForm(form=form, begin=begin, end=end)
            return
        items = [item.strip() for item in re.split(JOINED, inside)]
        others = [item for item in items if not names.fullmatch(item)]
        if len(others) == len(items):
            return
        if form is Form.SCOPE and not any(map(_ID_LIKE.fullmatch, others)):
            yield FoundForm(form=form, begin=begin, end=end)
        elif all(map(_ID_LIKE.fullmatch, others)):
            yield FoundForm(form=Form.LIST, begin=begin, end=end, faint=True)

    def _with_mark(self, subject: str, match: re.Match[str]) -> Iterator[FoundForm]:
        """`ID. x` and the like; `[3.11] ID: x`; `ID/x`, where x is no second id."""
        if match["mark"]:
            yield _found(Form.PUNCTUATED, match)
        elif not _ID_LIKE.match(subject, match.end()):
            yield _found(Form.PUNCTUATED, match, needs_plan=_is_word(match))


def is_passing(rest: str) -> bool:
    """Whether the words after an id speak about its unit, as in `PROJ-12 needs a lock`."""
    return _PASSING.match(rest) is not None and _DONE.match(rest) is None


def _is_word(match: re.Match[str]) -> bool:
    return match["key"] is None


def _found(
    form: Form, match: re.Match[str], *, faint: bool = False, needs_plan: bool = False
) -> FoundForm:
    """A form by the match of its pattern; the unit's name is a key or a word."""
    name = "word" if _is_word(match) else "key"
    return FoundForm(
        form=form, begin=match.start(name), end=match.end(), faint=faint, needs_plan=needs_plan
    )
