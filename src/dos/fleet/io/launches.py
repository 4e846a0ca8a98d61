"""Which workers were launched a moment ago and have not shown up yet, by the journal and the system."""

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
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted lease_refused
        lane_failed drain_requested fleet_started fleet_stopped decision_forced run_minted run_begun
        unit_claimed unit_taken work_salvaged agent_started agent_ended work_measured landing_intended
        unit_landed landing_refused unit_attempted iteration_committed run_stopped id_allocated journal_pruned
        limit_hit limit_probed limit_lifted units_screened run_parked landing_queued landing_deferred
        run_unparked agent_waiting agent_went_on pause_requested pause_ended halt_requested spin_flagged
        decision_raised decision_answered plans_approved settings_approved lane_cleared unit_cleared
        budget_warned budget_spent budget_promised baseline_started baseline_checked work_committed fleet_found
        incident_found intent_declared extent_changed step_claimed step_verified run_suspended resume_proposed
        run_resumed run_ended halt_proposed ledger_line_unreadable hook_fault receipt_issued test_witnessed
        line_imported line_unreadable
    """,
)


def lanes_awaiting_worker(state: FleetState, directory: Path, now_ms: int) -> dict[str, int]:
    """The lanes to which a worker is on its way, by the folded journal and the system; each with one.

    `directory` is the workspace's state directory, by which its processes are known.
    """
    waiting = {lane: starts for lane, starts in state.starts.items() if starts.pending}
    return {
        lane: 1
        for lane, starts in waiting.items()
        if now_ms - starts.at_ms <= LAUNCH_MS and not has_failed_to_start(starts, directory)
    }


def has_failed_to_start(starts: LaneStarts, directory: Path) -> bool:
    """Of a process elsewhere this system cannot say that it is gone.

    Without a pid whoever started it died, or could not start it: then the run itself is looked for.
    """
    if starts.system != process.system():
        return False
    if starts.pid:
        return process.has_exited(starts.pid, starts.pid_started)
    running = process.dos_processes(directory)
    return not any(found.option("--run-id") == starts.run_id for found in running)


def count_launches(
    view: ReadTransaction, lanes: Iterable[str], leases: Sequence[Lease], now_ms: int
) -> dict[str, int]:
    """How many are on their way to each of these names, under which several may be launched; others are left out."""
    here = {lease.run_id for lease in leases if lease.run_id}
    found = {
        lane: sum(1 for _ in _expected(view, lane, here, now_ms - LAUNCH_MS)) for lane in lanes
    }
    return {lane: count for lane, count in found.items() if count}


def _expected(
    view: ReadTransaction, lane: str, here: set[str], since_ms: int
) -> Iterator[SpawnIntended]:
    launched: list[tuple[Event, SpawnIntended]] = []
    for event in _recent(view, streams.spawn(lane), since_ms):
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
        if intended.run_id not in here and not _came(view, lane, event, intended.run_id):
            yield intended


def _without(
    launched: list[tuple[Event, SpawnIntended]], run_id: str
) -> list[tuple[Event, SpawnIntended]]:
    return [each for each in launched if each[1].run_id != run_id]


def _is_gone(worker: WorkerSpawned) -> bool:
    return worker.system == process.system() and process.has_exited(worker.pid, worker.pid_started)


def _came(view: ReadTransaction, lane: str, intended: Event, run_id: str) -> bool:
    """It has had the lane since, or its run has ended without: neither is still on its way."""
    recent = select(_recent(view, streams.lease(lane), intended.at_ms), LeaseGranted, LeaseAdopted)
    granted = (fact.asked.run_id for event, fact in recent if event.pos > intended.pos)
    if any(not run_id or not whose or whose == run_id for whose in granted):
        return True
    began = view.load(streams.run(run_id), 0, PAGE) if run_id else []
    return any(select(map(require_known_schema, began), RunBegun, RunStopped))


def _recent(view: ReadTransaction, stream: str, since_ms: int) -> Iterator[Event]:
    """A stream's newest events, oldest first. Versions have gaps: the look back widens until it has gone far enough."""
    head, width = view.head(stream), PAGE
    found = view.load(stream, max(0, head - width), None) if head else []
    while found and found[0].at_ms >= since_ms and width < head:
        width *= 4
        found = view.load(stream, max(0, head - width), None)
    return (require_known_schema(event) for event in found if event.at_ms >= since_ms)
