"""Keywords by which a message closes an issue: `Fixes #12`, `Closes PROJ-12`, `Implements: AUTH1`.

Such a keyword begins a clause. `Partly fixes`, `should close` and `does not resolve` do not close
anything, and neither do references such as `Refs`, `See` or `Part of`.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

# `fix AUTH1` may as well repair what AUTH1 delivered, so it closes only what is an issue.
_DONE = r"(?ai:clos(?:e[sd]|e)|fix(?:e[sd])|resolv(?:e[sd]|e)|implement(?:s|ed|)|complet(?:e[sd]|e)"
_DONE += r"|finish(?:e[sd]|)|deliver(?:s|ed|))"
_FIX = r"(?ai:fix)"
_WORD = re.compile(r"(?ai:clos|fix|resolv|implement|complet|finish|deliver)")
_CLAUSE = r"(?:^|[,;.()\[\]!:–—|][ \t]*|[ \t]-{1,3}[ \t]+|[ \t](?ai:and)[ \t]+)"
_THIS = r"(?:(?ai:this|also|it|this (?:commit|patch|change|pr))[ \t]+)?"
_NOUN = r"(?:(?ai:issues?|bugs?|tickets?|tasks?|story|stories|units?)[ \t]+)?"
_URL = r"(?:https?://[^\s]{1,200}/)?"
_OTHER = r"#?(?=[\w/.'\-]{0,80}\d)[\w/.'\-]{1,80}"
_OTHERS = rf"(?P<others>(?:{_OTHER}(?:[ \t]*[,&][ \t]*(?:(?ai:and)[ \t]+)?|[ \t]+(?ai:and)[ \t]+))"
_OTHERS += r"{0,8})"
# After a key: it is what is closed, and not what broke something else.
_AFTER_KEY = r"(?=[\s,;:)\]!?|–—]|\.(?:\s|$)|$)"
_AFTER_KEY += r"(?![ \t]+(?ai:regressions?|fallout|follow|aftermath|breakage|leftovers?|tests?)\b)"
# After an id that could be a word: nothing more of the clause.
_AFTER_ID = r"(?=[ \t]*(?:$|[,;:)\]!]|\.(?:\s|$)|[–—]|-{1,3}[ \t]|\(#|(?ai:and|by|with)\b))"
_LINE = re.compile(r"[ ]{0,3}(?P<bullet>[*\-][ \t]+)?(?P<text>[^\s>`].*)")
_FENCE = ("```", "~~~")


class Closing(Struct, frozen=True):
    """Where a text closes a unit, and whether it closes others before it."""

    begin: int
    end: int
    faint: bool


class ClosingKeywords:
    """The closing keywords for one unit; `keys` and `ids` are patterns for its names."""

    def __init__(self, keys: str, ids: str) -> None:
        key = rf"(?:(?:{_DONE}):?|{_FIX})[ \t]+{_NOUN}{_OTHERS}{_URL}#?(?:{keys}){_AFTER_KEY}"
        others = _OTHERS.replace("others", "more")
        word = rf"{_DONE}:?[ \t]+{_NOUN}{others}(?:{ids}){_AFTER_ID}"
        either = f"(?:{key})|(?:{word})"
        self._clause = re.compile(rf"{_CLAUSE}{_THIS}(?P<begin>)(?:{either})")
        self._line = re.compile(rf"{_THIS}(?P<begin>)(?:{either})")

    def find(self, text: str) -> Closing | None:
        """Where a clause of a text closes the unit; None if none does."""
        if not _WORD.search(text):
            return None
        return _closing(self._clause.search(text))

    def find_at_start(self, line: str) -> Closing | None:
        """Where a line closes the unit with its first words; None if it does not."""
        return _closing(self._line.match(line))


def _closing(match: re.Match[str] | None) -> Closing | None:
    if match is None:
        return None
    groups = match.groupdict()
    is_faint = bool(groups.get("others") or groups.get("more"))
    return Closing(match.start("begin"), match.end(), is_faint)


def closing_lines(body: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a body that may close something, and whether each one is a bullet.

    Quotations and code close nothing: they repeat what somebody else wrote.
    """
    is_code = False
    for line in body.split("\n"):
        if line.lstrip().startswith(_FENCE):
            is_code = not is_code
            continue
        match = _LINE.match(line)
        if match and not is_code and _WORD.search(line):
            yield match["text"], match["bullet"] is not None
