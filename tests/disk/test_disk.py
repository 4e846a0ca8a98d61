"""The recording disk itself: it sees every change, it fails when told to, and it catches programs
that lie."""

import errno
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from patience import PATIENCE

from disk.recorder import (
    Fault,
    Image,
    Kind,
    Operation,
    counted,
    crash_images,
    environment,
    final_image,
    read_log,
    run,
)

Recorded = Callable[..., subprocess.CompletedProcess[str]]

EVERY_CALL = """
import os, shutil, sys
os.chdir(sys.argv[1])
with open("plain", "wb", buffering=0) as file:
    file.write(b"one"); file.write(b" two"); os.fsync(file.fileno())
with open("plain", "ab", buffering=0) as file:
    file.write(b" three")
fd = os.open("placed", os.O_RDWR | os.O_CREAT)
os.pwrite(fd, b"x" * 1000, 3000); os.writev(fd, [b"a", b"bc"]); os.pwritev(fd, [b"d", b"e"], 10)
os.ftruncate(fd, 2000); os.posix_fallocate(fd, 0, 2500)
copy = os.dup(fd); os.close(fd); os.write(copy, b"through a duplicate"); os.fdatasync(copy)
os.mkdir("folder"); folder = os.open("folder", os.O_RDONLY)
inner = os.open("inner", os.O_WRONLY | os.O_CREAT, dir_fd=folder); os.write(inner, b"inside")
os.rename("inner", "moved", src_dir_fd=folder, dst_dir_fd=folder)
os.write(inner, b", renamed while open")
os.fsync(folder); os.link("plain", "second"); os.unlink("plain")
os.truncate("second", 5); shutil.copyfile(sys.executable, "folder/large")
if os.fork() == 0:
    os.write(inner, b" and by a child"); os._exit(0)
os.wait()
open("folder/large", "r+b").close(); open("second", "w").close()
os.mkdir("empty"); os.rmdir("empty")
"""

COUNTER = """
import os, sys
os.chdir(sys.argv[1])
log, ack = (os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND) for name in ("log", "ACK"))
for number in range(int(sys.argv[3])):
    os.write(log, f"{number}\\n".encode())
    if sys.argv[2] == "honest":
        os.fsync(log)
    os.write(ack, f"{number}\\n".encode())
"""

REPLACE = """
import os, sys
os.chdir(sys.argv[1])
for text in ("first" * 300, "second" * 300):
    with open("new", "w") as file:
        file.write(text); file.flush()
        if "file" in sys.argv[2]: os.fsync(file.fileno())
    os.replace("new", "state")
    if "folder" in sys.argv[2]: os.fsync(os.open(".", os.O_RDONLY))
    os.write(os.open("ACK", os.O_WRONLY | os.O_CREAT), text.encode())
"""

DATABASE = """
import os, sqlite3, sys
os.chdir(sys.argv[1])
ack = os.open("ACK", os.O_WRONLY | os.O_CREAT)
database = sqlite3.connect("store.db", isolation_level=None)
database.execute("PRAGMA journal_mode=WAL"); database.execute(f"PRAGMA synchronous={sys.argv[2]}")
database.execute("PRAGMA wal_autocheckpoint=12")
database.execute("CREATE TABLE IF NOT EXISTS event(seq INTEGER PRIMARY KEY, body TEXT)")
for number in range(int(sys.argv[3])):
    seq = database.execute("INSERT INTO event(body) VALUES (?)", (f"{number}-" * 300,)).lastrowid
    os.write(ack, f"{seq}\\n".encode())
"""


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    (tmp_path / "disk").mkdir()
    return tmp_path / "disk"


@pytest.fixture
def recorded(disk: Path, disk_shim: Path) -> Recorded:
    def start(program: str, *arguments: object, fails: bool = False, **options: object) -> object:
        argv = [sys.executable, "-c", program, str(disk), *map(str, arguments)]
        done = run(argv, disk, log_of(disk), shim=disk_shim, **options)  # type: ignore[arg-type]
        assert fails or done.returncode == 0, done.stderr
        return done

    return start  # type: ignore[return-value]


