"""Decide whether a lane is worth launching on: its region is free and its last runs got on.

The same cause that stops run after run will stop the next one, too: such a lane is sent to a fix
or to a new plan in place of another launch.
"""

from collections import Counter
from enum import StrEnum

from msgspec import Struct, field, structs

from dos import regions
from dos.lanes.leases import LiveLease
from dos.regions import Region
from dos.text import comparison_key, plural

UNANSWERED_STOP = "post_stop_respawn_no_operator_action"


class Action(StrEnum):
    """What to do about a launch."""

    PROCEED = "proceed"
    ROUTE_UNSTICK = "route_unstick"  # the cause of the blocker has to be fixed first
    ROUTE_REPLAN = "route_replan"  # the plan has to be revised first
    OVERLAP_BLOCK = "overlap_block"  # another lane works on the same files


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
    operator_acted: bool = False  # a person acted on the lane: older runs no longer count
    needs_fix: bool = False  # it stopped for a cause that will recur
    cause: str = ""  # of a run that was blocked; empty: it was not
    replan_clears: bool = False
    recurrence: int = 1  # how often in a row, as the run itself counted


class Evidence(Struct, frozen=True, kw_only=True):
    """The lane, the live leases and the runs of the lane that have ended."""

    lane: str
    region: Region
    live: tuple[LiveLease, ...] = ()
    own_loop_ts: str = ""
    runs: tuple[LaneRun, ...] = ()  # newest first


class Policy(Struct, frozen=True, kw_only=True):
    """How many runs count, and how often a cause may recur."""

    window: int = 12  # how many of the last runs count
    most_recurrences: int = 3

    def __post_init__(self) -> None:
        if self.window < 1 or self.most_recurrences < 1:
            raise ValueError(
                f"window ({self.window} runs) and most_recurrences ({self.most_recurrences})"
                " must be 1 or more"
            )


class Verdict(Struct, frozen=True, kw_only=True):
    """The action, and the runs or the lease that decided it."""

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


def judge(evidence: Evidence, policy: Policy = Policy()) -> Verdict:
    """Decide whether to launch on a lane: first by its region, then by its last runs."""
    runs = evidence.runs[: policy.window]
    blockers = [run for run in runs if run.cause]
    verdict = _judge_region(evidence) or _judge_history(runs, blockers, policy)
    return structs.replace(verdict, runs_considered=len(runs), blocker_runs=len(blockers))


def _judge_region(evidence: Evidence) -> Verdict | None:
    """Block the launch if another lane works on the same files; None if not."""
    blocking = _blocking_lease(evidence)
    if blocking is None:
        return None
    return Verdict(
        answer=Action.OVERLAP_BLOCK,
        should_proceed=False,
        reason=f"lane {blocking.lane!r} is held and covers paths of {evidence.lane!r}",
        overlap_lane=blocking.lane,
    )


def _judge_history(runs: tuple[LaneRun, ...], blockers: list[LaneRun], policy: Policy) -> Verdict:
    """Route to a fix or a replan if the last runs did not get on."""
    if stopped := _unanswered_stop(runs):
        return Verdict(
            answer=Action.ROUTE_UNSTICK,
            should_proceed=False,
            reason="its last run stopped for a cause that has to be fixed, and no person has acted",
            cause_key=UNANSWERED_STOP,
            evidence=(stopped.label,),
        )
    if recurring := _recurring(runs, blockers, policy):
        newest = recurring[0]
        times = max(len(recurring), *(run.recurrence for run in recurring))
        return Verdict(
            answer=Action.ROUTE_REPLAN if newest.replan_clears else Action.ROUTE_UNSTICK,
            should_proceed=False,
            reason=f"{newest.cause}: {times} times, and nothing has shipped since",
            cause_key=newest.cause,
            evidence=tuple(run.label for run in recurring),
        )
    if runs:
        reason = f"no blocking cause recurs in its last {plural(len(runs), 'run')}"
    else:
        reason = "it has not run yet"
    return Verdict(answer=Action.PROCEED, reason=reason)


def _blocking_lease(evidence: Evidence) -> LiveLease | None:
    """The first live lease of another lane that overlaps the region; unknown overlaps all."""
    for lease in evidence.live:
        if comparison_key(lease.lane) == comparison_key(evidence.lane):
            continue
        if evidence.own_loop_ts and lease.loop_ts == evidence.own_loop_ts:
            continue
        if lease.exclusive or regions.overlaps(evidence.region, regions.region(lease.tree)):
            return lease
    return None


def _unanswered_stop(runs: tuple[LaneRun, ...]) -> LaneRun | None:
    """The newest run that needs a fix, if nothing shipped and no person acted since."""
    for run in runs:
        if run.shipped or run.operator_acted:
            return None
        if run.needs_fix:
            return run
    return None


def _recurring(runs: tuple[LaneRun, ...], blockers: list[LaneRun], policy: Policy) -> list[LaneRun]:
    """The runs with the most frequent cause, newest first, if it is too frequent.

    Empty if something has shipped since.
    """
    newest = next((run for run in runs if run.shipped or run.cause), None)
    if not blockers or newest is None or newest.shipped:
        return []
    # Counted newest first, so that of two equally frequent causes the newer one is reported.
    cause, _ = Counter(run.cause for run in blockers).most_common(1)[0]
    recurring = [run for run in blockers if run.cause == cause]
    if len(recurring) >= policy.most_recurrences:
        return recurring
    if any(run.recurrence >= policy.most_recurrences for run in recurring):
        return recurring
    return []
