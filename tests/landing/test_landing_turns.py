"""Landings on one branch take turns.

In order, past the dead, and without a trace in the user's checkout.
"""

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest
from msgspec import structs
from patience import PATIENCE, wait_for
from sample_repository import Repository

from dos.errors import Fenced, Halted
from dos.fleet import effects
from dos.fleet.io.worker_effects import WorkerEffects
from dos.git.fence import raise_fence
from dos.git.repository import Writer
from dos.journal import fold, streams
from dos.journal.events import envelope
from dos.journal.events.fleet import LandingRefused, UnitLanded
from dos.journal.events.limits import HaltRequested, LandingDeferred, LandingQueued
from dos.landing import branch
from dos.landing.queue import LandingQueue
from dos.lanes import admission
from dos.lanes.io.held_leases import lease_request
from dos.lease import Lease, Request
from dos.regions import region
from dos.units.unit import Landing
from dos.world import World

NO_SUCH_PROCESS = 2**22 + 1


class Contender:
    """A worker that holds a lane and has proven work, as far as the queue sees it."""

    def __init__(self, repository: Repository, lane: str) -> None:
        world = World(repository.root)
        self.acting = WorkerEffects(world.workspace, world.config, actor=f"test/{lane}")
        self.lane, self.run_id = lane, f"RID-{lane}"
        taken = self.acting.take_lease(effects.TakeLease(lane=lane, run_id=self.run_id))
        assert isinstance(taken, Lease)
        self.lease = taken

    @property
    def who(self) -> dict[str, str]:
        return {"run_id": self.run_id, "lane": self.lane}

    def write(self, fact: envelope.Fact) -> None:
        self.acting.store.record(streams.run(self.run_id), fact, fence=self.lease.fence)

    def queue(self) -> None:
        self.write(LandingQueued(**self.who, unit=f"DEMO/{self.lane}", branch="main"))

    def ahead(self, seconds: float = 0.0) -> int:
        return self.acting.await_turn(
            effects.AwaitTurn(lease=self.lease, run_id=self.run_id, seconds=seconds)
        )


@pytest.fixture
def pair(repository):
    made = Contender(repository, "one"), Contender(repository, "two")
    for each in made:
        each.queue()
    yield made
    for each in made:
        each.acting.close()


UNIT = {"unit": "DEMO/one"}
ENDS = {
    "landed": lambda it: it.write(
        UnitLanded(**it.who, **UNIT, commit="c", branch="main", base="b")
    ),
    "refused": lambda it: it.write(LandingRefused(**it.who, **UNIT, reason="red")),
    "deferred": lambda it: it.write(LandingDeferred(**it.who, **UNIT, branch="main")),
    "released": lambda it: it.acting.release_lease(
        effects.ReleaseLease(lease=it.lease, reason="done")
    ),
}


@pytest.mark.parametrize("how", ENDS)
def test_who_queued_first_goes_first_and_the_next_is_woken_when_that_is_over(pair, how):
    first, second = pair
    assert (first.ahead(), second.ahead()) == (0, 1)
    later = threading.Timer(0.2, ENDS[how], [first])
    later.start()
    assert second.ahead(PATIENCE) == 0
    later.join()


def test_a_holder_that_was_killed_is_passed_at_once_though_its_lease_stands(repository):
    second = Contender(repository, "two")
    dead = structs.replace(
        lease_request(second.acting.config, "one", run_id="RID-dead"),
        pid=NO_SUCH_PROCESS,
        pid_started=1.0,
        ttl_ms=600_000,
    )
    held = second.acting.store.acquire(dead, admission.judge)
    assert isinstance(held, Lease)
    queued = LandingQueued(run_id="RID-dead", lane="one", unit="DEMO/A1", branch="main")
    second.acting.store.record("run/RID-dead", queued, fence=held.fence)
    second.queue()
    assert second.ahead() == 0
    second.acting.close()


def test_a_holder_elsewhere_is_waited_for_until_its_lease_is_over(repository):
    second = Contender(repository, "two")
    elsewhere = Request(
        lane="one",
        holder="h:1",
        host="elsewhere",
        system="elsewhere-1",
        ttl_ms=1_500,
        region=region(["one/**"]),
        run_id="RID-far",
        pid=NO_SUCH_PROCESS,
        pid_started=1.0,
    )
    held = second.acting.store.acquire(elsewhere, admission.judge)
    assert isinstance(held, Lease)
    queued = LandingQueued(run_id="RID-far", lane="one", unit="DEMO/A1", branch="main")
    second.acting.store.record("run/RID-far", queued, fence=held.fence)
    second.queue()
    assert second.ahead() == 1
    assert second.ahead(PATIENCE) == 0 and second.acting.store.lapsed(held)
    second.acting.close()


