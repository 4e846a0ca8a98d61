"""The supervisor's ticks without a system around it: its effects, and their order."""

import itertools

import pytest
from msgspec import structs

from dos.backlog.waiting import FleetWaits, Waiting, WaitsOn
from dos.config.schema import Config
from dos.errors import BadInput, GitFailed, StoreFailed
from dos.fleet import effects
from dos.fleet.io.drive import drive
from dos.fleet.population import reconcile
from dos.fleet.population.types import LaneLiveness, SupervisePolicy
from dos.fleet.state.fleet import FleetState
from dos.fleet.supervisor import Supervisor, SupervisorExit, SupervisorProcess
from dos.fleet.tick import (
    ExpireQuestion,
    FleetSnapshot,
    LiveRun,
    MintRun,
    ObserveFleet,
    SpawnWorker,
    Warn,
)
from dos.journal import fold
from dos.journal.backends.memory import MemoryBackend
from dos.journal.events.fleet import (
    DrainRequested,
    FleetStarted,
    RunBegun,
    SpawnIntended,
    UnitLanded,
)
from dos.journal.events.limits import DecisionRaised, SpinFlagged
from dos.journal.store import Store
from dos.lanes.policy import Lanes
from dos.lease import Request
from dos.questions.runs import Spinning
from dos.questions.state import Decisions, PendingClose, raise_entry
from dos.regions import region

CONFIG = Config(lanes=Lanes(concurrent=("api",)))
NOTHING = FleetSnapshot(
    lanes=(), leases={}, versions={}, drain_requested=False, busy=False, idle=True
)
BUSY = structs.replace(NOTHING, busy=True, idle=False)


class System:
    """Shows one fleet after the other, and writes down what is recorded."""

    def __init__(
        self, *shown: FleetSnapshot | Exception, system: str = "h-1", store: Store | None = None
    ) -> None:
        self.shown = list(shown)
        self.system = system
        self.store = store or Store(MemoryBackend(), actor="supervisor")
        self.said: list[str] = []
        self.pauses = 0
        self.spawned: list[str] = []

    def run(self, *, policy: SupervisePolicy = SupervisePolicy(), target: int = 1):
        supervisor = Supervisor(
            SupervisorProcess(host="h", system=self.system, pid=1),
            target=target,
            tick_seconds=1.0,
            until_idle=True,
            policy=policy,
        )
        return drive(
            supervisor.supervise(),
            {
                effects.TakeLease: self.take,
                effects.ReleaseLease: lambda effect: None,
                effects.Record: self.record,
                ObserveFleet: self.observe,
                effects.Pause: self.pause,
                ExpireQuestion: lambda effect: None,
                Warn: lambda effect: self.said.append(effect.text),
                MintRun: lambda effect: f"R{len(self.spawned)}",
                SpawnWorker: lambda effect: self.spawned.append(effect.lane),
            },
        )

    def take(self, effect):
        request = Request(
            lane=effect.lane, holder="h:1", host="h", ttl_ms=1000, region=region([]), is_lock=True
        )
        return self.store.acquire(request, lambda *_: None)

    def record(self, effect):
        return self.store.record(
            effect.stream, effect.fact, key=effect.key, fence=effect.fence, expect=effect.expect
        )

    def observe(self, effect):
        found = self.shown.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    def pause(self, effect):
        self.pauses += 1

    def kinds(self) -> list[str]:
        return [event.kind for event in self.store.events()]


@pytest.mark.parametrize(
    "error", [GitFailed("git took too long", hint=""), BadInput("a plan is unreadable", hint="")]
)
def test_a_look_that_fails_is_told_once_and_the_next_one_counts(error):
    system = System(BUSY, error, error, BUSY, error, NOTHING)
    assert system.run().exit is SupervisorExit.IDLE
    assert system.said == [f"{error}; trying again"] * 2, "once for as long as it lasts"
    assert system.pauses == 5
    assert system.kinds().count("fleet_stopped") == 1