def log_of(disk: Path) -> Path:
    return disk.parent / "disk.log"


def operations_on(disk: Path) -> list[Operation]:
    return read_log(log_of(disk))


def images(disk: Path, per_point: int = 4) -> Iterator[Image]:
    return crash_images(operations_on(disk), random.Random(7), per_point)


def present(disk: Path) -> dict[str, bytes]:
    files = (
        path
        for path in disk.rglob("*")
        if path.is_file() and path.name != "ACK" and path.suffix != ".db-shm"
    )
    return {str(path.relative_to(disk)): path.read_bytes() for path in files}


def everything_at_the_end(disk: Path) -> dict[str, bytes]:
    return final_image(operations_on(disk)).files


def test_every_call_that_changes_a_file_is_in_the_log(disk: Path, recorded: Recorded) -> None:
    recorded(EVERY_CALL)
    assert everything_at_the_end(disk) == present(disk)
    assert present(disk)["folder/moved"] == b"inside, renamed while open and by a child"
    counts = Counter(operation.kind for operation in operations_on(disk))
    assert (
        counts[Kind.SYNC] == 2 and counts[Kind.SYNC_DIRECTORY] == 1 and counts[Kind.TRUNCATE] == 4
    )
    assert (
        counts[Kind.RENAME] == 1
        and counts[Kind.LINK] == 1
        and counts[Kind.UNLINK] == 2
        and counts[Kind.MAKE_DIRECTORY] == 2
    )


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_every_write_of_sqlite_is_in_the_log(disk: Path, recorded: Recorded, mode: str) -> None:
    recorded(
        DATABASE.replace("journal_mode=WAL", f"journal_mode={mode}") + "os._exit(0)", "FULL", 20
    )
    assert everything_at_the_end(disk) == present(disk)
    assert set(present(disk)) == ({"store.db", "store.db-wal"} if mode == "WAL" else {"store.db"})


def test_what_was_there_before_belongs_to_the_images(disk: Path, recorded: Recorded) -> None:
    (disk / "folder").mkdir()
    (disk / "folder" / "log").write_bytes(b"old")
    recorded(
        "import os, sys; os.pwrite(os.open(sys.argv[1] + '/folder/log', os.O_WRONLY), b'new', 0)"
    )
    assert [(image.manner, image.files) for image in images(disk, per_point=0)] == [
        ("nothing unsynced", {"folder/log": b"old"}),
        ("everything", {"folder/log": b"new"}),
    ]


def test_a_second_run_goes_on_in_the_same_log(disk: Path, recorded: Recorded) -> None:
    recorded(COUNTER, "honest", 3)
    recorded(COUNTER, "honest", 3)
    assert everything_at_the_end(disk) == present(disk) == {"log": b"0\n1\n2\n" * 2}


def test_processes_at_once_are_recorded_in_one_order(disk: Path, disk_shim: Path) -> None:
    variables = {**os.environ, **environment(disk, log_of(disk), shim=disk_shim)}
    argv = [sys.executable, "-c", COUNTER, str(disk), "honest", "25"]
    writers = [subprocess.Popen(argv, env=variables) for _ in range(4)]
    assert [writer.wait(PATIENCE) for writer in writers] == [0, 0, 0, 0]
    assert everything_at_the_end(disk) == present(disk)
    numbers = [
        operation.number for operation in operations_on(disk) if operation.kind is not Kind.ACK
    ]
    assert numbers == list(range(1, counted(operations_on(disk)) + 1))


