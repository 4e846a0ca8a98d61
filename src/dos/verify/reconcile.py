"""Does the truth stand behind the claim that a unit is done?"""

from enum import StrEnum

from msgspec import Struct, field

from dos.unknown import Unknown


class Answer(StrEnum):
    VERIFIED = "VERIFIED"  # it shipped, whatever was said
    QUIET_INCOMPLETE = "QUIET_INCOMPLETE"  # it is said to be done, and it is not
    HONEST_OPEN = "HONEST_OPEN"  # nobody says that it is done
    UNKNOWN = "UNKNOWN"  # the truth could not be read


EXIT_CODES = {
    Answer.VERIFIED: 0,
    Answer.QUIET_INCOMPLETE: 3,
    Answer.HONEST_OPEN: 4,
    Answer.UNKNOWN: 5,
}


class Evidence(Struct, frozen=True, kw_only=True):
    unit: str
    claimed: bool
    oracle_shipped: bool | Unknown
    why: str = ""  # how the truth is known


class Verdict(Struct, frozen=True, kw_only=True):
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


def judge(seen: Evidence) -> Verdict:
    shipped = seen.oracle_shipped
    why = f": {seen.why}" if seen.why else ""
    if isinstance(shipped, Unknown):
        return _verdict(
            Answer.UNKNOWN, seen, f"whether {seen.unit} shipped could not be read: {shipped.why}"
        )
    if shipped:
        return _verdict(Answer.VERIFIED, seen, f"{seen.unit} shipped{why}")
    if seen.claimed:
        return _verdict(
            Answer.QUIET_INCOMPLETE, seen, f"{seen.unit} is said to be done, and did not ship{why}"
        )
    return _verdict(
        Answer.HONEST_OPEN, seen, f"{seen.unit} is open, and nobody says otherwise{why}"
    )


def _verdict(answer: Answer, seen: Evidence, reason: str) -> Verdict:
    return Verdict(
        answer=answer,
        unit=seen.unit,
        claimed=seen.claimed,
        oracle_shipped=None if isinstance(seen.oracle_shipped, Unknown) else seen.oracle_shipped,
        keeps_in_residual=answer is not Answer.VERIFIED,
        flag=answer.value if answer is Answer.QUIET_INCOMPLETE else "",
        reason=reason,
    )


def reconcile(unit: str, claimed_done: bool, oracle_shipped: bool) -> Verdict:
    return judge(Evidence(unit=unit, claimed=claimed_done, oracle_shipped=oracle_shipped))
