"""PostgreSQL with few sessions: a worker without one waits, and is not taken for dead."""

import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest
from patience import PATIENCE, wait_for
from sample_repository import Repository

from dos import run_ids
from dos.agents.io.halt_listener import HaltListener
from dos.doctor.subjects.store import examine
from dos.fleet import effects
from dos.fleet.io.supervisor_effects import JOURNAL_AWAY, SupervisorEffects
from dos.fleet.io.worker_effects import WorkerEffects
from dos.fleet.state.fleet import FleetState
from dos.fleet.tick import ObserveFleet, SpawnWorker
from dos.journal.events.fleet import SpawnIntended
from dos.machine.execute import never_stop
from dos.machine.process import Identity
from dos.world import World


@pytest.fixture
def shared(repository, postgres) -> Repository:
    """A repository whose journal is in PostgreSQL, with leases that are soon over."""
    repository.url = postgres.createdb(f"scarce_{time.time_ns()}")
    config = repository.root / "dos.toml"
    text = config.read_text().replace("ttl_seconds = 30", "ttl_seconds = 2")
    config.write_text(f'[store]\nurl = "{repository.url}"\n\n{text}')
    return repository


@contextmanager
def every_session_taken(url: str):
    with ExitStack() as held:
        try:
            while True:
                held.enter_context(psycopg.connect(url))
        except psycopg.OperationalError as error:
            assert "connection" in str(error) or "clients" in str(error)
        yield


def worker(repository: Repository) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "dos", "worker", "--lane", "one"]
    return subprocess.Popen(
        command, cwd=repository.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def test_a_worker_that_finds_no_session_waits_and_then_says_that_the_journal_is_away(shared):
    with every_session_taken(shared.url):
        process = worker(shared)
        said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == JOURNAL_AWAY, said
    assert "trying again for 2 s" in said and "journal unavailable: " in said
    assert "max_connections" not in said or "run fewer workers" in said


@pytest.mark.soak
def test_a_worker_that_is_given_a_session_in_time_goes_on(shared):
    config = shared.root / "dos.toml"
    config.write_text(config.read_text().replace("ttl_seconds = 2", "ttl_seconds = 300"))
    with every_session_taken(shared.url):
        process = worker(shared)
        assert "trying again" in process.stdout.readline()
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and "the journal is back" in said
    assert sorted(shared.subjects()) == ["Begin", "Write a", "Write b"]


class Executor:
    """Starts nobody; what it is said to have started ends with an exit code."""

    def __init__(self, code: int) -> None:
        self.ended = {4711: code}

    def launch(self, words, *, cwd: Path, log: Path, stdin_text: str = "") -> Identity:
        return Identity(4711, 1.0)

    def reap_children(self) -> dict[int, int]:
        ended, self.ended = self.ended, {}
        return ended


@pytest.mark.parametrize(("code", "counted"), [(JOURNAL_AWAY, 0), (1, 1)])
def test_a_worker_that_found_the_journal_away_is_no_death_of_its_lane(repository, code, counted):
    world = World(repository.root)
    acting = SupervisorEffects(
        world.workspace, world.config, actor="supervisor/here", executor=Executor(code)
    )
    lease = acting.take_lease(effects.TakeLease(lane="supervisor/here", run_id="", is_lock=True))
    acting.store.record("spawn/one", SpawnIntended(lane="one", run_id="R", host="h"))
    acting.spawn(SpawnWorker(lane="one", run_id="R"))
    acting.pause(effects.Pause(seconds=0.01))
    acting.observe(ObserveFleet(lease=lease))
    acting.watch.refresh()
    starts = acting.watch.state(FleetState).starts["one"]
    assert len(starts.unended) == counted
    assert (starts.stopped is not None and starts.stopped.reason == "journal-away") is (
        code == JOURNAL_AWAY
    )
    acting.close()


def test_a_worker_takes_one_session_to_ask_and_one_to_listen(shared, postgres):
    world = World(shared.root)
    run_id = run_ids.mint(0, 0, "worker-one").run_id
    acting = WorkerEffects(world.workspace, world.config, actor=run_id)
    lease = acting.take_lease(effects.TakeLease(lane="one", run_id=run_id))
    acting.store.wait(acting.store.last(), 0.1)
    listener = HaltListener(run_id, open_store=acting.store.for_thread, is_lost=never_stop)
    with listener, psycopg.connect(postgres.dsn) as connection:
        listener.poll(acting.store.for_thread())
        version = lease.version
        wait_for(lambda: acting.store.leases()[0].version > version, "the lease is renewed")
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
        assert connection.execute(query, (shared.url.rpartition("/")[2],)).fetchone() == (2,)
    acting.close()


@pytest.mark.parametrize(("target", "told"), [(4, False), (400, True)])
def test_doctor_compares_what_the_server_allows_with_what_the_fleet_takes(shared, target, told):
    config = shared.root / "dos.toml"
    config.write_text(config.read_text() + f"\n[supervise]\ntarget = {target}\n")
    with World(shared.root) as world:
        found = [each for each in examine(world) if each.kind == "STORE_SESSIONS"]
    assert bool(found) is told
    if found:
        assert "400 workers with their supervisor open up to 806" in found[0].what
        assert found[0].fix.startswith("dos config set supervise.target ")
