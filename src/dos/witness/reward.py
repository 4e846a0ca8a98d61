"""May a piece of work be shown to a learner as a good example?"""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct, field

from dos.witness import belief
from dos.witness.accountability import Accountability
from dos.witness.belief import EffectClaim
from dos.witness.fact import EvidenceFacts


class Answer(StrEnum):
    ACCEPT = "ACCEPT"
    REJECT_POISON = "REJECT_POISON"  # it says that it did what it did not: an example of how not to
    ABSTAIN = "ABSTAIN"
    NO_CLAIM = "NO_CLAIM"


_BY_EFFECT = {
    belief.Answer.CONFIRMED: Answer.ACCEPT,
    belief.Answer.REFUTED: Answer.REJECT_POISON,
    belief.Answer.UNWITNESSED: Answer.ABSTAIN,
    belief.Answer.NO_CLAIM: Answer.NO_CLAIM,
}


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer = field(name="verdict")
    accept: bool = False
    poison: bool = False
    dispreferred: bool = False
    claim_present: bool = False
    reason: str = ""
    witness: str = ""
    accountability: Accountability | None = None


def judge(claim: EffectClaim | None, facts: Iterable[EvidenceFacts]) -> Verdict:
    seen = belief.judge(claim, facts)
    answer = _BY_EFFECT[seen.answer]
    poison = answer is Answer.REJECT_POISON
    return Verdict(
        answer=answer,
        accept=answer is Answer.ACCEPT,
        poison=poison,
        dispreferred=poison,
        claim_present=answer is not Answer.NO_CLAIM,
        reason=seen.reason,
        witness=seen.witness,
        accountability=seen.accountability,
    )


class Label(Struct, frozen=True, kw_only=True):
    """One example: what was answered, and what somebody found out about it later."""

    answer: Answer
    truth: bool


class Comparison(Struct, frozen=True, kw_only=True):
    """How many of the examples that are kept are true: when all are kept, and when only the accepted ones are."""

    total: int
    accepted: int
    believe_all_precision: float
    adjudicated_precision: float
    gain: float


def acceptance_ab(labels: Iterable[Label]) -> Comparison:
    every = [label for label in labels if label.answer is not Answer.NO_CLAIM]
    kept = [label for label in every if label.answer is Answer.ACCEPT]
    believing, adjudicating = _true_share(every), _true_share(kept)
    return Comparison(
        total=len(every),
        accepted=len(kept),
        believe_all_precision=believing,
        adjudicated_precision=adjudicating,
        gain=adjudicating - believing,
    )


def _true_share(labels: list[Label]) -> float:
    return sum(label.truth for label in labels) / len(labels) if labels else 0.0
