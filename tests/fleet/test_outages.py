"""The journal is away for a while: nobody dies of it, nothing is done twice, and no lost lease is
worked under.
"""

import fcntl
import os
import threading
import time
from contextlib import contextmanager

import psutil
import psycopg
import pytest
from patience import PATIENCE, wait_for
from sample_fleet import Fleet, history, landed
from sample_repository import Repository, commit, write

from dos import run_ids
from dos.errors import OutcomeUnknown
from dos.fleet import effects
from dos.fleet.io.drive import drive
from dos.fleet.io.supervisor_effects import SupervisorEffects
from dos.fleet.io.worker_effects import WorkerEffects
from dos.fleet.supervisor import Supervisor, SupervisorExit, SupervisorProcess
from dos.fleet.tick import RevokeLease
from dos.fleet.worker.worker import Worker
from dos.journal.backends.sqlite import SqliteBackend
from dos.journal.events.fleet import AgentEnded
from dos.loop.gate import Mode
from dos.loop.types import LoopState, StopReason
from dos.world import World

EVERYTHING = ["DEMO/A1", "DEMO/A2", "DEMO/B1"]
ONCE_EACH = ["Begin", "Write a", "Write b", "Write c"]
HANGS = {"run": "exec sleep 900"}
TAKES_A_WHILE = {
    "DEMO/A1": [[{"sleep": 2}, write("one/a.txt"), commit("Write a")]],
    "DEMO/A2": [[write("one/b.txt"), commit("Write b")]],
    "DEMO/B1": [[{"sleep": 2}, write("two/c.txt"), commit("Write c")]],
}


@pytest.fixture
def shared(fleet, postgres) -> Fleet:
    """A fleet whose journal is in PostgreSQL."""
    url = postgres.createdb(f"outage_{time.time_ns()}")
    configure(fleet.repository, f'[store]\nurl = "{url}"')
    fleet.repository.play(TAKES_A_WHILE)
    return fleet


def configure(repository: Repository, table: str) -> None:
    config = repository.root / "dos.toml"
    config.write_text(f"{table}\n\n{config.read_text()}")


def shorten_leases(repository: Repository, seconds: int) -> None:
    config = repository.root / "dos.toml"
    config.write_text(config.read_text().replace("ttl_seconds = 30", f"ttl_seconds = {seconds}"))


def starts(fleet: Fleet) -> list[str]:
    return sorted(
        event["body"]["lane"] for event in history(fleet) if event["kind"] == "worker_spawned"
    )


@pytest.mark.soak
def test_a_server_that_is_stopped_and_started_again_ends_nobody(shared, postgres, tmp_path):
    go_on = tmp_path / "go-on"
    waits = {"run": f"until [ -e {go_on} ]; do sleep 0.1; done"}
    first_units = {unit: TAKES_A_WHILE[unit] for unit in ("DEMO/A1", "DEMO/B1")}
    held = {unit: [[waits, *steps] for steps in runs] for unit, runs in first_units.items()}
    shared.repository.play(TAKES_A_WHILE | held)
    process = shared.up("--until-idle", "--target", "2")
    for lane in ("one", "two"):  # one that has only been started ends, and is started again
        shared.worker_at(lane)
    postgres.stop()
    assert any("waiting until it is back" in line for line in process.stdout)  # up to that line
    postgres.start()
    go_on.touch()
    story = process.stdout.read()
    assert process.wait(PATIENCE) == 0, story
    assert "the journal is back after" in story
    assert landed(shared) == EVERYTHING and sorted(shared.repository.subjects()) == ONCE_EACH
    assert starts(shared) == ["one", "two"], "the workers went on"
    assert shared.stray_processes() == []


@pytest.mark.soak
def test_connections_that_are_cut_again_and_again_end_nobody(shared, postgres):
    process = shared.up("--until-idle", "--target", "2")
    shared.worker_at("one", unit=False)
    cuts = 0
    with psycopg.connect(postgres.dsn, autocommit=True) as connection:
        while process.poll() is None and cuts < 200:
            cuts += connection.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE application_name = 'dos'"
            ).fetchone()[0]
            time.sleep(0.2)
    story, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, story
    assert cuts > 10
    assert landed(shared) == EVERYTHING and sorted(shared.repository.subjects()) == ONCE_EACH
    assert starts(shared) == ["one", "two"]
    kinds = [event["kind"] for event in history(shared)]
    assert (
        kinds.count("unit_landed"),
        kinds.count("fleet_started"),
        kinds.count("fleet_stopped"),
    ) == (3, 1, 1)


@pytest.mark.soak
def test_when_it_stays_away_longer_than_a_lease_lasts_the_workers_stop_and_the_supervisor_waits(
    shared, postgres
):
    shorten_leases(shared.repository, 2)
    shared.repository.play({**TAKES_A_WHILE, "DEMO/A1": [[HANGS], *TAKES_A_WHILE["DEMO/A1"]]})
    process = shared.up("--until-idle", "--target", "2")
    wait_for(lambda: "sleep 900" in shared.stray_processes(), "the agent is at work")
    postgres.stop()
    try:
        wait_for(
            lambda: (
                not any("worker" in each or "sleep" in each for each in shared.stray_processes())
            )
        )
        assert process.poll() is None
    finally:
        postgres.start()
    story, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, story
    assert (
        story.count("waiting until it is back") == story.count("the journal is back after") == 1
    ), story
    assert landed(shared) == EVERYTHING and sorted(shared.repository.subjects()) == ONCE_EACH
    assert [event["kind"] for event in history(shared)].count("fleet_started") == 1