@pytest.mark.parametrize(
    "shown",
    [[GitFailed("no git", hint="")], [BUSY, StoreFailed("the disk is full", hint="")]],
    ids=["first", "store"],
)
def test_whoever_typed_it_is_told_of_a_first_look_that_fails_and_a_store_that_fails_ends_it(shown):
    system = System(*shown)
    with pytest.raises(type(shown[-1])):
        system.run()


def test_a_wait_that_ends_with_this_very_tick_is_not_told_any_more():
    store = Store(MemoryBackend(), actor="x")
    store.append_all([raise_entry(Spinning.ask("R1", "api", "x"))])
    (asked,) = fold.current(store, Decisions)[0].open.values()
    wait = Waiting(on=WaitsOn.PERSON, subject="api", why="Retry, or leave it?", question="q")
    open_still = structs.replace(NOTHING, idle=False, waits=FleetWaits(lanes={"api": (wait,)}))
    closed = structs.replace(open_still, expired=[PendingClose(asked=asked, choice="leave")])
    cooldown = structs.replace(wait, on=WaitsOn.COOLDOWN, why="3 attempts", question="")
    later = structs.replace(open_still, waits=FleetWaits(lanes={"api": (cooldown,)}))
    system = System(closed, later, NOTHING)
    system.run()
    assert system.said == ["waiting: api: on cooldown: 3 attempts"]
    told = System(open_still, NOTHING)
    told.run()
    assert told.said == ["waiting: api: needs an answer: Retry, or leave it?"]


def test_it_ends_with_what_is_left_and_what_that_waits_for():
    left = {
        "P/A1": (Waiting(on=WaitsOn.GATE, subject="P/A1", why="its plan is a draft"),),
        "P/A2": (
            Waiting(
                on=WaitsOn.DEPENDENCY, subject="P/A2", why="what it builds on has not shipped: P/A1"
            ),
        ),
        "P/A3": (Waiting(on=WaitsOn.GATE, subject="P/A3", why="a person has to decide first"),),
    }
    system = System(structs.replace(NOTHING, unfinished=left))
    ending = system.run()
    assert ending.exit is SupervisorExit.WORK_LEFT
    assert ending.text == (
        "3 units left. Held by their plans: P/A1 (its plan is a draft),"
        " P/A3 (a person has to decide first)."
        " Waiting for other units: P/A2 (what it builds on has not shipped: P/A1)."
    )


def test_a_run_that_spins_again_is_asked_about_again_and_the_question_comes_before_the_flag():
    system = System()
    asked = Request(lane="api", holder="h:2", host="h", ttl_ms=1000, region=region([]), run_id="R1")
    lease = system.store.acquire(asked, lambda *_: None)
    who = {"run_id": "R1", "lane": "api"}
    system.store.record("run/R1", RunBegun(**who, host="h", start_sha=""))

    def spinning() -> FleetSnapshot:
        state = fold.current(system.store, FleetState)[0].runs["R1"]
        ordinal = state.landed + 1
        asked = fold.current(system.store, Decisions)[0].knows(Spinning.id_of("R1", ordinal))
        run = LiveRun(
            lease=lease,
            is_flagged=state.flagged,
            is_asked_about=asked,
            expires_ms=5,
            ordinal=ordinal,
        )
        spins = LaneLiveness(lane="api", tree=("api/**",), liveness="SPINNING", why="nothing lands")
        return structs.replace(BUSY, lanes=(spins,), runs={"api": run})

    def observe(effect):
        step = system.pauses
        if step == 2:
            landed = UnitLanded(**who, unit="P/A1", branch="main", base="a", commit="b")
            system.store.record("run/R1", landed)
        return spinning() if step < 5 else NOTHING

    system.observe = observe
    system.run()
    rows = [(event.kind, event.stream) for event in system.store.events() if event.kind in TOLD]
    flagged = ("spin_flagged", "run/R1")
    assert rows == [
        ("decision_raised", "decision/spinning-R1-1"),
        flagged,
        ("decision_raised", "decision/spinning-R1-2"),
        flagged,
    ]
    assert len(fold.current(system.store, Decisions)[0].open) == 2


TOLD = (SpinFlagged.kind, DecisionRaised.kind)


