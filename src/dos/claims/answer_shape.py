"""Judges whether a text has the shape of an answer, or is something that leaked in its place.

Only the shape is judged: an answer may be wrong and still be one.
"""

import re
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct, field

LONGEST_TEXT = 1 << 20  # characters that the patterns are tried on
# The beginnings of a refusal: an apology, an inability, and what is refused.
_SORRY = (
    r"(?:(?:(?:i['’]m|i am|we['’]re) (?:very )?)?sorry|(?:my )?apologies|unfortunately)?"
    r"[,.:;! ]{0,4}(?:but )?"
)
_CANNOT = (
    r"(?:i|we) ?(?:cannot|can['’]t|can not|won['’]t|will not"
    r"|(?:am|are|['’]m|['’]re) (?:not able|unable) to)"
)
_THAT = (
    "help|assist|comply|provide|fulfil+|answer|complete|continue|share|create|generate"
    "|discuss|support|do (?:that|this)"
)
# Each as it leaks. Numbered steps, or an emphatic `I cannot stress enough`, are answers.
DISQUALIFIERS = (
    r"</?(?:think|thinking|scratchpad|reasoning|reflection|inner_monologue)>",
    r"(?:^|[.!?] )[ \t]{0,8}(?:ok(?:ay)?, |so, |hmm,? )?let me (?:think|reason)\b",
    # A refusal comes first, perhaps after an apology.
    rf"\A{_SORRY}{_CANNOT} (?:{_THAT})\b",
    r"\bas an ai (?:language )?model\b",
    r"^[ \t]{0,8}[<{\[\"']{0,3}(?:tool_call|function_call|tool_use)\b",
    r"^[ \t]{0,8}Traceback \(most recent call last\):",
)


class Answer(StrEnum):
    """Whether a text can be shown as an answer."""

    ANSWER_SHAPED = "ANSWER_SHAPED"
    NON_ANSWER = "NON_ANSWER"
    INDETERMINATE = "INDETERMINATE"  # nothing disqualifies it, but no marker is in it


class Policy(Struct, frozen=True, kw_only=True):
    """What disqualifies a text, and what it has to contain.

    Raises ValueError for a negative length. A pattern that does not compile is skipped by `judge`.
    """

    min_chars: int = 1
    non_answers: Sequence[str] = ()  # more patterns that disqualify
    markers: Sequence[str] = ()  # patterns of which one has to match

    def __post_init__(self) -> None:
        if self.min_chars < 0:
            raise ValueError(f"a text cannot have {self.min_chars} characters")


class Verdict(Struct, frozen=True, kw_only=True):
    """The shape of a text, and the pattern that decided it."""

    answer: Answer = field(name="state")
    length: int = 0
    matched: str = ""
    reason: str = ""

    @property
    def is_shippable(self) -> bool:
        """Whether the text can be shown as an answer."""
        return self.answer is Answer.ANSWER_SHAPED

    @property
    def is_disqualified(self) -> bool:
        """Whether the text must not be shown as an answer."""
        return self.answer is Answer.NON_ANSWER


def judge(text: str, policy: Policy | None) -> Verdict:
    """Decide whether a text has the shape of an answer; without a policy nothing can be said.

    What disqualifies a text counts before any marker: a refusal may quote the answer it refuses.
    """
    stripped = text.strip()
    length = len(stripped)
    searched = stripped[:LONGEST_TEXT]

    def verdict(answer: Answer, reason: str, matched: str = "") -> Verdict:
        return Verdict(answer=answer, length=length, matched=matched, reason=reason)

    if policy is None:
        return verdict(Answer.INDETERMINATE, "no policy says what an answer is")
    if not stripped:
        return verdict(Answer.NON_ANSWER, "it is blank")
    if length < policy.min_chars:
        return verdict(
            Answer.NON_ANSWER, f"it has {length} characters; an answer has {policy.min_chars}"
        )
    disqualifier = _first_match((*DISQUALIFIERS, *policy.non_answers), searched)
    if disqualifier:
        return verdict(Answer.NON_ANSWER, f"it contains {disqualifier!r}", disqualifier)
    if not policy.markers:
        return verdict(Answer.ANSWER_SHAPED, "nothing disqualifies it")
    marker = _first_match(policy.markers, searched)
    if marker is None:
        return verdict(Answer.INDETERMINATE, "it contains none of the markers")
    return verdict(Answer.ANSWER_SHAPED, f"it contains {marker!r}", marker)


def invalid_patterns(patterns: Sequence[str]) -> list[str]:
    """Return the patterns that do not compile; `judge` skips them."""
    return [pattern for pattern in patterns if _compiled(pattern) is None]


def _first_match(patterns: Sequence[str], text: str) -> str | None:
    """Return the beginning of the first match, or None."""
    for pattern in patterns:
        compiled = _compiled(pattern)
        if compiled is None:
            continue
        match = compiled.search(text)
        if match:
            return match[0].strip()[:80]
    return None


def _compiled(pattern: str) -> re.Pattern[str] | None:
    """Return the compiled pattern, or None for a text that is no pattern."""
    try:
        return re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    except (re.error, OverflowError, RecursionError):
        return None
