"""Judges whether an agent stopped right after saying that work is left to do.

The agent's own words are the only evidence, so the verdict is a hint and never a refusal.
"""

import re
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct, field

LONGEST_CUE = 120
_DOING = r"(?:proceed|continue|identify|create|add|assign|update)"
_DONE = r"(?:added|assigned|completed|created|done|finished|set up)"
# In lower case, since the text is casefolded first. Every repetition has a bound.
CUES = (
    r"\bi (?:still )?(?:need|have) to\b",
    r"\bi(?: will|'ll) (?:need to|have to|proceed to)\b",
    r"\bnext,? i(?: will|'ll| need| should)\b",
    rf"\bi should (?:now )?{_DOING}\b",
    r"\bi was unable to\b",
    rf"\bi (?:have not|haven't|had not|hadn't)(?: yet)?(?: been)? (?:able|{_DONE})\b",
    r"\bi (?:cannot|can't|can not)\b[^.!?\n]{0,120}\byet\b",
    rf"\b(?:still|yet) to be {_DONE}\b",
    r"\bremains? to be \w{2,40}\b",
    r"\bto (?:do|complete|finish) this,? i (?:need|will|must)\b",
    r"\bnow,? to\b[^.!?\n]{0,120}\bi (?:need|must)\b",
)
_SETTLED = re.compile(rf"\b(?:already|has|have|now)(?: been)? {_DONE}\b")
_ENDS = re.compile(r"[.!?\n]")


class Answer(StrEnum):
    """Whether the last message leaves announced work undone."""

    DANGLING_INTENT = "DANGLING_INTENT"
    ABSTAIN = "ABSTAIN"  # nothing says so


class Evidence(Struct, frozen=True, kw_only=True):
    """The last message of an agent, and what it did after it.

    Raises ValueError for a negative number of tool results.
    """

    text: str
    results_after: int = 0  # tool results after the message: the agent continued

    def __post_init__(self) -> None:
        if self.results_after < 0:
            raise ValueError(f"there cannot be {self.results_after} tool results")


class Policy(Struct, frozen=True, kw_only=True):
    """Where to look for announcements, and their patterns.

    Only the end of a message is searched, because a plan at its beginning may be done by its end.
    """

    window: int = 600  # characters from the end; 0: the whole text
    cues: Sequence[str] = CUES

    def __post_init__(self) -> None:
        if self.window < 0:
            raise ValueError(f"a window cannot have {self.window} characters")


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether work dangles, and the words that announced it."""

    answer: Answer = field(name="verdict")
    matched_cue: str = ""
    reason: str = ""


def judge(seen: Evidence, policy: Policy = Policy()) -> Verdict:
    """Decide whether the end of the text announces work that the same sentence does not settle."""
    if seen.results_after > 0:
        return Verdict(answer=Answer.ABSTAIN, reason="the agent continued after that message")
    text = seen.text[-policy.window :].casefold().replace("’", "'")
    matches: list[re.Match[str]] = []
    for cue in policy.cues:
        matches += re.finditer(cue, text)
    settled_until = 0
    for match in sorted(matches, key=re.Match.start):
        if match.start() < settled_until:
            continue
        start, end = _sentence(text, match, settled_until)
        if _SETTLED.search(text, start, end):
            settled_until = end
            continue
        words = " ".join(match[0].split())[:LONGEST_CUE]
        return Verdict(
            answer=Answer.DANGLING_INTENT,
            matched_cue=words,
            reason=f"the agent stopped after saying: {words}",
        )
    return Verdict(answer=Answer.ABSTAIN, reason="the end of the message announces no work")


def _sentence(text: str, match: re.Match[str], since: int) -> tuple[int, int]:
    """Return where the sentence around a match starts and ends."""
    start = max(text.rfind(mark, since, match.start()) + 1 or since for mark in ".!?\n")
    end = _ENDS.search(text, match.end())
    return start, end.start() if end else len(text)
