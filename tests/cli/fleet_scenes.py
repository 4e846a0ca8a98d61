"""Fleets that are written into a journal by hand, for verbs that only look, or only ask."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dos.journal import streams
from dos.journal.backends.open import open_store
from dos.journal.events import fleet as events
from dos.journal.store import Store
from dos.lease import Lease, Request
from dos.machine import process
from dos.regions import region

RUN = "RID-0MC0FFEE00000AB"
OTHER = "RID-0MC0FFEE00000AC"


@contextmanager
def journal(state: Path) -> Iterator[Store]:
    with open_store("", state_directory=state, workspace_id="", actor="scene") as store:
        yield store


def hold(
    store: Store, lane: str, run_id: str = "", *, is_lock: bool = False, pid: int | None = None
) -> Lease:
    """Held by this very process unless another is named: it lives, by the system's word."""
    holder = process.identify(pid or os.getpid())
    lease_request = Request(
        lane=lane, holder=f"{process.host()}:{holder.pid}", host=process.host(), ttl_ms=600_000,
        region=region([f"{lane}/**"]), is_lock=is_lock, run_id=run_id, pid=holder.pid,
        pid_started=holder.started, system=process.system(),
    )  # fmt: skip
    taken = store.acquire(lease_request, lambda request, live: None)
    assert isinstance(taken, Lease)
    return taken


def work(
    store: Store,
    lane: str = "api",
    run_id: str = RUN,
    *,
    agent: str = "command",
    iteration: int = 1,
) -> Lease:
    """A worker is at a unit, and its agent runs."""
    taken = hold(store, lane, run_id)
    stream, who = streams.run(run_id), {"run_id": run_id, "lane": lane}
    store.record(stream, events.RunBegun(**who, host="h", start_sha=""))
    store.record(stream, events.UnitClaimed(**who, unit="P/U1", iteration=iteration))
    store.record(
        stream, events.AgentStarted(**who, unit="P/U1", iteration=iteration, agent=agent, base="b")
    )
    return taken


def log(
    state: Path,
    lane: str,
    text: str | bytes,
    run_id: str = RUN,
    *,
    iteration: int = 1,
    attempt: int = 1,
) -> Path:
    path = state / "logs" / lane / f"{run_id}-{iteration}.{attempt}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def stopped(run_id: str = RUN, lane: str = "api", reason: str = "halted") -> events.RunStopped:
    return events.RunStopped(
        run_id=run_id, lane=lane, stop_reason=reason, needs="nobody", reason="a person said so"
    )
