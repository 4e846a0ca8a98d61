"""What SQLite adds: a file, that others can damage, replace or hold."""

import multiprocessing
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from lease_histories import FakeClock
from patience import PATIENCE
from store_kinds import Sqlite, asking, grant, listed_leases, locking, reading, written

from dos.errors import (
    Internal,
    JournalCorrupt,
    JournalTooNew,
    StoreBusy,
    StoreFailed,
    StoreReadOnly,
    StoreUnreachable,
)
from dos.journal.backends.sqlite import SqliteBackend
from dos.journal.backends.sqlite_open import APPLICATION_ID, STEPS, VERSION
from dos.journal.store import Store


def opened(path: Path, **settings) -> Store:
    return Store(SqliteBackend(path, **{"clock": FakeClock(), **settings}), actor="test")


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "state.db"


def run(path: Path, sql: str, *values: object) -> list[tuple]:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.close()


# The file


def make_first_version(path: Path, source: Store) -> None:
    """A file as the first version wrote it, with the rows of another journal in it."""
    connection = sqlite3.connect(path)
    connection.executescript(STEPS[0])
    connection.executescript(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 1")
    connection.execute("ATTACH ? AS source", (str(source.backend.path),))
    for table in ("event", "lease", "lease_path"):
        connection.execute(f"INSERT INTO {table} SELECT * FROM source.{table}")
    connection.commit()
    connection.close()


def test_a_file_of_the_first_version_is_brought_up_to_date_and_keeps_everything(tmp_path, path):
    with opened(tmp_path / "source.db") as source:
        source.append("a", "k", {"text": "\0🦊"}, key="x")
        held = grant(source, asking(globs=["src/**", "docs/**"]))
        grant(source, locking())
        source.append("run", "k", {}, fence=held.fence)
        make_first_version(path, source)
        events, leases = source.tail(), listed_leases(source)
    for _ in range(2):
        with opened(path) as store:
            assert (store.tail(), listed_leases(store)) == (events, leases)
            assert store.append("a", "k", {}, key="x") == events[0]
            with store.backend.write() as tx:
                tx.keep_snapshot("s", "c", 1, b"state")
    assert run(path, "PRAGMA user_version") == [(VERSION,)]
    with opened(path) as store:
        assert store.append("run", "k", {}, fence=held.fence).ver == 2
        assert store.acquire(
            asking("other", globs=["src/x"]), lambda asked, live: None if not live else live[0]
        )


def test_a_newer_file_is_refused_and_untouched(path):
    opened(path).close()
    run(path, f"PRAGMA user_version = {VERSION + 1}")
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(JournalTooNew, match=f"schema {VERSION + 1}") as caught:
            opened(path, read_only=read_only)
        assert "Upgrade" in caught.value.hint
    assert path.read_bytes() == before


@pytest.mark.parametrize("read_only", [False, True])
def test_a_database_of_another_program_is_refused_and_untouched(path, read_only):
    run(path, "CREATE TABLE theirs(x)")
    before = path.read_bytes()
    with pytest.raises(StoreFailed, match="another program"):
        opened(path, read_only=read_only)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"not a database at all\n" * 100, b"SQLite format 3\0" + b"\xff" * 4000]
)
def test_a_file_that_is_no_database_is_refused_and_untouched(path, content):
    path.write_bytes(content)
    with pytest.raises(JournalCorrupt, match=r"state\.db is damaged"):
        opened(path)
    assert path.read_bytes() == content


def test_a_directory_in_the_place_of_the_file_is_refused(path):
    path.mkdir()
    with pytest.raises(StoreUnreachable, match=r"state\.db"):
        opened(path)


def test_every_bit_of_a_stored_event_is_guarded(path):
    with opened(path) as store:
        event = store.append("stream-name", "kind-name", {"body": "text"}, key="key-name")
    image = path.read_bytes()
    places = [image.index(word) for word in (b'{"body":"text"}', b"stream-name", b"kind-name")]
    for file in places:
        for bit in range(8):
            damaged = bytearray(image)
            damaged[file + 5] ^= 1 << bit
            path.write_bytes(damaged)
            with (
                opened(path) as store,
                pytest.raises(JournalCorrupt, match=rf"event {event.pos} |damaged"),
            ):
                store.tail()
    path.write_bytes(image)
    with opened(path) as store:
        assert store.tail() == [event]


