"""Patterns from lists of phrases, one to a line, compiled when they are first needed."""

import re
from collections.abc import Mapping
from functools import cached_property


class Phrases:
    """Phrases of which any one may match; each line of the text is a pattern.

    `<name>` stands for the class of words of that name. Blank lines and lines with `#` are notes.
    Most commands load these lists and never need them, so nothing is compiled on import.
    """

    def __init__(self, text: str, classes: Mapping[str, str] | None = None) -> None:
        self._text = text
        self._classes = classes or {}

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """All phrases as one pattern."""
        lines = []
        for line in map(str.strip, self._text.split("\n")):
            if line and not line.startswith("#"):
                lines.append(f"(?:{expanded(line, self._classes)})")
        return re.compile("|".join(lines))

    def match(self, text: str) -> re.Match[str] | None:
        """The phrase that the text begins with."""
        return self.pattern.match(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """The phrase that the whole text is."""
        return self.pattern.fullmatch(text)

    def search(self, text: str, begin: int = 0, end: int | None = None) -> re.Match[str] | None:
        """The first phrase in the text, or in a part of it."""
        return self.pattern.search(text, begin, len(text) if end is None else end)


def expanded(line: str, classes: Mapping[str, str]) -> str:
    """A pattern with the classes of words in place of their names."""
    for name, members in classes.items():
        if f"<{name}>" in line:
            line = line.replace(f"<{name}>", f"(?:{expanded(members, classes)})")
    return line
