"""A store that may not be written, that goes away, or is no store: told clearly, left alone,
nothing taken and lost."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from acknowledged import Ledger, opened, problems, write, writer_command
from disk.limits import Limited, read_only
from patience import PATIENCE

from dos.errors import JournalCorrupt, StoreFailed, StoreForeign, StoreReadOnly, StoreUnreachable

# Directories and files that may not be written


LOOK = """
import sys
sys.path[:0] = sys.argv[3:]
from pathlib import Path
from acknowledged import opened, write
from dos.errors import DosError
try:
    with opened(Path(sys.argv[1]), reading=sys.argv[2] == "reading") as store:
        if sys.argv[2] == "writing":
            write(store, "more")
        print(len(list(store.events())))
except DosError as error:
    print(type(error).__name__, bool(error.hint))
"""


def looked(limited: Limited, directory: Path, purpose: str) -> str:
    argv = limited.command(
        [sys.executable, "-c", LOOK, str(directory), purpose, str(Path(__file__).parent)]
    )
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A store with three events that nobody has open."""
    with opened(tmp_path / "state") as store:
        for number in range(3):
            write(store, str(number))
    return tmp_path / "state"


def leave_a_log(state: Path) -> None:
    """One more event, by a process that dies with it in the log."""
    left = {**os.environ, "WRITER_STUBBORN": "1"}
    command = writer_command(state, "-", "w", "append_keyed")
    subprocess.run(command, env=left, stdout=subprocess.DEVNULL, check=True, timeout=PATIENCE)
    assert (state / "state.db-wal").stat().st_size > 0


def test_in_a_read_only_directory_it_is_read_and_not_written(state: Path) -> None:
    with read_only(state) as limited:
        assert looked(limited, state, "reading") == "3"
        assert looked(limited, state, "writing") == "StoreReadOnly True"
    assert problems(state, Ledger()) == []


def test_a_log_left_in_a_read_only_directory_is_read_or_the_reader_is_told(state: Path) -> None:
    leave_a_log(state)
    with read_only(state) as limited:
        assert looked(limited, state, "reading") == "4"
        assert looked(limited, state, "writing") == "StoreReadOnly True"
    (state / "state.db-shm").unlink()
    with read_only(state) as limited:
        # Without its shared memory the log cannot be read; three events would be a lie.
        assert looked(limited, state, "reading") == "StoreReadOnly True"
    with opened(state) as store:
        assert len(list(store.events())) == 4


def test_a_reader_in_a_read_only_directory_sees_what_others_add(state: Path) -> None:
    with read_only(state) as limited:
        assert looked(limited, state, "reading") == "3"
        with opened(state, reading=True) as reader:
            before = reader.last()
            with opened(state) as writer:
                newest = write(writer, "new")
                assert (before, reader.last()) == (newest.pos - 1, newest.pos)
            assert reader.wait(before, 5)


def test_a_read_only_file_is_read_and_not_written(state: Path) -> None:
    with read_only(state) as limited:
        state.chmod(0o755)
        assert looked(limited, state, "reading") == "3"
        assert looked(limited, state, "writing") == "StoreReadOnly True"


def test_a_directory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    with read_only(tmp_path) as limited:
        assert looked(limited, tmp_path / "state", "writing") == "StoreReadOnly True"
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnreachable) as refused:
        opened(tmp_path / "file")
    assert refused.value.hint


@pytest.mark.soak
def test_the_command_line_looks_at_a_read_only_repository(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "--quiet", str(repository)], check=True)
    with opened(repository / ".git" / "dos") as store:
        write(store, "1")

    def status(limited: Limited) -> subprocess.CompletedProcess[str]:
        program = "import sys; from dos.cli.main import run; sys.exit(run(['status', '--json']))"
        argv = limited.command([sys.executable, "-c", program])
        return subprocess.run(
            argv, cwd=repository, capture_output=True, text=True, check=False, timeout=PATIENCE
        )

    with read_only(repository) as limited:
        seen = status(limited)
    assert (seen.returncode, seen.stderr) == (0, "")
    leave_a_log(repository / ".git" / "dos")
    (repository / ".git" / "dos" / "state.db-shm").unlink()
    with read_only(repository) as limited:
        told = status(limited)
    assert told.returncode == 2 and "Traceback" not in told.stderr
    assert told.stderr.startswith("error: ") and "hint: " in told.stderr
    assert status(Limited(directory=repository, how="permissions")).returncode == 0


# Files that go away


