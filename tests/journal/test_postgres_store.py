"""What PostgreSQL adds: a server that can go away, a clock of its own, and constraints behind the
rules."""

import multiprocessing
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from patience import PATIENCE
from postgres_server import PostgresServer
from store_kinds import Postgres, asking, grant, refuse, run, written
from wire import Wire

from dos.errors import DosError, Internal, OutcomeUnknown, StoreBusy, StoreFailed, StoreUnreachable
from dos.journal.backend import Entry
from dos.journal.backends import postgres as backend_module
from dos.journal.backends import postgres_session
from dos.journal.backends.postgres import PostgresBackend
from dos.journal.store import Store


@pytest.fixture
def kind(shared_database) -> Postgres:
    return Postgres(shared_database)


@pytest.fixture
def store(kind) -> Iterator[Store]:
    with kind.open() as opened:
        yield opened


@pytest.fixture(scope="module")
def mortal(postgres) -> Iterator[PostgresServer]:
    """A server of its own, to be killed; skipped where the shared one is."""
    with PostgresServer() as server:
        yield server


def over(wire: Wire, kind: Postgres, **settings) -> Store:
    database = kind.url.rpartition("/")[2]
    url = f"postgresql://postgres@127.0.0.1:{wire.port}/{database}?sslmode=disable"
    return Store(PostgresBackend(url, workspace=kind.workspace, **settings), actor="far")


# A server that goes away


@pytest.mark.soak
def test_a_server_killed_in_the_middle_loses_nothing_acknowledged(mortal):
    kind = Postgres(mortal.createdb("killed"))
    acknowledged: list[int] = []
    faults: list[StoreFailed] = []
    stop = threading.Event()

    def work(store: Store) -> None:
        number = 0
        while not stop.is_set():
            try:
                acknowledged.append(store.append("a", "k", number, key=f"{number}").body)
                number += 1
            except StoreUnreachable as fault:
                faults.append(fault)
                time.sleep(0.02)

    def reach(count: int) -> None:
        deadline = time.monotonic() + PATIENCE
        while len(acknowledged) < count:
            assert time.monotonic() < deadline and worker.is_alive()
            time.sleep(0.01)

    with kind.open() as store:
        worker = threading.Thread(target=work, args=(store,))
        worker.start()
        for _ in range(2):
            reach(len(acknowledged) + 50)
            mortal.kill()
            while not faults:
                time.sleep(0.01)
            mortal.start()
            reach(len(acknowledged) + 50)
            faults.clear()
        stop.set()
        worker.join()
        loaded = store.load("a")
    assert acknowledged == list(range(len(acknowledged)))
    assert [event.body for event in loaded] == list(range(len(loaded)))
    assert [event.ver for event in loaded] == list(range(1, len(loaded) + 1))
    assert len(loaded) == len(acknowledged)


def test_a_restart_while_nobody_works_goes_unnoticed(mortal):
    kind = Postgres(mortal.createdb("restarted"))
    with kind.open() as store:
        lease = grant(store, asking())
        mortal.restart()
        assert store.append("a", "k", 1, fence=lease.fence).ver == 1
        mortal.restart("immediate")
        assert store.leases() == [lease]
        assert store.wait(0, 60)
        mortal.restart()
        assert store.wait(0, 60)
        assert store.wait(store.last(), 0.05) is False


def test_a_server_that_is_not_there_is_unreachable_until_it_is(mortal):
    kind = Postgres(mortal.createdb("absent"))
    with kind.open() as store:
        store.append("a", "k", 1)
        mortal.stop()
        for use in (
            store.last,
            lambda: store.append("a", "k", 2),
            lambda: store.wait(0, 1),
            kind.open,
        ):
            with pytest.raises(StoreUnreachable) as caught:
                use()
            assert "127.0.0.1" in str(caught.value) and caught.value.hint
        mortal.start()
        assert store.append("a", "k", 3).ver == 2


