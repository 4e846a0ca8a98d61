"""What does not end `dos up`: a terminal that is closed. And what does, and how it says so."""

import fcntl
import os
import pty
import subprocess
import sys
import termios
from contextlib import suppress

import pytest
from patience import PATIENCE, wait_for
from sample_fleet import Fleet, landed
from sample_repository import commit, write

from dos.errors import Conflict
from dos.journal import streams
from dos.journal.store import Store
from dos.lease import Lease
from dos.workspace import find
from dos.world import World, open_journal


@pytest.fixture
def waiting(fleet) -> Fleet:
    """Its agent works on one unit, and only once it is let go."""
    work = [fleet.repository.waits, write("one/a.txt"), commit("Write a")]
    fleet.repository.play({"DEMO/A1": [work], "*": [[{"crash": True}]]})
    return fleet


def log_of(fleet: Fleet) -> str:
    log = find(fleet.repository.root).state / "logs" / "supervisor.log"
    return log.read_text() if log.exists() else ""


def lock(fleet: Fleet) -> Lease | None:
    with World(fleet.repository.root) as world:
        return next(
            (
                lease
                for lease in world.journal.leases(locks=True)
                if lease.lane in streams.supervisor
            ),
            None,
        )


def on_terminal(fleet: Fleet, *words: str) -> tuple[subprocess.Popen[bytes], int]:
    """`dos up` as the foreground job of a terminal; and the other end of that terminal."""
    master, slave = pty.openpty()

    def take_terminal() -> None:
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(
        [sys.executable, "-m", "dos", "up", "--tick", "0.3", "--target", "1", *words],
        cwd=fleet.repository.root, stdin=slave, stdout=slave, stderr=slave,
        start_new_session=True, preexec_fn=take_terminal, env=os.environ | {"TERM": "xterm"},
    )  # fmt: skip
    os.close(slave)
    fleet.started.append(process)
    return process, master


@pytest.mark.soak
@pytest.mark.parametrize("words", [["--plain"], []], ids=["plain", "live"])
def test_a_closed_terminal_does_not_end_it_and_its_log_takes_over(waiting, words):
    process, master = on_terminal(waiting, *words)
    waiting.worker_at("one")
    os.close(master)
    wait_for(
        lambda: "terminal closed; the supervisor keeps running" in log_of(waiting),
        "the log takes over",
    )
    waiting.repository.let_go()
    wait_for(lambda: landed(waiting) == ["DEMO/A1"], "its unit lands")
    wait_for(lambda: "DEMO/A1 landed on main" in log_of(waiting), "the log tells of it")
    assert process.poll() is None
    assert waiting.dos("down").returncode == 0
    assert process.wait(PATIENCE) == 0
    assert "\x1b" not in log_of(waiting), "nothing is drawn in a log"


def test_a_lost_lease_is_printed_and_has_an_exit_code_of_its_own(waiting):
    process = waiting.up("--target", "1")
    held = wait_for(lambda: lock(waiting), "the supervisor holds its lock")
    with open_journal(find(waiting.repository.root), "") as journal:
        wait_for(lambda: revoked(journal, held.fence), "its lock is taken away")
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 4, said
    assert (
        "dos up ended: the supervisor lost its lease" in said and "Start it again: dos up" in said
    )


def revoked(journal: Store, fence: int) -> bool:
    """Its keeper renews it all the time, so this may have to be tried again."""
    for lease in journal.leases(locks=True):
        with suppress(Conflict):
            journal.revoke(fence, version=lease.version, reason="a person did it")
            return True
    return False