@pytest.mark.parametrize(("counted", "spawned"), [(True, []), (False, ["docs"])])
def test_whether_one_that_spins_fills_a_place_is_as_configured(counted, spawned):
    lanes = (
        LaneLiveness(lane="api", tree=("api/**",), liveness="SPINNING"),
        LaneLiveness(lane="docs", tree=("docs/**",)),
    )
    system = System(structs.replace(BUSY, lanes=lanes), NOTHING)
    system.run(policy=SupervisePolicy(count_spinning_as_alive=counted))
    assert system.spawned == spawned


def test_the_dead_are_not_reaped_where_that_is_configured():
    lanes = (LaneLiveness(lane="api", tree=("api/**",), liveness="STALLED"),)
    system = System(structs.replace(BUSY, lanes=lanes), NOTHING)
    system.run(policy=SupervisePolicy(reap_stalled=False))
    assert "worker_reaped" not in system.kinds() and system.spawned == []


@pytest.mark.parametrize(
    "found",
    [
        None,
        reconcile.StartupFindings(
            adopted=["api: h:7"], fenced=[], resumed=[], repeated=[], skipped=[]
        ),
    ],
)
def test_supervisors_of_several_hosts_all_end_by_themselves_whoever_came_last(found):
    """The second starts while the first waits for its next tick, and the third while the second
    does.
    """
    store = Store(MemoryBackend(), actor="supervisor")
    first = structs.replace(BUSY, findings=found)
    systems = [
        System(first, structs.replace(NOTHING, findings=found), system=f"h-{n}", store=store)
        for n in range(3)
    ]
    endings = []
    for system, following in itertools.pairwise(systems):
        system.pause = lambda effect, following=following: endings.append(following.run())
    endings.append(systems[0].run())
    assert [ending.exit for ending in endings] == [SupervisorExit.IDLE] * 3
    events = [event for event in store.load_fleet() if event.kind == "fleet_stopped"]
    assert sorted(event.stream for event in events) == ["fleet/h-0", "fleet/h-1", "fleet/h-2"]


def test_what_older_versions_wrote_to_one_stream_is_read_with_what_each_host_writes_now():
    system = System(NOTHING)
    system.store.record("fleet", FleetStarted(host="h", pid=7, target=1))
    system.run()
    system.store.record("fleet", DrainRequested(reason="dos down"))
    rows = [(event.stream, event.kind) for event in system.store.load_fleet()]
    assert rows == [
        ("fleet", "fleet_started"),
        ("fleet/h-1", "fleet_started"),
        ("fleet/h-1", "fleet_stopped"),
        ("fleet", "drain_requested"),
    ]
    state, _ = fold.current(system.store, FleetState)
    assert state.drain == system.store.last()


def test_a_drain_that_is_asked_for_after_the_look_concerns_the_worker_that_is_started_by_it():
    free = LaneLiveness(lane="api", tree=("api/**",))
    system = System(structs.replace(BUSY, lanes=(free,)), NOTHING)
    look = system.observe

    def drain_after_the_look(effect):
        found = look(effect)
        system.store.record("fleet", DrainRequested(reason="dos down"))
        return found

    system.observe = drain_after_the_look
    system.run()
    assert system.spawned == ["api"]
    request = Request(
        lane="api", holder="h:2", host="h", ttl_ms=1000, region=region([]), run_id="R0"
    )
    lease = system.store.acquire(request, lambda *_: None)
    assert fold.current(system.store, FleetState)[0].stop_requests(lease).drain
    by_the_next = SpawnIntended(lane="api", run_id="R1", host="h", supervisor=system.store.last())
    system.store.record("spawn/api", by_the_next)
    assert (
        not fold.current(system.store, FleetState)[0]
        .stop_requests(structs.replace(lease, run_id="R1"))
        .drain
    )


def test_a_supervisor_whose_lease_was_taken_says_that_it_is_lost():
    system = System(BUSY, NOTHING)

    def take_it_away(effect):
        [lease] = system.store.leases(locks=True)
        system.store.revoke(lease.fence, version=lease.version, reason="a person did it")

    system.pause = take_it_away
    ending = system.run()
    assert ending.exit is SupervisorExit.LOST and "lost its lease" in ending.text
