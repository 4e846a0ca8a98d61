"""Writers are killed at any moment, over and over: the next one finds everything that was
acknowledged, and goes on."""

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path
from shutil import copytree

import pytest
from acknowledged import (
    Ack,
    Appended,
    Granted,
    Ledger,
    Opened,
    decode,
    first_version,
    goes_on,
    halves,
    opened,
    problems,
    writer_command,
)
from amounts import long
from disk.recorder import Fault, counted, read_log, run
from msgspec import json
from writer import Writer

from dos.journal.store import Store

STEPS = "append_keyed acquire append_batch keep_snapshot renew release"


class Child:
    """A writer in a process of its own, forked because a start from nothing takes longer than most
    of them live."""

    def __init__(self, directory: Path, seed: str) -> None:
        self.acks: list[Ack] = []
        self._pipe, theirs = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                os.close(self._pipe)
                writer = Writer(directory, lambda ack: _say(theirs, ack), seed)
                while True:
                    writer.take_steps(1000)
            finally:
                os.write(2, b"a writer ended by itself\n")
                os._exit(1)
        os.close(theirs)

    def kill_after(self, acks: int, seconds: float) -> bool:
        """Wait for so many acknowledgements and then so long; True if it had lived until then."""
        said = b""
        while said.count(b"\n") < acks and (more := os.read(self._pipe, 65536)):
            said += more
        time.sleep(seconds)
        os.kill(self._pid, signal.SIGKILL)
        _, status = os.waitpid(self._pid, 0)
        while more := os.read(self._pipe, 65536):
            said += more
        os.close(self._pipe)
        self.acks = [decode(line) for line in said.splitlines()]
        return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def _say(pipe: int, ack: Ack) -> None:
    os.write(pipe, json.encode(ack) + b"\n")


def newest_missing(store: Store, acks: list[Ack]) -> list[Ack]:
    """The cheap look: the last things that were promised, one by one."""
    return [ack for ack in acks[-20:] if not _there(store, ack)]


def _there(store: Store, ack: Ack) -> bool:
    match ack:
        case Appended():
            return any(
                event.pos == ack.pos and event.key == ack.key
                for event in store.load(ack.stream, ack.ver - 1, 1)
            )
        case Granted():
            return store.last() >= ack.fence
    return True


def kill_again_and_again(directory: Path, kills: int, full_check_every: int) -> Counter[str]:
    dice = random.Random(5)
    ledger = Ledger()
    fences = [0]
    for number in range(kills):
        child = Child(directory, f"w.{number}")
        # Some die while they open the store, most in the midst of their work.
        acks = dice.choice((0, 1, 2, 5, 20, 60))
        assert child.kill_after(acks, dice.uniform(0, 0.004))
        for ack in child.acks:
            ledger.note(ack)
            if isinstance(ack, Granted):
                fences.append(ack.fence)
        with opened(directory) as store:
            assert newest_missing(store, child.acks) == []
            if number % full_check_every == full_check_every - 1 or number == kills - 1:
                assert ledger.missing(store, directory / "archive") + halves(store) == []
                assert goes_on(store, ledger, f"after-{number}") == []
    assert fences == sorted(set(fences)), "fences only grow, from one process to the next too"
    return ledger.counts


def test_nothing_acknowledged_is_lost_by_kills(tmp_path: Path) -> None:
    counts = kill_again_and_again(tmp_path, kills=45, full_check_every=15)
    assert (
        counts["Appended"] > 200
        and counts["Granted"] > 30
        and counts["Kept"] > 10
        and counts["Pruned"] > 10
    )


@pytest.mark.soak
def test_nothing_acknowledged_is_lost_by_hundreds_of_kills(tmp_path: Path) -> None:
    kills = long(120, 8_000)
    counts = kill_again_and_again(tmp_path / "store", kills, full_check_every=50)
    assert counts["Appended"] > 5 * kills and counts["Granted"] > kills / 2
    assert counts["Kept"] > kills / 5 and counts["Pruned"] > kills / 5
    kill_while_it_is_brought_up_to_date(tmp_path / "old", kills=long(30, 2_000))


def kill_while_it_is_brought_up_to_date(directory: Path, kills: int) -> None:
    said = first_version(directory / "first")
    dice = random.Random(6)
    cut_off = 0
    for number in range(kills):
        folder = copytree(directory / "first", directory / str(number))
        child = Child(folder, "w")
        # However fast or slow the machine is, every fourth one dies at once, and every other one
        # lives until it has opened the store.
        seconds = 0.0 if number % 4 == 0 else dice.uniform(0, 0.02)
        assert child.kill_after(number % 2, seconds)
        cut_off += not child.acks
        assert problems(folder, Ledger([*said, *child.acks])) == []
    assert 0 < cut_off < kills, "some died before they had opened it, and some after"


def test_a_kill_while_an_older_file_is_brought_up_to_date_loses_nothing(tmp_path: Path) -> None:
    kill_while_it_is_brought_up_to_date(tmp_path, kills=15)


def kill_at(place: Path, shim: Path, fail: Fault, at: int) -> list[Ack]:
    (place / "disk").mkdir(parents=True)
    command = writer_command(place / "disk" / "state", place / "disk" / "ACK", "k", STEPS)
    done = run(command, place / "disk", place / "log", fail, at, shim=shim)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    ack = place / "disk" / "ACK"
    return [decode(line) for line in ack.read_text().splitlines()] if ack.exists() else []


@pytest.mark.parametrize(
    ("fail", "every"),
    [
        pytest.param("kill", 7, id="before some operations"),
        pytest.param("kill", 1, id="before each operation", marks=pytest.mark.soak),
        pytest.param("kill-after", 1, id="after each operation", marks=pytest.mark.soak),
    ],
)
def test_a_kill_at_an_operation_loses_nothing(
    tmp_path: Path, disk_shim: Path, fail: Fault, every: int
) -> None:
    whole = kill_at(tmp_path / "whole", disk_shim, fail, 100_000)
    operations = counted(read_log(tmp_path / "whole" / "log"))
    assert operations > 60 and Ledger(whole).counts["Opened"] == 1
    before_opening = 0
    for at in range(1, operations + 1, every):
        place = tmp_path / str(at)
        acks = kill_at(place, disk_shim, fail, at)
        before_opening += Opened not in map(type, acks)
        state = place / "disk" / "state"
        if (state / "state.db").exists():
            # Who only looks comes first, as often as not.
            with opened(state, reading=True) as store:
                assert Ledger(acks).missing(store, state / "archive") == [], at
        assert problems(state, Ledger(acks)) == [], at
    assert 5 / every < before_opening < (operations - 5) / every
