"""What one witness says about one subject, and who wrote down what it says."""

import re
from collections.abc import Sequence
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


# Each of them ends with 0 wherever it is run and whatever was done.
_ALWAYS_WELL = frozenset(
    {"true", ":", "echo", "printf", "sleep", "pwd", "date", "whoami", "hostname"}
)
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})


def cannot_fail(words: Sequence[str]) -> bool:
    if not words:
        return False
    program = words[0].rpartition("/")[2]
    if program in _SHELLS and len(words) > 2 and words[1] == "-c":
        # A shell ends as its last statement does.
        last = re.split(r"[;\n]", words[2].rstrip("; \n"))[-1]
        return any(all(map(_is_idle, way.split("&&"))) for way in last.split("||"))
    return program in _ALWAYS_WELL


def _is_idle(statement: str) -> bool:
    words = statement.split()
    return words == ["exit", "0"] or cannot_fail(words)
