"""Reads the fleet as `dos top` shows it, again and again; each look folds only the new events."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from dos.agents.io import logs
from dos.backlog.waiting import Waits
from dos.errors import BadInput
from dos.fleet import observe
from dos.fleet.io import launches
from dos.fleet.state.fleet import FleetState
from dos.fleet.state.live import LiveState
from dos.journal import fold, streams
from dos.journal.store import Store
from dos.lanes.policy import Lanes
from dos.lease import Lease
from dos.limits.quota import AgentCandidate
from dos.limits.state.quota import ProviderLimits
from dos.machine import process
from dos.questions.io import attention
from dos.questions.state import Decisions
from dos.report.top import HeldLease, Snapshot
from dos.unknown import Unknown
from dos.world import World

LIVENESS_SECONDS = 60.0  # progress of workers is not read from git more often than this
SILENT_SHARE = 0.5  # of the time after which a silent agent counts as hung


class Holders(NamedTuple):
    """The leases of lanes and of supervisors, each with whether its holder is still alive."""

    lanes: list[HeldLease]
    supervisors: list[HeldLease]

    @property
    def has_supervisor(self) -> bool:
        """Whether a supervisor runs on any host, as far as its lease and its process tell."""
        return any(not held.gone and not held.lapsed for held in self.supervisors)


def read_holders(store: Store) -> Holders:
    """Return who holds the lanes and who supervises, at one moment."""
    with store.backend.read() as view:
        return _with_health(view.leases(), view.lease_ms(), view.boot())


def _with_health(leases: Iterable[Lease], lease_ms: int, boot: str) -> Holders:
    """Return the leases with their health; named locks other than supervisors are left out.

    Whether a process has exited is known only for processes of this host.
    """
    holders = Holders([], [])
    for lease in leases:
        held = HeldLease(
            lease=lease,
            lapsed=lease.has_lapsed(lease_ms, boot),
            gone=process.holder_has_exited(lease),
        )
        if not lease.is_lock:
            holders.lanes.append(held)
        elif lease.lane in streams.supervisor:
            holders.supervisors.append(held)
    return holders


class SnapshotReader:
    """Reads snapshots from one journal and the logs in its state directory.

    Logs are read only for their time of change: an agent that prints nothing for long may hang.
    """

    def __init__(
        self,
        store: Store,
        state: Path,
        *,
        roster: Sequence[str] = (),
        lanes: Lanes = Lanes(),
        silent_after_ms: int | None = None,
        agents: Sequence[AgentCandidate] | None = None,
    ) -> None:
        """Read from this journal.

        `roster` are the lanes that are shown even if nothing happened on them, `lanes` say which
        are repeatable; after
        `silent_after_ms` without output an agent is shown as silent, never with None; `agents` are
        those whose limits are shown, with None those of all.
        """
        self._store = store
        self._state = state
        self._roster = list(roster)
        self._lanes = lanes
        self._silent_after_ms = silent_after_ms
        self._agents = agents
        self._watch = fold.Watch(store, FleetState, LiveState, Decisions, ProviderLimits)

    @property
    def pos(self) -> int:
        """The position of the newest event that was read."""
        return self._watch.pos

    def read(self) -> Snapshot:
        """Return the fleet at one moment.

        Events and leases are of one transaction: between two a worker could end.
        """
        while True:
            self._watch.refresh()
            with self._store.backend.read() as view:
                if view.last() == self.pos:
                    leases = view.leases()
                    lease_ms = view.lease_ms()
                    boot = view.boot()
                    now_ms = view.wall_ms()
                    break
        holders = _with_health(leases, lease_ms, boot)
        fleet = self._watch.state(FleetState)
        return Snapshot(
            now_ms=now_ms,
            fleet=fleet,
            watching=self._watch.state(LiveState),
            decisions=self._watch.state(Decisions),
            quota=self._watch.state(ProviderLimits),
            held=holders.lanes,
            supervisors=holders.supervisors,
            launched=launches.lanes_awaiting_worker(fleet, self._state, now_ms),
            last_output_ms=self._last_output_ms(holders.lanes),
            roster=self._roster,
            lanes=self._lanes,
            silent_after_ms=self._silent_after_ms,
            agents=self._agents,
        )

    def _last_output_ms(self, lanes: Sequence[HeldLease]) -> dict[str, int]:
        """Return when the agent of each run last printed something, by its log on this host."""
        times: dict[str, int] = {}
        for held in lanes:
            lease = held.lease
            if not lease.run_id or not process.is_local(lease):
                continue
            lane_logs = logs.lane_logs(self._state, lease.lane, lease.run_id)
            if not lane_logs:
                continue
            modified_ms = logs.modified_ms(lane_logs[-1])
            if modified_ms is not None:
                times[lease.run_id] = modified_ms
        return times


class FleetWatch:
    """Reads snapshots of a fleet together with what its lanes wait for.

    The second look reads only what is new. Raises StoreFailed while the journal is away; plans or
    git that cannot be read are shown as waits of the lanes.
    """

    def __init__(self, world: World) -> None:
        """Watch the fleet of this world, with the lanes and agents of its present settings."""
        from dos.fleet.io.reader import FleetReader

        self._world = world
        self._snapshots = snapshot_reader(world)
        self._fleet = FleetReader(world, liveness_seconds=LIVENESS_SECONDS)

    @property
    def pos(self) -> int:
        """The position of the newest event that was read."""
        return self._snapshots.pos

    def look(self) -> tuple[Snapshot, dict[str, Waits]]:
        """Return the fleet now, and for each lane with work what it waits for.

        The open decisions are those that `dos decisions` lists: also the ones that follow from
        plans and that no supervisor has recorded yet.
        """
        snapshot = self._snapshots.read()
        waits, observation = self._fleet.waits_and_observation()
        units = None
        if not isinstance(observation, Unknown):
            units = observe.declared_units(observation)
        leases = [held.lease for held in snapshot.held]
        decisions = attention.questions_for_people(
            snapshot.decisions, leases, units, now_ms=snapshot.now_ms
        )
        return structs.replace(snapshot, decisions=decisions), waits.lanes


def snapshot_reader(world: World) -> SnapshotReader:
    """Return a reader of snapshots; without a roster where dos.toml has errors."""
    lanes = Lanes()
    if not world.loaded_config.problems:
        lanes = world.config.lanes
    silence_seconds = world.config.workers.silence_seconds
    return SnapshotReader(
        world.journal,
        world.workspace.state,
        roster=lanes.roster(),
        lanes=lanes,
        silent_after_ms=int(silence_seconds * SILENT_SHARE * 1000),
        agents=_agents(world),
    )


def _agents(world: World) -> list[AgentCandidate] | None:
    """Return the agents in use; None where dos.toml cannot tell which they are."""
    from dos.agents.io import candidates

    if world.loaded_config.problems:
        return None
    try:
        return [agent.candidate for agent in candidates.agents_in_use(world.config)]
    except BadInput:  # no agent, or an unknown one: `dos doctor` reports it
        return None
