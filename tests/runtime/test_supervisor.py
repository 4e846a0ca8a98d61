"""The supervisor's ticks, without a system around it: what it asks to be done, and in which order."""

import pytest
from msgspec import structs

from dos.config.lanes import Lanes
from dos.config.tables import Config
from dos.errors import BadInput, GitFailed, StoreFailed
from dos.journal import engine_events as engine
from dos.journal import events, fold
from dos.journal.backends.memory import MemoryBackend
from dos.journal.states.decisions import Decisions
from dos.journal.states.fleet import Fleet as State
from dos.journal.store import Store
from dos.plans.staffing import Lane
from dos.plans.starting import Unfinished, WaitsFor
from dos.plans.ticks import SupervisePolicy
from dos.records.leases import Request
from dos.records.regions import region
from dos.runtime import effects
from dos.runtime.drive import drive
from dos.runtime.supervisor import Fleet, Spinning, Supervisor, Why

CONFIG = Config(lanes=Lanes(concurrent=("api",)))
NOTHING = Fleet(lanes=[], leases={}, versions={}, drain_requested=False, busy=False, idle=True)
BUSY = structs.replace(NOTHING, busy=True, idle=False)


class System:
    """Shows one fleet after the other, and writes down what is recorded."""

    def __init__(self, *shown: Fleet | Exception) -> None:
        self.shown = list(shown)
        self.store = Store(MemoryBackend(), actor="supervisor")
        self.said: list[str] = []
        self.pauses = 0
        self.spawned: list[str] = []

    def run(self, *, policy: SupervisePolicy = SupervisePolicy(), target: int = 1):
        supervisor = Supervisor(host="h", pid=1, target=target, tick_seconds=1.0, until_idle=True, policy=policy)
        return drive(
            supervisor.supervise(),
            {
                effects.TakeLease: self.take,
                effects.ReleaseLease: lambda effect: None,
                effects.Record: self.record,
                effects.ObserveFleet: self.observe,
                effects.Pause: self.pause,
                effects.Complain: lambda effect: self.said.append(effect.text),
                effects.MintRun: lambda effect: f"R{len(self.spawned)}",
                effects.SpawnWorker: lambda effect: self.spawned.append(effect.lane),
            },
        )

    def take(self, effect):
        asked = Request(lane=effect.lane, holder="h:1", host="h", ttl_ms=1000, region=region([]), is_lock=True)
        return self.store.acquire(asked, lambda *_: None)

    def record(self, effect):
        return self.store.record(
            effect.stream, effect.fact, key=effect.key, fence=effect.fence, expect=effect.expect
        )  # fmt: skip

    def observe(self, effect):
        found = self.shown.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    def pause(self, effect):
        self.pauses += 1

    def kinds(self) -> list[str]:
        return [event.kind for event in self.store.events()]


@pytest.mark.parametrize("error", [GitFailed("git took too long", hint=""), BadInput("a plan is unreadable", hint="")])
def test_a_look_that_fails_is_told_once_and_the_next_one_counts(error):
    system = System(BUSY, error, error, BUSY, error, NOTHING)
    assert system.run().why is Why.IDLE
    assert system.said == [f"{error}; trying again"] * 2, "once for as long as it lasts"
    assert system.pauses == 5
    assert system.kinds().count("fleet_stopped") == 1


@pytest.mark.parametrize(
    "shown", [[GitFailed("no git", hint="")], [BUSY, StoreFailed("the disk is full", hint="")]], ids=["first", "store"]
)
def test_whoever_typed_it_is_told_of_a_first_look_that_fails_and_a_store_that_fails_ends_it(shown):
    system = System(*shown)
    with pytest.raises(type(shown[-1])):
        system.run()


def test_it_ends_with_what_is_left_and_what_that_waits_for():
    left = [
        Unfinished(unit="P/A1", waits_for=WaitsFor.PERSON, why="its plan is a draft"),
        Unfinished(unit="P/A2", waits_for=WaitsFor.UNIT, why="what it builds on has not shipped: P/A1"),
        Unfinished(unit="P/A3", waits_for=WaitsFor.PERSON, why="a person has to decide first"),
    ]
    system = System(structs.replace(NOTHING, left=left))
    ending = system.run()
    assert ending.why is Why.WORK_LEFT
    assert ending.text == (
        "3 units left: 2 wait for a person (P/A1: its plan is a draft, P/A3: a person has to decide first);"
        " 1 waits for another unit (P/A2: what it builds on has not shipped: P/A1)"
    )


def test_a_run_that_spins_again_is_asked_about_again_and_the_question_comes_before_the_flag():
    system = System()
    asked = Request(lane="api", holder="h:2", host="h", ttl_ms=1000, region=region([]), run_id="R1")
    lease = system.store.acquire(asked, lambda *_: None)
    who = {"run_id": "R1", "lane": "api"}
    system.store.record("run/R1", events.RunBegun(**who, host="h", start_sha=""))

    def spinning() -> Fleet:
        state = fold.current(system.store, State)[0].runs["R1"]
        found = Spinning(lease=lease, reason="nothing lands", expires_ms=5, ordinal=state.landed + 1)
        return structs.replace(BUSY, spinning=[] if state.flagged else [found])

    def observe(effect):
        step = system.pauses
        if step == 2:
            landed = events.UnitLanded(**who, unit="P/A1", branch="main", base="a", commit="b")
            system.store.record("run/R1", landed)
        return spinning() if step < 5 else NOTHING

    system.observe = observe
    system.run()
    told = [(event.kind, event.stream) for event in system.store.events() if event.kind in TOLD]
    flagged = ("spin_flagged", "run/R1")
    assert told == [
        ("decision_raised", "decision/spinning-R1-1"), flagged, ("decision_raised", "decision/spinning-R1-2"), flagged
    ]  # fmt: skip
    assert len(fold.current(system.store, Decisions)[0].open) == 2


TOLD = (engine.SpinFlagged.kind, engine.DecisionRaised.kind)


@pytest.mark.parametrize(("counted", "spawned"), [(True, []), (False, ["docs"])])
def test_whether_one_that_spins_fills_a_place_is_as_configured(counted, spawned):
    lanes = [
        Lane(name="api", region=region(["api/**"]), held=True, spinning=True),
        Lane(name="docs", region=region(["docs/**"]), offerable=1),
    ]
    system = System(structs.replace(BUSY, lanes=lanes), NOTHING)
    system.run(policy=SupervisePolicy(count_spinning_as_alive=counted))
    assert system.spawned == spawned


def test_the_dead_are_not_reaped_where_that_is_configured():
    lanes = [Lane(name="api", region=region(["api/**"]), held=True, holder_gone=True, offerable=1)]
    system = System(structs.replace(BUSY, lanes=lanes), NOTHING)
    system.run(policy=SupervisePolicy(reap_stalled=False))
    assert "worker_reaped" not in system.kinds() and system.spawned == []
