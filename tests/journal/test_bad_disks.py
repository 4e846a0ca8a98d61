"""Disks that are full, fail, forbid or lose their files: a clear error, nothing acknowledged lost,
and it goes on."""

import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from acknowledged import (
    Ack,
    Appended,
    Failed,
    Granted,
    Ledger,
    Opened,
    decode,
    opened,
    problems,
    writer_command,
)
from amounts import long
from disk.limits import Limited, file_size_limit, full_disk
from disk.recorder import Fault, Kind, Operation, counted, crash_images, read_log, run
from patience import PATIENCE

from dos import errors
from dos.errors import StoreFailed, StoreFull

TESTS = [str(Path(__file__).parent)]
# The last three show that the store goes on. Beside another who has it open, nobody writes the log
# back on closing.
STEPS = "append_keyed acquire append_batch renew release reopen append_keyed acquire append"
WATCHED = f"stand_by {STEPS}"
STUBBORN = {"WRITER_STUBBORN": "1"}
OFTEN = {"WRITER_PRAGMA": "wal_autocheckpoint=12"}  # so that faults strike checkpoints too


def assert_clear(failures: list[Failed]) -> None:
    for failure in failures:
        assert issubclass(getattr(errors, failure.error), StoreFailed), failure
        assert failure.hint and failure.message, failure


# One fault at one operation


class Faulty:
    """A run of the writer on a disk with a fault, and what it said."""

    def __init__(
        self,
        folder: Path,
        shim: Path,
        fail: Fault,
        at: int = 1_000_000,
        fail_for: int | None = 1,
        steps: str = STEPS,
        extra: dict[str, str] | None = None,
    ) -> None:
        self.disk = folder / "disk"
        self.disk.mkdir(parents=True)
        self.state = self.disk / "state"
        argv = writer_command(self.state, self.disk / "ACK", "w", steps)
        variables = {**STUBBORN, **(extra or {})}
        done = run(
            argv, self.disk, folder / "log", fail, at, variables, shim=shim, fail_for=fail_for
        )
        assert (done.returncode, done.stderr) == (0, ""), f"{fail} at operation {at}"
        self.operations = read_log(folder / "log")
        path = self.disk / "ACK"
        self.acks: list[Ack] = (
            [decode(line) for line in path.read_text().splitlines()] if path.exists() else []
        )
        self.failures = [ack for ack in self.acks if isinstance(ack, Failed)]

    def struck(self, at: int) -> Operation | None:
        return next(
            (
                operation
                for operation in self.operations
                if operation.number == at and operation.error
            ),
            None,
        )

    def lost_by_a_power_cut(self, scratch: Path) -> list[str]:
        """At the end, with nothing but what was synced: a sync that failed may not have been taken
        for one that did."""
        images = [
            image for image in crash_images(self.operations, random.Random(3), 0) if image.acks
        ]
        found: list[str] = []
        for image in [image for image in images if image.point == images[-1].point]:
            image.write_to(scratch)
            found += problems(scratch / "state", Ledger(map(decode, image.acks)))
            shutil.rmtree(scratch)
        return found


def strike_everywhere(
    folder: Path,
    shim: Path,
    fail: Fault,
    fail_for: int | None,
    steps: str,
    writes: int,
    others: int,
) -> list[Faulty]:
    """A run for each operation of a healthy run, or of its writes and its other operations each so
    many'th."""
    healthy = Faulty(folder / "healthy", shim, fail, steps=steps, extra=OFTEN)
    assert healthy.failures == [] and counted(healthy.operations) > 100
    numbered = [operation for operation in healthy.operations if operation.number]
    of_writes = [each.number for each in numbered if each.kind is Kind.WRITE]
    of_others = [each.number for each in numbered if each.kind is not Kind.WRITE]
    chosen = sorted(of_writes[writes - 1 :: writes] + of_others[others - 1 :: others])
    runs = []
    for at in chosen:
        faulty = Faulty(folder / str(at), shim, fail, at, fail_for, steps, OFTEN)
        assert_clear(faulty.failures)
        assert faulty.lost_by_a_power_cut(folder / "image") == [], f"{fail} at {faulty.struck(at)}"
        assert problems(faulty.state, Ledger(faulty.acks)) == [], f"{fail} at {faulty.struck(at)}"
        runs.append(faulty)
    return runs


