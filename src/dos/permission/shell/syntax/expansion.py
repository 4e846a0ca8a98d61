"""Braces and patterns in words, as far as they can be expanded without the disk."""

import re
from collections.abc import Sequence

from msgspec import structs

from dos.permission.shell.syntax.tokens import Word

MOST_NAMES = 64
LONGEST_PATH = 4_096  # characters; no system takes more
_BRACES = re.compile(r"\{([^{}]*+)\}")
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
    done: list[str] = []
    waiting = [word.text]
    while waiting:
        if len(done) + len(waiting) > MOST_NAMES:
            return None
        name = waiting.pop(0)
        braces = _first_choice(name)
        if braces is None:
            if _is_left_over(name):
                return None
            done.append(name)
            continue
        for choice in braces[1].split(",")[: MOST_NAMES + 1]:
            waiting.append(name[: braces.start()] + choice + name[braces.end() :])
    return done


def _first_choice(name: str) -> re.Match[str] | None:
    """The first braces with a comma in them, and no braces inside."""
    for braces in _BRACES.finditer(name):
        if "," in braces[1]:
            return braces
    return None


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


def _is_left_over(name: str) -> bool:
    """Whether a choice is left in a name: with braces inside, or with too few of them."""
    comma = name.find(",", name.find("{")) if "{" in name else -1
    return comma >= 0 and "}" in name[comma:]


def starts_anywhere(name: str) -> bool:
    """Whether a pattern names its first folder by a wildcard, so that it can match anywhere."""
    first, slash, _ = name.removeprefix("./").partition("/")
    return bool(slash) and bool(_PATTERN.search(first))
