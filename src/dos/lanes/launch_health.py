"""Is a lane worth launching on: is its region free, and did its last runs get anywhere?"""

from collections import Counter
from enum import StrEnum

from msgspec import Struct, field, structs

from dos import regions
from dos.lanes.arbitrate import LiveLease
from dos.regions import Region
from dos.text import comparison_key

UNANSWERED_STOP = "post_stop_respawn_no_operator_action"


class Action(StrEnum):
    PROCEED = "proceed"
    ROUTE_UNSTICK = "route_unstick"  # what produces the blocker has to be mended first
    ROUTE_REPLAN = "route_replan"  # the backlog has to be looked at first
    OVERLAP_BLOCK = "overlap_block"  # somebody is at the same files


EXIT_CODES = {
    Action.PROCEED: 0,
    Action.ROUTE_UNSTICK: 3,
    Action.ROUTE_REPLAN: 4,
    Action.OVERLAP_BLOCK: 6,
}


class LaneRun(Struct, frozen=True, kw_only=True):
    """A run of the lane that has ended."""

    label: str  # which one, and how it ended, for people
    shipped: bool = False
    operator_acted: bool = (
        False  # a person did something about the lane: what is older does not tell against it
    )
    needs_fix: bool = False  # it stopped, and said that the same will happen again
    cause: str = ""  # of a run that was blocked; empty: it was not
    replan_clears: bool = False
    recurrence: int = 1  # how often in a row, by its own word


class Evidence(Struct, frozen=True, kw_only=True):
    lane: str
    region: Region
    live: tuple[LiveLease, ...] = ()
    own_loop_ts: str = ""
    runs: tuple[LaneRun, ...] = ()  # newest first


class Policy(Struct, frozen=True, kw_only=True):
    window: int = 12  # so many runs are looked at
    most_recurrences: int = 3

    def __post_init__(self) -> None:
        if self.window < 1 or self.most_recurrences < 1:
            raise ValueError(
                f"a window of {self.window} runs and {self.most_recurrences} recurrences must be 1 or more"
            )


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Action = field(name="action")
    should_proceed: bool = True
    reason: str = ""
    cause_key: str = ""
    runs_considered: int = 0
    blocker_runs: int = 0
    overlap_lane: str = ""
    evidence: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.answer]


def judge(seen: Evidence, policy: Policy = Policy()) -> Verdict:
    runs = seen.runs[: policy.window]
    blockers = [run for run in runs if run.cause]
    verdict = _of_region(seen) or _of_history(runs, blockers, policy)
    return structs.replace(verdict, runs_considered=len(runs), blocker_runs=len(blockers))


def _of_region(seen: Evidence) -> Verdict | None:
    taken = _in_the_way(seen)
    if taken is None:
        return None
    reason = f"lane {taken.lane!r} is live and has paths of {seen.lane!r}"
    return Verdict(
        answer=Action.OVERLAP_BLOCK, should_proceed=False, reason=reason, overlap_lane=taken.lane
    )


def _of_history(runs: tuple[LaneRun, ...], blockers: list[LaneRun], policy: Policy) -> Verdict:
    if stopped := _unanswered(runs):
        return Verdict(
            answer=Action.ROUTE_UNSTICK,
            should_proceed=False,
            reason="its last run stopped for something that has to be mended, and nobody has done anything since",
            cause_key=UNANSWERED_STOP,
            evidence=(stopped.label,),
        )
    if again := _recurring(runs, blockers, policy):
        times = max(len(again), *(run.recurrence for run in again))
        return Verdict(
            answer=Action.ROUTE_REPLAN if again[0].replan_clears else Action.ROUTE_UNSTICK,
            should_proceed=False,
            reason=f"{again[0].cause}: {times} times, and nothing has shipped since",
            cause_key=again[0].cause,
            evidence=tuple(run.label for run in again),
        )
    reason = (
        f"none of its last {len(runs)} runs speaks against it" if runs else "it has not run yet"
    )
    return Verdict(answer=Action.PROCEED, reason=reason)


def _in_the_way(seen: Evidence) -> LiveLease | None:
    """Another lane's live lease that meets the region; a region of which nothing is known meets everything."""
    others = (
        lease
        for lease in seen.live
        if comparison_key(lease.lane) != comparison_key(seen.lane)
        and (not seen.own_loop_ts or lease.loop_ts != seen.own_loop_ts)
    )
    return next(
        (
            lease
            for lease in others
            if lease.exclusive or regions.overlaps(seen.region, regions.region(lease.tree))
        ),
        None,
    )


def _unanswered(runs: tuple[LaneRun, ...]) -> LaneRun | None:
    for run in runs:
        if run.shipped or run.operator_acted:
            return None
        if run.needs_fix:
            return run
    return None


def _recurring(runs: tuple[LaneRun, ...], blockers: list[LaneRun], policy: Policy) -> list[LaneRun]:
    """The runs that met the most frequent cause, if that is too often and nothing has shipped since; newest first."""
    newest = next((run for run in runs if run.shipped or run.cause), None)
    if not blockers or newest is None or newest.shipped:
        return []
    # Counted newest first, so that of two equally frequent causes the newer one is reported.
    cause, _ = Counter(run.cause for run in blockers).most_common(1)[0]
    found = [run for run in blockers if run.cause == cause]
    often = len(found) >= policy.most_recurrences
    return found if often or any(run.recurrence >= policy.most_recurrences for run in found) else []
