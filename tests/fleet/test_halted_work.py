"""A run that a person stops lands nothing more, wherever it is; what it did is kept, and its unit
is offered again.
"""

import threading
import time

import pytest
from patience import PATIENCE
from sample_repository import Repository, commit, write

from dos import run_ids
from dos.fleet.io.drive import drive
from dos.fleet.io.worker_effects import WorkerEffects
from dos.fleet.state.fleet import FleetState
from dos.fleet.worker.worker import Worker
from dos.journal import fold, streams
from dos.journal.events.limits import HaltRequested
from dos.loop.gate import Mode
from dos.loop.types import LoopState, WorkerStop
from dos.world import World, open_journal

LONG = PATIENCE
DONE = [write("one/a.txt"), commit("Write a")]


def work(repository: Repository, number: int):
    world = World(repository.root)
    acting = WorkerEffects(world.workspace, world.config, actor="test")
    try:
        worker = Worker(lane="one", run_id=run_of(number), state=LoopState(gate_mode=Mode.SOFT))
        return drive(worker.work(), acting.performers())
    finally:
        acting.close()


def run_of(number: int) -> str:
    return run_ids.mint(1_700_000_000_000, number, "test").run_id


def halt_once_it_is_there(repository: Repository, *, resumable: bool) -> threading.Thread:
    """A person who sees that a command runs, and stops its run."""

    def watch() -> None:
        while not (repository.home / "at-it").exists():
            time.sleep(0.05)
        world = World(repository.root)
        with open_journal(world.workspace, world.config.store.url, actor="person") as store:
            store.record(
                streams.run(run_of(1)),
                HaltRequested(run_id=run_of(1), reason="enough", resumable=resumable),
            )

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    return watching


def slow(repository: Repository) -> str:
    return f"touch {repository.home}/at-it; test -e {repository.home}/quick || sleep {LONG:g}"


def set_workers(repository: Repository, key: str, command: str) -> None:
    config = repository.root / "dos.toml"
    config.write_text(config.read_text() + f'{key} = "{command}"\n')
    repository.commit_all(f"Slow {key}")


def in_plan(repository: Repository, command: str) -> None:
    plan = repository.root / "docs" / "demo-plan.md"
    plan.write_text(plan.read_text().replace("test -s one/a.txt", command))
    repository.commit_all("Slow acceptance")


@pytest.mark.sampled(8)
@pytest.mark.parametrize("resumable", [True, False])
@pytest.mark.parametrize("where", ["setup", "agent", "acceptance", "test"])
def test_a_halted_run_lands_nothing_and_its_unit_is_offered_again(repository, where, resumable):
    steps = [*DONE, {"run": slow(repository)}] if where == "agent" else DONE
    repository.play({"DEMO/A1": [steps], "DEMO/A2": [[write("one/b.txt"), commit("Write b")]]})
    if where == "acceptance":
        in_plan(repository, slow(repository))
    elif where != "agent":
        set_workers(repository, where, slow(repository))
    before = repository.subjects()
    person = halt_once_it_is_there(repository, resumable=resumable)
    began = time.monotonic()
    stop = work(repository, 1)
    assert time.monotonic() - began < LONG, "nobody waits for the command"
    person.join()
    assert (stop.reason, stop.detail) == (WorkerStop.HALTED, "enough")
    assert repository.subjects() == before
    state = fold.current(World(repository.root).journal, FleetState)[0]
    if where != "setup":
        assert repository.git("show", f"{state.salvaged[0]}:one/a.txt") == "x"
        assert state.salvaged[0] in state.units["DEMO/A1"].tries[0], (
            "the next agent is told where it lies"
        )
    (repository.home / "quick").touch()
    assert work(repository, 2).reason == "complete"
    assert sorted(repository.subjects()[:2]) == ["Write a", "Write b"]
    assert state.units["DEMO/A1"].deaths == 0


def test_a_halted_run_commits_no_iteration_and_nothing_is_held_against_the_unit(repository):
    in_plan(repository, slow(repository))
    halt_once_it_is_there(repository, resumable=False)
    work(repository, 1)
    kinds = [event.kind for event in World(repository.root).journal.events()]
    assert not {"work_measured", "iteration_committed", "unit_attempted", "landing_intended"} & set(
        kinds
    )
    assert kinds[-2:] == ["run_stopped", "lease_released"]
