"""Does anybody still need what is kept of a run?"""

from enum import StrEnum

from msgspec import Struct

from dos.runs import resume


class Answer(StrEnum):
    REACHABLE = "REACHABLE"
    COLLECTIBLE = "COLLECTIBLE"


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer
    reason: str = ""


def judge(found: resume.Verdict, *, suspended: bool) -> Verdict:
    """What could go on stays, however old it is; and so does what could not be judged."""
    if found.answer in (resume.Answer.COMPLETE, resume.Answer.UNRESUMABLE):
        return Verdict(answer=Answer.COLLECTIBLE, reason=f"{found.answer}: {found.reason}")
    parked = "SUSPENDED: " if suspended else ""
    return Verdict(answer=Answer.REACHABLE, reason=f"{parked}{found.answer}: {found.reason}")