@pytest.mark.parametrize("delivered", [True, False], ids=["was delivered", "was lost"])
def test_a_commit_cut_off_is_settled_by_its_key(kind, wire, delivered):
    with over(wire, kind) as store, kind.open() as near:
        lease = grant(store, asking())
        wire.cut(at_trip=2, delivered=delivered)
        event = store.append("a", "k", {"n": 1}, key="once", fence=lease.fence)
        assert near.load("a") == [event]
        wire.cut(at_trip=2, delivered=delivered)
        entries = [Entry(stream="a", kind="k", body=number, key=f"{number}") for number in range(3)]
        assert [event.ver for event in store.append_all(entries)] == [2, 3, 4]
        assert store.load("a") == near.load("a")


@pytest.mark.parametrize("delivered", [True, False], ids=["was delivered", "was lost"])
def test_a_commit_cut_off_without_a_key_has_an_unknown_outcome(kind, wire, delivered):
    with over(wire, kind) as store, kind.open() as near:
        store.append("a", "k", 0)
        wire.cut(at_trip=2, delivered=delivered)
        with pytest.raises(OutcomeUnknown, match="unknown whether it was written") as caught:
            store.append("a", "k", 1)
        assert isinstance(caught.value, StoreUnreachable)
        assert len(near.load("a")) == 1 + delivered
        assert store.append("a", "k", 2).ver == 2 + delivered


@pytest.mark.parametrize("delivered", [True, False], ids=["was delivered", "was lost"])
def test_a_line_cut_before_the_commit_is_begun_anew(kind, wire, delivered):
    with over(wire, kind) as store:
        store.append("a", "k", 0)
        for use in (
            lambda: store.append("a", "k", 1).ver,
            store.last,
            lambda: len(store.load("a")),
        ):
            wire.cut(at_trip=1, delivered=delivered)
            assert use()
        assert [event.body for event in store.load("a")] == [0, 1]


def test_a_line_cut_in_the_middle_of_a_view_is_an_error(kind, wire):
    with over(wire, kind) as store:
        store.append("a", "k", 0)
        with pytest.raises(StoreUnreachable), store.backend.read() as view:
            assert view.last()
            wire.cut(at_trip=1, delivered=True)
            view.last()
        with pytest.raises(StoreUnreachable), store.backend.write() as tx:
            wire.cut(at_trip=1, delivered=True)
            tx.last()
        assert store.last()


# Trips


@pytest.mark.parametrize(
    ("what", "trips"),
    [
        ("append", 2), ("append with key, fence and version", 2), ("append many", 2), ("repeat", 2),
        ("read", 1), ("leases", 1), ("refuse", 1), ("acquire", 3), ("renew", 2), ("renew many", 2),
        ("release", 2), ("adopt", 2), ("revoke", 2),
    ],
)  # fmt: skip
def test_the_server_is_asked_no_more_often_than_needed(kind, wire, what, trips):
    with over(wire, kind) as store:
        held = grant(store, asking("held"))
        others = [grant(store, asking(f"other-{number}")).fence for number in range(3)]
        store.append("b", "k", {}, key="known", fence=held.fence)
        uses = {
            "append": lambda: store.append("a", "k", {}),
            "append with key, fence and version": lambda: store.append(
                "b", "k", {}, key="new", fence=held.fence, expect=1
            ),
            "append many": lambda: store.append_all(
                [Entry(stream=f"{number % 7}", kind="k", body={}) for number in range(100)]
            ),
            "repeat": lambda: store.append("b", "k", {}, key="known", fence=held.fence),
            "read": lambda: store.tail(),
            "leases": lambda: store.leases(lapsed=False),
            "refuse": lambda: refuse(store, asking("held", "B")),
            "acquire": lambda: grant(store, asking("new", globs=["new/**", "x/**"])),
            "renew": lambda: store.renew([held.fence]),
            "renew many": lambda: store.renew([held.fence, *others]),
            "release": lambda: store.release(held.fence),
            "adopt": lambda: store.adopt(held.fence, asking("held", "B"), version=held.version),
            "revoke": lambda: store.revoke(held.fence, version=held.version, reason="r"),
        }
        wire.count()
        uses[what]()
        assert wire.trips <= trips


