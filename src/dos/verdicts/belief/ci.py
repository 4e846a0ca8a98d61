"""What do the checks of a commit come to?"""

from collections.abc import Collection, Iterable
from enum import StrEnum

from msgspec import Struct, field

SHOWN = 3


class State(StrEnum):
    GREEN = "GREEN"
    RED = "RED"
    PENDING = "PENDING"
    NO_SIGNAL = "NO_SIGNAL"


FAILING = frozenset({"failure", "timed_out", "cancelled", "action_required", "stale", "startup_failure"})
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
        return Verdict(answer=State.RED, reason=f"{_listed([f'{c.name}: {c.conclusion}' for c in failed])}")
    missing = [name for name in required if all(check.name != name for check in gating)]
    if missing:
        return Verdict(answer=State.PENDING, reason=f"required and not there: {_listed(missing)}")
    if waiting := [check for check in gating if check.open]:
        said = [f"{check.name}: {check.conclusion or check.status or 'not begun'}" for check in waiting]
        return Verdict(answer=State.PENDING, reason=f"not finished: {_listed(said)}")
    passed = sum(check.conclusion == PASSING for check in gating)
    if not passed:
        return Verdict(answer=State.NO_SIGNAL, reason=f"none of {len(gating)} checks passed, they were only skipped")
    return Verdict(answer=State.GREEN, reason=f"{passed} of {len(gating)} checks passed, none failed")


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
