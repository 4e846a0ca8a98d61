"""Reads a run by folding its own stream, and changes it only as long as it still is what was read."""

from collections.abc import Callable, Sequence

from dos.errors import Conflict
from dos.journal import streams
from dos.journal.events.envelope import Fact
from dos.journal.fold import fold
from dos.journal.run_state import Run
from dos.journal.store import Entry, Store
from dos.run_ids import validated_run_id

Decide = Callable[[Run], Sequence[Fact]]


def stream(run_id: str) -> str:
    return streams.run(validated_run_id(run_id))


def read(store: Store, run_id: str) -> Run:
    return fold(Run(), store.load(stream(run_id)))


def entries(
    run_id: str, facts: Sequence[Fact], *, at_version: int, fence: int | None = None
) -> list[Entry]:
    """The facts on their way into a run's stream, provided that it is still at this version."""
    return [
        Entry(
            stream=stream(run_id), kind=fact.kind, body=fact, expect=at_version + place, fence=fence
        )
        for place, fact in enumerate(facts)
    ]


def change(store: Store, run_id: str, decide: Decide, *, fence: int | None = None) -> Run:
    """Write what is decided on the run as it is; decided anew whenever somebody else was quicker.

    It ends: each new round means that another's change was written. The run comes back as it was decided on.
    """
    while True:
        run = read(store, run_id)
        facts = decide(run)
        if not facts:
            return run
        try:
            store.append_all(entries(run_id, facts, at_version=run.version, fence=fence))
        except Conflict:
            continue
        return run
