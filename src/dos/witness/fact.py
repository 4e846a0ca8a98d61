"""What one witness says about one subject, and who could have written it."""

import re
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from dos.witness.accountability import Accountability


class Stance(StrEnum):
    """What a witness says about a subject."""

    ATTESTED = "ATTESTED"  # it happened
    REFUTED = "REFUTED"  # it did not
    NO_SIGNAL = "NO_SIGNAL"  # nothing is known, which is not a no


class EvidenceFacts(Struct, frozen=True, kw_only=True):
    """The answer of one witness; by default it was not reached and says nothing."""

    source_name: str = ""
    accountability: Accountability = Accountability.AGENT_AUTHORED
    stance: Stance = Stance.NO_SIGNAL
    subject: str = ""
    detail: str = ""
    reachable: bool = False

    @property
    def attests(self) -> bool:
        """Whether the witness was reached and confirms the subject."""
        return self.reachable and self.stance is Stance.ATTESTED

    @property
    def refutes(self) -> bool:
        """Whether the witness was reached and contradicts the subject."""
        return self.reachable and self.stance is Stance.REFUTED

    @property
    def is_accountable(self) -> bool:
        """Whether the witness was reached and the claimant could not have written its answer."""
        return self.reachable and not self.accountability.is_forgeable


def attest(
    source_name: str, accountability: Accountability, subject: str = "", detail: str = ""
) -> EvidenceFacts:
    """Return the fact that a witness confirms a subject."""
    return _fact(Stance.ATTESTED, source_name, accountability, subject, detail)


def refute(
    source_name: str, accountability: Accountability, subject: str = "", detail: str = ""
) -> EvidenceFacts:
    """Return the fact that a witness contradicts a subject."""
    return _fact(Stance.REFUTED, source_name, accountability, subject, detail)


def no_signal(
    source_name: str, accountability: Accountability, subject: str = "", detail: str = ""
) -> EvidenceFacts:
    """Return the fact that a witness has nothing to say, and why."""
    return _fact(Stance.NO_SIGNAL, source_name, accountability, subject, detail)


def _fact(
    stance: Stance, name: str, accountability: Accountability, subject: str, detail: str
) -> EvidenceFacts:
    """Return a fact; a witness with nothing to say counts as not reached."""
    return EvidenceFacts(
        source_name=name,
        accountability=accountability,
        stance=stance,
        subject=subject,
        detail=detail,
        reachable=stance is not Stance.NO_SIGNAL,
    )


# Commands that exit with 0 wherever they run and whatever was done.
_ALWAYS_PASS = frozenset(
    {"true", ":", "echo", "printf", "sleep", "pwd", "date", "whoami", "hostname"}
)
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})


def cannot_fail(words: Sequence[str]) -> bool:
    """Whether a command always passes: then it proves nothing, whatever it is run for."""
    if not words:
        return False
    program = words[0].rpartition("/")[2]
    is_script = program in _SHELLS and len(words) > 2 and words[1] == "-c"
    if not is_script:
        return program in _ALWAYS_PASS
    # The exit code of a shell is that of its last statement.
    last = re.split(r"[;\n]", words[2].rstrip("; \n"))[-1]
    return any(_all_idle(alternative) for alternative in last.split("||"))


def _all_idle(statements: str) -> bool:
    return all(_is_idle(statement) for statement in statements.split("&&"))


def _is_idle(statement: str) -> bool:
    words = statement.split()
    return words == ["exit", "0"] or cannot_fail(words)
