"""One history, three stores: they must have written the same journal."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lease_histories import WHATS, FakeClock, Step, memory_store, play, steps
from store_kinds import Postgres, Sqlite, folded_leases, listed_leases

from dos.journal.store import Store

# The server's clock is not ours to move: time stands still, and no machine restarts.
timeless = st.lists(
    st.builds(
        Step,
        st.sampled_from([what for what in WHATS if what != "reboot"]),
        st.integers(0, 5),
        st.just(0),
    ),
    max_size=30,
)


def journal(store: Store) -> list[tuple]:
    """All that was written, with positions counted from one and without times."""
    events = list(store.events())
    ranks = {event.pos: rank for rank, event in enumerate(events, start=1)}

    def plain(value: object, name: str = "") -> object:
        if isinstance(value, dict):
            return {
                key: plain(each, key)
                for key, each in value.items()
                if key not in ("expires_ms", "boot")
            }
        return ranks[value] if name in ("lease", "previous") and isinstance(value, int) else value

    return [
        (
            event.stream,
            event.ver,
            event.kind,
            event.actor,
            event.key,
            ranks.get(event.fence or 0),
            plain(event.body),
        )
        for event in events
    ]


def played(store: Store, clock: FakeClock, history: list[Step]) -> list[tuple]:
    with store:
        play(store, clock, history)
        assert listed_leases(store) == folded_leases(store)
        return journal(store)


@settings(max_examples=25, deadline=None)
@given(history=steps)
def test_sqlite_writes_what_memory_writes(history):
    clock = FakeClock()
    expected = played(memory_store(clock), clock, history)
    with TemporaryDirectory() as directory:
        kind = Sqlite(Path(directory))
        assert played(kind.open(), kind.clock, history) == expected


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(history=timeless)
def test_postgres_writes_what_memory_writes(shared_database, history):
    clock = FakeClock()
    expected = played(memory_store(clock), clock, history)
    assert played(Postgres(shared_database).open(), FakeClock(), history) == expected
