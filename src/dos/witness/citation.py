"""Judges a citation: whether the work exists, is the one named, and contains the quote.

Models make up citations; the works to compare with come from `witness.io.citations`.
"""

import re
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct, field

from dos.unknown import Unknown

LEAST_OVERLAP = 0.34
SHORTEST_QUOTE = 12  # characters; a shorter quote may occur or be missing by chance
SEPARATOR = "||"


class Answer(StrEnum):
    """Whether a citation can be relied on."""

    RESOLVED_MATCH = "RESOLVED_MATCH"
    RESOLVED_MISMATCH = "RESOLVED_MISMATCH"  # the work exists, but does not contain the quote
    UNRESOLVED = "UNRESOLVED"  # no such work exists
    ABSTAIN = "ABSTAIN"  # the works could not be read


class Citation(Struct, frozen=True, kw_only=True):
    """A reference to a work, with the name and quote that it is cited for."""

    cite: str
    name: str = ""
    quote: str = ""


class CitedWork(Struct, frozen=True, kw_only=True):
    """One work of a collection."""

    citations: tuple[str, ...] = ()
    name: str = ""
    text: str = ""
    whole: bool = False  # the text is complete, so a quote that it lacks is not in the work


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether the citation holds."""

    answer: Answer = field(name="verdict")
    reason: str = ""


def parse_citation(subject: str) -> Citation:
    """Return the citation in `cite||name||quote`, of which name and quote may be left out."""
    parts = [part.strip() for part in subject.split(SEPARATOR, 2)]
    cite, name, quote, *_ = [*parts, "", ""]
    return Citation(cite=cite, name=name, quote=quote)


def judge(asked: Citation, found: Sequence[CitedWork] | Unknown) -> Verdict:
    """Decide whether a work in the collection is cited so, named so and contains the quote.

    One work that contains the quote is enough; only complete texts can show that none does.
    """
    if isinstance(found, Unknown):
        return Verdict(answer=Answer.ABSTAIN, reason=found.why)
    if not asked.cite.strip():
        return Verdict(answer=Answer.ABSTAIN, reason="no citation is given")
    cite = _plain(asked.cite)
    cited = []
    named = []
    for work in found:
        if cite in map(_plain, work.citations):
            cited.append(work)
            if _is_named(work, asked.name):
                named.append(work)
    if not cited:
        return Verdict(answer=Answer.UNRESOLVED, reason=f"nothing is cited as {asked.cite}")
    if not named:
        reason = f"{asked.cite} is {cited[0].name!r}, not {asked.name!r}"
        return Verdict(answer=Answer.UNRESOLVED, reason=reason)
    quote = _plain(asked.quote)
    quoting = [work for work in named if quote and quote in _plain(work.text)]
    can_refute = len(quote) >= SHORTEST_QUOTE and all(work.whole for work in named)
    if can_refute and not quoting:
        reason = f"{asked.cite} does not say what is quoted"
        return Verdict(answer=Answer.RESOLVED_MISMATCH, reason=reason)
    work = (quoting or named)[0]
    reason = f"{asked.cite} is {work.name or 'there'}"
    if quote and not quoting:
        reason += "; the quote could not be looked up"
    return Verdict(answer=Answer.RESOLVED_MATCH, reason=reason)


def _is_named(work: CitedWork, name: str) -> bool:
    """Whether enough words of the names agree: authors and editions are written in many ways."""
    return not name or _overlap(name, work.name) >= LEAST_OVERLAP


def _plain(text: str) -> str:
    """Return the text for comparing: without case, with single spaces."""
    return " ".join(text.split()).casefold()


def _overlap(one: str, other: str) -> float:
    """Return the share of common words, relative to the text with fewer words."""
    words = set(re.findall(r"\w+", one.casefold()))
    other_words = set(re.findall(r"\w+", other.casefold()))
    fewer = min(len(words), len(other_words))
    if not fewer:
        return 0.0
    return len(words & other_words) / fewer
