"""Journals of a given length, made fast: rows written in bulk, by the store's own insert, in few
transactions."""

from pathlib import Path

from dos.journal import streams
from dos.journal.backend import Entry
from dos.journal.backends.open import open_store
from dos.journal.events.envelope import Fact
from dos.journal.events.fleet import IterationCommitted, RunBegun, RunStopped
from dos.journal.store import Store

BATCH = 5000


def open_at(directory: Path) -> Store:
    return open_store("", state_directory=directory, workspace_id="bench", actor="bench")


def fill(store: Store, events: int) -> None:
    """A history of runs, each with a hundred iterations."""
    written = store.last()
    while written < events:
        entries = []
        for number in range(written, min(written + BATCH, events)):
            run = f"RID-{number // 100:015d}"
            fact: Fact
            if number % 100 == 0:
                fact = RunBegun(run_id=run, lane="api", host="h", start_sha="0" * 40)
            elif number % 100 == 99:
                fact = RunStopped(
                    run_id=run,
                    lane="api",
                    stop_reason="iteration-cap",
                    needs="nobody",
                    reason="enough",
                )
            else:
                fact = IterationCommitted(
                    run_id=run, lane="api", iteration=number % 100, unit=f"P/U{number % 50}",
                    outcome="SHIPPED", action="continue", reason="a unit landed",
                )  # fmt: skip
            entries.append(Entry(stream=streams.run(run), kind=fact.kind, body=fact))
        store.append_all(entries)
        written += len(entries)
