"""May a waiting agent keep its turn open once more?

A loop in an agent ends its turn while it waits for something; the marker hook refuses that stop a
limited number of times, so that the wait is bounded.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from dos.fields import Count, Table
from dos.loop.verdicts.noop_budget import wait_marker_budget

HELD = "The work that you wait for has not ended. Check it again, and stop only once it has."


class Marker(Table, frozen=True, kw_only=True):
    """[marker]: how often `dos hook marker` keeps the turn of a waiting agent open."""

    max_streak: Count | None = None
    """Holds in a row of one conversation; default: `max_streak` of [noop_streak]."""
    arm_on_env: tuple[str, ...] = ("DOS_LOOP", "CID_RUN_ID")
    """Variables that arm the hook where one of them is set; `--loop` arms it always."""
    respect_stop_hook_active: bool = True
    """Whether a stop that was refused once already may not be held again."""


class Evidence(Struct, frozen=True, kw_only=True):
    """What is known when an agent is about to stop."""

    held: int = 0  # since the last reset
    armed: bool = False
    already_continued: bool = False


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether the turn is held open once more."""

    hold: bool
    held: int  # with this one, where it is held
    most: int
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return the released names of the fields."""
        return {
            "allow_marker": self.hold,
            "markers_emitted": self.held,
            "max_markers": self.most,
            "reason": self.reason,
        }


def is_armed(policy: Marker, environment: Mapping[str, str], *, loop: bool) -> bool:
    """Whether the conversation is one of a loop."""
    return loop or any(environment.get(name) for name in policy.arm_on_env)


def judge(seen: Evidence, policy: Marker, *, most: int) -> Verdict:
    """Hold the turn of an armed conversation until the limit is reached."""
    if seen.already_continued and policy.respect_stop_hook_active:
        return Verdict(
            hold=False, held=seen.held, most=most, reason="this stop was refused once already"
        )
    if not seen.armed:
        return Verdict(hold=False, held=seen.held, most=most, reason="this is no loop")
    budget = wait_marker_budget(seen.held, most)
    return Verdict(hold=budget.allow, held=budget.markers_emitted, most=most, reason=budget.reason)
