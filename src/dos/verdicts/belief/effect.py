"""Did a claimed effect happen, by the word of somebody other than the one who claims it?"""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct, field

from dos.records.accountability import Accountability
from dos.verdicts.belief.facts import EvidenceFacts
from dos.verdicts.belief.floor import believe_under_floor, first_accountable


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
        return Verdict(answer=Answer.NO_CLAIM, reason="no effect is claimed", narrated=claim.narrated if claim else "")
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
