"""What one witness says about one subject, and who wrote down what it says."""

from enum import StrEnum

from msgspec import Struct

from dos.witness.accountability import Accountability


class Stance(StrEnum):
    ATTESTED = "ATTESTED"  # it happened
    REFUTED = "REFUTED"  # it did not
    NO_SIGNAL = "NO_SIGNAL"  # nothing is known; never a no


class EvidenceFacts(Struct, frozen=True, kw_only=True):
    """As it stands without a value: nobody was reached, and nothing is known."""

    source_name: str = ""
    accountability: Accountability = Accountability.AGENT_AUTHORED
    stance: Stance = Stance.NO_SIGNAL
    subject: str = ""
    detail: str = ""
    reachable: bool = False

    @property
    def attests(self) -> bool:
        return self.reachable and self.stance is Stance.ATTESTED

    @property
    def refutes(self) -> bool:
        return self.reachable and self.stance is Stance.REFUTED

    @property
    def is_accountable(self) -> bool:
        """Reached, and not in the hand of whoever makes the claim."""
        return self.reachable and not self.accountability.is_forgeable


def attest(
    source_name: str, accountability: Accountability, subject: str = "", detail: str = ""
) -> EvidenceFacts:
    return _said(Stance.ATTESTED, source_name, accountability, subject, detail)


def refute(
    source_name: str, accountability: Accountability, subject: str = "", detail: str = ""
) -> EvidenceFacts:
    return _said(Stance.REFUTED, source_name, accountability, subject, detail)


def no_signal(
    source_name: str, accountability: Accountability, subject: str = "", detail: str = ""
) -> EvidenceFacts:
    return _said(Stance.NO_SIGNAL, source_name, accountability, subject, detail)


def _said(
    stance: Stance, name: str, accountability: Accountability, subject: str, detail: str
) -> EvidenceFacts:
    reached = stance is not Stance.NO_SIGNAL
    return EvidenceFacts(
        source_name=name,
        accountability=accountability,
        stance=stance,
        subject=subject,
        detail=detail,
        reachable=reached,
    )
