"""Compare the claim that a unit is done with what git shows.

Only git can take a unit off the list: a claim without a commit keeps it there, and is flagged.
"""

from enum import StrEnum

from msgspec import Struct, field

from dos.unknown import Unknown


class Answer(StrEnum):
    """How a claim and the truth agree."""

    VERIFIED = "VERIFIED"  # it shipped, claimed or not
    QUIET_INCOMPLETE = "QUIET_INCOMPLETE"  # it is claimed, and did not ship
    HONEST_OPEN = "HONEST_OPEN"  # it is not claimed, and did not ship
    UNKNOWN = "UNKNOWN"  # git could not be read


EXIT_CODES = {
    Answer.VERIFIED: 0,
    Answer.QUIET_INCOMPLETE: 3,
    Answer.HONEST_OPEN: 4,
    Answer.UNKNOWN: 5,
}


class Evidence(Struct, frozen=True, kw_only=True):
    """The claim about a unit, and what git shows."""

    unit: str
    claimed: bool
    oracle_shipped: bool | Unknown
    why: str = ""  # how it is known that the unit shipped, or did not


class Verdict(Struct, frozen=True, kw_only=True):
    """The comparison, as `dos reconcile --json` prints it."""

    answer: Answer = field(name="state")
    unit: str = ""
    claimed: bool = False
    oracle_shipped: bool | None = None  # None: it could not be read
    keeps_in_residual: bool = True  # only a verified unit leaves the list of what is to be done
    flag: str = ""
    reason: str = ""

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.answer]


def judge(evidence: Evidence) -> Verdict:
    """Compare a claim with the truth. An unread truth is UNKNOWN, whatever is claimed."""
    unit = evidence.unit
    shipped = evidence.oracle_shipped
    why = f": {evidence.why}" if evidence.why else ""
    if isinstance(shipped, Unknown):
        reason = f"whether {unit} shipped could not be read: {shipped.why}"
        return _verdict(Answer.UNKNOWN, evidence, reason)
    if shipped:
        return _verdict(Answer.VERIFIED, evidence, f"{unit} shipped{why}")
    if evidence.claimed:
        reason = f"{unit} is claimed to be done, and did not ship{why}"
        return _verdict(Answer.QUIET_INCOMPLETE, evidence, reason)
    return _verdict(Answer.HONEST_OPEN, evidence, f"{unit} is open, and not claimed{why}")


def _verdict(answer: Answer, evidence: Evidence, reason: str) -> Verdict:
    """The verdict with the evidence that callers print."""
    shipped = evidence.oracle_shipped
    return Verdict(
        answer=answer,
        unit=evidence.unit,
        claimed=evidence.claimed,
        oracle_shipped=None if isinstance(shipped, Unknown) else shipped,
        keeps_in_residual=answer is not Answer.VERIFIED,
        flag=answer.value if answer is Answer.QUIET_INCOMPLETE else "",
        reason=reason,
    )


def reconcile(unit: str, claimed_done: bool, oracle_shipped: bool) -> Verdict:
    """Compare a claim with a truth that was read."""
    return judge(Evidence(unit=unit, claimed=claimed_done, oracle_shipped=oracle_shipped))
