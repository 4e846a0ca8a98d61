"""Judges the CI checks of a commit: green, red, pending, or no signal.

Only a check that passed makes a commit green: checks that were skipped show nothing about it.
"""

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
    """Decide by the required checks, or by all where none is required.

    A failure counts before a check that is missing or not finished: it is final.
    """
    reported = list(checks)
    if not reported:
        return Verdict(answer=State.NO_SIGNAL, reason="no check has reported anything")
    gating = [check for check in reported if not required or check.name in required]
    names = set()
    failed = []
    unfinished = []
    passed = 0
    for check in gating:
        names.add(check.name)
        if check.failed:
            failed.append(f"{check.name}: {check.conclusion}")
        elif check.open:
            unfinished.append(_describe_open(check))
        elif check.conclusion == PASSING:
            passed += 1
    if failed:
        return Verdict(answer=State.RED, reason=join_some(failed, SHOWN))
    missing = [name for name in required if name not in names]
    if missing:
        reason = f"required and not there: {join_some(missing, SHOWN)}"
        return Verdict(answer=State.PENDING, reason=reason)
    if unfinished:
        reason = f"not finished: {join_some(unfinished, SHOWN)}"
        return Verdict(answer=State.PENDING, reason=reason)
    if not passed:
        reason = f"none of {len(gating)} checks passed, they were only skipped"
        return Verdict(answer=State.NO_SIGNAL, reason=reason)
    reason = f"{passed} of {len(gating)} checks passed, none failed"
    return Verdict(answer=State.GREEN, reason=reason)


def _describe_open(check: Check) -> str:
    """Return a check that has not ended, with the nearest that GitHub says about how far it is."""
    return f"{check.name}: {check.conclusion or check.status or 'not begun'}"