# One database, many workspaces


def test_workspaces_in_one_database_do_not_meet(kind):
    with kind.open() as one, kind.another().open() as two:
        assert one.append("a", "k", 1, key="x").ver == two.append("a", "k", 2, key="x").ver == 1
        mine, theirs = grant(one, asking(exclusive=True)), grant(two, asking(exclusive=True))
        assert (one.leases(), two.leases()) == ([mine], [theirs])
        assert [event.body for event in one.load("a")] == [1]
        assert {event.pos for event in one.tail()}.isdisjoint(event.pos for event in two.tail())
        with pytest.raises(DosError):
            two.append("a", "k", {}, fence=mine.fence)
        assert two.renew([mine.fence]).lost == [mine.fence]
        with one.backend.write() as tx:
            tx.keep_snapshot("s", "c", 1, b"one")
            tx.delete([event.pos for event in two.tail()])
        with two.backend.read() as view:
            assert view.snapshot("s", "c") is None
        assert len(two.tail()) == 2
        assert two.wait(two.last(), 0.05) is False


def test_a_writer_of_one_workspace_does_not_wait_for_another(kind):
    with kind.open() as one, kind.another().open() as two, one.backend.write():
        assert two.append("a", "k", {}).ver == 1


# Locks and clocks


def test_a_lock_held_for_too_long_is_reported_as_busy(kind):
    with kind.open() as holder, kind.open() as reader:
        impatient = Store(PostgresBackend(kind.url, workspace=kind.workspace, busy_seconds=0.2))
        with holder.backend.write():
            with pytest.raises(StoreBusy) as caught:
                impatient.append("a", "k", {})
            assert caught.value.exit_code == 4
            assert reader.last() == 0, "readers do not wait"
        assert impatient.append("a", "k", {}).ver == 1
        impatient.close()


def test_a_holder_that_stands_still_is_thrown_out_and_writes_nothing(kind, monkeypatch):
    monkeypatch.setattr(postgres_session, "STOPPED_SECONDS", 0.2)
    stuck = kind.open()
    monkeypatch.undo()
    with kind.open() as other:
        with pytest.raises(StoreUnreachable), stuck.backend.write() as tx:
            tx.insert(Entry(stream="a", kind="late", body={}), 1, "", b"{}")
            assert other.append("a", "k", {}).ver == 1
        assert written(other) == [("a", 1, "k")]
        assert stuck.append("a", "k", {}).ver == 2
    stuck.close()


def test_the_clock_of_the_client_counts_for_nothing(kind, monkeypatch):
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() + 3_600_000_000_000)
    monkeypatch.setattr(time, "time", lambda: real() / 1e9 + 3600)
    with kind.open() as store:
        lease = grant(store, asking(ttl_ms=60_000))
        [[server_ms]] = run(
            kind.url, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"
        )
        assert abs(lease.granted_ms - server_ms) < 60_000
        assert 0 < lease.expires_ms - server_ms <= 60_000
        assert not store.lapsed(lease)
        assert refuse(store, asking(holder="B")).blocked_by == lease.fence


def test_the_clock_is_read_after_the_lock(kind):
    with kind.open() as first, kind.open() as second, ThreadPoolExecutor(1) as pool:
        with first.backend.write() as tx:
            waiting = pool.submit(second.append, "a", "second", {})
            time.sleep(0.3)
            before = tx.lease_ms()
        assert waiting.result().at_ms >= before + 250


def test_commits_wait_for_the_disk_whatever_the_default_is(new_database):
    name = new_database.rpartition("/")[2]
    for given, used in (("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")):
        run(new_database, f'ALTER DATABASE "{name}" SET synchronous_commit = {given}')
        backend = PostgresBackend(new_database, workspace="w")
        with backend.read() as view:
            assert view._ask("SELECT current_setting('synchronous_commit')") == [(used,)]
        noted = [
            note for note in backend.durability_notes() if note.setting == "synchronous_commit"
        ]
        assert bool(noted) == (given != used)
        backend.close()


