"""Who works on which lane, as the journal, git and the system have it."""

import os

import pytest
from msgspec import structs
from worked_repository import MINUTE, RUN, SECOND, START, Repository

from dos.config.schema import Config
from dos.errors import JournalCorrupt
from dos.fleet.io import reader
from dos.fleet.population.types import LaneLiveness, Supervise, SupervisePolicy
from dos.journal import streams
from dos.journal.events.fleet import RunStopped, SpawnIntended, WorkerReaped, WorkerSpawned
from dos.lanes.policy import Lanes
from dos.machine import process
from dos.world import World

OTHER = "RID-1MZZ00000ABCDEG"
CONFIG = Config(
    lanes=Lanes(
        concurrent=("api", "docs"),
        exclusive=("global",),
        autopick=("api",),
        trees={"api": ("api/**",), "docs": ("docs/**",), "global": ("**/*",)},
    )
)


class Scene(Repository):
    def lanes(self, config: Config = CONFIG, **more) -> list[LaneLiveness]:
        return list(self.plan(config, **more)[0].evidence.lanes)

    def plan(
        self,
        config: Config = CONFIG,
        *,
        max_concurrency: int | None = None,
        now_ms: int | None = None,
    ):
        policy = SupervisePolicy(target=2, max_concurrency=max_concurrency)
        return reader.plan(self.world(config), policy, now_ms=now_ms)

    def world(self, config: Config = CONFIG) -> World:
        """The repository, with the journal that is kept here."""
        world = World(self.place.root, config=config)
        world.workspace, world.journal = self.place, self.journal
        return world

    def lane(self, name: str, **more) -> LaneLiveness:
        [found] = [entry for entry in self.lanes(**more) if entry.lane == name]
        return found

    def launch(self, lane: str = "api", run_id: str = RUN) -> None:
        self.journal.record(
            streams.spawn(lane), SpawnIntended(lane=lane, run_id=run_id, host="here")
        )


@pytest.fixture
def scene(tmp_path) -> Scene:
    return Scene(tmp_path)


def test_the_roster_is_the_concurrent_lanes_and_then_the_exclusive_ones(scene):
    entries = scene.lanes()
    assert [(entry.lane, entry.is_exclusive, entry.tree) for entry in entries] == [
        ("api", False, ("api/**",)),
        ("docs", False, ("docs/**",)),
        ("global", True, ("**/*",)),
    ]
    assert all(
        entry.liveness is None and not entry.pending and not entry.repeatable for entry in entries
    )


def test_a_worker_that_commits_in_its_region_advances_for_hours_without_another_sign(scene):
    scene.lease("api", ttl_ms=10 * 60 * MINUTE)
    for _ in range(4):
        scene.pass_time(40 * MINUTE)
        scene.commit("docs/a.md")
        assert scene.lane("api").liveness == "SPINNING"
        scene.commit("api/a.py")
        assert scene.lane("api").liveness == "ADVANCING"


def test_the_spinning_age_is_the_time_since_the_last_progress(scene):
    lease = scene.lease("api")
    scene.pass_time(10 * MINUTE)
    scene.commit("api/a.py")
    scene.pass_time(45 * MINUTE)
    scene.journal.renew([lease.fence])
    entry = scene.lane("api")
    assert (entry.liveness, entry.spinning_age_ms) == ("SPINNING", 45 * MINUTE)


def test_a_lease_that_is_over_by_the_stores_clock_is_dead(scene):
    scene.lease("api", ttl_ms=2 * MINUTE)
    scene.pass_time(2 * MINUTE)
    assert scene.lane("api").liveness == "STALLED"


def test_without_reaping_a_lane_is_blocked_until_the_lease_of_its_dead_worker_expires(scene):
    config = structs.replace(CONFIG, supervise=Supervise(reap_stalled=False))
    scene.lease(
        "api",
        ttl_ms=2 * MINUTE,
        host=process.host(),
        system=process.system(),
        pid=os.getpid(),
        pid_started=1.0,
    )
    assert scene.lane("api", config=config).liveness == "STALLED"
    scene.pass_time(2 * MINUTE)
    assert scene.lane("api", config=config).liveness is None


def test_a_process_that_is_gone_is_dead_at_once_and_one_that_is_there_is_not(scene):
    scene.lease(
        "api", host=process.host(), system=process.system(), pid=os.getpid(), pid_started=1.0
    )
    assert scene.lane("api").liveness == "STALLED"
    here = process.identify(os.getpid())
    scene.lease(
        "docs", host=process.host(), system=process.system(), pid=here.pid, pid_started=here.started
    )
    scene.pass_time(40 * MINUTE)
    assert scene.lane("docs").liveness == "SPINNING"


def test_a_silent_worker_whose_process_is_there_is_not_dead(scene):
    mine = process.identify(os.getpid())
    scene.lease(
        "api", host=process.host(), system=process.system(), pid=mine.pid, pid_started=mine.started
    )
    scene.pass_time(50 * MINUTE)
    assert scene.lane("api").liveness == "SPINNING"


def test_git_that_cannot_be_read_frees_nobody(scene):
    scene.lease("api")
    (scene.root / ".git" / "objects").rename(scene.root / ".git" / "moved")
    entry = scene.lane("api")
    assert entry.liveness == "UNKNOWN" and "could not be read" in entry.why
    assert scene.lane("docs").liveness is None


def test_a_journal_that_cannot_be_read_frees_no_lane(scene, monkeypatch):
    def fail(**more):
        raise JournalCorrupt("event 3 is damaged")

    monkeypatch.setattr(scene.journal.backend, "read", fail)
    for more in ({}, {"max_concurrency": 4}):
        entries = scene.lanes(**more)
        assert [(entry.lane, entry.liveness) for entry in entries] == [
            (name, "UNKNOWN") for name in ("api", "docs", "global")
        ]
        assert "event 3 is damaged" in entries[0].why
    waits = reader.FleetReader(scene.world()).waits().lanes
    assert {lane: found[0].on for lane, found in waits.items()} == dict.fromkeys(
        ("api", "docs", "global"), "journal_away"
    )


