"""Braces and patterns in words, as far as they can be expanded without the disk."""

import re
from collections.abc import Sequence

from msgspec import structs

from dos.permission.shell.syntax.tokens import Word

MOST_NAMES = 64
MOST_BRACES = 12  # so that those inside one another are few
LONGEST_PATH = 4_096  # characters; no system takes more
_SEQUENCE = re.compile(r"\{[^{},]*\.\.[^{},]*\}")
_BRACE = re.compile(r"\{[^{}]*(?:,|\.\.|\{)")
_PATTERN = re.compile(r"[*?\[]")


def expand_braces(word: Word) -> list[str] | None:
    """Return the names that `a{b,c}` stands for; None where they are many, or not certain."""
    if len(word.text) > LONGEST_PATH:
        return None
    if not word.has_brace:
        return [word.text]
    if word.is_quoted or _SEQUENCE.search(word.text):  # which braces were quoted is not known
        return None
    if word.text.count("{") > MOST_BRACES:
        return None
    return _expanded(word.text)


def _expanded(text: str) -> list[str] | None:
    """What braces stand for, in the order of a shell; None where some are not closed."""
    start = text.find("{")
    if start < 0:
        return [text]
    parts: list[str] = []
    depth = 0
    begin = start + 1
    for place in range(start, len(text)):
        letter = text[place]
        depth += (letter == "{") - (letter == "}")
        if not depth or (depth == 1 and letter == ","):
            parts.append(text[begin:place])
            begin = place + 1
        if not depth:
            break
    if depth:
        return [text] if "," not in text else None
    return _combined(text[:start], parts, text[begin:])


def _combined(before: str, parts: Sequence[str], after: str) -> list[str] | None:
    """Each of the parts between what stands around their braces."""
    if len(parts) == 1:  # no choice: the braces stay
        if "," in parts[0] or "," in after:  # which shells read in their own way
            return None
        choices = [f"{{{parts[0]}}}"]
    else:
        choices = []
        for part in parts[: MOST_NAMES + 1]:
            found = _expanded(part)
            if found is None:
                return None
            choices += found
    ends = _expanded(after)
    if ends is None or len(choices) * len(ends) > MOST_NAMES:
        return None
    return [f"{before}{choice}{end}" for choice in choices for end in ends]


def expand_words(words: Sequence[Word]) -> list[Word]:
    """Return words with a word for each that their braces stand for, where that is certain."""
    expanded: list[Word] = []
    for word in words:
        names = expand_braces(word) if may_be_several(word) and word.is_literal else None
        if names is None:
            expanded.append(word)
        else:
            # A word that nothing is left of is no word.
            expanded += [
                structs.replace(word, text=name, has_brace=False) for name in names if name
            ]
    return expanded


def may_be_several(word: Word) -> bool:
    """Whether a word has braces that can stand for several words."""
    return word.has_brace and bool(_BRACE.search(word.text))


def starts_anywhere(name: str) -> bool:
    """Whether a pattern names its first folder by a wildcard, so that it can match anywhere."""
    first, slash, _ = name.removeprefix("./").partition("/")
    return bool(slash) and bool(_PATTERN.search(first))
