"""Takes leases for a process: repeats safely after an outage, and evicts the previous holder."""

from collections.abc import Sequence

from dos.agents.io import orphans
from dos.config.schema import Config
from dos.errors import Conflict
from dos.journal.store import Store
from dos.landing.target import Target
from dos.lanes.io import held_leases
from dos.lanes.io.gather import admission_rules
from dos.lanes.io.held_leases import HeldLeases
from dos.lease import PROCESS_GONE, Lease, Refusal, Request
from dos.machine import process
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
    ) -> None:
        self._workspace = workspace
        self._config = config
        self._store = store
        self._holding = holding
        self._target = target
        # The leases before a lane was taken, while that is not finished.
        self._before: dict[tuple[str, str], list[Lease]] = {}

    def take(self, request: Request) -> Lease | Refusal:
        """Take a lease, or return why it is refused. Can be repeated after an outage.

        The previous holder of the lane can be seen only before it is taken, so the leases of that
        time are kept until the whole of it is done.
        """
        requested_at = held_leases.lease_seconds()
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
