"""The monitor of a running agent records what it waits for, and sees a person's halt."""

import threading

import pytest
from driven_worker import happened
from patience import PATIENCE
from sample_repository import Repository, commit, write

from dos import run_ids
from dos.agents import scripted
from dos.agents.io import halt_listener
from dos.agents.io.agent_monitor import AgentMonitor
from dos.fleet.effects import RunAgent, Worktree
from dos.fleet.io.drive import drive
from dos.fleet.io.worker_effects import WorkerEffects
from dos.fleet.worker.worker import Worker
from dos.journal import streams
from dos.journal.backends.memory import MemoryBackend
from dos.journal.events.fleet import RunBegun
from dos.journal.events.limits import AgentWaiting, HaltRequested
from dos.journal.store import Store
from dos.lanes import admission
from dos.lease import Lease, Request
from dos.loop.gate import Mode
from dos.loop.types import LoopState, StopReason
from dos.machine.execute import never_stop
from dos.regions import region
from dos.units.unit import Unit
from dos.world import World

RUN = "RID-0123456789ABCDE"
WAITS = '{"type":"waiting","ending":"overloaded","seconds":5,"text":"overloaded; trying again"}'
SAYS = '{"type":"say","text":"Done."}'
USED = '{"type":"usage","output_tokens":60}'


@pytest.fixture
def store(monkeypatch) -> Store:
    monkeypatch.setattr(halt_listener, "POLL_SECONDS", 0.02)
    return Store(MemoryBackend())


def take(store: Store, lane: str) -> Lease:
    request = Request(
        lane=lane, holder="me", host="h", ttl_ms=60_000, region=region([f"{lane}/**"]), run_id=RUN
    )
    taken = store.acquire(request, admission.judge)
    assert isinstance(taken, Lease)
    return taken


def attend(
    store: Store, *, judge=lambda usage: "", heeded: int = 0, opened: threading.Event | None = None
) -> AgentMonitor:
    def open_store() -> Store:
        if opened:
            opened.set()
        return Store(store.backend)

    own, plans = take(store, "one"), take(store, "docs")
    effect = RunAgent(
        unit=Unit(plan="REPLAN", id="one", title="groom the plan"),
        lease=plans,
        run_lease=own,
        run_id=RUN,
        iteration=1,
        attempt=1,
        worktree=Worktree(path="", target="main", base="", salvaged=[]),
        history=[],
        agent="scripted",
    )
    attendant = AgentMonitor(
        scripted, effect, judge, open_store=open_store, is_lost=never_stop, last_version=heeded
    )
    attendant.start()
    return attendant


def told(store: Store) -> list[str]:
    return [event.kind for event in store.load(streams.run(RUN))]


def wait_for(store: Store, kind: str) -> None:
    while kind not in told(store):
        store.wait(store.last(), 0.1)


def test_waiting_and_going_on_are_told_once_each(store):
    attendant = attend(store)
    attendant.on_line(WAITS)
    attendant.on_line(WAITS)
    wait_for(store, "agent_waiting")
    attendant.on_line(SAYS)
    wait_for(store, "agent_went_on")
    attendant.__exit__()
    assert told(store) == ["agent_waiting", "agent_went_on"]


def test_what_happened_since_the_last_look_is_told_at_the_end(store, monkeypatch):
    opened = threading.Event()
    attendant = attend(store, opened=opened)
    assert opened.wait(PATIENCE)
    monkeypatch.setattr(halt_listener, "POLL_SECONDS", 600.0)
    attendant.on_line(WAITS)
    attendant.__exit__()
    assert told(store) == ["agent_waiting"]


def test_what_it_writes_is_of_the_run_whatever_it_works_under(store):
    attendant = attend(store)
    own = next(lease for lease in store.leases() if lease.lane == "one")
    attendant.on_line(WAITS)
    wait_for(store, "agent_waiting")
    attendant.__exit__()
    assert store.load(streams.run(RUN))[0].body["lane"] == "one"
    store.record(
        streams.run(RUN), RunBegun(run_id=RUN, lane="one", host="h", start_sha=""), fence=own.fence
    )  # is not refused


def test_a_person_who_stops_the_run_is_heard(store):
    attendant = attend(store)
    store.record(streams.run(RUN), HaltRequested(run_id=RUN, reason="enough"))
    while not attendant.halted:
        store.wait(store.last(), 0.05)
    assert attendant.halted == "enough"
    attendant.__exit__()


