"""What a program of ours left behind is ended, and nothing else."""

import os
import subprocess
import sys

import psutil
import pytest
from msgspec import structs

from dos.agents.io import orphans
from dos.lease import Lease
from dos.regions import region

WORKSPACE = f"/work/{os.getpid()}"  # others may run these tests at the same time
LEASE = Lease(
    lane="one",
    holder="h",
    host="here",
    region=region(["one/**"]),
    fence=7,
    version=1,
    ttl_ms=1000,
    boot="",
    granted_ms=0,
    beat_ms=0,
    expires_ms=0,
)


@pytest.fixture
def sleeping():
    """Start a process that carries marks; it is ended at the end of the test."""
    started = []

    def start(workspace=WORKSPACE, lane="one", fence=7):
        lease = structs.replace(LEASE, lane=lane, fence=fence)
        environment = os.environ | orphans.mark_variables(workspace, lease)
        started.append(subprocess.Popen(["sleep", "60"], env=environment, start_new_session=True))
        while not psutil.Process(
            started[-1].pid
        ).environ():  # empty for a moment, while it becomes another program
            assert started[-1].poll() is None
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("carried", "is_ended"),
    [
        ({}, True),
        ({"fence": 6}, True),
        ({"fence": 8}, False),
        ({"lane": "two"}, False),
        ({"workspace": f"{WORKSPACE}-another-clone"}, False),
    ],
)
def test_only_what_carries_this_workspace_this_lane_and_no_newer_fence_is_ended(
    sleeping, carried, is_ended
):
    process = sleeping(**carried)
    assert orphans.end_processes(WORKSPACE, LEASE) == int(is_ended)
    assert (process.poll() is not None) == is_ended


@pytest.mark.parametrize(
    ("carried", "is_ended"),
    [
        ({"fence": 6}, True),
        ({"fence": 5, "lane": "two"}, True),
        ({"fence": 7}, False),  # it has not ended
        ({"fence": 10}, False),  # it may have been granted since
        ({"fence": 1_795_000_000_000}, False),  # a check that a person runs
        ({"fence": 6, "workspace": f"{WORKSPACE}-another-clone"}, False),
    ],
)
def test_what_carries_a_lease_that_has_ended_is_ended_on_every_lane(sleeping, carried, is_ended):
    process = sleeping(**carried)
    assert orphans.end_unleased_processes(WORKSPACE, [LEASE], newest=9) == int(is_ended)
    assert (process.poll() is not None) == is_ended


STARTS_OTHERS = "for each in $(seq 500); do sleep 60 & done; wait"


def test_what_starts_others_while_it_is_being_ended_is_ended_with_them():
    environment = os.environ | orphans.mark_variables(WORKSPACE, LEASE)
    process = subprocess.Popen(["sh", "-c", STARTS_OTHERS], env=environment)
    while not psutil.Process(process.pid).children():
        assert process.poll() is None
    orphans.end_processes(WORKSPACE, LEASE)
    process.wait()
    assert [
        each for each in psutil.process_iter() if orphans._is_leftover(each, WORKSPACE, LEASE)
    ] == []


FORGETS = """
import subprocess, sys
from dos.agents.io import orphans
from test_orphans import LEASE
if sys.argv[1] == "heir":
    orphans.become_subreaper()
shell = "setsid env -i sleep 60 >/dev/null 2>&1 & echo $!"
started = subprocess.run(["sh", "-c", shell], stdout=subprocess.PIPE, text=True)
print(started.stdout.strip(), flush=True)
print(orphans.end_processes(sys.argv[2], LEASE), flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process inherit orphans")
@pytest.mark.parametrize(("kind", "ended"), [("heir", 1), ("stranger", 0)])
def test_what_cleared_its_environment_is_found_by_whoever_inherits_it(kind, ended):
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", FORGETS, kind, WORKSPACE],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    pid, count = done.stdout.split()
    try:
        assert int(count) == ended, done.stderr
        assert psutil.pid_exists(int(pid)) == (not ended)
    finally:
        if psutil.pid_exists(int(pid)):
            psutil.Process(int(pid)).kill()


def test_one_that_is_another_users_is_left_and_the_others_are_ended(sleeping, monkeypatch):
    theirs, mine = sleeping(), sleeping()
    kill = psutil.Process.kill

    def denied(process):
        if process.pid == theirs.pid:
            raise psutil.AccessDenied(process.pid)
        kill(process)

    with monkeypatch.context() as patched:
        patched.setattr(psutil.Process, "kill", denied)
        assert orphans.end_processes(WORKSPACE, LEASE) == 1
    assert theirs.poll() is None and mine.poll() is not None


def test_the_process_that_asks_is_never_ended():
    code = (
        "from test_orphans import LEASE\nfrom dos.agents.io import orphans\n"
        f"print(orphans.end_processes({WORKSPACE!r}, LEASE))\n"
    )
    environment = (
        os.environ
        | orphans.mark_variables(WORKSPACE, LEASE)
        | {"PYTHONPATH": os.pathsep.join(sys.path)}
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "0\n", done.stderr
