"""Takes leases for a process: repeats safely after an outage, and evicts the previous holder."""

from collections.abc import Callable, Sequence

from msgspec import structs

from dos import regions
from dos.agents.io import orphans
from dos.config.schema import Config
from dos.errors import Conflict
from dos.fleet import worker_health
from dos.fleet.effects import Plans, TakeLease, TakePlans
from dos.journal.store import Store
from dos.landing.target import Target
from dos.lanes.io import held_leases
from dos.lanes.io.gather import admission_rules
from dos.lanes.io.held_leases import HeldLeases, lease_request
from dos.lease import PROCESS_GONE, Lease, Refusal, RefusalReason, Request
from dos.machine import process
from dos.units.io.documents import plan_paths
from dos.units.unit import Unit
from dos.workspace import Workspace

# A lease with the same values was granted to this very process.
_SAME_PROCESS = ("lane", "system", "pid", "pid_started", "run_id")


class LeaseTaker:
    """Takes leases and renews them from then on.

    Taking a lane also ends what the worker before left behind, and raises the fence of the lane in
    git, so that a process of that worker which is still alive can land nothing.
    """

    def __init__(
        self,
        workspace: Workspace,
        config: Config,
        store: Store,
        holding: HeldLeases,
        target: Target,
        *,
        units: Callable[[], list[Unit]],
        lease_key: str,
    ) -> None:
        """`units` are the declared ones; `lease_key` is the key of every lane that is taken."""
        self._units = units
        self._lease_key = lease_key
        self._workspace = workspace
        self._config = config
        self._store = store
        self._holding = holding
        self._target = target
        # The leases before a lane was taken, while that is not finished.
        self._before: dict[tuple[str, str], list[Lease]] = {}

    def take_lane(self, effect: TakeLease, start_sha: str) -> Lease | Refusal:
        """Take a lane, a part of one or a lock.

        A part that no unit has any more is refused: its plan was edited since a supervisor
        planned this worker.
        """
        config = self._config
        is_part = not effect.is_lock and bool(config.lanes.whole_of(effect.lane))
        if is_part:
            config = worker_health.with_parts(config, self._units())
            if config.canonical_lane(effect.lane) is None:
                detail = f"no unit has the part {effect.lane!r} any more"
                return Refusal(reason=RefusalReason.UNKNOWN_LANE, detail=detail)
        request = lease_request(
            config,
            effect.lane,
            run_id=effect.run_id,
            is_lock=effect.is_lock,
            start_sha=start_sha,
            lease_key=self._lease_key,
        )
        return self.take(request)

    def take_plans(self, effect: TakePlans) -> Plans | Refusal:
        """Take the plan documents; no lease is needed where all of them lie in the lane."""
        paths = self._config.paths
        root = self._workspace.root
        own = effect.lease
        found = plan_paths(root, paths.plans_glob, paths.next_packets)
        documents = [path.relative_to(root).as_posix() for path in found]
        if documents and all(regions.lane_holds(own.region, path) for path in documents):
            return Plans(lease=own, documents=documents)
        lane = own.part_of or own.lane
        request = structs.replace(
            lease_request(self._config, lane, run_id=effect.run_id, lease_key=self._lease_key),
            lane=f"replan-{own.lane}",
            region=regions.region([paths.plans_glob]),
        )
        taken = self.take(request)
        if isinstance(taken, Refusal):
            return taken
        return Plans(lease=taken, documents=documents)

    def take(self, request: Request) -> Lease | Refusal:
        """Take a lease, or return why it is refused. Can be repeated after an outage.

        The previous holder of the lane can be seen only before it is taken, so the leases of that
        time are kept until the whole of it is done.
        """
        requested_at = held_leases.lease_seconds()
        request = structs.replace(request, prefix=self._workspace.prefix)
        key = (request.lane, request.run_id)
        before = self._before.setdefault(key, self._store.leases())
        taken = self._granted(request) or self._acquire(request)
        if isinstance(taken, Lease):
            self._holding.add(taken, requested_at=requested_at)
            if not request.is_lock:
                self._evict_previous_holder(taken, before)
        del self._before[key]
        return taken

    def _evict_previous_holder(self, taken: Lease, before: Sequence[Lease]) -> None:
        """End the previous worker of the lane and its agent, and keep them from landing."""
        previous = [lease for lease in before if lease.lane == taken.lane]
        orphans.end_previous_worker(self._workspace.state, previous, taken)
        orphans.end_processes(str(self._workspace.root), taken)
        self._target.raise_fence(taken.lane, taken.fence)

    def _granted(self, request: Request) -> Lease | None:
        """Return the lease that was granted to this process before its confirmation was lost."""
        for lease in self._store.leases(locks=request.is_lock):
            if all(getattr(lease, name) == getattr(request, name) for name in _SAME_PROCESS):
                kept = self._store.renew([lease.fence]).kept
                return next(iter(kept), None)
        return None

    def _acquire(self, request: Request) -> Lease | Refusal:
        """Acquire the lease; where only a dead process is in the way, revoke it and try again."""
        admit = admission_rules(self._workspace.root, self._config)
        taken = self._store.acquire(request, admit)
        if isinstance(taken, Refusal) and self._revoke_dead_holder(taken.blocked_by):
            taken = self._store.acquire(request, admit)
        return taken

    def _revoke_dead_holder(self, fence: int | None) -> bool:
        """Revoke the lease if its process on this host has exited, instead of waiting for it."""
        for lease in [*self._store.leases(), *self._store.leases(locks=True)]:
            if lease.fence == fence and process.holder_has_exited(lease):
                try:
                    self._store.revoke(lease.fence, version=lease.version, reason=PROCESS_GONE)
                except Conflict:
                    pass  # another process was first
                return True
        return False
