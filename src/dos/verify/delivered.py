"""Did an iteration deliver its unit: commits, inside the lane, accepted, and such that anybody can see it?"""

from enum import StrEnum

from msgspec import Struct

from dos.agents.adapter import Ending
from dos.text import plural


class Answer(StrEnum):
    DELIVERED = "DELIVERED"
    NOTHING = "NOTHING"  # no commit stands behind whatever was said
    STRAYED = "STRAYED"  # paths outside the lane were changed
    REJECTED = "REJECTED"  # the acceptance command did not pass
    UNFINISHED = "UNFINISHED"  # its agent was cut off, and nothing says that it was done by then
    UNPROVEN = "UNPROVEN"  # the oracle would not call it shipped


class Evidence(Struct, frozen=True, kw_only=True):
    commits: int
    changed_paths: int
    strays: list[str]
    accepted: bool | None  # None: there is no acceptance command
    ending: Ending = Ending.OK  # of the agent
    why_not_shipped: str = ""  # why the oracle would not call it shipped
    detail: str = ""


class Verdict(Struct, frozen=True):
    answer: Answer
    reason: str


def judge(seen: Evidence) -> Verdict:
    if not seen.commits:
        return Verdict(
            Answer.NOTHING,
            f"no commit counts: {seen.detail}" if seen.detail else "no commit was made",
        )
    if not seen.changed_paths:
        return Verdict(Answer.NOTHING, "the commits change no file")
    if seen.strays:
        more = f" and {len(seen.strays) - 1} more" if len(seen.strays) > 1 else ""
        return Verdict(Answer.STRAYED, f"changed {seen.strays[0]}{more} outside of the lane")
    if seen.accepted is False:
        return Verdict(
            Answer.REJECTED, f"the acceptance command failed: {seen.detail}".rstrip(": ")
        )
    if seen.accepted is None and seen.ending is not Ending.OK:
        made = plural(seen.commits, "commit")
        return Verdict(
            Answer.UNFINISHED,
            f"{made}, and no acceptance command that says whether it was done by then",
        )
    if seen.why_not_shipped:
        return Verdict(Answer.UNPROVEN, seen.why_not_shipped)
    passed = "accepted" if seen.accepted else "no acceptance command"
    return Verdict(Answer.DELIVERED, f"{plural(seen.commits, 'commit')}, inside the lane, {passed}")
