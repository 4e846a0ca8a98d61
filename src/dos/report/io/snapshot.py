"""What is to be seen of a fleet at one moment, by somebody who looks again and again: each look reads what is new."""

from collections.abc import Sequence
from pathlib import Path

from dos.agents.io import logs as agent_logs
from dos.fleet.io import launches
from dos.fleet.state.fleet import FleetState
from dos.fleet.state.live import LiveState
from dos.journal import fold, streams
from dos.journal.store import Store
from dos.limits.quota import AgentCandidate
from dos.limits.state.quota import ProviderLimits
from dos.machine import process
from dos.questions.state import Decisions
from dos.report.snapshot import HeldLease, Snapshot


class SnapshotReader:
    def __init__(
        self,
        store: Store,
        state: Path,
        *,
        roster: Sequence[str] = (),
        silent_after_ms: int | None = None,
        agents: Sequence[AgentCandidate] | None = None,
    ) -> None:
        self._store = store
        self._state = state
        self._roster = list(roster)
        self._silent_after_ms = silent_after_ms
        self._agents = agents
        self._watch = fold.Watch(store, FleetState, LiveState, Decisions, ProviderLimits)

    @property
    def pos(self) -> int:
        """Of the newest event that was seen."""
        return self._watch.pos

    def read(self) -> Snapshot:
        """Everything as of one moment: between two looks at the store a worker could end."""
        while True:
            self._watch.refresh()
            with self._store.backend.read() as view:
                if view.last() == self.pos:
                    leases, moment, boot, now_ms = (
                        view.leases(),
                        view.lease_ms(),
                        view.boot(),
                        view.wall_ms(),
                    )
                    break
        held = [
            HeldLease(
                lease=each,
                lapsed=each.has_lapsed(moment, boot),
                gone=process.holder_has_exited(each),
            )
            for each in leases
        ]
        lanes = [each for each in held if not each.lease.is_lock]
        fleet = self._watch.state(FleetState)
        return Snapshot(
            now_ms=now_ms,
            fleet=fleet,
            watching=self._watch.state(LiveState),
            decisions=self._watch.state(Decisions),
            quota=self._watch.state(ProviderLimits),
            held=lanes,
            supervisors=[
                each
                for each in held
                if each.lease.is_lock and each.lease.lane in streams.supervisor
            ],
            launched=launches.lanes_awaiting_worker(fleet, self._state, now_ms),
            last_output_ms=self._last_output_ms(lanes),
            roster=self._roster,
            silent_after_ms=self._silent_after_ms,
            agents=self._agents,
        )

    def _last_output_ms(self, held: Sequence[HeldLease]) -> dict[str, int]:
        """From the logs of this machine; what another host's agents say, only that host can read."""
        found: dict[str, int] = {}
        for lease in (
            each.lease for each in held if each.lease.run_id and process.is_local(each.lease)
        ):
            logs = agent_logs.lane_logs(self._state, lease.lane, lease.run_id)
            if logs and (at_ms := agent_logs.modified_ms(logs[-1])) is not None:
                found[lease.run_id] = at_ms
        return found