def test_other_branches_have_other_queues(pair):
    first, second = pair
    second.write(LandingDeferred(**second.who, unit="DEMO/two", branch="main"))
    second.write(LandingQueued(**second.who, unit="DEMO/two", branch="release"))
    assert (first.ahead(), second.ahead()) == (0, 0)


def test_who_waits_hears_a_halt(pair):
    _, second = pair
    halt = HaltRequested(run_id=second.run_id, reason="enough", by="me")
    later = threading.Timer(0.2, second.acting.store.record, [streams.run(second.run_id), halt])
    later.start()
    with pytest.raises(Halted, match="enough"):
        second.ahead(PATIENCE)
    later.join()


def test_who_waits_and_loses_its_lane_stops_waiting(pair):
    first, second = pair
    [lease] = [each for each in first.acting.store.leases() if each.lane == "two"]
    first.acting.store.revoke(lease.fence, version=lease.version, reason="it is taken")
    second.acting.holding._renewers[lease.fence].lost.set()
    with pytest.raises(Fenced):
        second.ahead(PATIENCE)


def test_a_ticket_is_counted_once_however_often_it_is_queued(repository):
    """As after a crash: whoever settles a landing queues again."""
    one = Contender(repository, "one")
    one.queue()
    before = fold.current(one.acting.store, LandingQueue)[0]
    one.queue()
    assert fold.current(one.acting.store, LandingQueue)[0] == before
    one.acting.close()


# The user's checkout


@pytest.fixture
def ready(repository) -> Landing:
    """A commit that is to land on the branch that the user has checked out."""
    git = Writer(repository.root)
    base = repository.git("rev-parse", "main")
    (repository.root / "one" / "new.txt").write_text("x\n")
    (repository.root / "one" / "keep").write_text("changed\n")
    repository.commit_all("Work")
    new = repository.git("rev-parse", "main")
    repository.git("reset", "--quiet", "--hard", base)
    raise_fence(git, "one", 7)
    return Landing(unit="DEMO/A1", branch="main", base=base, commit=new)


def move(repository: Repository, ready: Landing):
    return branch.move_branch(Writer(repository.root), lane="one", fence=7, landing=ready)


def status(repository: Repository) -> str:
    return repository.git("status", "--porcelain", "--untracked-files=all")


def test_an_index_that_the_user_holds_for_a_moment_is_waited_for(repository, ready):
    lock = repository.root / ".git" / "index.lock"
    lock.touch()
    later = threading.Timer(0.5, lock.unlink)
    later.start()
    assert move(repository, ready) is None
    later.join()
    assert status(repository) == "" and repository.git("rev-parse", "main") == ready.commit


def test_an_index_that_stays_locked_leaves_everything_as_it_was(repository, ready, monkeypatch):
    monkeypatch.setattr(branch, "INDEX_SECONDS", 0.1)
    lock = repository.root / ".git" / "index.lock"
    lock.touch()
    refused = move(repository, ready)
    lock.unlink()
    assert refused and refused.obstacle and refused.retryable and "index.lock" in refused.reason
    assert status(repository) == "" and repository.git("rev-parse", "main") == ready.base
    assert move(repository, ready) is None and status(repository) == ""


def test_a_branch_that_cannot_move_leaves_nothing_staged_though_the_index_is_busy(
    repository, ready, monkeypatch
):
    lock = repository.root / ".git" / "index.lock"

    def refuse(git, lane, fence, landing):
        lock.touch()  # the user's own git, just now
        threading.Timer(0.5, lock.unlink).start()
        return effects.NotLanded(reason="no", retryable=True, branch_moved=True)

    monkeypatch.setattr(branch, "_swap", refuse)
    assert move(repository, ready).reason == "no"
    assert status(repository) == "" and repository.git("rev-parse", "main") == ready.base