def test_what_was_heard_before_is_not_read_again(store):
    store.record(streams.run(RUN), HaltRequested(run_id=RUN, reason="for the one before"))
    opened = threading.Event()
    attendant = attend(store, heeded=1, opened=opened)
    assert opened.wait(PATIENCE)
    store.record(
        streams.run(RUN), AgentWaiting(run_id=RUN, lane="one", unit="U", ending="overloaded")
    )
    attendant.__exit__()
    assert (attendant.last_version, attendant.halted) == (2, "")


def test_what_it_uses_is_added_up_and_judged_as_it_goes(store):
    attendant = attend(
        store, judge=lambda usage: "too much" if usage[0].output_tokens > 100 else ""
    )
    attendant.on_line(USED)
    assert attendant.overspent == ""
    attendant.on_line(USED)
    assert attendant.overspent == "too much"
    attendant.__exit__()


# With a real worker


def work(repository: Repository):
    world = World(repository.root)
    acting = WorkerEffects(world.workspace, world.config, actor="test")
    run_id = run_ids.mint(1_700_000_000_000, 1, "test").run_id
    try:
        worker = Worker(lane="one", run_id=run_id, state=LoopState(gate_mode=Mode.HARD))
        return drive(worker.work(), acting.performers())
    finally:
        acting.close()


@pytest.mark.soak
def test_an_agent_that_waits_while_it_grooms_the_plans_is_no_reason_to_stop(repository):
    (repository.root / "docs" / "demo-plan.md").write_text("# A plan\n\nNothing yet.\n")
    repository.commit_all("Nothing to do")
    refilled = (
        "# A plan\n\n## DEMO A1: first\n- lane: one\n- paths: one/**\n"
        "- acceptance: `test -s one/a.txt`\n"
    )
    groomed = [{"waiting": 2}, write("docs/demo-plan.md", refilled), commit("Find work")]
    repository.play({"REPLAN/one": [groomed], "DEMO/A1": [[write("one/a.txt"), commit("Write a")]]})
    assert work(repository).reason is StopReason.COMPLETE
    assert [(event["lane"], event["unit"]) for event in happened(repository, "agent_waiting")] == [
        ("one", "REPLAN/one")
    ]
    assert len(happened(repository, "agent_went_on")) == 1
    logs = World(repository.root).workspace.state / "logs"
    assert [folder.name for folder in logs.iterdir() if list(folder.glob("RID-*.log"))] == ["one"]


BUDGET = "\n[budgets.iteration]\ntokens = 100\n"
OVER = {"usage": {"model": "m", "output_tokens": 500}}
A2 = {"DEMO/A2": [[write("one/b.txt"), commit("Write b")]]}


@pytest.mark.soak
@pytest.mark.parametrize(
    ("steps", "endings"),
    [
        ([write("one/a.txt"), OVER, {"hang": True}], {"budget_cap"}),
        ([OVER], {"ok", "budget_cap"}),  # it may be gone before anybody can end it
    ],
    ids=["as it goes", "at its end"],
)
def test_an_agent_that_uses_more_than_its_iteration_has_is_ended_and_that_is_written(
    repository, steps, endings
):
    config = repository.root / "dos.toml"
    config.write_text(config.read_text() + BUDGET)
    repository.commit_all("Spend little")
    repository.play({"DEMO/A1": [steps, [write("one/a.txt"), commit("Write a")]]} | A2)
    work(repository)
    first = happened(repository, "agent_ended")[0]
    assert first["outcome"] in endings and first["usage"][0]["output_tokens"] == 500
    (spent, *_) = happened(repository, "budget_spent")
    assert (spent["scope"], spent["measure"], spent["spent"], spent["limit"]) == (
        "iteration",
        "tokens",
        500,
        100,
    )
    if first["outcome"] == "budget_cap":
        assert "500 of 100 tokens" in first["found"]
    assert bool(happened(repository, "work_salvaged")) == (len(steps) > 1), "what it left is kept"


@pytest.mark.soak
def test_an_agent_that_costs_more_than_its_cap_is_ended(repository):
    config = repository.root / "dos.toml"
    config.write_text(config.read_text() + "\n[agents.scripted]\nmax_usd = 0.5\n")
    repository.commit_all("Spend little")
    costs = {"usage": {"model": "m", "output_tokens": 1, "cost_usd": 0.75}}
    stays = {"run": "for i in $(seq 100); do sleep 0.1; done"}
    repository.play({"DEMO/A1": [[costs, stays], [write("one/a.txt"), commit("Write a")]]} | A2)
    work(repository)
    first = happened(repository, "agent_ended")[0]
    assert (first["outcome"], first["found"]) == ("budget_cap", "$0.75 of $0.50")
