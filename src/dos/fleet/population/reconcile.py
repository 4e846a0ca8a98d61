"""Which lanes of the fleet get a worker, whose lease is taken back, who is flagged, and which lane is given up on?

The population plan, as the actions of a supervisor; and what the end of a run means for its lane.
"""

from collections.abc import Collection, Sequence

from msgspec import Struct

from dos.fleet.population.supervise import supervise_with_obstacles
from dos.fleet.population.types import (
    LaneLiveness,
    Obstacle,
    SuperviseEvidence,
    SupervisePolicy,
    SuperviseVerdict,
)
from dos.loop.types import StopReason, WorkerStop
from dos.questions.lanes import LaneFailed
from dos.reasons.table import Needs

START_SECONDS = 120.0  # a worker that has not taken its lease by then is not coming
REST_SECONDS = 30.0  # after a run was told to wait

# What a run stopped for that found nothing it may take: over as soon as there is a unit to offer.
NO_WORK_STOPS = frozenset(
    {
        StopReason.PICK_HELD_INVARIANT,
        StopReason.BLOCKED,
        StopReason.BLOCKED_REDISPATCH_INVARIANT,
        StopReason.STALE_STAMP_UNRECONCILED,
        StopReason.REPLAN_STALLED,
        StopReason.DRAIN,
        StopReason.BENIGN_DRAIN,
    }
)
NO_ROOM_STOP = (
    WorkerStop.DECISION_NEEDED
)  # of a budget or a provider: over as soon as there is some
STOPPED_BY_PERSON = (WorkerStop.HALTED,)  # who stopped it need not be asked about it

# What a run stops for when units failed one after the other: they wait for a person, and the lane's others do not.
UNITS_FAILED_STOPS = frozenset({StopReason.CONSECUTIVE_DIRTY_ZERO, StopReason.CONSECUTIVE_UNCLEAR})


def is_stuck(stop_reason: str, needs: str) -> bool:
    """Only a person can clear what a lane's last run stopped for."""
    return needs in (Needs.OPERATOR, Needs.ENVIRONMENT) and stop_reason not in (
        *NO_WORK_STOPS,
        NO_ROOM_STOP,
    )


def holds_only_units(stop_reason: str, failed: Sequence[str]) -> bool:
    """The run stopped for units that it tried in vain: only they are held, not their lane."""
    return bool(failed) and stop_reason in UNITS_FAILED_STOPS


def found_no_work(stop_reason: str, landed: int) -> bool:
    """The run found nothing that it may do."""
    return stop_reason in (*NO_WORK_STOPS, NO_ROOM_STOP) and not landed


class Spawn(Struct, frozen=True, tag="spawn"):
    lane: str


class Reap(Struct, frozen=True, tag="reap"):
    lane: str
    reason: str


class Flag(Struct, frozen=True, tag="flag"):
    """A worker that lives and lands nothing."""

    lane: str
    reason: str
    asks: bool  # a halt is proposed


class GiveUp(Struct, frozen=True, tag="give_up"):
    """A person is asked what is to become of the lane."""

    question: LaneFailed

    @property
    def lane(self) -> str:
        return self.question.lane


Action = Spawn | Reap | Flag | GiveUp


class Plan(Struct, frozen=True, kw_only=True):
    verdict: SuperviseVerdict
    obstacles: Sequence[Obstacle]  # of the lanes that nothing of their own keeps from being started
    actions: Sequence[Action]


def plan(
    lanes: tuple[LaneLiveness, ...],
    target: int,
    policy: SupervisePolicy = SupervisePolicy(),
    *,
    failing: Sequence[LaneFailed] = (),
) -> Plan:
    """`dying` are the lanes whose workers keep dying, each as its question; they say themselves what they wait for."""
    evidence = SuperviseEvidence(lanes=lanes, target=target)
    verdict, obstacles = supervise_with_obstacles(evidence, policy)
    proposed = {row.lane for row in verdict.proposed_halt}
    reasons = {row.lane: row.reason for row in verdict.flag}
    spinning = [
        lane
        for lane in lanes
        if lane.liveness == "SPINNING" and not lane.pending and lane.lane in reasons
    ]
    actions: list[Action] = [
        Reap(lane.lane, lane.why or "its lease is over") for lane in _dead(lanes, verdict)
    ]
    actions += [
        Flag(
            lane.lane,
            reasons[lane.lane],
            asks=policy.spin_halt_after_ms is None or lane.lane in proposed,
        )
        for lane in spinning
    ]
    actions += map(GiveUp, failing)
    actions += [Spawn(row.lane) for row in verdict.spawn]
    return Plan(verdict=verdict, obstacles=obstacles, actions=actions)


def _dead(lanes: Sequence[LaneLiveness], verdict: SuperviseVerdict) -> list[LaneLiveness]:
    reaped = {row.lane for row in verdict.reap}
    return [
        lane
        for lane in lanes
        if lane.lane in reaped and lane.liveness == "STALLED" and not lane.pending
    ]


class InterruptedLane(Struct, frozen=True, kw_only=True):
    """A lane on which a worker was at work when the journal was last written."""

    lane: str
    holder: str = ""  # who has the lease; empty: nobody
    process_gone: bool = False  # by the system's word
    iterations: int = 0  # the last one that its run committed
    unit: str = ""  # begun, and not committed
    landed: bool = False  # the unit is on the target branch, or its landing was under way


class StartupFindings(Struct, frozen=True, kw_only=True):
    """In words, but for the lanes and units themselves."""

    adopted: list[str]
    fenced: list[str]
    resumed: list[str]
    repeated: list[str]
    skipped: list[str]
    adopted_lanes: list[str] = []

    @property
    def is_empty(self) -> bool:
        return not (self.adopted or self.fenced or self.resumed or self.repeated or self.skipped)


def startup_findings(left: Collection[InterruptedLane]) -> StartupFindings:
    dead = [each for each in left if not each.holder or each.process_gone]
    live = [each for each in left if each.holder and not each.process_gone]
    return StartupFindings(
        adopted=[f"{each.lane}: {each.holder}" for each in live],
        adopted_lanes=[each.lane for each in live],
        fenced=[
            f"{each.lane}: {each.holder} is gone"
            for each in left
            if each.holder and each.process_gone
        ],
        resumed=[
            f"{each.lane}: after iteration {each.iterations}" for each in dead if each.iterations
        ],
        repeated=[each.unit for each in dead if each.unit and not each.landed],
        skipped=[each.unit for each in dead if each.unit and each.landed],
    )
