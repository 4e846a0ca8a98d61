"""What a supervisor sees before it acts, and which units it is told about."""

import os
import time

import pytest
from sample_repository import Repository

from dos.backlog.io import survey
from dos.fleet import effects
from dos.fleet.io import reader
from dos.fleet.io.supervisor_effects import SupervisorEffects
from dos.fleet.io.worker_effects import WorkerEffects
from dos.fleet.population import reconcile
from dos.fleet.tick import FleetSnapshot, ObserveFleet, SpawnWorker
from dos.journal import fold
from dos.journal.events.fleet import SpawnIntended, WorkerSpawned
from dos.lease import Lease, Request
from dos.loop.io import liveness
from dos.machine import process
from dos.regions import region
from dos.world import World

NO_SUCH_PROCESS = 2**22 + 1


@pytest.fixture
def supervisor(repository):
    world = World(repository.root)
    acting = SupervisorEffects(world.workspace, world.config, actor="supervisor/here")
    yield acting
    acting.close()


def spawned(supervisor: SupervisorEffects, host: str, system: str) -> None:
    supervisor.store.record(
        "spawn/one", SpawnIntended(lane="one", run_id="R", host=host, system=system)
    )
    fact = WorkerSpawned(
        lane="one", run_id="R", host=host, pid=NO_SUCH_PROCESS, pid_started=1.0, system=system
    )
    supervisor.store.record("spawn/one", fact)


def observed(supervisor: SupervisorEffects) -> FleetSnapshot:
    lease = supervisor.take_lease(
        effects.TakeLease(lane="supervisor/here", run_id="", is_lock=True)
    )
    return supervisor.observe(ObserveFleet(lease=lease))


def pending(supervisor: SupervisorEffects) -> bool:
    return next(lane.pending for lane in observed(supervisor).lanes if lane.lane == "one")


@pytest.mark.parametrize(
    ("host", "system", "is_pending"),
    [
        (process.host(), process.system(), False),
        (process.host(), f"{process.host()}-0123456789ab", True),  # another machine with our name
        (process.host(), "", True),  # as older versions wrote it
        ("elsewhere", "elsewhere-0123456789ab", True),
    ],
)
def test_only_its_own_system_can_say_that_a_worker_is_gone(supervisor, host, system, is_pending):
    spawned(supervisor, host, system)
    assert pending(supervisor) is is_pending


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_host_whose_clock_is_wrong_does_not_take_a_start_for_an_old_one(
    repository, postgres, monkeypatch, hours
):
    config = repository.root / "dos.toml"
    config.write_text(
        f'[store]\nurl = "{postgres.createdb(f"clock_{time.time_ns()}")}"\n\n{config.read_text()}'
    )
    world = World(repository.root)
    acting = SupervisorEffects(world.workspace, world.config, actor="supervisor/here")
    spawned(acting, "elsewhere", "elsewhere-0123456789ab")
    wrong = time.time_ns() + hours * 3_600_000_000_000
    monkeypatch.setattr("time.time_ns", lambda: wrong)
    assert pending(acting) is True
    acting.close()


def test_what_happened_and_who_holds_what_are_of_one_moment(supervisor, repository, monkeypatch):
    """Or a worker that lands and ends between two looks would leave a lane that is free, with its
    unit still open.
    """
    world = World(repository.root)
    worker = WorkerEffects(world.workspace, world.config, actor="R")
    held = worker.take_lease(effects.TakeLease(lane="one", run_id="R"))
    really, ending = fold.require_known_schema, [held]

    def read_while_it_ends(event):
        while ending:
            worker.release_lease(effects.ReleaseLease(lease=ending.pop(), reason="done"))
        return really(event)

    monkeypatch.setattr(fold, "require_known_schema", read_while_it_ends)
    lease = supervisor.take_lease(
        effects.TakeLease(lane="supervisor/here", run_id="", is_lock=True)
    )
    seen = [supervisor.observe(ObserveFleet(lease=lease)).lanes[0].liveness for _ in range(2)]
    worker.close()
    assert seen == ["ADVANCING", None]


def test_what_is_written_during_a_tick_wakes_the_next(supervisor, monkeypatch):
    lease = supervisor.take_lease(
        effects.TakeLease(lane="supervisor/here", run_id="", is_lock=True)
    )
    supervisor.observe(ObserveFleet(lease=lease))
    seen = supervisor.store.last()
    spawned(supervisor, "elsewhere", "elsewhere-0123456789ab")
    waited = []
    monkeypatch.setattr(supervisor.store, "wait", lambda after, seconds: waited.append(after))
    supervisor.pause(effects.Pause(seconds=0.01))
    assert waited == [seen]


