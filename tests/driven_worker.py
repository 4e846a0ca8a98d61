"""A worker on a real repository, driven in this process."""

from sample_repository import Repository

from dos import run_ids
from dos.fleet import effects
from dos.fleet.io.drive import drive
from dos.fleet.io.worker_effects import WorkerEffects
from dos.fleet.state.fleet import FleetState
from dos.fleet.worker.worker import Worker
from dos.journal import fold
from dos.loop.gate import Mode
from dos.loop.types import LoopState
from dos.world import World


class Killed(BaseException):
    """The process is gone between two effects."""


def new_worker(number: int = 1, *, lane: str = "one") -> Worker:
    run_id = run_ids.mint(1_700_000_000_000, number, "test").run_id
    return Worker(lane=lane, run_id=run_id, state=LoopState(gate_mode=Mode.SOFT))


def open_effects(repository) -> WorkerEffects:
    world = World(repository.root)
    return WorkerEffects(world.workspace, world.config, actor="test")


def work(repository, *, number: int = 1, lane: str = "one", performers=None):
    acting = open_effects(repository)
    try:
        wrapped = performers(acting.performers()) if performers else acting.performers()
        return drive(new_worker(number, lane=lane).work(), wrapped)
    finally:
        acting.close()


def before_landing(act):
    """Performers that do something once, just before the first landing is prepared."""

    def wrap(performers):
        real, waiting = performers[effects.PrepareLanding], [act]

        def prepare(effect):
            while waiting:
                waiting.pop()()
            return real(effect)

        return {**performers, effects.PrepareLanding: prepare}

    return wrap


def fleet(repository) -> FleetState:
    return fold.current(World(repository.root).journal, FleetState)[0]


def happened(repository: Repository, kind: str) -> list[dict]:
    return [event.body for event in World(repository.root).journal.events() if event.kind == kind]