def test_a_stored_event_cannot_be_changed(path):
    with opened(path) as store:
        store.append("a", "k", {})
        with pytest.raises(sqlite3.IntegrityError, match="IMMUTABLE"):
            run(path, "UPDATE event SET body = ''")


def test_a_damaged_lease_is_named(path):
    with opened(path) as store:
        lease = grant(store, asking())
        run(path, "UPDATE lease SET body = '{'")
        for use in (store.leases, lambda: store.release(lease.fence)):
            with pytest.raises(JournalCorrupt, match=f"fence {lease.fence}"):
                use()


@pytest.mark.parametrize(
    "name", ["a b?c#d%20e.db", 'it\'s "é🦊".db', "file:x?mode=memory", ":memory:", "-wal", "%"]
)
def test_any_path_names_a_file(tmp_path, name):
    path = tmp_path / "some dir?#%" / name
    with opened(path) as store:
        store.append("a", "k", 1)
        assert path.exists()
        with opened(path, read_only=True) as reader:
            assert [event.body for event in reader.tail()] == [1]
    assert sorted(each.name for each in path.parent.iterdir()) == sorted([name, f"{name}-gate"])


def test_missing_directories_are_made(tmp_path):
    with opened(tmp_path / "a" / "b" / "state.db") as store:
        assert store.append("a", "k", {}).ver == 1


# Reading only


def test_a_store_opened_for_reading_sees_what_comes_and_does_not_write(path):
    with opened(path) as writer, opened(path, read_only=True) as reader:
        for number in range(3):
            pos = writer.append("a", "k", number).pos
            assert reader.last() == pos
        for use in (lambda: reader.append("a", "k", {}), lambda: grant(reader, asking())):
            with pytest.raises(StoreReadOnly):
                use()
        assert len(writer.tail()) == 3


def test_opening_for_reading_makes_no_file(path):
    with pytest.raises(StoreUnreachable):
        opened(path, read_only=True)
    assert not path.exists()


READ_AS_NOBODY = """
import os, sys; from pathlib import Path
import dos.journal.backends.sqlite
from dos.journal.backends.open import open_store
if os.geteuid() == 0:
    os.setuid(65534)
with open_store("", state_directory=Path(sys.argv[1]), workspace_id="", read_only=True) as store:
    print([event.body for event in store.tail()])
"""


def test_a_closed_journal_can_be_read_where_nothing_can_be_written():
    with tempfile.TemporaryDirectory() as name:  # in one of pytest's, nobody else could look
        path = Path(name) / "state.db"
        with opened(path) as store:
            store.append("a", "k", 1)
        path.parent.chmod(0o555)
        words = [sys.executable, "-c", READ_AS_NOBODY, name]
        completed = subprocess.run(words, capture_output=True, text=True)
        path.parent.chmod(0o755)
        assert (completed.stdout, completed.stderr) == ("[1]\n", "")
        assert sorted(each.name for each in path.parent.iterdir()) == ["state.db", "state.db-gate"]


# Behind the rules


def insert_path(path: Path, prefix: str, *, shared: bool) -> None:
    """A writer that asks nobody."""
    connection = sqlite3.connect(path)
    try:
        connection.execute("INSERT INTO lease VALUES(999, 'bypass', 0, ?, 0, '')", (shared,))
        connection.execute("INSERT INTO lease_path VALUES(999, ?, ?)", (prefix, shared))
        connection.commit()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("held", "prefix", "shared", "refused"),
    [
        (asking("src/api"), "src/api/", False, True),
        (asking("src/api"), "src/api/deep/er/", False, True),
        (asking("src/api"), "src/", False, True),
        (asking("src/api"), "", False, True),
        (asking("x", globs=["**/*"]), "anything/", False, True),
        (asking("src/api"), "src/api/", True, True),
        (reading("src/api"), "src/", False, True),
        (reading("src/api"), "src/", True, False),
        (asking("src/api"), "src/apis/", False, False),
        (asking("src/🦊"), "src/🦊/x/", False, True),
    ],
)
def test_a_lease_inserted_past_the_rules_is_refused_where_it_overlaps(
    path, held, prefix, shared, refused
):
    with opened(path) as store:
        grant(store, held)
        if refused:
            with pytest.raises(sqlite3.IntegrityError, match="OVERLAP"):
                insert_path(path, prefix, shared=shared)
        else:
            insert_path(path, prefix, shared=shared)


