"""Which workers are dead, alive, or alive without progress: who holds each lane, as plans take it.

More is needed to call a holder dead here than for `dos liveness`: a dead holder loses its lane to
another worker. Silence is not enough; its process must be gone, or its lease expired by the
store's own clock. A journal that cannot be read frees no lane: every lane then counts as held.

Also here: which runs should be halted, and which lane a unit belongs to.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from shlex import quote

from msgspec import UNSET, Struct, json, structs

from dos.config.schema import Config
from dos.errors import DosError
from dos.fields import check_counts
from dos.fleet.population.types import LaneLiveness
from dos.lanes import parts
from dos.lanes.parts import LanesWithParts
from dos.lease import LEASE_OVER, PROCESS_GONE, Lease
from dos.loop.verdicts import liveness
from dos.loop.verdicts.liveness import Answer, Evidence, Policy, Verdict
from dos.text import comparison_key, join_some
from dos.units.unit import Unit

HANDLE = "auto"  # stands for any free lane: workers are launched under it up to the budget


class LeaseHealth(Struct, frozen=True, kw_only=True):
    """What a lease counts for when workers are placed."""

    answer: Answer | None  # None: there is no lease
    why: str = ""  # does not depend on when it was asked
    spinning_age_ms: int | None = None


EXITED = LeaseHealth(answer=Answer.STALLED, why=PROCESS_GONE)
EXPIRED = LeaseHealth(answer=Answer.STALLED, why=LEASE_OVER)


def lease_health(evidence: Evidence, policy: Policy = Policy()) -> LeaseHealth:
    """Judge whether the holder of a lease is dead, alive, or alive without progress."""
    if evidence.lapsed:
        return EXPIRED
    verdict = liveness.judge(evidence, policy)
    if verdict.answer is Answer.UNKNOWN:
        return LeaseHealth(answer=Answer.UNKNOWN, why=verdict.reason)
    if evidence.process_alive is False:
        return EXITED
    if verdict.answer is Answer.ADVANCING:
        return LeaseHealth(answer=Answer.ADVANCING)
    if verdict.answer is Answer.STALLED:
        why = "it sends no heartbeat, and its lease is not over"
    else:
        why = "it is alive, and nothing lands"
    age_ms = _progress_age_ms(evidence)
    return LeaseHealth(answer=Answer.SPINNING, why=why, spinning_age_ms=age_ms)


class HaltPolicy(Struct, frozen=True, kw_only=True):
    """When a halt is proposed."""

    budget_ms: int | None = None  # a stalled run younger than this is left alone; None: none is
    repropose_ms: int = 1_800_000

    def __post_init__(self) -> None:
        check_counts(budget_ms=self.budget_ms, repropose_ms=self.repropose_ms)


class HaltCandidate(Struct, frozen=True, kw_only=True):
    """A run that is watched, with the verdict on it and the proposals so far."""

    run_id: str
    verdict: Verdict
    evidence: Evidence
    lane: str = ""
    loop_ts: str = ""
    handle: str = ""  # what is to be stopped
    ended: bool = False  # the journal says how it ended, so that there is nothing to stop
    proposed_ms: tuple[int, ...] = ()  # when a halt was proposed since its last progress

    @property
    def moved_ms(self) -> int:
        """When it last made progress; names the period without progress since then."""
        return self.evidence.now_ms - _progress_age_ms(self.evidence)


def within_budget(run: HaltCandidate, policy: HaltPolicy = HaltPolicy()) -> bool:
    """Whether a stalled run is too young for a halt to be proposed."""
    too_young = policy.budget_ms is not None and run.evidence.age_ms < policy.budget_ms
    return run.verdict.answer is Answer.STALLED and too_young


def is_due(run: HaltCandidate, policy: HaltPolicy = HaltPolicy()) -> bool:
    """Whether a halt of the run is to be proposed now.

    Once for each period without progress, and again after `repropose_ms`.
    """
    makes_progress = run.verdict.answer not in (Answer.SPINNING, Answer.STALLED)
    if run.ended or makes_progress or within_budget(run, policy):
        return False
    if not run.proposed_ms:
        return True
    return run.evidence.now_ms - max(run.proposed_ms) >= policy.repropose_ms


def _progress_age_ms(evidence: Evidence) -> int:
    """The time since the last progress, or since the run began where there was none."""
    if evidence.progress_age_ms is None:
        return evidence.age_ms
    return evidence.progress_age_ms


class LaneHolders(Struct, frozen=True, kw_only=True):
    """The leases on lanes with the health of each, and the workers that were launched."""

    leases: Sequence[Lease] = ()
    health: Mapping[int, LeaseHealth] = {}  # by the fence of each lease
    launched: Mapping[str, int] = {}  # lane -> how many workers have no lease yet

    def is_dead(self, lease: Lease) -> bool:
        """Whether the holder of the lease has stalled, so that its lane may be given away."""
        return self.health[lease.fence].answer is Answer.STALLED

    def dead_leases(self) -> dict[str, Lease]:
        """Return the leases whose holder is dead, by lane."""
        return {lease.lane: lease for lease in self.leases if self.is_dead(lease)}


def leases_by_lane(config: Config, leases: Iterable[Lease]) -> dict[str, Lease]:
    """Return the leases by the names that the roster has now.

    The spelling in dos.toml may have changed since a lease was granted.
    """
    names = {comparison_key(name): name for name in config.roster()}
    return {names.get(comparison_key(lease.lane), lease.lane): lease for lease in leases}


def entries(
    config: Config,
    holders: LaneHolders,
    *,
    waits: Mapping[str, str] = {},
    no_workers: Collection[int] = (),
    repeats: bool = False,
) -> tuple[LaneLiveness, ...]:
    """Return the lanes as the population plan takes them.

    `waits` says of a lane why no worker may be started on it. `no_workers` are the fences of
    leases that do not count as workers. With `repeats`, lanes of autopick may be listed under one
    name several times.
    """
    lanes = _Lanes(config, repeats=repeats, waits=waits, no_workers=no_workers)
    return tuple(lanes.entries(holders))


def repeatable_lanes(config: Config) -> set[str]:
    """Return the names under which several workers may be launched, where a budget allows it."""
    return _Lanes(config, repeats=True).repeatable


def unreadable_entries(config: Config, error: DosError) -> tuple[LaneLiveness, ...]:
    """Return all lanes as held, because their holders could not be read."""
    lanes = _Lanes(config, repeats=False)
    health = LeaseHealth(answer=Answer.UNKNOWN, why=error.message)
    return tuple(lanes.entry(name, health) for name in config.roster())


class _Lanes:
    """The roster of `dos.toml`, and the name that is added to it for a budget."""

    def __init__(
        self,
        config: Config,
        *,
        repeats: bool,
        waits: Mapping[str, str] = {},
        no_workers: Collection[int] = (),
    ) -> None:
        lanes = config.lanes
        self.trees = lanes.trees
        self.whole_of = lanes.whole_of
        self.exclusive = frozenset(lanes.exclusive)
        self.waits = waits
        self.no_workers = no_workers
        self.handle = HANDLE
        while config.canonical_lane(self.handle):
            self.handle += "*"
        self.names = list(config.roster())
        self.repeatable: set[str] = set()
        if repeats:
            self.names.append(self.handle)
            picked = {comparison_key(lane) for lane in (*lanes.autopick, self.handle)}
            if isinstance(lanes, LanesWithParts):  # those are listed, so that none repeats a name
                picked -= {comparison_key(lane) for lane in lanes.repeatable}
            else:
                picked |= {comparison_key(lane) for lane in lanes.repeatable}
            for name in self.names:
                if comparison_key(name) in picked and name not in self.exclusive:
                    self.repeatable.add(name)

    def entries(self, holders: LaneHolders) -> Iterator[LaneLiveness]:
        """Yield the roster's lanes, then the leases that belong to no lane of it.

        A lane is listed once for each of its leases and launches.
        """
        leases_by_key: dict[str, list[Lease]] = {}
        for lease in holders.leases:
            leases_by_key.setdefault(comparison_key(lease.lane), []).append(lease)
        for name in self.names:
            leases = leases_by_key.pop(comparison_key(name), [])
            yield from self._lane_entries(name, leases, holders)
        for leases in leases_by_key.values():
            for lease in leases:
                health = holders.health[lease.fence]
                yield self.entry(lease.lane, health, lease, off_roster=True)

    def _lane_entries(
        self, name: str, leases: Sequence[Lease], holders: LaneHolders
    ) -> Iterator[LaneLiveness]:
        """Yield an entry for each lease and launch of a lane, or one that says that it is free."""
        launched = holders.launched.get(name, 0)
        is_repeatable = name in self.repeatable
        has_launch = launched > 0 and not is_repeatable
        for lease in leases:
            # A worker that was launched in place of a dead holder is waited for.
            pending = has_launch and holders.is_dead(lease)
            yield self.entry(name, holders.health[lease.fence], lease, pending=pending)
        if is_repeatable:
            for _ in range(launched):
                yield self.entry(name, pending=True)
        if not leases and (not launched or not is_repeatable or name == self.handle):
            yield self.entry(name, pending=has_launch)

    def entry(
        self,
        name: str,
        health: LeaseHealth | None = None,
        lease: Lease | None = None,
        *,
        pending: bool = False,
        off_roster: bool = False,
    ) -> LaneLiveness:
        """Return one entry of the plan's evidence; fields that say nothing are left unset."""
        health = health or LeaseHealth(answer=None)
        tree = self.trees.get(name, ())
        is_exclusive = name in self.exclusive
        is_person = False
        if lease is not None:  # it may have been granted before dos.toml was changed
            tree = tuple(dict.fromkeys((*tree, *lease.region.globs)))
            is_exclusive = is_exclusive or lease.exclusive
            is_person = lease.fence in self.no_workers
        return LaneLiveness(
            lane=name,
            liveness=health.answer,
            tree=tree,
            is_exclusive=is_exclusive,
            pending=pending,
            spinning_age_ms=health.spinning_age_ms,
            repeatable=name in self.repeatable and not is_exclusive,
            off_roster=off_roster or UNSET,
            why=health.why or UNSET,
            waits=self.waits.get(name, "") or UNSET,
            is_person=is_person or UNSET,
            part_of=self.whole_of(name) or UNSET,
        )


