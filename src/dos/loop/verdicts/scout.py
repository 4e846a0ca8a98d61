"""Which activity comes next: dispatch, replan, unstick, wait or stop?

The first rule that answers wins. What is surfaced beside a dispatch never stops it.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Literal

from msgspec import Struct

from dos.fields import check_counts
from dos.text import plural

FEWEST_LANE_RUNS = 3  # with nothing shipped, before the lane counts as barren
MOST_UNSTICKS = 2  # a day, for a cause that only a person can clear
MOST_UNSTICKS_UNFIXED = 3  # a day, where no fix lands
RUNS_OF_A_PATTERN = 20
ZERO_SHIP_SHARE = 0.75
LOW_SHIP_SHARE = 0.34
Health = Literal["proceed", "route_unstick", "route_replan", "overlap_block"]


class Activity(StrEnum):
    """What to do next."""

    DISPATCH = "dispatch"
    UNSTICK = "unstick"
    REPLAN = "replan"
    WAIT = "wait"
    STOP = "stop"


class LaneTally(Struct, frozen=True, kw_only=True):
    """The runs of a lane."""

    lane: str
    runs: int = 0
    shipped: int = 0  # runs that shipped something
    drained: int = 0  # runs that found nothing to do

    def __post_init__(self) -> None:
        check_counts(runs=self.runs, shipped=self.shipped, drained=self.drained)

    @property
    def is_barren(self) -> bool:
        """Whether it runs again and again, with work, and ships nothing."""
        return self.runs >= FEWEST_LANE_RUNS and not self.shipped and self.drained < self.runs


class State(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known of the workspace. What is not known has its default."""

    scope: str = ""  # the lane that is looked at
    resource_blocked: bool = False
    resource: str = ""  # what is missing
    health: Health = "proceed"  # of a launch on the lane: the action of `dos health`
    cause_key: str = ""
    cause_needs_operator: bool = False
    unsticks_today: int = 0  # runs that this cause stopped today
    fixes_landing: bool = True
    lane_overlap: bool = False  # another lease holds what the work needs
    open_soaks: int = 0
    replan_due: bool = False
    replan_due_by_cooldown: bool = False  # for no other reason than that time has passed
    replan_in_flight: bool = False
    replanned_in_window: bool = False
    lanes: tuple[LaneTally, ...] = ()
    open_decisions: int = 0
    runs: int = 0
    zero_ship_runs: int = 0
    closed_loop_items: int = 0
    stale_stamps: int = 0
    gate: Literal["hard", "soft", "drive"] = "hard"

    def __post_init__(self) -> None:
        check_counts(
            unsticks_today=self.unsticks_today,
            open_soaks=self.open_soaks,
            open_decisions=self.open_decisions,
            runs=self.runs,
            zero_ship_runs=self.zero_ship_runs,
            closed_loop_items=self.closed_loop_items,
            stale_stamps=self.stale_stamps,
        )

    @property
    def is_saturated(self) -> bool:
        """Whether one more attempt to unstick the same cause would change nothing."""
        if self.cause_needs_operator and self.unsticks_today >= MOST_UNSTICKS:
            return True
        return not self.fixes_landing and self.unsticks_today >= MOST_UNSTICKS_UNFIXED

    @property
    def may_replan(self) -> bool:
        """Whether a replan is wanted by its time, and none has answered that already."""
        if not self.replan_due:
            return False
        return not (self.replan_due_by_cooldown and self.replanned_in_window)


class Verdict(Struct, frozen=True, kw_only=True):
    """The activity, the rule that chose it, and what its caller needs."""

    activity: Activity
    rule_id: str
    confidence: str  # high, medium or low
    auto_runnable: bool
    needs_lane: bool
    scope: str = ""
    focus: str = ""  # stale-stamp or closed-loop-first
    gate: str = ""  # of a dispatch
    reason: str = ""
    cause_key: str = ""  # of a stop or a wait
    evidence: tuple[str, ...] = ()


def judge(state: State) -> Verdict:
    """Return the first activity that the state calls for."""
    if state.resource_blocked:
        what = state.resource or "a resource is missing"
        return _verdict(state, Activity.STOP, "resource-blocked", what, cause="resource_blocked")
    if state.health == "route_unstick" and not state.is_saturated:
        why = f"runs on {state.scope or 'the lane'} stop again and again: {state.cause_key}"
        return _verdict(state, Activity.UNSTICK, "health-unstick", why)
    if state.lane_overlap or state.health == "overlap_block":
        why = "another lease holds what the work needs"
        return _verdict(state, Activity.WAIT, "lane-overlap", why, cause="lane_overlap")
    if state.health == "route_replan" and state.open_soaks:
        why = f"{state.open_soaks} soaks are open, and a replan would not end them"
        return _verdict(state, Activity.WAIT, "soak-open", why, cause="soak_open")
    if not state.replan_in_flight:
        if state.health == "route_replan":
            why = f"a replan clears what stops the runs: {state.cause_key}"
            return _verdict(state, Activity.REPLAN, "health-replan", why)
        if state.may_replan:
            return _verdict(state, Activity.REPLAN, "replan-due", "the backlog has to be refilled")
        for lane in state.lanes:
            if lane.is_barren:
                why = f"{lane.runs} runs on {lane.lane} shipped nothing"
                return _verdict(state, Activity.REPLAN, "barren-lane", why, scope=lane.lane)
    return _dispatch(state)


def _dispatch(state: State) -> Verdict:
    notes = tuple(_notes(state))
    focus = ""
    if state.stale_stamps:
        focus = "stale-stamp"
    elif state.closed_loop_items:
        focus = "closed-loop-first"
    return Verdict(
        activity=Activity.DISPATCH,
        rule_id="dispatch",
        confidence="medium" if notes else "high",
        auto_runnable=True,
        needs_lane=True,
        scope=state.scope,
        focus=focus,
        gate=state.gate,
        reason="nothing is in the way of a dispatch",
        evidence=notes,
    )


def _notes(state: State) -> Iterator[str]:
    """Yield what is worth knowing and never stops a dispatch."""
    if state.open_decisions:
        yield plural(state.open_decisions, "open decision")
    if state.health == "route_unstick":
        yield f"unsticking is saturated: {state.cause_key} needs a person"
    if state.replan_in_flight:
        yield "a replan is in flight"
    if state.runs >= RUNS_OF_A_PATTERN and state.zero_ship_runs >= ZERO_SHIP_SHARE * state.runs:
        yield f"{state.zero_ship_runs} of {state.runs} runs shipped nothing"
    elif state.runs and state.runs - state.zero_ship_runs < LOW_SHIP_SHARE * state.runs:
        yield f"only {state.runs - state.zero_ship_runs} of {state.runs} runs shipped"
    if state.closed_loop_items:
        yield f"{state.closed_loop_items} items wait to be closed"
    if state.stale_stamps:
        yield f"{state.stale_stamps} stamps are stale"


def _verdict(
    state: State, activity: Activity, rule: str, reason: str, *, cause: str = "", scope: str = ""
) -> Verdict:
    """Return the verdict of a rule that is certain of its answer."""
    return Verdict(
        activity=activity,
        rule_id=rule,
        confidence="high",
        auto_runnable=activity is not Activity.STOP,
        needs_lane=activity is Activity.REPLAN and bool(scope or state.scope),
        scope=scope or state.scope,
        reason=reason,
        cause_key=cause,
        evidence=(state.cause_key,) if state.cause_key else (),
    )