@pytest.mark.parametrize(
    ("held", "asked"),
    [
        (asking("api"), asking("api", "B", globs=["elsewhere/**"])),
        (asking("api", exclusive=True), asking("docs", "B")),
        (asking("api"), asking("docs", "B", exclusive=True)),
        (locking("archive"), locking("archive", "B")),
        (asking("a", globs=["src/**"]), reading("b", "B", globs=["src/x"])),
    ],
)
def test_a_rule_that_grants_too_much_is_caught_by_the_database(path, held, asked):
    with opened(path) as store:
        grant(store, held)
        before = written(store)
        with pytest.raises(Internal, match="refused a write"):
            store.acquire(asked, lambda asked, live: None)
        assert written(store) == before


# Processes

OPEN_AND_APPEND = """
import sys; from pathlib import Path
from dos.journal.backends.open import open_store
sys.stdin.readline()
with open_store("", state_directory=Path(sys.argv[1]), workspace_id="") as store:
    print(store.append("a", "k", {}).ver)
"""


def test_processes_that_open_a_new_file_at_once_make_one_journal(tmp_path):
    for attempt in range(3):
        words = [sys.executable, "-c", OPEN_AND_APPEND, str(tmp_path / f"{attempt}")]
        processes = [
            subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(3)
        ]
        time.sleep(0.2)  # most of them have started; the race is for the file
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        assert sorted(process.communicate(timeout=PATIENCE)[0] for process in processes) == [
            "1\n",
            "2\n",
            "3\n",
        ]


def test_threads_that_open_a_new_file_at_once_make_one_journal(tmp_path):
    together = threading.Barrier(6)

    def work(folder: Path) -> int:
        together.wait(PATIENCE)
        with opened(folder) as store:
            return store.append("a", "k", {}).ver

    with ThreadPoolExecutor(6) as pool:
        for attempt in range(12):
            assert sorted(pool.map(work, [tmp_path / f"{attempt}.db"] * 6)) == [1, 2, 3, 4, 5, 6]


def child(store: Store, results) -> None:
    for use in (store.last, lambda: store.append("a", "k", {}), lambda: store.wait(0, 1)):
        try:
            use()
            results.put("used")
        except Internal as error:
            results.put(str(error))
    store.close()


def test_a_store_carried_over_a_fork_is_refused_and_stays_the_parents(path):
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    with opened(path) as store:
        store.append("a", "k", 1)
        with store.backend.write() as tx:
            process = context.Process(target=child, args=(store, results))
            process.start()
            assert [results.get(timeout=PATIENCE) for _ in range(3)] == [
                "a store was used in a child process that did not open it"
            ] * 3
            process.join()
            # The child has not opened the gate under the parent.
            with pytest.raises(StoreBusy):
                opened(path, busy_seconds=0.1).append("a", "k", 2)
            assert tx.head("a") == 1
        assert store.append("a", "k", 3).ver == 2


HOLD = """
import sys, time; from pathlib import Path
from dos.journal.backends.open import open_store
store = open_store("", state_directory=Path(sys.argv[1]), workspace_id="")
with store.backend.write():
    print("inside", flush=True)
    time.sleep(60)
"""


def test_a_writer_stopped_inside_makes_others_give_up_and_a_killed_one_lets_them_in(path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path.parent)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "inside\n"
        holder.send_signal(signal.SIGSTOP)
        store = opened(path, busy_seconds=0.3)
        with pytest.raises(StoreBusy, match=r"0\.3 s") as caught:
            store.append("a", "k", {})
        assert caught.value.exit_code == 4 and caught.value.hint
        assert store.last() == 0, "readers do not wait"
        assert opened(path, read_only=True).tail() == []
    finally:
        holder.kill()
        holder.communicate()
    assert store.append("a", "k", {}).ver == 1


def test_the_store_can_be_used_again_after_it_was_closed(tmp_path):
    store = Sqlite(tmp_path).open()
    store.append("a", "k", {})
    store.close()
    store.close()
    assert store.append("a", "k", {}).ver == 2
    store.close()