def test_a_lease_off_the_roster_is_listed_with_its_own_region(scene):
    scene.lease("hot", "api/x.py")
    entry = scene.lanes()[-1]
    assert (entry.lane, entry.off_roster, entry.tree, entry.liveness) == (
        "hot",
        True,
        ("api/x.py",),
        "ADVANCING",
    )


def test_a_lease_that_was_granted_on_other_paths_holds_both(scene):
    scene.lease("api", "old/**")
    assert scene.lane("api").tree == ("api/**", "old/**")


def test_the_case_of_a_lanes_name_does_not_matter(scene):
    scene.lease("API", "api/**")
    assert scene.lane("api").liveness == "ADVANCING"
    assert len(scene.lanes()) == 3


# Launches


def test_a_launch_is_waited_for_until_it_is_too_old(scene):
    scene.launch()
    assert scene.lane("api").pending
    scene.pass_time(120 * SECOND)
    assert scene.lane("api").pending
    scene.pass_time(1)
    assert not scene.lane("api").pending


def test_a_launch_has_come_when_its_run_holds_a_lane_or_has_held_it(scene):
    scene.launch()
    lease = scene.lease("api", run_id=RUN)
    entry = scene.lane("api")
    assert (entry.pending, entry.liveness) == (False, "ADVANCING")
    scene.journal.release(lease.fence)
    entry = scene.lane("api")
    assert (entry.pending, entry.liveness) == (False, None)


def test_a_launch_without_a_run_has_come_when_anybody_has_the_lane(scene):
    scene.launch(run_id="")
    assert scene.lane("api").pending
    scene.journal.release(scene.lease("api").fence)
    assert not scene.lane("api").pending


def test_a_launch_whose_run_stopped_without_a_lane_is_over(scene):
    scene.launch()
    stopped = RunStopped(
        run_id=RUN, lane="api", stop_reason="lane-held", needs="time", reason="held"
    )
    scene.journal.record(streams.run(RUN), stopped)
    assert not scene.lane("api").pending


def test_a_launch_whose_process_is_gone_is_over(scene):
    scene.launch()
    worker = WorkerSpawned(
        lane="api",
        run_id=RUN,
        host=process.host(),
        system=process.system(),
        pid=os.getpid(),
        pid_started=1.0,
    )
    scene.journal.record("spawn/api", worker)
    assert not scene.lane("api").pending


def test_a_lane_that_is_reaped_and_launched_again_is_launched_once(scene):
    scene.launch(run_id="")
    lease = scene.lease("api", ttl_ms=SECOND)
    scene.pass_time(2 * SECOND)
    scene.journal.revoke(lease.fence, version=lease.version, reason="its lease is over")
    scene.journal.record(
        "spawn/api", WorkerReaped(lane="api", run_id="", lease=lease.fence, reason="dead")
    )
    assert not scene.lane("api").pending
    scene.launch(run_id="")
    assert scene.lane("api").pending


def test_who_is_launched_to_follow_a_dead_holder_is_waited_for(scene):
    scene.lease("api", ttl_ms=SECOND)
    scene.pass_time(2 * SECOND)
    scene.launch()
    entry = scene.lane("api")
    assert (entry.pending, entry.liveness) == (True, "STALLED")


def test_many_launches_are_looked_through(scene):
    for number in range(200):
        scene.launch(run_id=f"RID-1MZZ{number:011d}")
    entries = [entry for entry in scene.lanes(max_concurrency=300) if entry.lane == "api"]
    assert len(entries) == 200 and all(entry.pending for entry in entries)


# Budgets


def test_with_a_budget_the_lanes_of_autopick_repeat_and_one_name_stands_for_any(scene):
    entries = scene.lanes(max_concurrency=4)
    assert [entry.lane for entry in entries if entry.repeatable] == ["api", "auto"]
    assert entries[-1].tree == ()


def test_each_launch_and_each_lease_of_a_repeatable_lane_is_listed(scene):
    scene.lease("api", run_id=RUN)
    scene.launch("auto", RUN)
    scene.launch("auto", OTHER)
    entries = scene.lanes(max_concurrency=4)
    auto = [(entry.pending, entry.liveness) for entry in entries if entry.lane == "auto"]
    assert auto == [(True, None), (False, None)], (
        "one has come, one is on its way, and the name can be used again"
    )


def test_the_name_for_any_lane_is_nobody_elses(scene):
    lanes = Lanes(concurrent=("auto", "auto*"), trees={"auto": ("a/**",), "auto*": ("b/**",)})
    entries = scene.lanes(Config(lanes=lanes), max_concurrency=2)
    assert [entry.lane for entry in entries] == ["auto", "auto*", "auto**"]


def test_what_would_have_to_be_stopped_is_the_run_the_process_or_the_holder(scene):
    scene.lease("api", run_id=RUN, pid=7)
    scene.lease("docs", pid=7)
    scene.lease("hot", "hot/**")
    _, handles = scene.plan()
    assert handles == {"api": RUN, "docs": "7", "hot": "holder of hot"}


def test_the_moment_can_be_given(scene):
    scene.lease("api", ttl_ms=2 * MINUTE)
    scene.launch("docs")
    later = scene.lanes(now_ms=START + 3 * MINUTE)
    assert [(entry.liveness, entry.pending) for entry in later[:2]] == [
        ("STALLED", False),
        (None, False),
    ]
