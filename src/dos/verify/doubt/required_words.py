"""The words that every text has which a phrase matches, read from the phrase's pattern."""

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

Stems = tuple[str, ...]  # beginnings of words

_TOKEN = re.compile(
    r"(?P<around>\(\?<?[=!])|(?P<open>\((?:\?:)?)|\)(?P<close>(?:[*?]|\{\d,?\d*\})?[+?]?)"
    r"|(?P<bar>\|)|<(?P<words>[\w ]+)>|(?P<letters>[a-z]+\??)"
    r"|(?P<unknown>\\w|\.|\[[^\]]*\]|[*+?]|\{[\d,]+\})|(?P<mark>\\?.)"
)


class _Reading(Struct):
    """What has been read of one alternative of a pattern."""

    is_at_word: bool  # whether letters that follow begin a word
    required: list[Stems]


class RequiredWords:
    """Reads patterns in which `<name>` stands for a class of words."""

    def __init__(self, classes: Mapping[str, str]) -> None:
        self._classes = classes
        self._known: dict[str, _Reading] = {}

    def of(self, pattern: str) -> list[Stems]:
        """Sets of beginnings of words. A text that matches has, of each set, at least one.

        What is optional, or glued to other letters, is not required.
        """
        return self._group(_TOKEN.finditer(pattern), is_at_word=True).required

    def _group(self, tokens: Iterator[re.Match[str]], *, is_at_word: bool) -> _Reading:
        """Read the alternatives up to the end of a group."""
        reading = _Reading(is_at_word, [])
        alternatives = [reading]
        for token in tokens:
            kind = token.lastgroup
            if kind == "close":
                is_optional = token["close"].startswith(("*", "?", "{0"))
                return _joined(alternatives, is_at_word, is_optional=is_optional)
            if kind == "bar":
                reading = _Reading(is_at_word, [])
                alternatives.append(reading)
            elif kind == "open":
                inside = self._group(tokens, is_at_word=reading.is_at_word)
                reading.required += inside.required
                reading.is_at_word = inside.is_at_word
            elif kind == "around":
                self._group(tokens, is_at_word=False)
            else:
                self._read(reading, token)
        return _joined(alternatives, is_at_word, is_optional=False)

    def _read(self, reading: _Reading, token: re.Match[str]) -> None:
        """Read what is no group."""
        kind = token.lastgroup
        if not reading.is_at_word or kind not in ("letters", "words"):
            reading.is_at_word = kind == "mark"
        elif kind == "words":
            members = self._class(token["words"])
            reading.required += members.required
            reading.is_at_word = members.is_at_word
        else:
            if stem := _stem(token["letters"]):
                reading.required.append((stem,))
            reading.is_at_word = False

    def _class(self, name: str) -> _Reading:
        """What a class of words requires where it begins a word."""
        if name not in self._known:
            tokens = _TOKEN.finditer(self._classes[name])
            self._known[name] = self._group(tokens, is_at_word=True)
        return self._known[name]


def _stem(letters: str) -> str:
    """The letters without one that may be missing."""
    if letters.endswith("?"):
        return letters[:-2]
    return letters


def _joined(alternatives: list[_Reading], was_at_word: bool, *, is_optional: bool) -> _Reading:
    """What is required by a group of which any alternative may match."""
    is_at_word = alternatives[-1].is_at_word
    if is_optional:
        return _Reading(is_at_word and was_at_word, [])
    if len(alternatives) == 1:
        return alternatives[0]
    if not all(reading.required for reading in alternatives):
        return _Reading(is_at_word, [])
    stems = [_rarest(reading.required) for reading in alternatives]
    return _Reading(is_at_word, [sum(stems, ())])


def _rarest(required: list[Stems]) -> Stems:
    """The set whose words are the longest, and so in the fewest texts."""
    if len(required) == 1:
        return required[0]
    return max(reversed(required), key=lambda stems: min(map(len, stems)))