def test_what_a_killed_worker_left_staged_goes_when_its_landing_comes_too_late(repository, ready):
    Writer(repository.root).run("read-tree", "-m", "-u", ready.base, ready.commit)
    assert "one/new.txt" in status(repository)
    tree = repository.git("rev-parse", f"{ready.base}^{{tree}}")
    other = repository.git("commit-tree", tree, "-p", ready.base, "-m", "Another's")
    repository.git("update-ref", "refs/heads/main", other)
    refused = move(repository, ready)
    assert refused and refused.branch_moved
    assert status(repository) == "" and not (repository.root / "one" / "new.txt").exists()


def test_files_of_the_users_own_stay_when_a_landing_comes_too_late(repository, ready):
    (repository.root / "two" / "mine.txt").write_text("mine\n")
    repository.git("add", "two/mine.txt")
    tree = repository.git("rev-parse", f"{ready.base}^{{tree}}")
    repository.git(
        "update-ref",
        "refs/heads/main",
        repository.git("commit-tree", tree, "-p", ready.base, "-m", "x"),
    )
    before = status(repository)
    assert (
        move(repository, ready).branch_moved and status(repository) == before == "A  two/mine.txt"
    )


# Many at once

LANES = [f"l{number}" for number in range(8)]
CONFIG = """[lanes]
concurrent = {lanes}
autopick = {lanes}

[lanes.trees]
{trees}

[supervise]
target = {target}

[sandbox]
writable = ["{home}"]

[workers]
agent = "scripted"
command = ["{script}"]
test = "echo $DOS_LANE >> {runs}; sleep 0.3"
baseline = "off"
"""


def many_lanes(home: Path) -> Repository:
    repository = Repository(home)
    for lane in LANES:
        (repository.root / lane).mkdir()
        (repository.root / lane / "keep").touch()
    trees = "\n".join(f'{lane} = ["{lane}/**"]' for lane in LANES)
    config = CONFIG.format(
        lanes=json.dumps(LANES),
        trees=trees,
        target=len(LANES),
        script=repository.script,
        home=home,
        runs=home / "runs",
    )
    repository.config.write_text(config)
    plan = "".join(
        f"\n## MANY {lane.upper()}: x\n- lane: {lane}\n- paths: {lane}/**\n" for lane in LANES
    )
    (repository.root / "docs" / "demo-plan.md").write_text(f"# Many\n{plan}")
    repository.play(
        {"*": [[repository.waits, {"run": "echo x > $DOS_LANE/new.txt"}, {"commit": "Work"}]]}
    )
    repository.commit_all("Lanes")
    return repository


@pytest.mark.soak
def test_many_that_are_done_at_once_land_in_order_each_tested_once_and_a_killed_one_frees_its_turn(
    tmp_path,
):
    repository = many_lanes(tmp_path)
    command = [sys.executable, "-m", "dos", "up", "--until-idle", "--tick", "0.3", "--plain"]
    with (tmp_path / "story").open("wb") as story:
        process = subprocess.Popen(command, cwd=repository.root, stdout=story, stderr=story)
    try:
        with World(repository.root) as world:
            wait_for(lambda: len(repository.starts()) == len(LANES), "all agents are at work")
            repository.let_go()

            def first_turn() -> str:
                runs = tmp_path / "runs"
                return (
                    runs.read_text().split()[0]
                    if runs.exists() and runs.read_text().strip()
                    else ""
                )

            lane = wait_for(first_turn, "somebody tests what is to land")
            [held] = [lease for lease in world.journal.leases() if lease.lane == lane]
            os.kill(held.pid, 9)
            assert process.wait(PATIENCE) == 0, (tmp_path / "story").read_text()
            events = list(world.journal.events())
    finally:
        process.kill()
        process.wait()
    facts = [(event.kind, event.body) for event in events]
    landed = [body["unit"] for kind, body in facts if kind == "unit_landed"]
    assert sorted(landed) == sorted(f"MANY/{lane.upper()}" for lane in LANES)
    died = [body["lane"] for kind, body in facts if kind == "worker_reaped"]
    assert died in ([lane], []), "no other worker dies"
    queued = [
        body["unit"] for kind, body in facts if kind == "landing_queued" and body["lane"] != lane
    ]
    assert [unit for unit in landed if unit in queued] == queued, "nobody is overtaken"
    runs = Counter((tmp_path / "runs").read_text().split())
    assert all(count == 1 for name, count in runs.items() if name != lane), (
        "no test is repeated for a lost race"
    )
    assert status(repository) == ""
