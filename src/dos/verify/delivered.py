"""Decide whether an iteration delivered its unit.

It did if it made commits, inside the lane, that were accepted and that verify would call shipped.
"""

from enum import StrEnum

from msgspec import Struct

from dos.agents.adapter import Ending
from dos.text import plural


class Answer(StrEnum):
    """What an iteration delivered."""

    DELIVERED = "DELIVERED"
    NOTHING = "NOTHING"  # no commit, whatever the agent said
    STRAYED = "STRAYED"  # paths outside the lane were changed
    REJECTED = "REJECTED"  # the acceptance command did not pass
    UNFINISHED = "UNFINISHED"  # the agent was cut off, and nothing proves that it was done by then
    UNPROVEN = "UNPROVEN"  # verify would not call it shipped


class Evidence(Struct, frozen=True, kw_only=True):
    """What was measured after an agent ended."""

    commits: int
    changed_paths: int
    strays: list[str]
    accepted: bool | None  # None: there is no acceptance command
    ending: Ending = Ending.OK  # of the agent
    why_not_shipped: str = ""  # by verify; empty: it would call the commits shipped
    detail: str = ""


class Verdict(Struct, frozen=True):
    """What was delivered, and why it is not more."""

    answer: Answer
    reason: str


def judge(evidence: Evidence) -> Verdict:
    """Decide what an iteration delivered; the first failure in this order is the answer."""
    commits = plural(evidence.commits, "commit")
    if not evidence.commits:
        if evidence.detail:
            return Verdict(Answer.NOTHING, f"no commit counts: {evidence.detail}")
        return Verdict(Answer.NOTHING, "no commit was made")
    if not evidence.changed_paths:
        return Verdict(Answer.NOTHING, "the commits change no file")
    if evidence.strays:
        return Verdict(Answer.STRAYED, _strays(evidence.strays))
    if evidence.accepted is False:
        reason = f"the acceptance command failed: {evidence.detail}".rstrip(": ")
        return Verdict(Answer.REJECTED, reason)
    if evidence.accepted is None and evidence.ending is not Ending.OK:
        reason = (
            f"the agent did not finish; it left {commits}, and no acceptance command is"
            " configured that could show whether the work is complete"
        )
        return Verdict(Answer.UNFINISHED, reason)
    if evidence.why_not_shipped:
        return Verdict(Answer.UNPROVEN, evidence.why_not_shipped)
    passed = "accepted" if evidence.accepted else "no acceptance command"
    return Verdict(Answer.DELIVERED, f"{commits}, inside the lane, {passed}")


def _strays(paths: list[str]) -> str:
    """Name the first path outside the lane, and count the rest."""
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return f"changed {paths[0]}{more} outside of the lane"
