"""Decides whether a claim is believed, from what accountable witnesses say.

`believe_under_floor` weighs any facts; `judge` answers whether one claimed effect happened, as `dos
witness` and receipts report it. What the claimant could have written itself never decides.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec import Struct, field

from dos.witness.accountability import Accountability
from dos.witness.fact import EvidenceFacts, attest, no_signal, refute

LOWEST = Accountability.AGENT_AUTHORED


class BeliefVerdict(Struct, frozen=True, kw_only=True):
    """Whether something is believed and refuted.

    Both at once are a conflict for a person to settle; neither is an abstention.
    """

    believe: bool = False
    refuted: bool = False
    reason: str = ""
    attesting: tuple[EvidenceFacts, ...] = ()  # also from sources that are not accountable
    refuting: tuple[EvidenceFacts, ...] = ()
    silent: tuple[EvidenceFacts, ...] = ()

    @property
    def conflict(self) -> bool:
        """Whether accountable witnesses contradict each other."""
        return self.believe and self.refuted


def believe_under_floor(facts: Iterable[EvidenceFacts]) -> BeliefVerdict:
    """Believe or refute by accountable witnesses only.

    What the claimant could have written decides nothing, on either side.
    """
    attesting: tuple[EvidenceFacts, ...] = ()
    refuting: tuple[EvidenceFacts, ...] = ()
    silent: tuple[EvidenceFacts, ...] = ()
    for fact in facts:
        if fact.attests:
            attesting += (fact,)
        elif fact.refutes:
            refuting += (fact,)
        else:
            silent += (fact,)
    for_it = first_accountable(attesting)
    against_it = first_accountable(refuting)
    return BeliefVerdict(
        believe=for_it is not None,
        refuted=against_it is not None,
        reason=_reason(for_it, against_it, attesting + refuting, silent),
        attesting=attesting,
        refuting=refuting,
        silent=silent,
    )


def first_accountable(facts: Iterable[EvidenceFacts]) -> EvidenceFacts | None:
    """Return the first fact that the claimant could not have written, or None."""
    for fact in facts:
        if fact.is_accountable:
            return fact
    return None


def derived_witness(
    name: str,
    op: str,
    operands: Sequence[EvidenceFacts | BeliefVerdict],
    subject: str,
    within_tol: bool,
) -> EvidenceFacts:
    """Return what a recomputation from other evidence says.

    It counts for no more than the least accountable of its operands.
    """
    known = []
    for operand in operands:
        operand_rung = _rung(operand)
        if operand_rung is not None:
            known.append(operand_rung)
    count = len(operands)
    is_complete = bool(known) and len(known) == count
    rung = LOWEST
    if is_complete:
        rung = min(known, key=_rank)
    if not within_tol:
        return refute(name, rung, subject, f"{op or 'a recomputation'} gives another value")
    if not operands:
        return no_signal(name, LOWEST, subject, "there is nothing to compute it from")
    if not op.strip():
        return attest(name, LOWEST, subject, "the operation has no name, so it cannot be repeated")
    if not is_complete:
        missing = count - len(known)
        detail = f"{missing} of {count} values for {op} are not on record"
        return attest(name, LOWEST, subject, detail)
    return attest(name, rung, subject, f"{op} of {count} values gives the same")


def _rank(rung: Accountability) -> int:
    return rung.rank


def _rung(operand: EvidenceFacts | BeliefVerdict) -> Accountability | None:
    """Return the accountability of an operand; None where no record attests it."""
    if isinstance(operand, BeliefVerdict):
        if operand.believe and not operand.refuted:
            return Accountability.THIRD_PARTY
    elif operand.attests and operand.is_accountable:
        return operand.accountability
    return None


def _reason(
    for_it: EvidenceFacts | None,
    against_it: EvidenceFacts | None,
    spoken: tuple[EvidenceFacts, ...],
    silent: tuple[EvidenceFacts, ...],
) -> str:
    """Return the sentence for the verdict, which names the witness that decided."""
    if for_it and against_it:
        return f"{_describe(for_it)}, but {_describe(against_it)}: a person has to decide"
    decided = against_it or for_it
    if decided:
        return _describe(decided)
    if spoken:
        names = ", ".join(sorted({fact.source_name or "a witness" for fact in spoken}))
        return f"only {names} answered, and the claimant could have written that"
    if not silent:
        return "no witness was asked"
    first = _describe(silent[0])
    if len(silent) == 1:
        return first
    return f"{first}; {len(silent)} were asked, none answered"


def _describe(fact: EvidenceFacts) -> str:
    """Return the source of a fact, who could have written it, and what it says."""
    detail = fact.detail or f"{fact.stance} {fact.subject}".strip()
    source = fact.source_name or "a witness"
    return f"{source} ({fact.accountability}): {' '.join(detail.split())}"


class Answer(StrEnum):
    """Whether the claimed effect happened."""

    NO_CLAIM = "NO_CLAIM"
    CONFIRMED = "CONFIRMED"
    REFUTED = "REFUTED"  # also where witnesses contradict each other
    UNWITNESSED = "UNWITNESSED"


class EffectClaim(Struct, frozen=True, kw_only=True):
    """A claim that something happened."""

    key: str
    subject: str = ""  # what witnesses are asked about, where it is not the key
    narrated: str = ""  # what the claimant says of it; it decides nothing

    @property
    def probe(self) -> str:
        """What witnesses are asked about."""
        return self.subject or self.key


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether a claimed effect is believed, and who decided it."""

    answer: Answer = field(name="verdict")
    believe: bool = False
    refuted: bool = False
    reason: str = ""
    claim_key: str = ""
    narrated: str = ""
    witness: str = ""  # the first accountable one on the side that decided
    accountability: Accountability | None = None
    silent_witnesses: tuple[str, ...] = ()


def judge(claim: EffectClaim | None, facts: Iterable[EvidenceFacts]) -> Verdict:
    """Decide whether a claimed effect happened; a refutation outweighs confirmations.

    Without a claim, or with a blank one, the answer is NO_CLAIM and the facts are not read.
    """
    if claim is None or not claim.key.strip():
        narrated = ""
        if claim:
            narrated = claim.narrated
        return Verdict(answer=Answer.NO_CLAIM, reason="no effect is claimed", narrated=narrated)
    belief = believe_under_floor(facts)
    answer = Answer.UNWITNESSED
    deciding = None
    if belief.refuted:
        answer = Answer.REFUTED
        deciding = first_accountable(belief.refuting)
    elif belief.believe:
        answer = Answer.CONFIRMED
        deciding = first_accountable(belief.attesting)
    return Verdict(
        answer=answer,
        believe=answer is Answer.CONFIRMED,
        refuted=belief.refuted,
        reason=belief.reason,
        claim_key=claim.key,
        narrated=claim.narrated,
        witness=deciding.source_name if deciding else "",
        accountability=deciding.accountability if deciding else None,
        silent_witnesses=tuple(fact.source_name for fact in belief.silent),
    )
