"""How a run is asked to stop, and what shows that it has."""

import time
from collections.abc import Callable, Iterator

from dos.evidence import holders
from dos.journal import events, runs
from dos.journal.engine_events import HaltRequested
from dos.journal.facts.reader import select
from dos.journal.run_events import RunSuspended
from dos.journal.store import Entry, Store
from dos.records.leases import Lease

LOOK_SECONDS = 1.0


def asking(run_id: str, *, resumable: bool, by: str, reason: str, resume_sha: str = "", key: str = "") -> list[Entry]:
    """In the run's own stream, where its worker looks; one that is to go on later is put aside by the same word."""
    facts: list[events.Fact] = [HaltRequested(run_id=run_id, resumable=resumable, by=by, reason=reason)]
    if resumable:
        facts.append(RunSuspended(run_id=run_id, reason=reason, resume_sha=resume_sha))
    return [
        Entry(stream=runs.stream(run_id), kind=fact.kind, body=fact, key=f"{fact.kind}/{key}" if key else None)
        for fact in facts
    ]


def at_work(journal: Store) -> list[Lease]:
    """The leases of the runs that live, as far as the journal and the system know."""
    return [lease for lease in journal.leases(lapsed=False) if lease.run_id and not holders.gone(lease)]


def stopped(journal: Store, run_id: str) -> events.RunStopped | None:
    """Its last word; None: it has not said it."""
    said = [fact for _, fact in select(journal.load(runs.stream(run_id)), events.RunStopped)]
    return said[-1] if said else None


def until(over: Callable[[], bool], journal: Store, seconds: float) -> Iterator[float]:
    """The seconds that went by, at each look, for as long as it is not over and there is time left."""
    began = time.monotonic()
    while not over() and (left := seconds - (time.monotonic() - began)) > 0:
        yield time.monotonic() - began
        journal.wait(journal.last(), min(LOOK_SECONDS, left))
