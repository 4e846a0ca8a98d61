"""Workers that were launched a moment ago and have no lease yet, by the journal and the system.

They count as workers, or a second one would be started on their lane. After START_SECONDS without a
lease a launch counts as failed.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import assert_never

from dos.fleet.population import reconcile
from dos.fleet.state.fleet import FleetState, LaneStarts
from dos.journal import streams
from dos.journal.backend import ReadTransaction, require_known_schema
from dos.journal.events.envelope import Event
from dos.journal.events.fleet import (
    RunBegun,
    RunStopped,
    SpawnIntended,
    WorkerReaped,
    WorkerSpawned,
)
from dos.journal.events.lanes import LeaseAdopted, LeaseGranted
from dos.journal.events.reader import FactReader, select
from dos.lease import Lease
from dos.machine import process

LAUNCH_MS = int(reconcile.START_SECONDS * 1000)
PAGE = 32
_reader: FactReader[SpawnIntended | WorkerSpawned | WorkerReaped] = FactReader(
    SpawnIntended | WorkerSpawned | WorkerReaped,
    silent="""
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted
        lease_refused lane_failed drain_requested fleet_started fleet_stopped decision_forced
        run_minted run_begun unit_claimed unit_taken work_salvaged agent_started agent_ended
        work_measured landing_intended unit_landed landing_refused unit_attempted
        iteration_committed run_stopped id_allocated journal_pruned limit_hit limit_probed
        limit_lifted units_screened run_parked landing_queued landing_deferred run_unparked
        agent_waiting agent_went_on pause_requested pause_ended halt_requested spin_flagged
        decision_raised decision_answered plans_approved settings_approved lane_cleared unit_cleared
        budget_warned budget_spent budget_promised baseline_started baseline_checked work_committed
        fleet_found incident_found intent_declared extent_changed step_claimed step_verified
        run_suspended resume_proposed run_resumed run_ended halt_proposed ledger_line_unreadable
        hook_fault receipt_issued test_witnessed command_checked line_imported line_unreadable
        tool_called hook_answered marker_held marker_reset session_bound export_advanced
        notification_sent verdict_given lifecycle_ticked run_steered steer_delivered
    """,
)


def lanes_awaiting_worker(state: FleetState, directory: Path, now_ms: int) -> dict[str, int]:
    """Return the lanes for which one worker was launched that has no lease yet, each with 1.

    `directory` is the workspace's state directory, by which its processes are known.
    """
    lanes = {}
    for lane, starts in state.starts.items():
        is_recent = now_ms - starts.at_ms <= LAUNCH_MS
        if starts.pending and is_recent and not has_failed_to_start(starts, directory):
            lanes[lane] = 1
    return lanes


def has_failed_to_start(starts: LaneStarts, directory: Path) -> bool:
    """Whether the newest worker of a lane is known to be gone.

    Of a process on another system that cannot be known. Without a pid the supervisor died, or
    could not start the worker; then the run is looked for among the processes.
    """
    if starts.system != process.system():
        return False
    if starts.pid:
        return process.has_exited(starts.pid, starts.pid_started)
    running = process.dos_processes(directory)
    return not any(worker.option("--run-id") == starts.run_id for worker in running)


def count_launches(
    view: ReadTransaction, lanes: Iterable[str], leases: Sequence[Lease], now_ms: int
) -> dict[str, int]:
    """Return how many workers without a lease were launched under each of these names.

    Several may be launched under one name. Names without a launch are left out.
    """
    held = {lease.run_id for lease in leases if lease.run_id}
    counts: dict[str, int] = {}
    for lane in lanes:
        launches = list(_open_launches(view, lane, held, now_ms - LAUNCH_MS))
        if launches:
            counts[lane] = len(launches)
    return counts


def _open_launches(
    view: ReadTransaction, lane: str, held: set[str], since_ms: int
) -> Iterator[SpawnIntended]:
    """Yield the launches since `since_ms` whose worker neither came nor is known to be gone."""
    launched: list[tuple[Event, SpawnIntended]] = []
    for event in _recent_events(view, streams.spawn(lane), since_ms):
        match fact := _reader.decode(event):
            case None:
                pass
            case SpawnIntended():
                launched.append((event, fact))
            case WorkerSpawned():
                if _is_gone(fact):
                    launched = _without(launched, fact.run_id)
            case WorkerReaped():
                launched = _without(launched, fact.run_id)
            case never:
                assert_never(never)
    for event, intended in launched:
        if intended.run_id not in held and not _has_come(view, lane, event, intended.run_id):
            yield intended


def _without(
    launched: list[tuple[Event, SpawnIntended]], run_id: str
) -> list[tuple[Event, SpawnIntended]]:
    return [(event, intended) for event, intended in launched if intended.run_id != run_id]


def _is_gone(worker: WorkerSpawned) -> bool:
    """Whether the process has exited; of one on another system that cannot be known."""
    if worker.system != process.system():
        return False
    return process.has_exited(worker.pid, worker.pid_started)


def _has_come(view: ReadTransaction, lane: str, intended: Event, run_id: str) -> bool:
    """Whether the worker has had the lane since, or its run has begun or stopped."""
    events = _recent_events(view, streams.lease(lane), intended.at_ms)
    for event, fact in select(events, LeaseGranted, LeaseAdopted):
        holder = fact.asked.run_id
        is_its_own = not run_id or not holder or holder == run_id
        if event.pos > intended.pos and is_its_own:
            return True
    if not run_id:
        return False
    events_of_run = map(require_known_schema, view.load(streams.run(run_id), 0, PAGE))
    return any(select(events_of_run, RunBegun, RunStopped))


def _recent_events(view: ReadTransaction, stream: str, since_ms: int) -> Iterator[Event]:
    """Return a stream's newest events, oldest first.

    Versions have gaps, so the range that is read widens until it reaches back far enough.
    """
    head = view.head(stream)
    if not head:
        return iter(())
    width = PAGE
    events = view.load(stream, max(0, head - width), None)
    while events and events[0].at_ms >= since_ms and width < head:
        width *= 4
        events = view.load(stream, max(0, head - width), None)
    return (require_known_schema(event) for event in events if event.at_ms >= since_ms)
