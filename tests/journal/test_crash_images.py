"""The power is cut at every write and every sync of the store's files: what was acknowledged is
there afterwards."""

import os
import random
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from acknowledged import (
    Ack,
    Ledger,
    decode,
    first_version,
    halves,
    opened,
    problems,
    writer_command,
)
from amounts import long
from disk.recorder import Image, Kind, counted, crash_images, environment, read_log, run
from patience import PATIENCE

from dos.errors import DosError

OFTEN = {"WRITER_PRAGMA": "wal_autocheckpoint=12"}  # so that a short run holds many checkpoints
SAID = {"Opened", "Appended", "Granted", "Renewed", "Releasing", "Released", "Kept", "Pruned"}


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    (tmp_path / "disk").mkdir()
    return tmp_path / "disk"


@pytest.fixture
def scratch() -> Iterator[Path]:
    """Where the images are opened: in memory if it can be, since nothing there has to survive
    anything."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(
        dir=memory if os.access(memory, os.W_OK) else None
    ) as directory:
        yield Path(directory)


class Recording:
    def __init__(self, disk: Path, shim: Path, steps: int, *, before: tuple[Ack, ...] = ()) -> None:
        self.disk = disk
        self.shim = shim
        self.steps = steps
        self.before = before
        self.log = disk.parent / "disk.log"

    def command(self, seed: str) -> list[str]:
        return writer_command(self.disk / "state", self.disk / "ACK", seed, self.steps)

    def write(self, seed: str, *, pragma: dict[str, str] = OFTEN) -> None:
        done = run(self.command(seed), self.disk, self.log, env=pragma, shim=self.shim)
        assert done.returncode == 0, done.stderr

    def write_and_die(self, seed: str, at: int) -> None:
        assert (
            run(
                self.command(seed), self.disk, self.log, "kill", at, OFTEN, shim=self.shim
            ).returncode
            == -9
        )

    def write_together(self, *seeds: str) -> None:
        variables = {**os.environ, **OFTEN, **environment(self.disk, self.log, shim=self.shim)}
        writers = [subprocess.Popen(self.command(seed), env=variables) for seed in seeds]
        assert [writer.wait(PATIENCE) for writer in writers] == [0] * len(seeds)

    def images(self, per_point: int) -> Iterator[Image]:
        return crash_images(read_log(self.log), random.Random(11), per_point)

    def ledger(self, image: Image) -> Ledger:
        return Ledger([*self.before, *map(decode, image.acks)])


def fresh(disk: Path, shim: Path, steps: int) -> Recording:
    """From an empty directory on: the store is made, written, closed and opened again."""
    recording = Recording(disk, shim, steps)
    recording.write("1")
    return recording


def older(disk: Path, shim: Path, steps: int) -> Recording:
    """From a file of the first version on, which is brought up to date before anything else."""
    recording = Recording(disk, shim, steps, before=tuple(first_version(disk / "state")))
    recording.write("2")
    return recording


def killed_before(disk: Path, shim: Path, steps: int) -> Recording:
    """Each writer finds the log that the one before left behind when it was killed."""
    recording = Recording(disk, shim, steps)
    for number, at in enumerate((9, 40, 120, 70)):
        recording.write_and_die(f"3.{number}", at)
    recording.write("3.last")
    return recording


def two_at_once(disk: Path, shim: Path, steps: int) -> Recording:
    recording = Recording(disk, shim, steps * 2 // 3)
    recording.write_together("4", "5")
    return recording


RUNS = [fresh, older, killed_before, two_at_once]


def lost(image: Image, ledger: Ledger, directory: Path) -> list[str]:
    """What is wrong with a store after the cut, found as the next process would: by opening it and
    going on."""
    image.write_to(directory)
    try:
        seen = (
            _seen_by_a_reader(directory / "state", ledger)
            if image.point % 4 == 0 or not image.acks
            else []
        )
        return seen + problems(directory / "state", ledger)
    except DosError as error:
        return [f"{type(error).__name__}: {error}"]
    finally:
        shutil.rmtree(directory)


def _seen_by_a_reader(state: Path, ledger: Ledger) -> list[str]:
    """Who only looks comes first, finds the log of the one before, and does not disturb the next
    writer."""
    if not (state / "state.db").exists():
        return []
    with opened(state, reading=True) as store:
        return [*ledger.missing(store, state / "archive"), *halves(store)]


def assert_nothing_is_lost(recording: Recording, scratch: Path, per_point: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    points = set()
    ledger = Ledger()
    for image in recording.images(per_point):
        ledger = recording.ledger(image)
        assert lost(image, ledger, scratch / "image") == [], (
            f"{image.manner}, after operation {image.point}"
        )
        counts.update(["images", image.manner])
        points.add(image.point)
    assert set(ledger.counts) == SAID, "the last image owes something of everything"
    assert ledger.gone and any(ack.key for ack in ledger.events.values())
    return counts + Counter(points=len(points))


@pytest.mark.parametrize("record", [killed_before])
def test_a_power_cut_loses_nothing_and_the_next_process_goes_on(
    record: Callable[[Path, Path, int], Recording], disk: Path, disk_shim: Path, scratch: Path
) -> None:
    recording = record(disk, disk_shim, 14)
    counts = assert_nothing_is_lost(recording, scratch, per_point=1)
    assert counts["points"] > 150 and counts["images"] > 250
    assert all(
        counts[manner] > 10
        for manner in ("nothing unsynced", "everything", "lost", "torn", "scattered")
    )


@pytest.mark.soak
@pytest.mark.parametrize("record", RUNS)
def test_a_power_cut_loses_nothing_in_many_more_ways(
    record: Callable[[Path, Path, int], Recording], disk: Path, disk_shim: Path, scratch: Path
) -> None:
    recording = record(disk, disk_shim, 56)
    per_point = long(1, 20)
    counts = assert_nothing_is_lost(recording, scratch, per_point)
    assert counts["points"] > 600 and counts["images"] > 450 * per_point


def test_the_recordings_hold_what_they_are_about(disk: Path, disk_shim: Path) -> None:
    counts = Counter((each.kind, each.path) for each in read_log(fresh(disk, disk_shim, 42).log))
    assert (
        counts[Kind.MAKE_DIRECTORY, "state"] == 1 and counts[Kind.CREATE, "state/state.db"] == 1
    ), "it was made"
    assert counts[Kind.WRITE, "state/state.db"] > 40, "it was checkpointed on the way"
    assert (
        counts[Kind.CREATE, "state/state.db-wal"] > 2
        and counts[Kind.UNLINK, "state/state.db-wal"] > 2
    )


@pytest.mark.parametrize("bug", ["synchronous=OFF", "synchronous=NORMAL"])
def test_a_store_that_does_not_sync_each_commit_is_caught(
    disk: Path, disk_shim: Path, scratch: Path, bug: str
) -> None:
    recording = Recording(disk, disk_shim, 14)
    recording.write("1", pragma={"WRITER_PRAGMA": bug})
    bare = [image for image in recording.images(per_point=0) if image.manner == "nothing unsynced"]
    assert any(
        "is not there" in " ".join(lost(image, recording.ledger(image), scratch / "image"))
        for image in bare
    )


def test_a_store_that_loses_its_log_is_caught(disk: Path, disk_shim: Path, scratch: Path) -> None:
    """The files at the end of a healthy run, without the log: the checks must notice."""
    recording = Recording(disk, disk_shim, 14)
    recording.write("1", pragma={"WRITER_PRAGMA": "wal_autocheckpoint=0"})
    caught = 0
    for image in recording.images(per_point=0):
        if image.files.pop("state/state.db-wal", None) and image.acks:
            caught += bool(lost(image, recording.ledger(image), scratch / "image"))
    assert caught > 20 and counted(read_log(recording.log)) > 100
