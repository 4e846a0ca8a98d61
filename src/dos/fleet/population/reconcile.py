"""The actions of a supervisor, from the population plan; what a run's end means for its lane.

Also what a supervisor finds when it starts.
"""

from collections.abc import Collection, Sequence

from msgspec import Struct, structs

from dos.fleet.population.supervise import supervise_with_obstacles
from dos.fleet.population.types import (
    LaneLiveness,
    Obstacle,
    SuperviseEvidence,
    SupervisePolicy,
    SuperviseVerdict,
)
from dos.lease import LEASE_OVER
from dos.loop.types import StopReason, WorkerStop
from dos.questions.lanes import LaneFailed
from dos.reasons.table import Needs

START_SECONDS = 120.0  # a worker without a lease by then has failed to start
REST_SECONDS = 30.0  # after a run was told to wait

# Stops of runs that found no unit they may take: over as soon as there is one to offer.
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
NO_ROOM_STOP = WorkerStop.DECISION_NEEDED  # over as soon as a budget or a provider allows a start
STOPPED_BY_PERSON = (WorkerStop.HALTED,)  # the person need not be asked about it

# Stops of runs whose units failed in a row: the units wait for a person, the lane does not.
UNITS_FAILED_STOPS = frozenset({StopReason.CONSECUTIVE_DIRTY_ZERO, StopReason.CONSECUTIVE_UNCLEAR})


def is_stuck(stop_reason: str, needs: str) -> bool:
    """Whether only a person can clear what a lane's last run stopped for."""
    if needs not in (Needs.OPERATOR, Needs.ENVIRONMENT):
        return False
    return stop_reason not in NO_WORK_STOPS and stop_reason != NO_ROOM_STOP


def holds_only_units(stop_reason: str, failed: Sequence[str]) -> bool:
    """Whether the run stopped for units that failed, so that only they are held."""
    return bool(failed) and stop_reason in UNITS_FAILED_STOPS


def found_no_work(stop_reason: str, landed: int) -> bool:
    """Whether the run landed nothing because it found nothing that it may do."""
    if landed:
        return False
    return stop_reason in NO_WORK_STOPS or stop_reason == NO_ROOM_STOP


class Spawn(Struct, frozen=True, tag="spawn"):
    """Start a worker on a lane."""

    lane: str


class Reap(Struct, frozen=True, tag="reap"):
    """Revoke the lease of a dead worker."""

    lane: str
    reason: str


class Flag(Struct, frozen=True, tag="flag"):
    """Flag a worker that is alive and lands nothing."""

    lane: str
    reason: str
    asks: bool  # a halt is proposed


class GiveUp(Struct, frozen=True, tag="give_up"):
    """Disable a lane whose workers keep dying, and ask a person about it."""

    question: LaneFailed

    @property
    def lane(self) -> str:
        return self.question.lane


Action = Spawn | Reap | Flag | GiveUp


class Plan(Struct, frozen=True, kw_only=True):
    """The population plan, and the actions that follow from it, in order."""

    verdict: SuperviseVerdict
    obstacles: Sequence[Obstacle]  # of lanes that wait for nothing by themselves
    actions: Sequence[Action]


def plan(
    lanes: tuple[LaneLiveness, ...],
    target: int,
    policy: SupervisePolicy = SupervisePolicy(),
    *,
    failing: Sequence[LaneFailed] = (),
) -> Plan:
    """Plan the actions of one tick.

    `failing` are the lanes whose workers keep dying, each as the question about it.
    """
    evidence = SuperviseEvidence(lanes=lanes, target=target)
    verdict, obstacles = supervise_with_obstacles(evidence, policy)
    actions: list[Action] = []
    for entry in _dead(lanes, verdict):
        actions.append(Reap(entry.lane, entry.why or LEASE_OVER))
    actions += _flags(lanes, verdict, policy)
    actions += map(GiveUp, failing)
    actions += [Spawn(row.lane) for row in verdict.spawn]
    return Plan(verdict=verdict, obstacles=obstacles, actions=actions)


def _dead(lanes: Sequence[LaneLiveness], verdict: SuperviseVerdict) -> list[LaneLiveness]:
    reaped = {row.lane for row in verdict.reap}
    return [
        entry
        for entry in lanes
        if entry.lane in reaped and entry.liveness == "STALLED" and not entry.pending
    ]


def _flags(
    lanes: Sequence[LaneLiveness], verdict: SuperviseVerdict, policy: SupervisePolicy
) -> list[Flag]:
    proposed = {row.lane for row in verdict.proposed_halt}
    reasons = {row.lane: row.reason for row in verdict.flag}
    flags = []
    for entry in lanes:
        is_spinning = entry.liveness == "SPINNING" and not entry.pending
        if is_spinning and entry.lane in reasons:
            asks = policy.spin_halt_after_ms is None or entry.lane in proposed
            flags.append(Flag(entry.lane, reasons[entry.lane], asks=asks))
    return flags


class InterruptedLane(Struct, frozen=True, kw_only=True):
    """A lane on which a worker ran when the journal was last written."""

    lane: str
    holder: str = ""  # of the lease; empty: none
    process_gone: bool = False  # its process has exited
    iterations: int = 0  # the last one that its run recorded
    unit: str = ""  # begun, and not recorded
    landed: bool = False  # the unit is on the target branch, or its landing was intended


class StartupFindings(Struct, frozen=True, kw_only=True):
    """What becomes of the lanes that a supervisor finds when it starts."""

    adopted: list[str]  # in words, as `fenced` and `resumed`
    fenced: list[str]
    resumed: list[str]
    repeated: list[str]  # units, as `skipped`
    skipped: list[str]
    adopted_lanes: list[str] = []

    @property
    def is_empty(self) -> bool:
        return not (self.adopted or self.fenced or self.resumed or self.repeated or self.skipped)


def startup_findings(lanes: Collection[InterruptedLane]) -> StartupFindings:
    """Say of each lane whether its worker is adopted, or fenced and resumed by another one."""
    findings = StartupFindings(adopted=[], fenced=[], resumed=[], repeated=[], skipped=[])
    adopted_lanes: list[str] = []
    for lane in lanes:
        if lane.holder and not lane.process_gone:
            findings.adopted.append(f"{lane.lane}: {lane.holder}")
            adopted_lanes.append(lane.lane)
            continue
        if lane.holder:
            findings.fenced.append(f"{lane.lane}: {lane.holder} is gone")
        if lane.iterations:
            findings.resumed.append(f"{lane.lane}: after iteration {lane.iterations}")
        if lane.unit and lane.landed:
            findings.skipped.append(lane.unit)
        elif lane.unit:
            findings.repeated.append(lane.unit)
    return structs.replace(findings, adopted_lanes=adopted_lanes)
