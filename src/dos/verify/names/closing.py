"""Keywords by which a message closes an issue: `Fixes #12`, `Closes PROJ-12`, `Implements: AUTH1`.

Such a keyword begins a clause. `Partly fixes`, `should close` and `does not resolve` do not close
anything, and neither do references such as `Refs`, `See` or `Part of`.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from dos.lazy_pattern import LazyPattern
from dos.verify.names.pattern import NamePattern

_MOST_LISTED = 9  # ids after one keyword
_VERB = (
    r"(?P<verb>(?ai:close[sd]?|fixe[sd]|resolve[sd]?|implement(?:s|ed)?|complete[sd]?"
    r"|finish(?:e[sd])?|deliver(?:s|ed)?)(?:-(?ai:bug))?:?|(?P<fix>(?ai:fix)))"
)
_WORD = LazyPattern(r"(?ai:clos|fix|resolv|implement|complet|finish|deliver)")
_CLAUSE = r"(?:^|[,;.()\[\]!:–—|][ \t]*|[ \t]-{1,3}[ \t]+|[ \t](?ai:and)[ \t]+)"
_THIS = r"(?:(?ai:this|also|it|this (?:commit|patch|change|pr))[ \t]+)?"
_NOUN = r"(?:(?ai:issues?|bugs?|tickets?|tasks?|story|stories|units?)[ \t]+)?"
_IN_CLAUSE = LazyPattern(rf"{_CLAUSE}{_THIS}{_VERB}[ \t]+{_NOUN}")
_IN_SENTENCE = LazyPattern(rf"(?:^|[.;][ \t]+){_THIS}{_VERB}[ \t]+{_NOUN}")
_LINK = LazyPattern(r"https?://[^\s]{1,200}/(?=[^\s/])")
_ISSUE_LINK = LazyPattern(r"https?://[^\s]{1,200}/issues/(?P<number>\d{1,9})(?!\w)")
_OTHER = LazyPattern(
    r"#?(?=[\w/.'\-]{0,80}\d)[\w/.'\-]{1,80}"
    r"(?:[ \t]*[,&][ \t]*(?:(?ai:and)[ \t]+)?|[ \t]+(?ai:and)[ \t]+)"
)
# After a key: it is what is closed, and not what broke something else.
_AFTER_KEY = LazyPattern(
    r"(?=[\s,;:)\]!?|–—]|\.(?:\s|$)|$)"
    r"(?![ \t]+(?ai:regressions?|fallout|follow|aftermath|breakage|leftovers?|tests?)\b)"
)
# After an id that could be a word: nothing more of the clause.
_AFTER_ID = LazyPattern(
    r"[ \t]*(?:$|[,;:)\]!]|\.(?:\s|$)|[–—]|-{1,3}[ \t]|\(#|(?ai:and|by|with)\b)"
)
_LINE = LazyPattern(r"[ ]{0,3}(?P<bullet>[*\-][ \t]+)?(?P<text>[^\s>`].*)")
_FENCE = ("```", "~~~")


class Closing(Struct, frozen=True):
    """Where a text closes a unit, and whether it closes others before it."""

    begin: int
    end: int
    faint: bool


def find_closing(text: str, name: NamePattern) -> Closing | None:
    """Where a clause of a text closes the unit; None if none does."""
    return _find(_IN_CLAUSE, text, name)


def find_closing_in_line(line: str, name: NamePattern) -> Closing | None:
    """Where a sentence of a line begins with closing the unit; None if none does."""
    return _find(_IN_SENTENCE, line, name)


def _find(keywords: LazyPattern, text: str, name: NamePattern) -> Closing | None:
    if not _WORD.search(text):
        return None
    for keyword in keywords.finditer(text):
        if closing := _closing(text, keyword, name):
            return closing
    return None


def closing_lines(body: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a body that may close something, and whether each one is a bullet.

    Quotations and code close nothing: they repeat what somebody else wrote.
    """
    if not _WORD.search(body):
        return
    is_code = False
    for line in body.split("\n"):
        if line.lstrip().startswith(_FENCE):
            is_code = not is_code
            continue
        match = _LINE.match(line)
        if match and not is_code and _WORD.search(line):
            yield match["text"], match["bullet"] is not None


def _closing(text: str, keyword: re.Match[str], name: NamePattern) -> Closing | None:
    """The unit among the ids after a keyword."""
    at = keyword.end()
    for place in range(_MOST_LISTED):
        end = _end_of_name(text, at, name, is_fix=keyword["fix"] is not None)
        if end:
            return Closing(keyword.start("verb"), end, place > 0)
        other = _OTHER.match(text, at)
        if other is None:
            return None
        at = other.end()
    return None


def _end_of_name(text: str, at: int, name: NamePattern, *, is_fix: bool) -> int:
    """Where the unit's name, or a link to it, ends; 0 if there is another text."""
    link = _ISSUE_LINK.match(text, at)
    if link and name.number and link["number"] == name.number:
        return link.end()
    if link := _LINK.match(text, at):
        at = link.end()
    match = name.match(text, at)
    if match is None and text[at : at + 1] == "#":
        match = name.match(text, at + 1)
    if match is None:
        return 0
    is_key = match.lastgroup == "key"
    if is_fix and not is_key:
        return 0  # `fix AUTH1` may as well repair what AUTH1 delivered
    after = _AFTER_KEY if is_key else _AFTER_ID
    if after.match(text, match.end()):
        return match.end()
    return 0