@contextmanager
def frozen(postgres):
    postmaster = psutil.Process(postgres.process.pid)
    stopped = [postmaster, *postmaster.children(recursive=True)]
    try:
        for process in stopped:
            process.suspend()
        yield
    finally:
        for process in stopped:
            process.resume()


@pytest.mark.soak
def test_an_agent_is_ended_when_a_server_that_says_nothing_lets_its_lease_run_out(shared, postgres):
    shorten_leases(shared.repository, 2)
    shared.repository.play({"*": [[HANGS]]})
    shared.up("--target", "1")
    wait_for(lambda: "sleep 900" in shared.stray_processes())
    with frozen(postgres):
        wait_for(lambda: "sleep 900" not in shared.stray_processes())


# In this process


def new_worker() -> Worker:
    run_id = run_ids.mint(1_700_000_000_000, 1, "test").run_id
    return Worker(lane="one", run_id=run_id, state=LoopState(gate_mode=Mode.SOFT))


def kinds(repository: Repository) -> list[str]:
    return [event.kind for event in World(repository.root).journal.events()]


@pytest.fixture
def answers_are_lost(monkeypatch) -> list[int]:
    """Every other commit of the embedded store is made, and nobody is told."""
    commits: list[int] = []
    really = SqliteBackend._commit

    def commit_and_lose(self, connection):
        really(self, connection)
        commits.append(1)
        if len(commits) % 2:
            raise OutcomeUnknown("the answer was lost", hint="")

    monkeypatch.setattr(SqliteBackend, "_commit", commit_and_lose)
    return commits


def test_a_worker_that_never_hears_that_it_was_heard_says_everything_once(
    repository, answers_are_lost
):
    world = World(repository.root)
    acting = WorkerEffects(world.workspace, world.config, actor="test")
    stop = drive(new_worker().work(), acting.performers())
    acting.close()
    assert stop.reason is StopReason.COMPLETE
    assert len(answers_are_lost) > 30
    assert repository.subjects() == ["Write b", "Write a", "Begin"]
    said = kinds(repository)
    for kind, times in {
        "lease_granted": 1,
        "run_begun": 1,
        "unit_claimed": 2,
        "agent_started": 2,
        "agent_ended": 2,
        "work_measured": 2,
        "landing_intended": 2,
        "receipt_issued": 2,
        "unit_landed": 2,
        "iteration_committed": 2,
        "run_stopped": 1,
        "lease_released": 1,
    }.items():
        assert said.count(kind) == times, kind


@pytest.mark.soak
def test_a_supervisor_that_never_hears_that_it_was_heard_starts_each_worker_once(
    repository, answers_are_lost
):
    world = World(repository.root)
    acting = SupervisorEffects(world.workspace, world.config, actor="test")
    supervisor = Supervisor(
        SupervisorProcess(host="here", system="here-1", pid=os.getpid()),
        target=2,
        tick_seconds=0.2,
        until_idle=True,
    )
    assert drive(supervisor.supervise(), acting.performers()).exit is SupervisorExit.IDLE
    acting.close()
    said = kinds(repository)
    for kind in ("fleet_started", "fleet_stopped"):
        assert said.count(kind) == 1
    for kind in ("spawn_intended", "worker_spawned", "run_stopped"):
        assert said.count(kind) == 2
    assert sorted(repository.subjects()) == ONCE_EACH


def test_a_revocation_whose_answer_was_lost_counts_and_one_that_another_made_does_not(
    repository, answers_are_lost
):
    world = World(repository.root)
    holder = WorkerEffects(world.workspace, world.config, actor="test")
    lease = holder.performers()[effects.TakeLease](effects.TakeLease(lane="one", run_id=""))
    for actor, was_theirs in (("supervisor/here", True), ("supervisor/elsewhere", False)):
        acting = SupervisorEffects(world.workspace, world.config, actor=actor)
        revoke = acting.performers()[RevokeLease]
        assert revoke(RevokeLease(lease=lease, reason="dead")) is was_theirs
        acting.close()
    assert kinds(repository).count("lease_revoked") == 1
    holder.close()


@pytest.mark.soak
def test_a_store_that_is_busy_for_longer_than_anybody_waits_is_outlasted(repository, capfd):
    world = World(repository.root)
    acting = WorkerEffects(world.workspace, world.config, actor="test")
    acting.store.backend._busy_seconds = 0.2
    real, gate = acting.performers(), world.workspace.state / "state.db-gate"

    def record(effect):
        if isinstance(effect.fact, AgentEnded):
            holder = os.open(gate, os.O_RDWR)
            fcntl.flock(holder, fcntl.LOCK_EX)
            threading.Timer(1.0, os.close, [holder]).start()
        return real[effects.Record](effect)

    stop = drive(new_worker().work(), {**real, effects.Record: record})
    acting.close()
    assert stop.reason is StopReason.COMPLETE
    assert repository.subjects() == ["Write b", "Write a", "Begin"]
    assert "the journal is back" in capfd.readouterr().err
