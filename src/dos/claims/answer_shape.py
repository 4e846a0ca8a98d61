"""Is a text shaped like an answer that can be shown, or like something that leaked in its place?

Only its shape is looked at: an answer may be wrong and still be one.
"""

import re
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct, field

LONGEST_TEXT = 1 << 20  # characters that the patterns are tried on
_SORRY = r"(?:(?:(?:i['’]m|i am|we['’]re) (?:very )?)?sorry|(?:my )?apologies|unfortunately)?[,.:;! ]{0,4}(?:but )?"
_CANNOT = r"(?:i|we) ?(?:cannot|can['’]t|can not|won['’]t|will not|(?:am|are|['’]m|['’]re) (?:not able|unable) to)"
_THAT = "help|assist|comply|provide|fulfil+|answer|complete|continue|share|create|generate|discuss|support|do (?:that|this)"
# Each as it leaks. Numbered steps and an emphatic `I cannot stress enough` are answers.
DISQUALIFIERS = (
    r"</?(?:think|thinking|scratchpad|reasoning|reflection|inner_monologue)>",
    r"(?:^|[.!?] )[ \t]{0,8}(?:ok(?:ay)?, |so, |hmm,? )?let me (?:think|reason)\b",
    rf"\A{_SORRY}{_CANNOT} (?:{_THAT})\b",  # a refusal is the first thing said, perhaps after an apology
    r"\bas an ai (?:language )?model\b",
    r"^[ \t]{0,8}[<{\[\"']{0,3}(?:tool_call|function_call|tool_use)\b",
    r"^[ \t]{0,8}Traceback \(most recent call last\):",
)


class Answer(StrEnum):
    ANSWER_SHAPED = "ANSWER_SHAPED"
    NON_ANSWER = "NON_ANSWER"
    INDETERMINATE = (
        "INDETERMINATE"  # nothing speaks against it, and nothing that was looked for is in it
    )


class Policy(Struct, frozen=True, kw_only=True):
    min_chars: int = 1
    non_answers: Sequence[str] = ()  # more that disqualifies
    markers: Sequence[str] = ()  # one of them has to be there

    def __post_init__(self) -> None:
        if self.min_chars < 0:
            raise ValueError(f"a text cannot have {self.min_chars} characters")


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer = field(name="state")
    length: int = 0
    matched: str = ""
    reason: str = ""

    @property
    def is_shippable(self) -> bool:
        return self.answer is Answer.ANSWER_SHAPED

    @property
    def is_disqualified(self) -> bool:
        return self.answer is Answer.NON_ANSWER


def judge(text: str, policy: Policy | None) -> Verdict:
    stripped = text.strip()
    length, looked_at = len(stripped), stripped[:LONGEST_TEXT]

    def verdict(answer: Answer, reason: str, matched: str = "") -> Verdict:
        return Verdict(answer=answer, length=length, matched=matched, reason=reason)

    if policy is None:
        return verdict(Answer.INDETERMINATE, "nobody said what an answer is")
    if not stripped:
        return verdict(Answer.NON_ANSWER, "it is blank")
    if length < policy.min_chars:
        return verdict(
            Answer.NON_ANSWER, f"it has {length} characters, and an answer has {policy.min_chars}"
        )
    if found := _first((*DISQUALIFIERS, *policy.non_answers), looked_at):
        return verdict(Answer.NON_ANSWER, f"it holds {found!r}", found)
    if not policy.markers:
        return verdict(Answer.ANSWER_SHAPED, "nothing speaks against it")
    marker = _first(policy.markers, looked_at)
    if marker is None:
        return verdict(Answer.INDETERMINATE, "nothing that was looked for is in it")
    return verdict(Answer.ANSWER_SHAPED, f"it holds {marker!r}", marker)


def invalid_patterns(patterns: Sequence[str]) -> list[str]:
    """The patterns that are none, and are passed over."""
    return [pattern for pattern in patterns if _compiled(pattern) is None]


def _first(patterns: Sequence[str], text: str) -> str | None:
    for pattern in patterns:
        compiled = _compiled(pattern)
        if compiled and (found := compiled.search(text)):
            return found[0].strip()[:80]
    return None


def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    except (re.error, OverflowError, RecursionError):
        return None
