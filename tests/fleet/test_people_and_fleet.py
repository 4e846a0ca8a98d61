"""What a person answers reaches the fleet: exactly what waited goes on."""

import pytest
from msgspec import structs
from sample_repository import Repository, commit, write

from dos import run_ids
from dos.fleet import effects
from dos.fleet.io.drive import drive
from dos.fleet.io.supervisor_effects import SupervisorEffects
from dos.fleet.io.worker_effects import WorkerEffects
from dos.fleet.tick import ObserveFleet
from dos.fleet.worker.worker import Worker
from dos.journal import fold, streams
from dos.journal.events.limits import HaltRequested, PauseEnded, PauseRequested
from dos.loop.gate import Mode
from dos.loop.types import LoopState, WorkerStop
from dos.questions.state import Decisions, answer_entries, raise_entry
from dos.questions.subject import Unit
from dos.questions.units import UnitUndone
from dos.world import World


def work(repository: Repository, *, number: int = 1, lane: str = "one", wrap=None):
    world = World(repository.root)
    acting = WorkerEffects(world.workspace, world.config, actor="test")
    run_id = run_ids.mint(1_700_000_000_000, number, "test").run_id
    try:
        performers = acting.performers()
        worker = Worker(lane=lane, run_id=run_id, state=LoopState(gate_mode=Mode.SOFT))
        return drive(worker.work(), wrap(performers, acting, run_id) if wrap else performers)
    finally:
        acting.close()


def observe(repository: Repository):
    world = World(repository.root)
    acting = SupervisorEffects(world.workspace, world.config, actor="supervisor")
    try:
        lock = acting.take_lease(effects.TakeLease(lane="supervisor/here", run_id="", is_lock=True))
        observation = acting.observe(ObserveFleet(lease=lock, is_first=True))
        acting.release_lease(effects.ReleaseLease(lease=lock, reason="done"))
        return observation
    finally:
        acting.close()


def could_start(seen, name: str) -> bool:
    lane = next(lane for lane in seen.lanes if lane.lane == name)
    return lane.liveness is None and not lane.waits


def answer(repository: Repository, about: str, choice: str) -> None:
    journal = World(repository.root).journal
    asked = next(
        each
        for each in fold.current(journal, Decisions)[0].open.values()
        if each.raised.about == about
    )
    with_writer = WorkerEffects(
        World(repository.root).workspace, World(repository.root).config, actor="person"
    )
    try:
        with_writer.store.append_all(answer_entries(asked, choice, by="tester"))
    finally:
        with_writer.close()


def questions(repository: Repository) -> dict[str, str]:
    state = fold.current(World(repository.root).journal, Decisions)[0]
    return {asked.raised.about: asked.raised.id for asked in state.open.values()}


@pytest.mark.soak
def test_what_cannot_land_twice_is_asked_about_and_goes_on_when_a_person_says_so(repository):
    config = repository.root / "dos.toml"
    config.write_text(config.read_text() + 'test = "test ! -e one/a.txt"\n')
    stop = work(repository)
    assert list(questions(repository)) == ["landing_conflict"]
    assert repository.starts().count("DEMO/A1") == 2
    assert "DEMO/A1" in stop.detail or stop.reason == "pick-held-invariant"
    assert not could_start(observe(repository), "one"), "nobody tries it before the answer"
    config.write_text(config.read_text().replace('test = "test ! -e one/a.txt"\n', ""))
    answer(repository, "landing_conflict", "retry")
    assert could_start(observe(repository), "one")
    work(repository, number=2)
    assert "Write a" in repository.subjects()


def test_an_account_without_credit_stops_the_lane_and_starts_nobody_until_it_is_put_right(
    repository,
):
    repository.play({"*": [[{"ending": "spend_stop"}], [write("two/c.txt"), commit("Write c")]]})
    stop = work(repository)
    assert stop.needs == "environment"
    assert "limit" in questions(repository)
    observation = observe(repository)
    assert not could_start(observation, "one") and not could_start(observation, "two")
    assert observation.idle, "a fleet that waits for a person has nothing left to do by itself"
    answer(repository, "limit", "fixed")
    assert could_start(observe(repository), "two")


def test_a_run_that_is_halted_stops_its_agent_and_keeps_what_it_did(repository):
    repository.play({"*": [[write("one/half.txt"), {"say": "working"}, {"hang": True}]]})

    def wrap(performers, acting, run_id):
        real = performers[effects.RunAgent]

        def run(effect):
            acting.store.record(streams.run(run_id), HaltRequested(run_id=run_id, reason="enough"))
            return real(effect)

        return {**performers, effects.RunAgent: run}

    stop = work(repository, wrap=wrap)
    assert (stop.reason, stop.detail) == (WorkerStop.HALTED, "enough")
    saved = [
        event.body["ref"]
        for event in World(repository.root).journal.events()
        if event.kind == "work_salvaged"
    ]
    assert repository.git("show", f"{saved[0]}:one/half.txt") == "x"
    assert not could_start(observe(repository), "one"), "nobody takes its place by himself"


def test_a_paused_lane_begins_nothing_and_goes_on_where_it_was(repository):
    parked = []

    def wrap(performers, acting, run_id):
        acting.store.record("fleet", PauseRequested(lane="one", reason="lunch"))
        real = performers[effects.Park]

        def park(effect):
            parked.append(repository.starts())
            acting.store.record("fleet", PauseEnded(lane="one"))
            return real(effect)

        return {**performers, effects.Park: park}

    assert work(repository, wrap=wrap).reason == "complete"
    assert parked == [[]], "it was parked once, before anything was started"


@pytest.mark.parametrize("fleet", [True, False])
def test_nobody_is_started_on_what_is_paused(repository, fleet):
    world = World(repository.root)
    acting = WorkerEffects(world.workspace, world.config, actor="test")
    acting.store.record("fleet", PauseRequested(lane="" if fleet else "one"))
    acting.close()
    observation = observe(repository)
    assert not could_start(observation, "one")
    assert could_start(observation, "two") is not fleet


@pytest.mark.soak
def test_a_unit_that_was_taken_out_again_is_asked_about_and_done_again_only_on_a_persons_word(
    repository,
):
    own = [
        write("one/a.txt"),
        write("one/a.py", "def answer():\n    return 42\n"),
        commit("Write a"),
    ]
    repository.play({"DEMO/A1": [own], "DEMO/A2": [[write("one/b.txt"), commit("Write b")]]})
    work(repository)
    repository.git("revert", "--no-edit", "HEAD~1")
    open_questions = observe(repository).questions
    assert [(type(each), each.waits) for each in open_questions] == [
        (UnitUndone, (Unit("DEMO/A1"),))
    ]
    acting = WorkerEffects(
        World(repository.root).workspace, World(repository.root).config, actor="test"
    )
    acting.store.append_all([structs.replace(raise_entry(each)) for each in open_questions])
    acting.close()
    assert not could_start(observe(repository), "one")
    answer(repository, "unit_undone", "again")
    assert could_start(observe(repository), "one")
