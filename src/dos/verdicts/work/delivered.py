"""Did an iteration deliver its unit: commits, inside the lane, accepted?"""

from enum import StrEnum

from msgspec import Struct

from dos.records.names import counted


class Answer(StrEnum):
    DELIVERED = "DELIVERED"
    NOTHING = "NOTHING"  # no commit stands behind whatever was said
    STRAYED = "STRAYED"  # paths outside the lane were changed
    REJECTED = "REJECTED"  # the acceptance command did not pass


class Evidence(Struct, frozen=True, kw_only=True):
    commits: int
    changed_paths: int
    strays: list[str]
    accepted: bool | None  # None: there is no acceptance command
    detail: str = ""


class Verdict(Struct, frozen=True):
    answer: Answer
    reason: str


def judge(seen: Evidence) -> Verdict:
    if not seen.commits:
        return Verdict(Answer.NOTHING, "no commit was made")
    if not seen.changed_paths:
        return Verdict(Answer.NOTHING, "the commits change no file")
    if seen.strays:
        more = f" and {len(seen.strays) - 1} more" if len(seen.strays) > 1 else ""
        return Verdict(Answer.STRAYED, f"changed {seen.strays[0]}{more} outside of the lane")
    if seen.accepted is False:
        return Verdict(Answer.REJECTED, f"the acceptance command failed: {seen.detail}".rstrip(": "))
    passed = "accepted" if seen.accepted else "no acceptance command"
    return Verdict(Answer.DELIVERED, f"{counted(seen.commits, 'commit')}, inside the lane, {passed}")