EVERYWHERE = [
    pytest.param("eio", 1, STEPS, id="an error, once"),
    pytest.param("eio", 1, WATCHED, id="an error, once, while another has it open"),
    pytest.param("eio", None, STEPS, id="errors from there on"),
    pytest.param("enospc", 1, STEPS, id="no room, once"),
    pytest.param("enospc", None, STEPS, id="no room from there on"),
    pytest.param("short", 1, STEPS, id="a short write"),
]


def assert_faults_are_survived(runs: list[Faulty], fail: Fault, fail_for: int | None) -> None:
    if fail == "short":
        assert not any(faulty.failures for faulty in runs), (
            "what was not taken at once is written again"
        )
        return
    assert (
        sum(bool(faulty.failures) for faulty in runs) > len(runs) / 4
    )  # a checkpoint that fails is tried again
    if fail_for == 1:
        # The same store object: only the step that met the fault is missing.
        assert all(len(faulty.failures) <= 1 for faulty in runs)
        assert all(any(isinstance(ack, Opened) for ack in faulty.acks) for faulty in runs)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("fail", "fail_for", "steps"), EVERYWHERE)
def test_a_fault_of_the_disk_is_told_and_survived(
    tmp_path: Path, disk_shim: Path, fail: Fault, fail_for: int | None, steps: str
) -> None:
    runs = strike_everywhere(tmp_path, disk_shim, fail, fail_for, steps, writes=83, others=17)
    assert len(runs) > 2
    assert_faults_are_survived(runs, fail, fail_for)


@pytest.mark.soak
@pytest.mark.parametrize(("fail", "fail_for", "steps"), EVERYWHERE)
def test_a_fault_at_any_operation_is_told_and_survived(
    tmp_path: Path, disk_shim: Path, fail: Fault, fail_for: int | None, steps: str
) -> None:
    dense = (fail, fail_for, steps) in (("eio", 1, STEPS), ("enospc", 1, STEPS))
    every = long(8, 1) if dense else long(16, 3)
    runs = strike_everywhere(
        tmp_path, disk_shim, fail, fail_for, steps, writes=every, others=long(3, 1)
    )
    assert len(runs) > 200 / every
    assert_faults_are_survived(runs, fail, fail_for)


@pytest.mark.soak
@pytest.mark.parametrize("steps", [STEPS, WATCHED], ids=["alone", "while another has it open"])
def test_a_commit_whose_sync_failed_is_not_acknowledged_by_the_next_sync(
    tmp_path: Path, disk_shim: Path, steps: str
) -> None:
    """The system forgets the pages it could not write: a later sync of the same file succeeds
    without them."""
    healthy = Faulty(tmp_path / "healthy", disk_shim, "eio", steps=steps)
    first = next(at for at, each in enumerate(healthy.operations) if each.kind is Kind.ACK)
    syncs = [
        operation.number
        for operation in healthy.operations[first:]
        if operation.kind is Kind.SYNC and operation.path.endswith("-wal") and operation.number
    ]
    assert len(syncs) > 5
    for step, at in enumerate(syncs[:5]):  # one for each step before the store is closed
        faulty = Faulty(tmp_path / str(at), disk_shim, "eio", at, steps=steps)
        struck = next(folder for folder, each in enumerate(faulty.operations) if each.number == at)
        later = faulty.operations[struck:]
        told, goes_on = [folder for folder, each in enumerate(later) if each.kind is Kind.ACK][:2]
        decoded = decode(later[told].acknowledgements[0])
        if step == 0:
            goes_on = told  # it has a key, so it was asked for again
            assert isinstance(decoded, Appended)
        else:
            assert isinstance(decoded, Failed) and decoded.error == "OutcomeUnknown", (
                "nobody knows whether it was written"
            )
        assert Kind.SYNC_DIRECTORY in [each.kind for each in later[:goes_on]], (
            "and the store is opened anew"
        )
        assert any(isinstance(ack, Appended | Granted) for ack in faulty.acks[-2:]), (
            "and the ones after it are"
        )
        assert faulty.lost_by_a_power_cut(tmp_path / "image") == []


