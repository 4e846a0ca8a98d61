"""The words of a subject that say what it is about, and whether a text has one of them."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dos.audit.claims import vocabulary
from dos.audit.claims.subject import Subject, split_humps, words

_REFERENCE = re.compile(r"\(?#\d+\)?|https?://\S++|\([^()]{0,60} via [^()]{0,40}\)")
# Names as programs write them: `fetch`, max_width, readFile, TxnLog, read(), --flag, a.b().
_NAME = re.compile(
    r"`(?P<quoted>[^`\s]{2,60})`"
    r"|(?P<name>(?<![\w.])(?:--)?[A-Za-z][\w.:#]{0,80}\w(?:\(\))?)"
)
_JOINED = re.compile(
    r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}|\w_\w|\w{3}\.[a-z]\w{3}|\w::?\w|\w#\w|\(\)$|^--"
)
_SEPARATORS = re.compile(r"[^a-z0-9]+")
_SHORTEST = 3  # letters of a word that counts
_SHORT = 4  # letters up to which a word has to begin where a word begins
_TELLING = 3  # words that say enough to expect one of them
_NAME_WEIGHT = 2  # words that a name is worth at least; a long one is worth its parts
_ENDINGS = (
    "ssions", "ssion", "sions", "sion", "isons", "ison", "izations", "ization", "ations", "ation",
    "ings", "ing", "ities", "ity", "ies", "ied", "ions", "ion", "ers", "er", "ors", "or", "ed",
    "es", "s", "ly", "al", "e", "y",
)  # fmt: skip
_MOST = 40  # terms of a subject that are looked for
_SHORTEST_STEM = 3
_LONG_ENDING = 4  # letters; before such an ending a stem has one letter more


class Term(NamedTuple):
    """A word or a name of a subject; `forms` are how a text may write it, in lower case."""

    forms: tuple[str, ...]
    is_common: bool = False  # so common in programs that to meet it says little
    is_name: bool = False
    weight: int = 1  # in words


def terms(subject: Subject) -> tuple[Term, ...]:
    """Return the telling words and names of a subject, each once; the type is none of them."""
    text = _REFERENCE.sub(" ", _described(subject))
    found: dict[tuple[str, ...], Term] = {}
    for match in _NAME.finditer(text):
        quoted = match["quoted"]
        name = quoted or match["name"]
        if quoted or (_JOINED.search(name) and name.lower() not in vocabulary.PROPER_NAMES):
            term = _name_term(name)
            found.setdefault(term.forms, term)
        else:
            for term in _word_terms(words(split_humps(name))):
                found.setdefault(term.forms, term)
    return tuple(found.values())[:_MOST]


def _described(subject: Subject) -> str:
    """The scope and what follows the type."""
    head, colon, rest = subject.bare.partition(":")
    if not subject.type_name or not colon:
        return subject.bare
    known = subject.type_name in _CODE_TYPES
    return f"{subject.scope} {rest}" if known else f"{head} {rest}"


_CODE_TYPES = vocabulary.FIXES | vocabulary.BEHAVES | vocabulary.TYPES


def _word_terms(told: Iterable[str]) -> Iterable[Term]:
    for word in told:
        plain = word.partition("'")[0]
        if len(plain) < _SHORTEST or plain in _UNTELLING or _is_adverb(plain):
            continue
        yield Term(_forms(plain), is_common=plain in vocabulary.COMMON_NOUNS)


_UNTELLING = (
    vocabulary.STOP | vocabulary.GENERIC | vocabulary.FIXES | vocabulary.ADDS | vocabulary.REMOVES
    | vocabulary.REVERTS | vocabulary.LOOSE | (vocabulary.BEHAVES - vocabulary.TELLING_VERBS)
)  # fmt: skip


def _is_adverb(word: str) -> bool:
    """Whether a word says how something is done, such as "gracefully"."""
    return word.endswith("ly") and len(word) > _SHORT and word not in vocabulary.TELLING_ADVERBS


def _name_term(name: str) -> Term:
    """A name of the program. Its parts may be apart in a text, so all its forms are kept."""
    parts = [part for part in words(split_humps(name)) if part not in vocabulary.STOP]
    joined = _SEPARATORS.sub("", name.lower())
    forms = [
        name.lower().removesuffix("()"),
        joined,
        "_".join(parts),
        "-".join(parts),
        " ".join(parts),
    ]
    last = re.split(r"[.#:]+", name.removesuffix("()"))[-1].lower()
    if len(last) > _SHORT:
        forms.append(last)
    if not vocabulary.TESTS.isdisjoint(parts):  # a test is named after what it tests
        forms += [part for part in parts if len(part) > _SHORT and part not in vocabulary.TESTS]
    weight = max(_NAME_WEIGHT, min(len(parts), _TELLING))
    return Term(tuple(dict.fromkeys(filter(None, forms))), is_name=True, weight=weight)


def _forms(word: str) -> tuple[str, ...]:
    """The stem of a word, and how programs shorten it."""
    stem = _stem(word)
    short = vocabulary.SHORT_FORMS.get(word) or vocabulary.SHORT_FORMS.get(word.removesuffix("s"))
    return (stem, short) if short else (stem,)


def _stem(word: str) -> str:
    """A word without its ending, in the crude way that is enough to compare words."""
    for ending in _ENDINGS:
        shortest = _SHORTEST_STEM + (len(ending) >= _LONG_ENDING)
        if word.endswith(ending) and len(word) - len(ending) >= shortest:
            stem = word[: -len(ending)]
            if len(stem) > _SHORTEST_STEM + 1 and stem[-1] == stem[-2]:
                return stem[:-1]
            return stem
    return word


def telling(found: Sequence[Term]) -> list[Term]:
    """Return the terms of which one should be where something changed; none if they say too little.

    Common nouns make a subject longer, but to meet one of them in a file proves nothing.
    """
    wanted = [term for term in found if not term.is_common]
    if _weight(found) < _TELLING or _weight(wanted) < _TELLING - 1:
        return []
    return wanted


def _weight(found: Sequence[Term]) -> int:
    return sum(term.weight for term in found)


def occurs(wanted: Iterable[Term], text: str) -> bool:
    """Whether a text has one of the terms."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters are two in lower case
        text = lowered
    return any(_has(term, text, lowered) for term in wanted)


def _has(term: Term, text: str, lowered: str) -> bool:
    return any(_has_form(form, text, lowered) for form in term.forms)


def _has_form(form: str, text: str, lowered: str) -> bool:
    """Whether a form is in a text; a short one only where a word or a hump begins."""
    at = lowered.find(form)
    if len(form) > _SHORT:
        return at >= 0
    while at >= 0:
        if at == 0 or not lowered[at - 1].isalpha() or text[at].isupper():
            return True
        at = lowered.find(form, at + 1)
    return False
