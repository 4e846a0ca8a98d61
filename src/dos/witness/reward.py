"""Decides whether a piece of work may be used as a good example for training.

A model that learns from work whose claim is false learns to claim falsely.
"""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct, field

from dos.witness import belief
from dos.witness.accountability import Accountability
from dos.witness.belief import EffectClaim
from dos.witness.fact import EvidenceFacts


class Answer(StrEnum):
    """Whether an example may be learned from."""

    ACCEPT = "ACCEPT"
    REJECT_POISON = "REJECT_POISON"  # it claims what it did not do
    ABSTAIN = "ABSTAIN"
    NO_CLAIM = "NO_CLAIM"


_BY_EFFECT = {
    belief.Answer.CONFIRMED: Answer.ACCEPT,
    belief.Answer.REFUTED: Answer.REJECT_POISON,
    belief.Answer.UNWITNESSED: Answer.ABSTAIN,
    belief.Answer.NO_CLAIM: Answer.NO_CLAIM,
}


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether an example is accepted, and by which witness."""

    answer: Answer = field(name="verdict")
    accept: bool = False
    poison: bool = False
    dispreferred: bool = False
    claim_present: bool = False
    reason: str = ""
    witness: str = ""
    accountability: Accountability | None = None


def judge(claim: EffectClaim | None, facts: Iterable[EvidenceFacts]) -> Verdict:
    """Accept an example whose effect is confirmed, and reject one that claims a refuted effect."""
    effect = belief.judge(claim, facts)
    answer = _BY_EFFECT[effect.answer]
    poison = answer is Answer.REJECT_POISON
    return Verdict(
        answer=answer,
        accept=answer is Answer.ACCEPT,
        poison=poison,
        dispreferred=poison,
        claim_present=answer is not Answer.NO_CLAIM,
        reason=effect.reason,
        witness=effect.witness,
        accountability=effect.accountability,
    )


class Label(Struct, frozen=True, kw_only=True):
    """One example: the verdict on it, and whether it turned out to be true."""

    answer: Answer
    truth: bool


class Comparison(Struct, frozen=True, kw_only=True):
    """The share of true examples when all are kept, and when only accepted ones are."""

    total: int
    accepted: int
    believe_all_precision: float
    adjudicated_precision: float
    gain: float


def acceptance_ab(labels: Iterable[Label]) -> Comparison:
    """Compare the precision of believing every claim with that of the verdicts."""
    claims = []
    accepted = []
    for label in labels:
        if label.answer is Answer.NO_CLAIM:
            continue
        claims.append(label)
        if label.answer is Answer.ACCEPT:
            accepted.append(label)
    believed_precision = _true_share(claims)
    adjudicated_precision = _true_share(accepted)
    return Comparison(
        total=len(claims),
        accepted=len(accepted),
        believe_all_precision=believed_precision,
        adjudicated_precision=adjudicated_precision,
        gain=adjudicated_precision - believed_precision,
    )


def _true_share(labels: list[Label]) -> float:
    """Return the share of true examples, or 0 without examples."""
    if not labels:
        return 0.0
    return sum(label.truth for label in labels) / len(labels)