def test_a_worker_that_cannot_be_started_is_told_and_ends_nobody(supervisor, capfd):
    logs = supervisor.workspace.state / "logs"
    logs.touch()
    assert supervisor.spawn(SpawnWorker(lane="one", run_id="R")) is None
    assert "no worker could be started on one" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("lanes", "unit", "why"),
    [
        ('concurrent = ["one"]', "- lane: one", None),
        ('concurrent = ["one"]', "- lane: ONE", None),
        ('concurrent = ["one"]', "- lane: two", "names the lane 'two', which is not declared"),
        ('concurrent = ["one"]\nautopick = ["one"]', "", None),
        ('concurrent = ["one"]', "", "it names no lane, and [lanes] autopick is empty"),
        (
            'concurrent = ["one"]\ntrees = {aside = ["x"]}',
            "- lane: aside",
            "no worker is placed on its lane 'aside', which is neither concurrent nor exclusive",
        ),
    ],
)
def test_a_unit_that_nobody_will_take_is_named_with_its_reason(
    repository: Repository, lanes, unit, why
):
    (repository.root / "dos.toml").write_text(f"[lanes]\n{lanes}\n")
    (repository.root / "docs" / "demo-plan.md").write_text(f"# Plan\n\n## DEMO A1: first\n{unit}\n")
    world = World(repository.root)
    unofferable_units = survey.unofferable_units(world.workspace, world.config)
    assert len(unofferable_units) == bool(why)
    assert all(
        line.startswith("docs/demo-plan.md:3: unit DEMO/A1 ") and why in line
        for line in unofferable_units
    )


def test_a_fleet_whose_workers_keep_dying_asks_before_it_is_idle(supervisor):
    system = process.system()
    for lane in supervisor.config.roster():
        for number in range(supervisor.config.supervise.restart_intensity):
            start = SpawnIntended(
                lane=lane, run_id=f"R{number}", host=process.host(), system=system
            )
            supervisor.store.record(f"spawn/{lane}", start)
    lease = supervisor.take_lease(
        effects.TakeLease(lane="supervisor/here", run_id="", is_lock=True)
    )
    observation = supervisor.observe(ObserveFleet(lease=lease))
    assert observation.failing_lanes and not observation.idle


def test_a_start_that_is_told_late_says_nothing_of_the_newest(supervisor):
    newest = SpawnIntended(
        lane="one", run_id="NEWEST", host="elsewhere", system="elsewhere-0123456789ab"
    )
    supervisor.store.record("spawn/one", newest)
    late = WorkerSpawned(
        lane="one",
        run_id="OLD",
        host=process.host(),
        pid=NO_SUCH_PROCESS,
        pid_started=1.0,
        system=process.system(),
    )
    supervisor.store.record("spawn/one", late)
    assert pending(supervisor)


def test_a_supervisor_starts_nobody_where_no_plan_declares_a_unit(supervisor, repository):
    """A loop of somebody's own brings its work along; a worker of the fleet would come in vain,
    again and again.
    """
    (repository.root / "docs" / "demo-plan.md").write_text("# Nothing yet\n")
    lease = supervisor.take_lease(
        effects.TakeLease(lane="supervisor/here", run_id="", is_lock=True)
    )
    observation = supervisor.observe(ObserveFleet(lease=lease))
    assert not [
        action
        for action in reconcile.plan(observation.lanes, 2).actions
        if isinstance(action, reconcile.Spawn)
    ]
    with World(repository.root) as world:
        verdict, _ = reader.plan(world, world.config.supervise.policy(target=2))
    assert [row.lane for row in verdict.spawn] == ["one", "two"]


def hold(
    supervisor: SupervisorEffects, lane: str, *, pid: int | None, ttl_ms: int = 600_000
) -> Lease:
    me = process.identify(os.getpid())
    request = Request(
        lane=lane,
        holder="h:1",
        host=process.host(),
        ttl_ms=ttl_ms,
        run_id="R",
        pid=pid,
        pid_started=me.started,
        system=process.system(),
        region=region(["one/**"]),
    )
    return supervisor.store.acquire(request, lambda *_: None)


def test_a_lane_that_was_spelled_otherwise_when_it_was_leased_is_the_same_lane(supervisor):
    held = hold(supervisor, "ONE", pid=NO_SUCH_PROCESS)
    seen = observed(supervisor)
    assert reconcile.Reap("one", "its process is gone") in reconcile.plan(seen.lanes, 2).actions
    assert seen.leases == {"one": held}


def test_a_worker_whose_lease_was_over_for_a_moment_is_not_taken_for_dead_afterwards(
    supervisor, monkeypatch
):
    """The look at git came just before the renewal, and is good for a minute."""
    held = hold(supervisor, "one", pid=os.getpid())
    really = liveness.StoreClock.__init__

    def late(moment, view, now_ms):
        really(moment, view, now_ms)
        moment.lease_ms += held.ttl_ms + 1

    with monkeypatch.context() as patched:
        patched.setattr(liveness.StoreClock, "__init__", late)
        observed(supervisor)
    supervisor.store.renew([held.fence])
    assert not [
        action
        for action in reconcile.plan(observed(supervisor).lanes, 2).actions
        if action.lane == "one"
    ]


@pytest.mark.parametrize("lives", [True, False])
def test_a_lease_that_is_over_at_another_moment_counts_as_one_that_is_over_now(
    supervisor, repository, lives
):
    """A worker that lives here loses it to whoever comes first, and is never called dead."""
    held = hold(supervisor, "one", pid=os.getpid() if lives else None, ttl_ms=1000)
    later_ms = supervisor.store.now_ms() + 3_600_000
    with World(repository.root) as world:
        then = reader.FleetReader(world).outlook(now_ms=later_ms)
        while not supervisor.store.lapsed(held):
            time.sleep(0.05)
        now = reader.FleetReader(world).outlook()
    assert list(then.plan.actions) == list(now.plan.actions)
    assert [lease.fence for lease in then.observation.holders.leases] == (
        [] if lives else [held.fence]
    )
    assert reconcile.Spawn("one") in now.plan.actions
