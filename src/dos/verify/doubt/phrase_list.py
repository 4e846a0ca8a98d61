"""Patterns from lists of phrases, one to a line, each compiled when a text first needs it."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from dos.verify.doubt.required_words import RequiredWords, Stems

_LETTERS = re.compile(r"[a-z]+")


class Phrase:
    """One pattern, and the words that every text has which it matches.

    Compiling all phrases would cost more than the rest of a short command. Most texts lack the
    words of most phrases, and those need not be compiled.
    """

    def __init__(self, line: str, classes: Mapping[str, str], required: list[Stems]) -> None:
        self._line = line
        self._classes = classes
        self._required = required

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(expanded(self._line, self._classes))

    def may_match(self, words: list[str]) -> bool:
        """Whether a text with these words can match."""
        return all(any(word.startswith(stems) for word in words) for stems in self._required)


class Phrases:
    """Phrases of which any one may match; each line of the text is a pattern.

    `<name>` stands for the class of words of that name. Blank lines and lines with `#` are notes.
    The texts that are asked about are in lower case.
    """

    def __init__(self, text: str, classes: Mapping[str, str] | None = None) -> None:
        self._text = text
        self._classes = classes or {}

    @cached_property
    def phrases(self) -> list[Phrase]:
        """The phrases in their order."""
        required = RequiredWords(self._classes)
        phrases = []
        for line in map(str.strip, self._text.split("\n")):
            if line and not line.startswith("#"):
                phrases.append(Phrase(line, self._classes, required.of(line)))
        return phrases

    def match(self, text: str) -> re.Match[str] | None:
        """The first phrase that the text begins with."""
        return next(filter(None, (pattern.match(text) for pattern in self._patterns(text))), None)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """The first phrase that the whole text is."""
        matches = (pattern.fullmatch(text) for pattern in self._patterns(text))
        return next(filter(None, matches), None)

    def search(self, text: str, begin: int = 0, end: int | None = None) -> re.Match[str] | None:
        """The phrase that begins first in the text, or in a part of it."""
        last = len(text) if end is None else end
        matches = [pattern.search(text, begin, last) for pattern in self._patterns(text)]
        return min(filter(None, matches), key=re.Match.start, default=None)

    def _patterns(self, text: str) -> Iterator[re.Pattern[str]]:
        """The patterns that can match in a text."""
        words = _LETTERS.findall(text)
        for phrase in self.phrases:
            if phrase.may_match(words):
                yield phrase.pattern


def expanded(line: str, classes: Mapping[str, str]) -> str:
    """A pattern with the classes of words in place of their names."""
    for name, members in classes.items():
        if f"<{name}>" in line:
            line = line.replace(f"<{name}>", f"(?:{expanded(members, classes)})")
    return line
