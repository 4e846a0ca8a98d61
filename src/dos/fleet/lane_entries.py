"""Who works on which lane: the journal's leases and launches, git's commits in each region, the system's processes.

A journal that cannot be read frees nobody's lane: then every lane is held, by whom is not known.
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

HANDLE = (
    "auto"  # a name for "any lane that is free", under which workers are launched up to the budget
)


class LaneHolders(Struct, frozen=True, kw_only=True):
    """Who holds a lane, or was launched and is on the way to one."""

    leases: Sequence[Lease] = ()
    health: Mapping[int, LeaseHealth] = {}  # by the fence of each lease
    launched: Mapping[str, int] = {}  # lane -> how many workers are on their way to it

    def dead_leases(self) -> dict[str, Lease]:
        """The leases whose holder is gone, by lane."""
        return {
            lease.lane: lease
            for lease in self.leases
            if self.health[lease.fence].answer is Answer.STALLED
        }


def leases_by_lane(config: Config, leases: Iterable[Lease]) -> dict[str, Lease]:
    """Each lease under its lane as the roster spells it now: dos.toml may have changed since it was granted."""
    spelled = {comparison_key(name): name for name in config.roster()}
    return {spelled.get(comparison_key(lease.lane), lease.lane): lease for lease in leases}


def entries(
    config: Config,
    staff: LaneHolders,
    *,
    waits: Mapping[str, str] = {},
    no_workers: Collection[int] = (),
    repeats: bool = False,
) -> tuple[LaneLiveness, ...]:
    """The lanes as a plan sees them. `waits` says of a lane why nobody may be started on it; `no_workers` are the
    fences of leases that fill no place; with `repeats`, lanes of autopick are launched under one name several times."""
    return tuple(_Lanes(config, repeats=repeats, waits=waits, no_workers=no_workers).entries(staff))


def repeatable_lanes(config: Config) -> set[str]:
    """The names under which several workers may be launched, where there is a budget for it."""
    return _Lanes(config, repeats=True).repeatable


def unreadable_entries(config: Config, error: DosError) -> tuple[LaneLiveness, ...]:
    """What cannot be read is held, never free."""
    lanes = _Lanes(config, repeats=False)
    why = LeaseHealth(answer=Answer.UNKNOWN, why=error.message)
    return tuple(lanes.entry(name, why) for name in config.roster())


class _Lanes:
    """The roster as `dos.toml` has it, and what is added to it for a budget."""

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
        self.names = [*config.roster(), *([self.handle] if repeats else [])]
        picked = (
            {comparison_key(lane) for lane in (*lanes.autopick, self.handle)} if repeats else set()
        )
        self.repeatable = {
            name
            for name in self.names
            if comparison_key(name) in picked and name not in self.exclusive
        }

    def entries(self, staff: LaneHolders) -> Iterator[LaneLiveness]:
        """The roster, a lane once for each of its leases and launches; then the leases that belong to no lane of it."""
        held: dict[str, list[Lease]] = {}
        for lease in staff.leases:
            held.setdefault(comparison_key(lease.lane), []).append(lease)
        for name in self.names:
            yield from self._of_lane(
                name, held.pop(comparison_key(name), []), staff.health, staff.launched.get(name, 0)
            )
        for others in held.values():
            for lease in others:
                yield self.entry(lease.lane, staff.health[lease.fence], lease, off_roster=True)

    def _of_lane(
        self, name: str, leases: Sequence[Lease], stands: Mapping[int, LeaseHealth], launched: int
    ) -> Iterator[LaneLiveness]:
        several = name in self.repeatable
        for lease in leases:
            dead = stands[lease.fence].answer is Answer.STALLED
            # Whoever was launched to follow a dead holder is waited for.
            yield self.entry(
                name, stands[lease.fence], lease, pending=dead and launched > 0 and not several
            )
        if several:
            yield from (self.entry(name, pending=True) for _ in range(launched))
        if not leases and (not launched or not several or name == self.handle):
            yield self.entry(name, pending=launched > 0 and not several)

    def entry(
        self,
        name: str,
        found: LeaseHealth | None = None,
        lease: Lease | None = None,
        *,
        pending: bool = False,
        off_roster: bool = False,
    ) -> LaneLiveness:
        exclusive = name in self.exclusive or (lease is not None and lease.exclusive)
        tree = self.trees.get(name, ())
        if lease is not None:  # it may have been granted before dos.toml was changed
            tree = tuple(dict.fromkeys((*tree, *lease.region.globs)))
        return LaneLiveness(
            lane=name,
            liveness=found.answer if found else None,
            tree=tree,
            is_exclusive=exclusive,
            pending=pending,
            spinning_age_ms=found.spinning_age_ms if found else None,
            repeatable=name in self.repeatable and not exclusive,
            off_roster=off_roster or UNSET,
            why=(found.why if found else "") or UNSET,
            waits=self.waits.get(name, "") or UNSET,
            is_person=(lease is not None and lease.fence in self.no_workers) or UNSET,
        )


def why_unstaffed(unit: Unit, config: Config) -> str:
    """Why no worker is ever placed on the unit's lane; empty: one is."""
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
    """What to do so that a worker takes a unit that none would take."""
    lane = lane_of(unit, config)
    if lane is None:
        return f"write `- lane: LANE` with one of {join_some(config.roster())} below {unit.document}:{unit.line}"
    lanes = json.encode([*config.lanes.concurrent, lane]).decode()
    return f"`dos config set lanes.concurrent {quote(lanes)}` places one"


def lane_of(unit: Unit, config: Config) -> str | None:
    """The unit's own lane; a unit that names none goes to the first lane that is picked by itself."""
    if unit.lane:
        return config.canonical_lane(unit.lane)
    return config.lanes.autopick[0] if config.lanes.autopick else None