def why_unstaffed(unit: Unit, config: Config) -> str:
    """Return why the unit's lane never gets a worker; empty where it does."""
    lane = lane_of(unit, config)
    if lane and config.lanes.whole_of(lane):
        return ""
    if lane is None and unit.lane:
        return f"its lane {unit.lane!r} is not declared"
    if lane is None:
        return "it names no lane, and [lanes] autopick is empty"
    if lane not in config.roster():
        return (
            f"no worker is placed on its lane {lane!r}, which is neither concurrent nor exclusive"
        )
    return ""


def how_to_staff(unit: Unit, config: Config) -> str:
    """Return what to do so that a worker takes a unit whose lane never gets one."""
    lane = lane_of(unit, config)
    if lane is None:
        lanes = join_some(config.roster())
        where = f"{unit.document}:{unit.line}"
        return f"write `- lane: LANE` with one of {lanes} below {where}"
    # A first concurrent lane would take those of autopick from the workers that share them.
    role = "concurrent" if config.lanes.concurrent or not config.lanes.repeatable else "repeatable"
    named = json.encode([*getattr(config.lanes, role), lane]).decode()
    return f"`dos config set lanes.{role} {quote(named)}` places one"


def lane_of(unit: Unit, config: Config) -> str | None:
    """Return the unit's lane; a unit that names none goes to the first lane of autopick.

    It is a part of a repeatable lane where the lanes were taken `with_parts`.
    """
    return parts.lane_of(config.lanes, unit)


def with_parts(config: Config, units: Sequence[Unit], landed: Collection[str] = ()) -> Config:
    """Return the settings with a lane for each part of a repeatable lane."""
    lanes = parts.with_parts(config.lanes, units, landed=landed)
    if lanes is config.lanes:
        return config
    return structs.replace(config, lanes=lanes)
