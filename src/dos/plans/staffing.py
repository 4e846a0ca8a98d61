"""Which lanes of the fleet get a worker, whose lease is taken back, and which lane is given up on?

The population plan, over the lanes that have work and may be worked on now.
"""

from collections.abc import Sequence

from msgspec import Struct, structs

from dos.plans.iterations import StopReason
from dos.plans.population import supervise
from dos.plans.ticks import LaneLiveness, SuperviseEvidence, SupervisePolicy
from dos.records.reasons import Needs
from dos.records.regions import Region
from dos.verdicts.progress.liveness import Answer as Liveness

START_SECONDS = 120.0  # a worker that has not taken its lease by then is not coming
REST_SECONDS = 30.0  # after a run was told to wait

# What a run stopped for that found nothing it may take: over as soon as there is a unit to offer.
WANTS_WORK = frozenset(
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
WANTS_ROOM = "decision-needed"  # of a budget or a provider: over as soon as there is some

# What a run stops for when units failed one after the other: they wait for a person, and the lane's others do not.
UNITS_FAILED = frozenset({StopReason.CONSECUTIVE_DIRTY_ZERO, StopReason.CONSECUTIVE_UNCLEAR})


def is_stuck(stop_reason: str, needs: str) -> bool:
    """Only a person can clear what a lane's last run stopped for."""
    return needs in (Needs.OPERATOR, Needs.ENVIRONMENT) and stop_reason not in (*WANTS_WORK, WANTS_ROOM)


def is_about_units(stop_reason: str, failed: Sequence[str]) -> bool:
    """The run stopped for units that it tried in vain: only they are held, not their lane."""
    return bool(failed) and stop_reason in UNITS_FAILED


class Lane(Struct, frozen=True, kw_only=True):
    """A lane of the roster, as seen now."""

    name: str
    region: Region
    exclusive: bool = False
    offerable: int = 0  # units that a worker could take
    held: bool = False  # somebody has a lease on it that has not lapsed
    ours: bool = True  # a worker holds it; a person's lease keeps the region and fills no place
    holder_gone: bool = False  # the lease is there and its process, by the system's word, is not
    pending: bool = False  # a worker was started and has no lease yet
    failed: bool = False  # given up on until a person clears it
    resting: bool = False  # there is something to wait for: a time, a limit, a pause
    unchecked: bool = False  # its host's baseline has to be checked first
    spinning: bool = False  # whoever holds it is flagged: alive, and lands nothing
    recent_starts: int = 0  # of workers that ended without a word
    most_starts: int = 3  # so many of them, and it is a person's decision

    @property
    def taken(self) -> bool:
        return self.held or self.pending

    @property
    def wants_worker(self) -> bool:
        return not (self.taken or self.failed or self.resting) and self.offerable > 0

    @property
    def could_start(self) -> bool:
        return self.wants_worker and not self.unchecked

    @property
    def keeps_dying(self) -> bool:
        return self.recent_starts >= self.most_starts


class Spawn(Struct, frozen=True, tag="spawn"):
    lane: str


class Reap(Struct, frozen=True, tag="reap"):
    lane: str
    reason: str


class GiveUp(Struct, frozen=True, tag="give_up"):
    lane: str
    reason: str


Action = Spawn | Reap | GiveUp


def plan(lanes: Sequence[Lane], target: int, policy: SupervisePolicy = SupervisePolicy()) -> list[Action]:
    """Reap the dead, give up on lanes whose workers keep dying, then fill up to the target."""
    dead = [lane for lane in lanes if lane.held and lane.holder_gone and policy.reap_stalled]
    actions: list[Action] = [Reap(lane.name, "its process is gone") for lane in dead]
    actions += [
        GiveUp(lane.name, f"{lane.recent_starts} workers died one after the other; `dos logs {lane.name}` says why")
        for lane in lanes
        if lane.could_start and lane.keeps_dying
    ]
    seen = tuple(_liveness(lane) for lane in lanes if lane.taken or (lane.could_start and not lane.keeps_dying))
    theirs = sum(lane.held and not lane.ours and not lane.holder_gone for lane in lanes)
    # A lease may turn out to be alive when it is taken back: its lane is filled at the next look.
    kept = structs.replace(policy, reap_stalled=False)
    verdict = supervise(SuperviseEvidence(lanes=seen, target=target + theirs), kept)
    return actions + [Spawn(row.lane) for row in verdict.spawn]


def _liveness(lane: Lane) -> LaneLiveness:
    held = Liveness.SPINNING if lane.spinning else Liveness.ADVANCING
    return LaneLiveness(
        lane=lane.name,
        tree=lane.region.globs,
        is_exclusive=lane.exclusive,
        liveness=(Liveness.STALLED if lane.holder_gone else held) if lane.held else None,
        pending=lane.pending,
    )