def test_a_store_that_is_removed_takes_no_more(state: Path) -> None:
    with opened(state) as store, opened(state, reading=True) as reader:
        write(store, "before")
        shutil.rmtree(state)
        for attempt in (lambda: write(store, "lost"), store.last, reader.last):
            with pytest.raises(StoreUnreachable, match="removed") as refused:
                attempt()
            assert refused.value.hint
    assert not state.exists(), (
        "nobody makes an empty one in its place behind the back of those who use it"
    )
    assert problems(state, Ledger()) == []


def test_a_store_that_is_replaced_takes_no_more(state: Path, tmp_path: Path) -> None:
    with opened(state) as store:
        write(store, "before")
        state.rename(tmp_path / "aside")
        with opened(state) as other:
            fresh = write(other, "fresh")
            with pytest.raises(StoreUnreachable, match="replaced"):
                write(store, "lost")
            assert other.last() == fresh.pos == 1


def test_a_store_that_is_moved_away_and_back_goes_on(state: Path, tmp_path: Path) -> None:
    with opened(state) as store:
        state.rename(tmp_path / "aside")
        with pytest.raises(StoreUnreachable):
            write(store, "meanwhile")
        (tmp_path / "aside").rename(state)
        assert write(store, "meanwhile").pos == 4
    assert problems(state, Ledger()) == []


def test_a_store_whose_log_is_removed_takes_no_more(state: Path) -> None:
    with opened(state) as store:
        write(store, "before")
        (state / "state.db-wal").unlink()
        with pytest.raises(StoreUnreachable, match="wal was removed"):
            write(store, "lost")


def test_a_store_that_is_removed_during_a_commit_acknowledges_nothing(state: Path) -> None:
    with (
        opened(state) as store,
        pytest.raises(StoreUnreachable, match="removed"),
        store.backend.write() as tx,
    ):
        tx.drop_lease(1)
        shutil.rmtree(state)


# Files that are not what they should be


def a_directory(file: Path) -> None:
    file.unlink()
    file.mkdir()


def a_loop(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.name)


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-4096])


def cut_in_a_page(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:5000])


def cut_in_the_header(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:50])


def garbage(file: Path) -> None:
    file.write_bytes(random.Random(1).randbytes(20_000))


def zeros(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def of_another_program(file: Path) -> None:
    file.unlink()
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE bookmarks(url)")
    connection.close()


def emptied_beside_its_log(file: Path) -> None:
    leave_a_log(file.parent)
    file.write_bytes(b"")


def a_gate_that_is_a_directory(file: Path) -> None:
    gate = file.with_name("state.db-gate")
    gate.unlink()
    gate.mkdir()


@pytest.mark.parametrize("reading", [False, True], ids=["writing", "reading"])
@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (a_directory, StoreUnreachable),
        (a_loop, StoreUnreachable),
        (truncated, JournalCorrupt),
        (cut_in_a_page, JournalCorrupt),
        (cut_in_the_header, JournalCorrupt),
        (garbage, JournalCorrupt),
        (zeros, JournalCorrupt),
        (of_another_program, StoreForeign),
        (emptied_beside_its_log, JournalCorrupt),
    ],
)
def test_a_file_that_is_no_store_is_told_and_left_alone(
    state: Path, damage: Callable[[Path], None], error: type[StoreFailed], reading: bool
) -> None:
    file = state / "state.db"
    damage(file)
    before = file.read_bytes() if file.is_file() else None
    with pytest.raises(error) as caught, opened(state, reading=reading) as store:
        if not reading:
            write(store, "more")
        list(store.events())
    assert type(caught.value) is error and caught.value.hint and "state.db" in str(caught.value)
    assert (file.read_bytes() if file.is_file() else None) == before


def test_a_gate_that_cannot_be_opened_is_told_and_reading_goes_on(state: Path) -> None:
    a_gate_that_is_a_directory(state / "state.db")
    with opened(state) as store:
        with pytest.raises(StoreUnreachable, match="gate"):
            write(store, "more")
        assert len(list(store.events())) == 3


@pytest.mark.parametrize("reading", [False, True], ids=["writing", "reading"])
def test_an_empty_file_is_a_store_that_was_never_finished(tmp_path: Path, reading: bool) -> None:
    """So a creation leaves it that is cut off at once: the next process, who only reads too, goes
    on without help."""
    (tmp_path / "state.db").touch()
    with opened(tmp_path, reading=reading) as store:
        assert list(store.events()) == []
    assert problems(tmp_path, Ledger()) == []


def test_an_error_of_a_refused_write_is_a_read_only_store(state: Path) -> None:
    with opened(state, reading=True) as store, pytest.raises(StoreReadOnly):
        write(store, "more")
