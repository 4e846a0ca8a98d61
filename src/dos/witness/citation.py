"""Is there a work under a citation, is it the one that is named, and does it say what is quoted?"""

import re
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct, field

from dos.unknown import Unknown

LEAST_OVERLAP = 0.34
SHORTEST_QUOTE = 12  # a shorter one may be anywhere, and may be missing by a matter of punctuation
SEPARATOR = "||"


class Answer(StrEnum):
    RESOLVED_MATCH = "RESOLVED_MATCH"
    RESOLVED_MISMATCH = "RESOLVED_MISMATCH"  # it is there, and does not say that
    UNRESOLVED = "UNRESOLVED"  # nothing of that name is there
    ABSTAIN = "ABSTAIN"  # nobody could look


class Citation(Struct, frozen=True, kw_only=True):
    cite: str
    name: str = ""
    quote: str = ""


class CitedWork(Struct, frozen=True, kw_only=True):
    """One work as a collection has it."""

    citations: tuple[str, ...] = ()
    name: str = ""
    text: str = ""
    whole: bool = False  # the text is all of it, so what is not in it is not in the work


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer = field(name="verdict")
    reason: str = ""


def parse_citation(subject: str) -> Citation:
    """`cite||name||quote`, the last two of which may be left out."""
    cite, name, quote, *_ = [*(part.strip() for part in subject.split(SEPARATOR, 2)), "", ""]
    return Citation(cite=cite, name=name, quote=quote)


def judge(asked: Citation, found: Sequence[CitedWork] | Unknown) -> Verdict:
    if isinstance(found, Unknown):
        return Verdict(answer=Answer.ABSTAIN, reason=found.why)
    if not asked.cite.strip():
        return Verdict(answer=Answer.ABSTAIN, reason="no citation is given")
    cited = [work for work in found if _plain(asked.cite) in map(_plain, work.citations)]
    if not cited:
        return Verdict(answer=Answer.UNRESOLVED, reason=f"nothing is cited as {asked.cite}")
    named = [
        work for work in cited if not asked.name or _overlap(asked.name, work.name) >= LEAST_OVERLAP
    ]
    if not named:
        return Verdict(
            answer=Answer.UNRESOLVED,
            reason=f"{asked.cite} is {cited[0].name!r}, not {asked.name!r}",
        )
    quote = _plain(asked.quote)
    holding = [work for work in named if quote and quote in _plain(work.text)]
    # One that holds the quote is enough; and only whole texts can show that it is nowhere.
    if len(quote) >= SHORTEST_QUOTE and not holding and all(work.whole for work in named):
        return Verdict(
            answer=Answer.RESOLVED_MISMATCH, reason=f"{asked.cite} does not say what is quoted"
        )
    said = "" if holding or not quote else "; the quote could not be looked up"
    return Verdict(
        answer=Answer.RESOLVED_MATCH,
        reason=f"{asked.cite} is {(holding or named)[0].name or 'there'}{said}",
    )


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _overlap(one: str, other: str) -> float:
    """The shared words, by the smaller set of them."""
    words, others = (
        set(re.findall(r"\w+", one.casefold())),
        set(re.findall(r"\w+", other.casefold())),
    )
    smaller = min(len(words), len(others))
    return len(words & others) / smaller if smaller else 0.0
