"""Is something believed, given what witnesses say: which bits may their words move?"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec import Struct, field

from dos.witness.accountability import Accountability
from dos.witness.fact import EvidenceFacts, attest, no_signal, refute

LOWEST = Accountability.AGENT_AUTHORED


class BeliefVerdict(Struct, frozen=True, kw_only=True):
    """Both bits at once are a conflict, for a person to settle; neither of them is an abstention."""

    believe: bool = False
    refuted: bool = False
    reason: str = ""
    attesting: tuple[EvidenceFacts, ...] = ()  # also what cannot move a bit
    refuting: tuple[EvidenceFacts, ...] = ()
    silent: tuple[EvidenceFacts, ...] = ()

    @property
    def conflict(self) -> bool:
        return self.believe and self.refuted


def believe_under_floor(facts: Iterable[EvidenceFacts]) -> BeliefVerdict:
    said = tuple(facts)
    attesting = tuple(fact for fact in said if fact.attests)
    refuting = tuple(fact for fact in said if fact.refutes)
    silent = tuple(fact for fact in said if not fact.attests and not fact.refutes)
    for_it, against_it = first_accountable(attesting), first_accountable(refuting)
    return BeliefVerdict(
        believe=for_it is not None,
        refuted=against_it is not None,
        reason=_reason(for_it, against_it, attesting + refuting, silent),
        attesting=attesting,
        refuting=refuting,
        silent=silent,
    )


def first_accountable(facts: Iterable[EvidenceFacts]) -> EvidenceFacts | None:
    return next((fact for fact in facts if fact.is_accountable), None)


def derived_witness(
    name: str,
    op: str,
    operands: Sequence[EvidenceFacts | BeliefVerdict],
    subject: str,
    within_tol: bool,
) -> EvidenceFacts:
    """What a recomputation from other evidence says. It is worth no more than the least of what it was made from."""
    rungs = [_rung(operand) for operand in operands]
    known = [rung for rung in rungs if rung is not None]
    whole = bool(known) and len(known) == len(rungs)
    rung = min(known, key=lambda each: each.rank) if whole else LOWEST
    if not within_tol:
        return refute(name, rung, subject, f"{op or 'a recomputation'} gives another value")
    if not operands:
        return no_signal(name, LOWEST, subject, "there is nothing to compute it from")
    if not op.strip():
        return attest(name, LOWEST, subject, "the operation has no name, so nobody can repeat it")
    if not whole:
        missing = len(rungs) - len(known)
        return attest(
            name,
            LOWEST,
            subject,
            f"{missing} of {len(rungs)} values for {op} stand on nobody's record",
        )
    return attest(name, rung, subject, f"{op} of {len(rungs)} values gives the same")


def _rung(operand: EvidenceFacts | BeliefVerdict) -> Accountability | None:
    """How high an operand stands; None where it is not attested by a record."""
    if isinstance(operand, BeliefVerdict):
        return Accountability.THIRD_PARTY if operand.believe and not operand.refuted else None
    return operand.accountability if operand.attests and operand.is_accountable else None


def _reason(
    for_it: EvidenceFacts | None,
    against_it: EvidenceFacts | None,
    spoken: tuple[EvidenceFacts, ...],
    silent: tuple[EvidenceFacts, ...],
) -> str:
    if for_it and against_it:
        return f"{_named(for_it)}, but {_named(against_it)}: a person has to look"
    if decided := against_it or for_it:
        return _named(decided)
    if spoken:
        names = ", ".join(sorted({fact.source_name or "a witness" for fact in spoken}))
        return f"only {names} spoke, and whoever claims it could have written that"
    if silent:
        return (
            f"{_named(silent[0])}; {len(silent)} asked, nobody answered"
            if len(silent) > 1
            else _named(silent[0])
        )
    return "nobody was asked"


def _named(fact: EvidenceFacts) -> str:
    said = fact.detail or f"{fact.stance} {fact.subject}".strip()
    return f"{fact.source_name or 'a witness'} ({fact.accountability}): {' '.join(said.split())}"


class Answer(StrEnum):
    NO_CLAIM = "NO_CLAIM"
    CONFIRMED = "CONFIRMED"
    REFUTED = "REFUTED"  # also where witnesses contradict each other
    UNWITNESSED = "UNWITNESSED"


class EffectClaim(Struct, frozen=True, kw_only=True):
    key: str
    subject: str = ""  # what witnesses are asked about, where it is not the key
    narrated: str = ""  # what the claimant says of it: carried, never read

    @property
    def probe(self) -> str:
        return self.subject or self.key


class Verdict(Struct, frozen=True, kw_only=True):
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
    if claim is None or not claim.key.strip():
        return Verdict(
            answer=Answer.NO_CLAIM,
            reason="no effect is claimed",
            narrated=claim.narrated if claim else "",
        )
    belief = believe_under_floor(facts)
    if belief.refuted:
        answer, deciding = Answer.REFUTED, first_accountable(belief.refuting)
    elif belief.believe:
        answer, deciding = Answer.CONFIRMED, first_accountable(belief.attesting)
    else:
        answer, deciding = Answer.UNWITNESSED, None
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