def test_the_first_acknowledgement_waits_for_the_directory(tmp_path: Path, disk_shim: Path) -> None:
    healthy = Faulty(tmp_path / "healthy", disk_shim, "eio", steps="append")
    opening = next(at for at, each in enumerate(healthy.operations) if each.kind is Kind.ACK)
    synced = [
        operation
        for operation in healthy.operations[:opening]
        if operation.kind is Kind.SYNC_DIRECTORY and operation.path
    ]
    paths = [
        operation.path
        for operation in healthy.operations[:opening]
        if operation.kind is Kind.CREATE
    ]
    assert healthy.operations.index(synced[-1]) == opening - 1 and "state/state.db-wal" in paths
    faulty = Faulty(tmp_path / "faulty", disk_shim, "eio", synced[-1].number, steps="append")
    assert [type(ack) for ack in faulty.acks] == [Failed, Opened, Appended]


def test_a_disk_that_cannot_keep_a_log_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite then says so only in its answer, and goes on in a mode in which a failing disk lost
    events."""
    connect = sqlite3.connect

    def without_shared_memory(target: str, **options: object) -> sqlite3.Connection:
        return connect(f"file:{target}?vfs=unix-dotfile", **options | {"uri": True})  # type: ignore[call-overload,no-any-return]

    monkeypatch.setattr(sqlite3, "connect", without_shared_memory)
    with pytest.raises(StoreFailed, match="write-ahead log") as refused:
        opened(tmp_path)
    assert refused.value.hint


# Disks without room


FILL = """
import sys
sys.path[:0] = sys.argv[2:]
from pathlib import Path
from msgspec import json
from acknowledged import Failed, opened, write
from dos.errors import DosError
directory, ballast = Path(sys.argv[1]) / "state", Path(sys.argv[1]) / "ballast"
def say(ack):
    print(json.encode(ack).decode(), flush=True)
store = opened(directory)
number = 0
try:
    while number < 2000:
        number += 1
        say(write(store, str(number), 5000))
except DosError as error:
    say(Failed(type(error).__name__, error.hint, error.message))
ballast.unlink()
for number in range(3):
    try:
        say(write(store, f"after-{number}", 1000))
    except DosError as error:
        say(Failed(type(error).__name__, error.hint, error.message))
"""


def filled(small: Limited) -> list[Ack]:
    (small.directory / "ballast").write_bytes(b"x" * 300_000)
    argv = [sys.executable, "-c", FILL, str(small.directory), *TESTS]
    done = subprocess.run(
        small.command(argv), capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [decode(line) for line in done.stdout.splitlines()]


def test_a_full_disk_is_told_and_when_there_is_room_the_same_store_goes_on() -> None:
    with full_disk(1 << 20) as small:
        acks = filled(small)
        first = next(at for at, ack in enumerate(acks) if isinstance(ack, Failed))
        assert first > 20
        if small.how == "tmpfs":
            assert acks[first].error == "StoreFull"  # type: ignore[union-attr]
            assert [type(ack) for ack in acks[first + 1 :]] == [Appended] * 3
        assert problems(small.directory / "state", Ledger(acks)) == []


def test_a_limit_on_the_size_of_a_file_is_told_and_loses_nothing(tmp_path: Path) -> None:
    acks = filled(file_size_limit(tmp_path, 400_000))
    failures = [ack for ack in acks if isinstance(ack, Failed)]
    assert_clear(failures)
    assert failures and len(acks) > 10
    assert problems(tmp_path / "state", Ledger(acks)) == []


def test_a_disk_too_full_for_a_store_is_told() -> None:
    with full_disk(1 << 20) as small:
        if small.how != "tmpfs":
            pytest.skip("no small disk can be mounted here")
        with (
            (small.directory / "ballast").open("wb", buffering=0) as ballast,
            pytest.raises(OSError),
        ):
            while True:
                ballast.write(b"x" * 4096)
        for reading in (False, True):
            (small.directory / "state").mkdir(exist_ok=True)
            (small.directory / "state" / "state.db").touch()
            with pytest.raises(StoreFull):
                opened(small.directory / "state", reading=reading)
        (small.directory / "ballast").unlink()
        assert problems(small.directory / "state", Ledger()) == []
