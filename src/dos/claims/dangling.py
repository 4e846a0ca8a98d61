"""Did an agent say that something is left to do, and stop all the same?"""

import re
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct, field

LONGEST_CUE = 120
_DOING = r"(?:proceed|continue|identify|create|add|assign|update)"
_DONE = r"(?:added|assigned|completed|created|done|finished|set up)"
# Written in lower case: the text is folded before it is looked at. Every repetition has a bound.
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
    DANGLING_INTENT = "DANGLING_INTENT"
    ABSTAIN = "ABSTAIN"  # nothing says so


class Evidence(Struct, frozen=True, kw_only=True):
    text: str  # the last thing that was said
    results_after: int = 0  # tool results that came after it: it went on

    def __post_init__(self) -> None:
        if self.results_after < 0:
            raise ValueError(f"there cannot be {self.results_after} tool results")


class Policy(Struct, frozen=True, kw_only=True):
    window: int = 600  # characters from the end; 0 is all of them
    cues: Sequence[str] = CUES

    def __post_init__(self) -> None:
        if self.window < 0:
            raise ValueError(f"a window of {self.window} characters is none")


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer = field(name="verdict")
    matched_cue: str = ""
    reason: str = ""


def judge(seen: Evidence, policy: Policy = Policy()) -> Verdict:
    if seen.results_after > 0:
        return Verdict(answer=Answer.ABSTAIN, reason="it went on working after that")
    text = seen.text[-policy.window :].casefold().replace("’", "'")
    settled_until = 0
    for found in sorted(
        (match for cue in policy.cues for match in re.finditer(cue, text)), key=re.Match.start
    ):
        if found.start() < settled_until:
            continue
        start, end = _sentence(text, found, settled_until)
        if _SETTLED.search(text, start, end):
            settled_until = end
            continue
        cue = " ".join(found[0].split())[:LONGEST_CUE]
        return Verdict(
            answer=Answer.DANGLING_INTENT, matched_cue=cue, reason=f"it stopped after saying: {cue}"
        )
    return Verdict(answer=Answer.ABSTAIN, reason="nothing at the end says that work is left")


def _sentence(text: str, found: re.Match[str], since: int) -> tuple[int, int]:
    starts = max(text.rfind(mark, since, found.start()) + 1 or since for mark in ".!?\n")
    ends = _ENDS.search(text, found.end())
    return starts, ends.start() if ends else len(text)
