"""Which workers were launched a moment ago and have not shown up yet, by the journal and the system."""

from collections.abc import Iterable, Iterator, Sequence

from dos.journal import events, streams
from dos.journal.events import (
    Event,
    LeaseAdopted,
    LeaseGranted,
    RunBegun,
    RunStopped,
    SpawnIntended,
    WorkerReaped,
    WorkerSpawned,
)
from dos.journal.store import Reading, readable
from dos.records.leases import Lease
from dos.sources import processes

LAUNCH_MS = 120_000  # a worker that has not taken its lease by then is not coming
PAGE = 32


def pending(view: Reading, lanes: Iterable[str], leases: Sequence[Lease], now_ms: int) -> dict[str, int]:
    """How many are on their way to each lane; lanes that nobody is on the way to are left out."""
    here = {lease.run_id for lease in leases if lease.run_id}
    found = {lane: sum(1 for _ in _expected(view, lane, here, now_ms - LAUNCH_MS)) for lane in lanes}
    return {lane: count for lane, count in found.items() if count}


def _expected(view: Reading, lane: str, here: set[str], since_ms: int) -> Iterator[SpawnIntended]:
    launched: list[tuple[Event, SpawnIntended]] = []
    for event, fact in _recent(view, streams.spawn(lane), since_ms):
        if isinstance(fact, SpawnIntended):
            launched.append((event, fact))
        elif isinstance(fact, WorkerReaped) or (isinstance(fact, WorkerSpawned) and _is_gone(fact)):
            launched = [each for each in launched if each[1].run_id != fact.run_id]
    for event, fact in launched:
        if fact.run_id not in here and not _came(view, lane, event, fact.run_id):
            yield fact


def _is_gone(worker: WorkerSpawned) -> bool:
    return worker.system == processes.system() and processes.is_gone(worker.pid, worker.pid_started)


def _came(view: Reading, lane: str, intended: Event, run_id: str) -> bool:
    """It has had the lane since, or its run has ended without: neither is still on its way."""
    granted = (
        fact.asked.run_id
        for event, fact in _recent(view, streams.lease(lane), intended.at_ms)
        if event.pos > intended.pos and isinstance(fact, LeaseGranted | LeaseAdopted)
    )
    if any(not run_id or not whose or whose == run_id for whose in granted):
        return True
    began = view.load(streams.run(run_id), 0, PAGE) if run_id else []
    return any(isinstance(events.decode(readable(event)), RunBegun | RunStopped) for event in began)


def _recent(view: Reading, stream: str, since_ms: int) -> Iterator[tuple[Event, events.Fact]]:
    """A stream's newest events, oldest first. Versions have gaps: the look back widens until it has gone far enough."""
    head, width = view.head(stream), PAGE
    found = view.load(stream, max(0, head - width), None) if head else []
    while found and found[0].at_ms >= since_ms and width < head:
        width *= 4
        found = view.load(stream, max(0, head - width), None)
    for event in found:
        if event.at_ms >= since_ms and (fact := events.decode(readable(event))):
            yield event, fact
