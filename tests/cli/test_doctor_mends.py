"""What the doctor puts right, what it leaves alone, and which processes it finds."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import troubles
from commanding import command, git
from troubles import finding, kinds, with_damaged_journal, with_stale_worktree

from dos import workspace
from dos.doctor import examine
from dos.doctor.subjects import processes
from dos.doctor.subjects import processes as processes_health
from dos.journal.events.fleet import SpawnIntended, WorkerSpawned
from dos.journal.store import Store
from dos.lease import Lease, Request
from dos.machine import process
from dos.machine.process import DosProcess, Identity
from dos.regions import region
from dos.world import World, open_journal

healthy = troubles.healthy


def lease_of(folder: Path, pid: int, *, lane: str = "api", started: float | None = None) -> Lease:
    with open_journal(workspace.find(folder), "") as journal:
        return taken(journal, pid, lane=lane, started=started)


def taken(journal: Store, pid: int, *, lane: str = "api", started: float | None = None) -> Lease:
    lease_request = Request(
        lane=lane,
        holder="somebody",
        host=process.host(),
        ttl_ms=600_000,
        region=region([f"{lane}/**"]),
        pid=pid,
        pid_started=started if started is not None else 1.0,
        system=process.system(),
    )
    lease = journal.acquire(lease_request, lambda request, live: None)
    assert isinstance(lease, Lease)
    return lease


def dead_process() -> int:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    return child.pid


def live_lanes(folder):
    with open_journal(workspace.find(folder), "", read_only=True) as journal:
        return [lease.lane for lease in journal.leases()]


def test_the_lease_of_a_dead_process_is_shown_then_revoked(healthy, dos):
    lease_of(healthy, dead_process())
    assert finding(dos("doctor", "--json"), "LEASE_HOLDER_GONE")["fix"] == "dos doctor --fix"
    (repair,) = dos("doctor", "--fix", "--dry-run", "--json").json["repairs"]
    assert repair["done"] is False and live_lanes(healthy) == ["api"]
    answer = dos("doctor", "--fix", "--check", "--json")
    assert answer.json["repairs"][0]["done"] is True
    assert live_lanes(healthy) == [] and "LEASE_HOLDER_GONE" not in kinds(answer)
    assert answer.code == 0
    with open_journal(workspace.find(healthy), "", read_only=True) as journal:
        assert [event.kind for event in journal.load("lane/api")] == [
            "lease_granted",
            "lease_revoked",
        ]


def test_the_lease_of_a_living_process_is_left_alone(healthy, dos):
    me = process.identify(os.getpid())
    lease_of(healthy, me.pid, started=me.started)
    answer = dos("doctor", "--fix", "--json")
    assert answer.json["repairs"] == [] and live_lanes(healthy) == ["api"]


def test_a_lease_of_another_host_is_left_alone(healthy, dos, monkeypatch):
    monkeypatch.setenv("DISPATCH_HOST_ID", "elsewhere")
    lease_of(healthy, dead_process())
    monkeypatch.delenv("DISPATCH_HOST_ID")
    assert dos("doctor", "--fix", "--json").json["repairs"] == []
    assert live_lanes(healthy) == ["api"]


def test_a_lease_that_beat_since_it_was_looked_at_is_left_alone(healthy, monkeypatch):
    with open_journal(workspace.find(healthy), "") as journal:
        lease = taken(journal, dead_process())
        journal.renew([lease.fence])
        monkeypatch.setattr(processes, "dead_leases", lambda world: [lease])
        with World(healthy) as world:
            (repair,) = examine.repair(world, lambda: journal, dry_run=False)
    assert repair.done is False and "alive" in repair.why_not
    assert live_lanes(healthy) == ["api"]


def test_nothing_is_revoked_under_a_file_that_has_errors(healthy, dos):
    lease_of(healthy, dead_process())
    with (healthy / "dos.toml").open("a") as file:
        file.write("\n[nonsense]\n")
    (repair,) = dos("doctor", "--fix", "--json").json["repairs"]
    assert repair["done"] is False and live_lanes(healthy) == ["api"]


def test_a_worktree_that_is_gone_is_forgotten(healthy, dos, monkeypatch, tmp_path):
    with_stale_worktree(healthy, monkeypatch, tmp_path)
    assert dos("doctor", "--fix", "--dry-run", "--json").json["repairs"][0]["done"] is False
    assert "vanished" in git("worktree", "list", cwd=healthy)
    text = dos("doctor", "--fix").out
    assert "fixed: remove git's entry of the worktree" in text
    assert "vanished" not in git("worktree", "list", cwd=healthy)


def test_what_cannot_be_mended_is_said(healthy, dos, monkeypatch, tmp_path):
    with_damaged_journal(healthy, monkeypatch, tmp_path)
    (repair,) = dos("doctor", "--fix", "--json").json["repairs"]
    assert repair["kind"] == "NOT_TRIED" and "damaged" in repair["why_not"]


def test_a_stopped_process_of_this_workspace_is_found(healthy, dos):
    lease_of(healthy, os.getpid(), started=process.identify(os.getpid()).started)
    waiting = subprocess.Popen(
        command("lease-lane", "wait", "--lane", "api", "--timeout", "60"), cwd=healthy
    )
    try:
        os.kill(waiting.pid, signal.SIGSTOP)
        os.waitpid(waiting.pid, os.WUNTRACED)
        row = finding(dos("doctor", "--json"), "PROCESS_STOPPED")
        assert row["fix"] == f"kill -CONT {waiting.pid}"
    finally:
        waiting.kill()
        waiting.wait()
    assert "PROCESS_STOPPED" not in kinds(dos("doctor", "--json"))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["/usr/bin/python3", "-m", "dos", "up", "--tick", "2"], ["up", "--tick", "2"]),
        (["python", "-X", "dev", "/x/bin/dos", "worker", "--lane", "a"], ["worker", "--lane", "a"]),
        (["/x/bin/dos", "up"], ["up"]),
        (["python", "-m", "pytest", "dos"], None),
        (["python", "dos.py"], None),
        (["vi", "dos"], None),
        (["python3"], None),
    ],
)
def test_our_own_command_lines_are_told_from_others(line, words):
    assert process.dos_arguments(line) == words


@pytest.mark.parametrize(
    ("words", "age_seconds", "holds", "orphan"),
    [
        (("worker", "--lane", "api", "--run-id", "RID-1"), 600, False, True),
        (("up",), 600, False, True),
        (("worker", "--lane", "api"), 600, True, False),
        (("worker", "--lane", "api"), 5, False, False),
        (("lease-lane", "wait"), 600, False, False),
    ],
)
def test_a_worker_that_runs_on_without_a_lease_is_an_orphan(
    words, age_seconds, holds, orphan, healthy, monkeypatch
):
    now = processes_health.age_seconds(Identity(0, 0.0))
    identity = Identity(os.getpid() if holds else 2**22 + 1, now - age_seconds)
    if holds:
        lease_of(healthy, identity.pid, started=identity.started)
    child = DosProcess(identity=identity, arguments=words, stopped=False)
    monkeypatch.setattr(processes_health, "running_processes", lambda world: [child])
    with World(healthy) as world:
        found = [each.kind for each in processes_health.examine_orphans(world)]
    assert found == (["PROCESS_ORPHANED"] if orphan else [])


def test_a_worker_that_only_the_journal_knows_is_found_too(healthy, monkeypatch):
    me = process.identify(os.getpid())
    monkeypatch.setattr(processes_health, "SETTLING_SECONDS", 0.0)
    with open_journal(workspace.find(healthy), "") as journal:
        host = process.host()
        journal.record(
            "spawn/api",
            SpawnIntended(lane="api", run_id="RID-1", host=host, system=process.system()),
        )
        fact = WorkerSpawned(
            lane="api", run_id="RID-1", host=host, pid=me.pid, pid_started=me.started,
            system=process.system()
        )  # fmt: skip
        journal.record("spawn/api", fact)
    with World(healthy) as world:
        (found,) = processes_health.examine_orphans(world)
    assert found.fix == f"kill {me.pid}" and "'api'" in found.what


def test_a_stopped_process_is_found_though_the_journal_is_shut(healthy, dos, monkeypatch, tmp_path):
    with_damaged_journal(healthy, monkeypatch, tmp_path)
    child = DosProcess(identity=Identity(2**22 + 1, 1.0), arguments=("up",), stopped=True)
    monkeypatch.setattr(processes_health, "running_processes", lambda world: [child])
    assert {"PROCESS_STOPPED", "STORE_DAMAGED"} <= kinds(dos("doctor", "--json"))


def test_a_process_is_as_old_as_its_own_clock_says():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert 0 <= processes_health.age_seconds(process.identify(child.pid)) < 60
    finally:
        child.communicate(b"\n")