def test_threads_at_once_are_recorded_in_one_order(disk: Path, recorded: Recorded) -> None:
    body = "\n".join("    " + line for line in COUNTER.strip().splitlines())
    starts = (
        "workers = [threading.Thread(target=work) for _ in range(4)]\n"
        "for each in workers: each.start()\n"
    )
    recorded(f"import threading\ndef work():\n{body}\n{starts}", "honest", 25)
    assert everything_at_the_end(disk) == present(disk)
    assert Counter(present(disk)["log"].split()) == {
        str(number).encode(): 4 for number in range(25)
    }


def test_a_log_inside_the_recorded_directory_is_refused(disk: Path) -> None:
    with pytest.raises(ValueError, match="outside"):
        environment(disk, disk / "log", shim=Path("unused"))


def lost_numbers(image: Image) -> set[str]:
    return set(image.acks) - set(image.files.get("log", b"").decode().splitlines())


def test_a_program_that_acknowledges_what_it_did_not_sync_is_caught(
    disk: Path, recorded: Recorded
) -> None:
    recorded(COUNTER, "hasty", 8)
    assert any(lost_numbers(image) for image in images(disk))


def test_a_program_that_syncs_before_it_acknowledges_is_never_caught(
    disk: Path, recorded: Recorded
) -> None:
    recorded(COUNTER, "honest", 8)
    contents = list(images(disk))
    assert not any(lost_numbers(image) for image in contents)
    assert contents[-1].acks == tuple(map(str, range(8)))


@pytest.mark.parametrize(
    ("synced", "caught"), [("file folder", False), ("file", True), ("folder", True), ("", True)]
)
def test_replacing_a_file_needs_both_syncs(
    disk: Path, recorded: Recorded, synced: str, caught: bool
) -> None:
    recorded(REPLACE, synced)
    # The next text may be there before it is acknowledged; anything but a whole text never may.
    whole = [b"first" * 300, b"second" * 300]
    found = (
        not image.acks or image.files.get("state") in whole[len(image.acks) - 1 :]
        for image in images(disk, 8)
    )
    assert all(found) is not caught


def lost_rows(image: Image, directory: Path) -> set[str]:
    image.write_to(directory)
    database = sqlite3.connect(directory / "store.db", isolation_level=None)
    try:
        database.execute("PRAGMA synchronous=OFF")
        if (
            not image.acks
            and not database.execute("SELECT 1 FROM sqlite_master WHERE name='event'").fetchone()
        ):
            return set()
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return set(image.acks) - {str(seq) for (seq,) in database.execute("SELECT seq FROM event")}
    finally:
        database.close()


def test_sqlite_loses_nothing_acknowledged_when_it_syncs_fully(
    disk: Path, recorded: Recorded, tmp_path: Path
) -> None:
    recorded(DATABASE, "FULL", 20)
    assert (
        sum(path.path == "store.db" for path in operations_on(disk)) > 3
    )  # it was checkpointed on the way
    for number, image in enumerate(images(disk, per_point=3)):
        assert lost_rows(image, tmp_path / "images" / str(number)) == set(), (
            image.point,
            image.manner,
        )


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
def test_sqlite_is_caught_when_it_does_not_sync_each_commit(
    disk: Path, recorded: Recorded, tmp_path: Path, synchronous: str
) -> None:
    recorded(DATABASE, synchronous, 6)
    bare = (
        image
        for image in images(disk, per_point=0)
        if image.manner == "nothing unsynced" and image.acks
    )
    damage = []
    for number, image in enumerate(bare):
        try:
            damage.append(bool(lost_rows(image, tmp_path / "images" / str(number))))
        except sqlite3.DatabaseError:
            damage.append(True)
    assert any(damage)


def outcomes(disk: Path) -> dict[int, int]:
    return {
        operation.number: operation.error for operation in operations_on(disk) if operation.number
    }


