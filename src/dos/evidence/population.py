"""Who works on which lane: the journal's leases and launches, git's commits in each region, the system's processes.

A journal that cannot be read frees nobody's lane: then every lane is held, by whom is not known.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import UNSET, Struct

from dos.config.tables import Config
from dos.errors import StoreFailed
from dos.evidence import launches
from dos.evidence.progress import liveness as progress
from dos.evidence.progress import policies
from dos.plans.standing import Standing, standing
from dos.plans.ticks import LaneLiveness, SuperviseEvidence
from dos.records.leases import Lease
from dos.records.names import folded
from dos.sources.world import World
from dos.verdicts.progress.liveness import Answer

HANDLE = "auto"  # a name for "any lane that is free", under which workers are launched up to the budget


class Gathered(Struct, frozen=True, kw_only=True):
    evidence: SuperviseEvidence
    handles: dict[str, str]  # of each lane that somebody holds: what would have to be stopped


def gather(
    world: World, config: Config, *, target: int, max_concurrency: int | None = None, now_ms: int | None = None
) -> Gathered:
    lanes = _Lanes(config, repeats=max_concurrency is not None)
    try:
        with world.journal.backend.read() as view:
            leases = [lease for lease in view.leases() if not lease.is_lock]
            moment = progress.Moment(view, now_ms)
            waiting = launches.pending(view, lanes.names, leases, moment.now_ms)
        seen = progress.gather(world.journal, world.workspace, leases, now_ms=moment.now_ms)
    except StoreFailed as error:
        unread = Standing(answer=Answer.UNKNOWN, why=error.message)
        entries = tuple(lanes.entry(name, unread) for name in config.roster())
        return Gathered(evidence=SuperviseEvidence(lanes=entries, target=target), handles={})
    policy = policies.of_liveness(config)
    stands = {lease.fence: standing(seen[lease.fence], policy) for lease in leases}
    return Gathered(
        evidence=SuperviseEvidence(lanes=tuple(lanes.entries(leases, stands, waiting)), target=target),
        handles={lease.lane: lease.run_id or str(lease.pid or lease.holder) for lease in leases},
    )


class _Lanes:
    """The roster as `dos.toml` has it, and what is added to it for a budget."""

    def __init__(self, config: Config, *, repeats: bool) -> None:
        lanes = config.lanes
        self.trees = lanes.trees
        self.exclusive = frozenset(lanes.exclusive)
        self.handle = HANDLE
        while config.canonical_lane(self.handle):
            self.handle += "*"
        self.names = [*config.roster(), *([self.handle] if repeats else [])]
        picked = {folded(lane) for lane in (*lanes.autopick, self.handle)} if repeats else set()
        self.repeatable = {name for name in self.names if folded(name) in picked and name not in self.exclusive}

    def entries(
        self, leases: Sequence[Lease], stands: Mapping[int, Standing], waiting: Mapping[str, int]
    ) -> Iterator[LaneLiveness]:
        """The roster, a lane once for each of its leases and launches; then the leases that belong to no lane of it."""
        held: dict[str, list[Lease]] = {}
        for lease in leases:
            held.setdefault(folded(lease.lane), []).append(lease)
        for name in self.names:
            yield from self._of_lane(name, held.pop(folded(name), []), stands, waiting.get(name, 0))
        for others in held.values():
            for lease in others:
                yield self.entry(lease.lane, stands[lease.fence], lease, off_roster=True)

    def _of_lane(
        self, name: str, leases: Sequence[Lease], stands: Mapping[int, Standing], launched: int
    ) -> Iterator[LaneLiveness]:
        several = name in self.repeatable
        for lease in leases:
            dead = stands[lease.fence].answer is Answer.STALLED
            # Whoever was launched to follow a dead holder is waited for.
            yield self.entry(name, stands[lease.fence], lease, pending=dead and launched > 0 and not several)
        if several:
            yield from (self.entry(name, pending=True) for _ in range(launched))
        if not leases and (not launched or not several or name == self.handle):
            yield self.entry(name, pending=launched > 0 and not several)

    def entry(
        self,
        name: str,
        found: Standing | None = None,
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
        )