def test_a_sound_server_gets_no_notes_and_a_careless_one_does(kind):
    backend = PostgresBackend(kind.url, workspace=kind.workspace)
    assert backend.durability_notes() == []
    backend.close()
    with PostgresServer(settings={"fsync": "off", "full_page_writes": "off"}) as careless:
        backend = PostgresBackend(careless.dsn, workspace="w")
        notes = {note.setting for note in backend.durability_notes() if note.loses}
        assert notes == {"fsync", "full_page_writes"}
        backend.close()


@pytest.mark.parametrize("same", [True, False], ids=["by the same store", "by another store"])
def test_a_waiter_is_woken_and_does_not_only_look_again(store, kind, monkeypatch, same):
    monkeypatch.setattr(backend_module, "RECHECK_SECONDS", 100.0)
    with ThreadPoolExecutor(1) as pool, kind.open() as other:
        for _ in range(2):
            waiting = pool.submit(store.wait, store.last(), 60)
            time.sleep(0.1)
            (store if same else other).append("a", "k", {})
            assert waiting.result(30)


def test_waiting_again_and_again_opens_one_more_session(kind):
    url = f"{kind.url}?application_name={kind.workspace}"
    with Store(PostgresBackend(url, workspace=kind.workspace)) as store:
        for _ in range(4):
            store.wait(0, 0.01)
        count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
        assert run(kind.url, count, kind.workspace) == [(2,)]


def test_a_waiter_whose_notification_is_lost_looks_again(store, kind, monkeypatch):
    monkeypatch.setattr(backend_module, "RECHECK_SECONDS", 0.1)
    store.append("a", "k", {})
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(store.wait, store.last(), 60)
        time.sleep(0.05)
        run(
            kind.url,
            "INSERT INTO dos.event SELECT workspace, nextval('dos.position'), 'silent', ver, "
            "kind, at_ms, actor, fence,"
            " key, schema, body, crc FROM dos.event WHERE workspace = %s",
            kind.workspace,
        )
        assert waiting.result(30)


# Processes and threads


def child(store: Store, results) -> None:
    for use in (store.last, lambda: store.append("a", "k", {}), lambda: store.wait(0, 1)):
        try:
            use()
            results.put("used")
        except Internal as error:
            results.put(str(error))
    store.close()


def test_a_store_carried_over_a_fork_is_refused_and_stays_the_parents(store):
    store.append("a", "k", 1)
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    process = context.Process(target=child, args=(store, results))
    process.start()
    assert [results.get(timeout=PATIENCE) for _ in range(3)] == [
        "a store was used in a child process that did not open it"
    ] * 3
    process.join()
    assert store.append("a", "k", 2).ver == 2


def test_a_transaction_inside_another_is_a_mistake_that_is_named(store):
    with pytest.raises(Internal, match="inside another"), store.backend.write():
        store.last()
    assert store.append("a", "k", {}).ver == 1


def test_a_store_closed_inside_a_transaction_writes_nothing(store):
    with pytest.raises(Internal, match="closed inside"), store.backend.write() as tx:
        tx.insert(Entry(stream="a", kind="k", body={}), 1, "", b"{}")
        store.close()
    assert store.last() == 0


def test_a_second_question_where_one_was_announced_is_a_mistake_that_is_named(store):
    with pytest.raises(Internal, match="two questions"), store.backend.read(once=True) as view:
        view.last()
        view.last()


def test_an_interrupt_takes_everything_back(store):
    with pytest.raises(KeyboardInterrupt), store.backend.write() as tx:
        tx.insert(Entry(stream="a", kind="k", body={}), 1, "", b"{}")
        tx.last()
        raise KeyboardInterrupt
    assert store.append("a", "k", {}).ver == 1