@pytest.mark.parametrize(("fail", "code"), [("enospc", errno.ENOSPC), ("eio", errno.EIO)])
@pytest.mark.parametrize(
    ("at", "kind"), [(1, Kind.CREATE), (2, Kind.WRITE), (3, Kind.SYNC), (6, Kind.WRITE)]
)
def test_an_error_strikes_at_the_operation_asked_for(
    disk: Path, recorded: Recorded, fail: Fault, code: int, at: int, kind: Kind
) -> None:
    done = recorded(COUNTER, "honest", 3, fails=True, fail=fail, at=at)
    assert f"[Errno {code}]" in done.stderr
    assert outcomes(disk) == {**dict.fromkeys(range(1, at), 0), at: code}
    last = next(operation for operation in operations_on(disk) if operation.number == at)
    assert (last.kind, last.error) == (kind, code)


STUBBORN = COUNTER.replace("    os.write(log, f", "    attempt(os.write, log, f").replace(
    "import os, sys",
    """import os, sys
def attempt(call, *arguments):
    while True:
        try:
            return call(*arguments)
        except OSError:
            pass
""",
)


def test_a_fault_for_some_operations_goes_away_again(disk: Path, recorded: Recorded) -> None:
    recorded(STUBBORN, "hasty", 3, fail="enospc", at=3, fail_for=4)
    assert [error for _, error in sorted(outcomes(disk).items())] == [
        0,
        0,
        *[errno.ENOSPC] * 4,
        0,
        0,
    ]
    assert present(disk) == {"log": b"0\n1\n2\n"}


def test_a_full_disk_still_lets_files_be_removed(disk: Path, recorded: Recorded) -> None:
    (disk / "ballast").write_bytes(b"x")
    recorded("import os, sys; os.unlink(sys.argv[1] + '/ballast')", fail="enospc", at=1)
    assert present(disk) == {}


def test_a_short_write_takes_half_and_says_so(disk: Path, recorded: Recorded) -> None:
    program = (
        "import os, sys; print(os.write(os.open(sys.argv[1] + '/f', os.O_CREAT | "
        "os.O_WRONLY), b'x' * 100))"
    )
    assert recorded(program, fail="short", at=2).stdout == "50\n"
    assert everything_at_the_end(disk) == present(disk) == {"f": b"x" * 50}


@pytest.mark.parametrize(("fail", "done_last"), [("kill", 4), ("kill-after", 5)])
def test_a_kill_comes_just_before_or_just_after_the_operation(
    disk: Path, recorded: Recorded, fail: Fault, done_last: int
) -> None:
    done = recorded(COUNTER, "honest", 8, fails=True, fail=fail, at=5)
    assert done.returncode == -signal.SIGKILL
    assert counted(operations_on(disk)) == done_last
    assert everything_at_the_end(disk) == present(disk)


@pytest.mark.parametrize(("fail_for", "survivors"), [(1, 2), (None, 0)])
def test_a_kill_takes_one_process_or_all_that_go_on(
    disk: Path, disk_shim: Path, fail_for: int | None, survivors: int
) -> None:
    disturbed = environment(
        disk, log_of(disk), shim=disk_shim, fail="kill", at=10, fail_for=fail_for
    )
    argv = [sys.executable, "-c", COUNTER, str(disk), "honest", "40"]
    writers = [subprocess.Popen(argv, env={**os.environ, **disturbed}) for _ in range(3)]
    assert sorted(writer.wait(PATIENCE) for writer in writers).count(0) == survivors
    assert everything_at_the_end(disk) == present(disk)


def test_sqlite_is_whole_after_kills_and_a_power_cut_after_them(
    disk: Path, recorded: Recorded, tmp_path: Path
) -> None:
    recorded(DATABASE, "FULL", 3)
    for at in range(1, counted(operations_on(disk)) + 1, 5):
        recorded(DATABASE, "FULL", 3, fails=True, fail="kill", at=at)
    assert everything_at_the_end(disk) == present(disk)
    for number, image in enumerate(images(disk, per_point=1)):
        assert lost_rows(image, tmp_path / "images" / str(number)) == set(), (
            image.point,
            image.manner,
        )
