"""How a simulated process takes and releases leases.

As in the product, a process that finds the lane held by a dead process of its own host revokes that
lease and tries once more, and the new holder ends what its predecessors left running.
"""

from dos.errors import Conflict, Fenced
from dos.fleet import effects
from dos.lease import PROCESS_GONE, Lease, Refusal, RefusalReason, Request
from dos.regions import Region, region
from dos.testing.simulator.agents import Agents
from dos.testing.simulator.world import faults
from dos.testing.simulator.world.process import Process
from dos.testing.simulator.world.site import HOST_NAME, Site

NOWHERE = region([])
DOCUMENTS = region(["docs/**"])
# The lock of a supervisor. A shorter one adds renewals and no risk: its host reports its death.
LOCK_MS = 180_000
REFUSED = {
    RefusalReason.LANE_HELD: faults.LEASE_HELD,
    RefusalReason.REGION_OVERLAP: faults.OVERLAP,
    RefusalReason.CLASS_BUDGET_EXHAUSTED: faults.BUDGET,
}


class LeaseEffects:
    """Performs the effects that take and release leases.

    Workers and supervisors share it: a supervisor's lock is a lease without a region.
    """

    def __init__(self, site: Site, agents: Agents) -> None:
        self.site = site
        self.scheduler = site.scheduler
        self.repository = site.repository
        self.agents = agents

    def take_lease(self, process: Process, effect: effects.TakeLease) -> Lease | Refusal:
        """Take a lane or a supervisor's lock, and count a refusal by its reason."""
        lease_region = NOWHERE
        if not effect.is_lock:
            lease_region = self.site.workspace.regions[effect.lane]
        request = self._request(
            process, effect.lane, effect.run_id, lease_region, is_lock=effect.is_lock
        )
        taken = self._take(process, request)
        if isinstance(taken, Refusal):
            name = REFUSED.get(taken.reason, str(taken.reason))
            if effect.is_lock:
                name = faults.SECOND_SUPERVISOR
            self.scheduler.counts[name] += 1
        return taken

    def take_plans(self, process: Process, effect: effects.TakePlans) -> effects.Plans | Refusal:
        """Take the plan documents, which are in the lane itself or outside all lanes."""
        documents = ["docs/plan.md"]
        if not self.site.workspace.plans_outside_lanes:
            return effects.Plans(lease=effect.lease, documents=documents)
        name = f"replan-{effect.lease.lane}"
        taken = self._take(process, self._request(process, name, effect.run_id, DOCUMENTS))
        if isinstance(taken, Refusal):
            self.scheduler.counts[faults.PLANS_HELD] += 1
            return taken
        return effects.Plans(lease=taken, documents=documents)

    def _take(self, process: Process, asked: Request) -> Lease | Refusal:
        """Take the lease and start renewing it; for a lane, also raise its fence in git."""
        asked_at = self.scheduler.now
        before = self.site.reader.leases()
        taken = self._granted(process, asked) or self._acquire(process, asked)
        if isinstance(taken, Lease):
            self.scheduler.keep_renewed(process, taken, asked_at)
            if not taken.is_lock:
                self._end_predecessors(process, taken, before)
                self.repository.raise_fence(taken.lane, taken.fence)
        return taken

    def _request(
        self, process: Process, lane: str, run_id: str, region: Region, *, is_lock: bool = False
    ) -> Request:
        """Return the request for a lease of this process; all hosts give the same host name."""
        return Request(
            lane=lane,
            holder=f"{HOST_NAME}:{process.pid}",
            host=HOST_NAME,
            system=process.host.name,
            ttl_ms=LOCK_MS if is_lock else self.site.workspace.ttl_ms,
            region=region,
            kind="lock" if is_lock else "cluster",
            part_of="" if is_lock else self.site.workspace.config.lanes.whole_of(lane),
            is_lock=is_lock,
            run_id=run_id,
            pid=process.pid,
            pid_started=process.started,
            start_sha=self.repository.target,
        )

    def _granted(self, process: Process, asked: Request) -> Lease | None:
        """Return the lease if it was granted to this process and only the answer was lost."""
        for lease in self.site.reader.leases():
            if lease.pid == asked.pid and lease.lane == asked.lane and lease.run_id == asked.run_id:
                return next(iter(process.store.renew([lease.fence]).kept), None)
        return None

    def _acquire(self, process: Process, asked: Request) -> Lease | Refusal:
        """Acquire the lease; a dead holder of this host is revoked and the request repeated."""
        taken = process.store.acquire(asked, self.site.admit)
        if isinstance(taken, Refusal) and self._revoke_dead_holder(process, taken.blocked_by):
            taken = process.store.acquire(asked, self.site.admit)
        return taken

    def _revoke_dead_holder(self, process: Process, fence: int | None) -> bool:
        """Revoke the blocking lease if its process has exited on this host; True if it has."""
        for lease in self.site.reader.leases():
            if lease.fence == fence and self.site.has_exited(lease, process.host):
                try:
                    process.store.revoke(lease.fence, version=lease.version, reason=PROCESS_GONE)
                except Conflict:
                    pass  # another process revoked it first
                return True
        return False

    def _end_predecessors(self, process: Process, mine: Lease, before: list[Lease]) -> None:
        """Kill the lane's earlier workers on this host, and their agents.

        A worker may be left over from a lease that another worker took first and died with.
        """
        held = {
            lease.pid
            for lease in before
            if lease.lane == mine.lane and lease.system == process.host.name
        }
        for old in list(self.scheduler.processes.values()):
            was_here = old.lane == mine.lane and not old.is_supervisor and old.host is process.host
            if old is not process and old.alive and (was_here or old.pid in held):
                self.scheduler.kill(old)
        self.agents.end_older_agents(process.host.name, mine.lane, mine.fence - 1)

    def release_lease(self, process: Process, effect: effects.ReleaseLease) -> None:
        """Stop renewing the lease and release it."""
        self.scheduler.stop_renewing(process, effect.lease.fence)
        try:
            process.store.release(effect.lease.fence, effect.reason)
        except Fenced:
            pass  # another process holds it, so it is released
