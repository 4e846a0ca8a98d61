"""What do the checks of a commit come to?"""

from collections.abc import Collection, Iterable
from enum import StrEnum

from msgspec import Struct, field

from dos.text import join_some

SHOWN = 3


class State(StrEnum):
    GREEN = "GREEN"
    RED = "RED"
    PENDING = "PENDING"
    NO_SIGNAL = "NO_SIGNAL"


FAILING = frozenset(
    {"failure", "timed_out", "cancelled", "action_required", "stale", "startup_failure"}
)
PASSING = "success"
HARMLESS = frozenset({PASSING, "neutral", "skipped"})


class Check(Struct, frozen=True, kw_only=True):
    """One check, with GitHub's words for how far it is and how it ended."""

    name: str
    status: str = ""
    conclusion: str | None = None
    head_sha: str = ""

    @property
    def failed(self) -> bool:
        return self.status == "completed" and self.conclusion in FAILING

    @property
    def open(self) -> bool:
        """A conclusion that we do not know has not been reached."""
        return self.status != "completed" or self.conclusion not in FAILING | HARMLESS


class Verdict(Struct, frozen=True, kw_only=True):
    answer: State = field(name="state")
    reason: str = ""


def judge(checks: Iterable[Check], required: Collection[str] = ()) -> Verdict:
    """Of all checks, or of the required ones where some are named."""
    every = list(checks)
    if not every:
        return Verdict(answer=State.NO_SIGNAL, reason="no check has reported anything")
    gating = [check for check in every if not required or check.name in required]
    if failed := [check for check in gating if check.failed]:
        return Verdict(
            answer=State.RED,
            reason=join_some([f"{check.name}: {check.conclusion}" for check in failed], SHOWN),
        )
    if missing := [name for name in required if all(check.name != name for check in gating)]:
        return Verdict(
            answer=State.PENDING, reason=f"required and not there: {join_some(missing, SHOWN)}"
        )
    if waiting := [
        f"{each.name}: {each.conclusion or each.status or 'not begun'}"
        for each in gating
        if each.open
    ]:
        return Verdict(answer=State.PENDING, reason=f"not finished: {join_some(waiting, SHOWN)}")
    passed = sum(check.conclusion == PASSING for check in gating)
    if not passed:
        return Verdict(
            answer=State.NO_SIGNAL,
            reason=f"none of {len(gating)} checks passed, they were only skipped",
        )
    return Verdict(
        answer=State.GREEN, reason=f"{passed} of {len(gating)} checks passed, none failed"
    )
