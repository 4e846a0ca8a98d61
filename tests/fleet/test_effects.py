"""Each effect has one type of answer, known to mypy, and performers: in a fleet and in a
simulation.
"""

import ast
import inspect

import pytest
from type_checking import check

from dos.fleet import effects, incidents, supervisor, tick
from dos.fleet.effect import Effect
from dos.fleet.io.supervisor_effects import SupervisorEffects
from dos.fleet.io.worker_effects import WorkerEffects
from dos.fleet.worker import dispatch, iteration, journal_writer, land, settle, worker
from dos.journal.backends.memory import MemoryBackend
from dos.testing.simulator.simulation import Simulation
from dos.testing.simulator.world.process import VirtualClock
from dos.world import World

BY_A_WORKER = (worker, iteration, dispatch, land, settle, journal_writer, incidents)
DECLARED = [*vars(effects).values(), *vars(tick).values()]
EFFECTS = {kind for kind in DECLARED if isinstance(kind, type) and issubclass(kind, Effect)}
EFFECTS -= {Effect}


@pytest.fixture
def simulation():
    clock = VirtualClock()
    return Simulation(0, MemoryBackend(clock=clock), clock)


@pytest.fixture
def world(repository):
    return World(repository.root)


def performed(kind: type[WorkerEffects], world: World) -> set[type]:
    acting = kind(world.workspace, world.config, actor="test")
    try:
        return set(acting.performers())
    finally:
        acting.close()


def asked_for(*modules) -> set[type]:
    """The effects that the modules make."""
    trees = [ast.parse(inspect.getsource(module)) for module in modules]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    names |= {node.id for node in nodes if isinstance(node, ast.Name)}
    return {each for each in EFFECTS if each.__name__ in names}


def test_every_effect_is_performed_by_a_fleet_and_by_the_simulator(world, simulation):
    assert len(EFFECTS) > 20
    assert performed(SupervisorEffects, world) == EFFECTS
    assert set(simulation.supervisors.table()) == EFFECTS


def test_what_a_worker_asks_for_is_performed_by_workers_that_are_real_and_simulated(
    world, simulation
):
    by_workers = asked_for(*BY_A_WORKER)
    assert by_workers | asked_for(supervisor) == EFFECTS  # else one is never asked for
    assert performed(WorkerEffects, world) == by_workers
    assert set(simulation.workers.table()) == by_workers


SNIPPET = """
from typing import assert_type

from dos.fleet.effect import performs
from dos.fleet.effect import Effect, Steps, do
from dos.testing.simulator.world.process import Later, Process, Suspended, simulated_by


class Count(Effect[int], frozen=True, kw_only=True):
    of: str


class Name(Effect["str | None"], frozen=True, kw_only=True):
    of: str


def work() -> Steps[int]:
    count = yield from do(Count(of="a"))
    name = yield from do(Name(of="a"))
    assert_type(count, int)
    assert_type(name, str | None)
    name.upper()  # refused
    return name  # refused


def count(effect: Count) -> int:
    return 1


def word(effect: Count) -> str:
    return ""


def later(process: Process, effect: Count) -> Later[int] | Suspended[int]:
    return Later(1, 2)


def other(process: Process, effect: Count) -> Suspended[str]:
    return Suspended()


performs(Count, count)
performs(Count, word)  # refused
performs(Name, count)  # refused
simulated_by(Count, later)
simulated_by(Count, other)  # refused
simulated_by(Name, later)  # refused
"""


def test_mypy_knows_each_answer_and_refuses_performers_of_another(tmp_path):
    check(SNIPPET, tmp_path)
