"""Who holds which lane, as the population plan takes it, and which lane a unit belongs to.

A journal that cannot be read frees no lane: every lane then counts as held.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from shlex import quote

from msgspec import UNSET, Struct, json

from dos.config.schema import Config
from dos.errors import DosError
from dos.fleet.population.lease_health import LeaseHealth
from dos.fleet.population.types import LaneLiveness
from dos.lease import Lease
from dos.loop.verdicts.liveness import Answer
from dos.text import comparison_key, join_some
from dos.units.unit import Unit

HANDLE = "auto"  # stands for any free lane: workers are launched under it up to the budget


class LaneHolders(Struct, frozen=True, kw_only=True):
    """The leases on lanes with the health of each, and the workers that were launched."""

    leases: Sequence[Lease] = ()
    health: Mapping[int, LeaseHealth] = {}  # by the fence of each lease
    launched: Mapping[str, int] = {}  # lane -> how many workers have no lease yet

    def is_dead(self, lease: Lease) -> bool:
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
            self.repeatable = {
                name
                for name in self.names
                if comparison_key(name) in picked and name not in self.exclusive
            }

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
        )


def why_unstaffed(unit: Unit, config: Config) -> str:
    """Return why the unit's lane never gets a worker; empty where it does."""
    lane = lane_of(unit, config)
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
    concurrent = json.encode([*config.lanes.concurrent, lane]).decode()
    return f"`dos config set lanes.concurrent {quote(concurrent)}` places one"


def lane_of(unit: Unit, config: Config) -> str | None:
    """Return the unit's lane; a unit that names none goes to the first lane of autopick."""
    if unit.lane:
        return config.canonical_lane(unit.lane)
    if config.lanes.autopick:
        return config.lanes.autopick[0]
    return None
