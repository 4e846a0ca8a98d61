"""Is a note still true of the repository? One claim that is contradicted makes it stale."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct, to_builtins

from dos.memory.claims import Claim
from dos.memory.note import Note
from dos.text import plural


class Answer(StrEnum):
    """Whether a note may be relied on, the most urgent first."""

    STALE = "RECALL_STALE"
    UNVERIFIABLE = "RECALL_UNVERIFIABLE"
    FRESH = "RECALL_FRESH"


class Status(StrEnum):
    """What the repository says about one claim."""

    CONFIRMS = "CONFIRMS"
    CONTRADICTS = "CONTRADICTS"
    UNKNOWN = "UNKNOWN"


class Finding(Struct, frozen=True, kw_only=True):
    """A claim, and what the repository says about it."""

    claim: Claim
    status: Status
    ground_truth: str
    source: str  # git, tree, file; empty: nothing was asked


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether a note is still true, by each of its claims."""

    answer: Answer
    memory: str
    type: str
    reason: str
    culprit: str | None = None  # the claim that is contradicted
    claims: tuple[Finding, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the released keys."""
        return {
            "verdict": self.answer.value,
            "reason": self.reason,
            "memory": self.memory,
            "type": self.type,
            "culprit": self.culprit,
            "claims": to_builtins(self.claims),
        }


def judge(note: Note, findings: Sequence[Finding]) -> Verdict:
    """Return the verdict on a note by what was found about its claims."""
    answer = Answer.UNVERIFIABLE
    culprit = None
    confirmed = [finding for finding in findings if finding.status is Status.CONFIRMS]
    contradicted = [finding for finding in findings if finding.status is Status.CONTRADICTS]
    if note.is_opinion:
        reason = f"a note of the type {note.type} says nothing that a repository could show"
    elif contradicted:
        answer = Answer.STALE
        culprit = contradicted[0].claim.raw
        reason = f"{culprit}: {contradicted[0].ground_truth}"
    elif confirmed:
        answer = Answer.FRESH
        reason = f"{plural(len(confirmed), 'claim')} confirmed, none contradicted"
    elif findings:
        reason = f"{plural(len(findings), 'claim')}, of which none can be checked"
    else:
        reason = "it claims nothing that can be checked"
    return Verdict(
        answer=answer,
        memory=note.name,
        type=note.type,
        reason=reason,
        culprit=culprit,
        claims=tuple(findings),
    )


def judge_unread(note: Note, count: int, most: int) -> Verdict:
    """Return the verdict on a note with more claims than are checked: none of them is."""
    return Verdict(
        answer=Answer.UNVERIFIABLE,
        memory=note.name,
        type=note.type,
        reason=f"it makes {count:,} claims, and at most {most:,} of a note are checked",
    )


def in_order(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts of a sweep: stale, unverifiable, fresh; by name within each."""
    urgency = list(Answer)
    return sorted(verdicts, key=lambda verdict: (urgency.index(verdict.answer), verdict.memory))
