"""Judges the CI checks of a commit: green, red, pending, or no signal."""

from collections.abc import Collection, Iterable
from enum import StrEnum

from msgspec import Struct, field

from dos.text import join_some

SHOWN = 3


class State(StrEnum):
    """What the checks of a commit come to."""

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
    """One check, with GitHub's words for its status and conclusion."""

    name: str
    status: str = ""
    conclusion: str | None = None
    head_sha: str = ""

    @property
    def failed(self) -> bool:
        """Whether the check ended badly."""
        return self.status == "completed" and self.conclusion in FAILING

    @property
    def open(self) -> bool:
        """Whether the check has not ended; an unknown conclusion counts as not reached."""
        return self.status != "completed" or self.conclusion not in FAILING | HARMLESS


class Verdict(Struct, frozen=True, kw_only=True):
    """The state of a commit's checks."""

    answer: State = field(name="state")
    reason: str = ""


def judge(checks: Iterable[Check], required: Collection[str] = ()) -> Verdict:
    """Decide by the required checks, or by all where none is required."""
    reported = list(checks)
    if not reported:
        return Verdict(answer=State.NO_SIGNAL, reason="no check has reported anything")
    gating = [check for check in reported if not required or check.name in required]
    failed = [f"{check.name}: {check.conclusion}" for check in gating if check.failed]
    if failed:
        return Verdict(answer=State.RED, reason=join_some(failed, SHOWN))
    names = {check.name for check in gating}
    missing = [name for name in required if name not in names]
    if missing:
        reason = f"required and not there: {join_some(missing, SHOWN)}"
        return Verdict(answer=State.PENDING, reason=reason)
    unfinished = [_describe_open(check) for check in gating if check.open]
    if unfinished:
        reason = f"not finished: {join_some(unfinished, SHOWN)}"
        return Verdict(answer=State.PENDING, reason=reason)
    passed = sum(check.conclusion == PASSING for check in gating)
    if not passed:
        reason = f"none of {len(gating)} checks passed, they were only skipped"
        return Verdict(answer=State.NO_SIGNAL, reason=reason)
    reason = f"{passed} of {len(gating)} checks passed, none failed"
    return Verdict(answer=State.GREEN, reason=reason)


def _describe_open(check: Check) -> str:
    return f"{check.name}: {check.conclusion or check.status or 'not begun'}"
