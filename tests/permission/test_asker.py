"""Who asks: with a real journal and real processes. What an agent can set proves nothing."""

import os
import subprocess
import sys
import time
from itertools import combinations

import psutil
import pytest
from commanding import git
from growth import grows_less_than
from msgspec import structs
from patience import PATIENCE

from dos import run_ids, workspace
from dos.journal.backend import Entry
from dos.journal.events.doors import HookAnswered
from dos.lanes.io.gather import admission_rules
from dos.lanes.io.held_leases import lease_request
from dos.lease import Lease
from dos.machine import process
from dos.permission.ask import AskerKind
from dos.permission.io.asker import find_asker, is_lane_tree, lease_to_bind
from dos.permission.io.record import bind_session, session_stream
from dos.world import World, open_journal

HOLDER, LOST = AskerKind.HOLDER, AskerKind.LOST
STRANGER, PERSON = AskerKind.STRANGER, AskerKind.PERSON
CONFIG = """[lanes]
concurrent = ["api", "docs"]
[lanes.trees]
api = ["api/**"]
docs = ["docs/**"]
"""
KEY = "k" * 43
RUN = "RID-1M7ED9AEG24KF00"
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
# A process that starts another one, and prints its pid.
PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
time.sleep(600)
"""


class Scene:
    """A repository with a journal, and the processes that hold its lanes."""

    def __init__(self, root):
        self.root = root
        for folder in ("api", "docs"):
            (root / folder).mkdir(parents=True)
        (root / "dos.toml").write_text(CONFIG)
        git("init", "--quiet", ".", cwd=root)
        self.place = workspace.find(root)
        self.store = open_journal(self.place, "")
        self.started = []

    def start(self, *words, **more):
        self.started.append(subprocess.Popen(words or SLEEP, **more))
        return self.started[-1]

    def take(self, lane="api", *, pid=None, key="", run="", ttl_ms=60_000, **more):
        if pid is None:
            pid = self.start().pid
        known = process.identify(pid)
        config = World(self.root).config
        request = structs.replace(
            lease_request(config, lane, run_id=run, lease_key=key),
            **{"pid": pid, "pid_started": known.started, "ttl_ms": ttl_ms, **more},
        )  # fmt: skip
        taken = self.store.acquire(request, admission_rules(self.root, config))
        assert isinstance(taken, Lease), taken
        return taken

    def ask(self, *, session="", tree=None, pid=None, **environment):
        world = World(self.root)
        try:
            return find_asker(
                world, session=session, tree=tree or self.root,
                caller_pid=os.getpid() if pid is None else pid, environment=environment,
            )  # fmt: skip
        finally:
            world.close()

    def kind(self, **more):
        return self.ask(**more).kind

    def end(self):
        for each in self.started:
            each.kill()
            each.wait()
        self.store.close()


@pytest.fixture
def scene(tmp_path):
    scene = Scene(tmp_path / "repository")
    yield scene
    scene.end()


def test_the_key_proves_the_holder(scene):
    lease = scene.take(key=KEY)
    scene.take("docs")
    found = scene.ask(DOS_LEASE_KEY=KEY)
    assert (found.kind, found.lane, found.fence) == (HOLDER, "api", lease.fence)
    assert found.region.globs == ("api/**",)
    assert [one.lane for one in found.neighbours] == ["docs"]
    assert scene.kind(DOS_LEASE_KEY=KEY, DOS_LANE="docs", DOS_FENCE="999") is HOLDER
    assert scene.ask(DOS_LEASE_KEY=KEY, DOS_RUN_ID="other").lane == "api"


def test_a_wrong_key_is_that_of_a_lease_that_has_ended(scene):
    lease = scene.take(key=KEY, run=RUN)
    for wrong in ("x", KEY + " ", KEY.upper(), lease.key_hash, "\udcff", "0" * 10_000):
        found = scene.ask(DOS_LEASE_KEY=wrong, DOS_LANE="api", DOS_FENCE=str(lease.fence))
        assert (found.kind, found.lane, found.fence) == (LOST, "api", lease.fence), wrong
        assert found.region is None
    for fence in ("", "x", "-1", "²", "9" * 5_000):
        assert scene.kind(DOS_LEASE_KEY="x", DOS_FENCE=fence) is LOST


def test_after_release_revocation_and_takeover_the_key_opens_nothing(scene):
    scene.store.release(scene.take(key=KEY).fence)
    assert scene.kind(DOS_LEASE_KEY=KEY) is LOST
    lease = scene.take(key=KEY + "2")
    scene.store.revoke(lease.fence, version=lease.version, reason="dead")
    assert scene.kind(DOS_LEASE_KEY=KEY + "2") is LOST
    lease = scene.take(key=KEY + "3", ttl_ms=1)
    time.sleep(0.005)
    assert scene.kind(DOS_LEASE_KEY=KEY + "3") is HOLDER, "expired, and nobody took it"
    newer = scene.take(key=KEY + "4")
    assert newer.fence > lease.fence
    assert scene.kind(DOS_LEASE_KEY=KEY + "3") is LOST
    assert scene.kind(DOS_LEASE_KEY=KEY + "4") is HOLDER


@pytest.mark.parametrize("name", run_ids.VARIABLES)
def test_a_run_names_a_lease_that_has_no_key(scene, name):
    scene.take(run=RUN)
    assert scene.ask(**{name: RUN}).lane == "api"
    assert scene.kind(**{name: "RID-ANOTHER"}) is PERSON


def test_a_run_of_a_lease_with_a_key_is_believed_only_of_its_own_processes(scene):
    scene.take(run=RUN, key=KEY)
    assert scene.kind(DOS_RUN_ID=RUN) is PERSON
    own = scene.take("docs", run=RUN + "2", key=KEY + "2", pid=os.getpid())
    found = scene.ask(DOS_RUN_ID=RUN + "2", pid=scene.start().pid)
    assert (found.kind, found.fence) == (HOLDER, own.fence)


def test_a_descendant_of_the_holder_is_the_holder(scene):
    parent = scene.start(sys.executable, "-c", PARENT, stdout=subprocess.PIPE, text=True)
    grandchild = int(parent.stdout.readline())
    lease = scene.take(pid=parent.pid, key=KEY)
    assert scene.ask(pid=grandchild).fence == lease.fence
    assert scene.kind(pid=parent.pid) is HOLDER
    assert scene.kind() is PERSON, "this process is its parent, and no descendant"
    parent.kill()
    parent.wait()
    assert scene.kind(pid=grandchild) is PERSON, "its holder has died"
    psutil.Process(grandchild).kill()


def test_a_process_with_the_pid_of_the_holder_is_not_the_holder(scene):
    other = scene.start()
    scene.take(pid=other.pid, key=KEY, pid_started=process.identify(other.pid).started - 500)
    assert scene.kind(pid=other.pid) is PERSON
    scene.take("docs", pid=other.pid, key=KEY + "2", system="another", host="elsewhere")
    assert scene.kind(pid=other.pid) is PERSON


@pytest.mark.parametrize("pid", [0, 1, 2**22 + 7])
def test_a_caller_that_is_gone_is_nobody(scene, pid):
    scene.take(key=KEY)
    assert scene.kind(pid=pid) is PERSON


def test_a_bound_session_holds_its_lease_until_that_ends(scene):
    lease = scene.take()
    bind_session(scene.store, "mine", lease, of_process=False)
    assert scene.ask(session="mine").fence == lease.fence
    assert scene.kind(session="other") is PERSON
    assert scene.kind(session="") is PERSON
    scene.store.release(lease.fence)
    assert scene.kind(session="mine") is PERSON, "it was given back"
    again = scene.take()
    assert scene.kind(session="mine") is PERSON, "of the next lease it knows nothing"
    bind_session(scene.store, "mine", again, of_process=False)
    scene.store.revoke(again.fence, version=again.version, reason="dead")
    found = scene.ask(session="mine")
    assert (found.kind, found.lane, found.fence) == (LOST, "api", again.fence)


def test_a_session_whose_lane_was_taken_over_has_lost_it(scene):
    lease = scene.take(ttl_ms=1)
    bind_session(scene.store, "mine", lease, of_process=False)
    time.sleep(0.005)
    assert scene.kind(session="mine") is HOLDER
    scene.take()
    assert scene.kind(session="mine") is LOST


def test_binding_to_a_lease_with_a_key_binds_only_its_own_processes(scene):
    lease = scene.take(key=KEY)
    bind_session(scene.store, "mine", lease, of_process=False)
    assert scene.kind(session="mine") is PERSON
    own = scene.take("docs", key=KEY + "2", pid=os.getpid())
    bind_session(scene.store, "mine", own, of_process=False)
    assert scene.ask(session="mine").lane == "docs"


def session_hook(scene, session, pid, **environment):
    """What the hook at the start of a conversation does, for the process that calls it."""
    world = World(scene.root)
    try:
        asker = find_asker(
            world, session=session, tree=scene.root, caller_pid=pid, environment=environment
        )
        lease = lease_to_bind(world, session=session, fence=asker.fence, caller_pid=pid)
    finally:
        world.close()
    if lease is not None:
        bind_session(scene.store, session, lease, of_process=True)
    return lease


def test_the_hook_of_a_session_binds_it_for_its_own_process_alone(scene):
    lease = scene.take(pid=os.getpid())
    child = scene.start().pid
    assert session_hook(scene, "mine", child).fence == lease.fence
    assert scene.ask(session="mine", pid=child).fence == lease.fence
    scene.store.revoke(lease.fence, version=lease.version, reason="dead")
    assert scene.kind(session="mine", pid=child) is LOST, "the conversation remembers"
    assert scene.kind(session="mine", pid=1) is PERSON, "and is that of nobody else"
    assert scene.kind(session="mine", pid=2**22 + 7) is PERSON


@pytest.mark.parametrize("key", ["", KEY])
def test_an_agent_cannot_claim_the_session_of_a_person(scene, key):
    """It names the person's session in an event of its own, and has a lease of its own."""
    parent = scene.start(sys.executable, "-c", PARENT, stdout=subprocess.PIPE, text=True)
    agent = int(parent.stdout.readline())
    carried = {"DOS_LEASE_KEY": key} if key else {}
    try:
        lease = scene.take(pid=parent.pid, key=key)
        session_hook(scene, "a person's", agent, **carried)
        assert scene.kind(session="a person's") is PERSON
        scene.store.revoke(lease.fence, version=lease.version, reason="dead")
        assert scene.kind(session="a person's") is PERSON, "it has lost nothing"
        own = scene.take("docs")
        bind_session(scene.store, "a person's", own, of_process=False)
        scene.take(pid=parent.pid, key=key + "2" if key else "")
        session_hook(scene, "a person's", agent, **carried and {"DOS_LEASE_KEY": key + "2"})
        assert scene.ask(session="a person's").fence == own.fence, "what its user said stands"
    finally:
        psutil.Process(agent).kill()


def test_the_name_of_a_run_binds_no_session(scene):
    scene.take(run=RUN)
    assert session_hook(scene, "a person's", os.getpid(), CID_RUN_ID=RUN) is None
    assert scene.kind(session="a person's") is PERSON
    assert scene.kind(session="a person's", CID_RUN_ID=RUN) is HOLDER, "each hook names it"


def test_two_processes_do_not_take_a_session_from_each_other(scene):
    first, second = scene.start().pid, scene.start().pid
    scene.take(pid=first)
    lease = scene.take("docs", pid=second)
    assert session_hook(scene, "mine", first) is not None
    assert session_hook(scene, "mine", second) is None
    scene.started[0].kill()
    scene.started[0].wait()
    assert session_hook(scene, "mine", second).fence == lease.fence, "it was resumed elsewhere"


ODD_SESSIONS = ["\0", "../../x", "a/b", "é", "x" * 5_000, "\ud800", "\udcff", "\n", " ", "%2e"]


@pytest.mark.parametrize("session", ODD_SESSIONS, ids=range(len(ODD_SESSIONS)))
def test_no_name_of_a_session_is_too_odd(scene, session):
    lease = scene.take()
    assert scene.kind(session=session) is PERSON
    bind_session(scene.store, session, lease, of_process=False)
    assert scene.kind(session=session) is HOLDER
    assert scene.kind(session=session + "x") is PERSON


FORGED = {
    "DOS_FENCE": lambda lease: str(lease.fence),
    "DOS_LANE": lambda _: "api",
    "DOS_RUN_ID": lambda _: RUN,
    "CID_RUN_ID": lambda _: RUN,
    "DISPATCH_RUN_ID": lambda _: RUN,
    "DOS_WORKSPACE": lambda _: "/",
    "DOS_REGION": lambda _: '["**"]',
    "DOS_TREE": lambda _: "/",
    "DISPATCH_LOOP_TS": lambda lease: lease.loop_ts or "1",
    "DOS_LEASE_KEY_HASH": lambda lease: lease.key_hash,
}


def test_without_its_key_nothing_makes_a_caller_the_holder(scene):
    lease = scene.take(key=KEY, run=RUN)
    bind_session(scene.store, "its", lease, of_process=False)
    for count in (1, 2, len(FORGED)):
        for names in combinations(FORGED, count):
            environment = {name: FORGED[name](lease) for name in names}
            assert scene.kind(session="its", **environment) is PERSON, names


def test_in_the_tree_of_a_lane_nobody_is_a_stranger(scene):
    tree = scene.place.worktrees / "api"
    (tree / "api").mkdir(parents=True)
    assert scene.kind(tree=tree) is STRANGER
    assert scene.kind(tree=tree / "api") is STRANGER, "and in a repository inside of it"
    scene.take(key=KEY)
    assert scene.kind(tree=tree) is STRANGER
    assert scene.kind(tree=tree, DOS_LEASE_KEY=KEY) is HOLDER
    assert scene.kind(tree=tree, DOS_LEASE_KEY="x") is LOST
    link = scene.root / "link"
    link.symlink_to(tree)
    assert scene.kind(tree=link) is STRANGER
    assert is_lane_tree(tree) and not is_lane_tree(scene.root)
    assert not is_lane_tree(scene.root / "worktrees")


def test_only_live_leases_of_others_are_neighbours(scene):
    scene.take(key=KEY)
    assert [one.lane for one in scene.ask().neighbours] == ["api"]
    dead = scene.start()
    scene.take("docs", pid=dead.pid)
    assert [one.lane for one in scene.ask(DOS_LEASE_KEY=KEY).neighbours] == ["docs"]
    dead.kill()
    dead.wait()
    assert scene.ask(DOS_LEASE_KEY=KEY).neighbours == ()


def test_a_lane_that_has_lapsed_is_no_neighbour(scene):
    scene.take(ttl_ms=1)
    time.sleep(0.005)
    assert scene.ask().neighbours == ()


def test_the_paths_of_a_workspace_in_a_folder_start_at_the_top(scene, tmp_path):
    (scene.root / "dos.toml").rename(scene.root / "api" / "dos.toml")
    scene.root = scene.root / "api"
    scene.store.close()
    scene.store = open_journal(workspace.find(scene.root), "")
    scene.take(key=KEY)
    scene.take("docs")
    found = scene.ask(DOS_LEASE_KEY=KEY)
    assert found.region.globs == ("api/api/**",)
    assert found.neighbours[0].region.globs == ("api/docs/**",)


def test_a_lock_makes_nobody_a_holder(scene):
    config = World(scene.root).config
    request = lease_request(config, "gate", run_id=RUN, is_lock=True)
    assert isinstance(scene.store.acquire(request, admission_rules(scene.root, config)), Lease)
    assert scene.kind(DOS_RUN_ID=RUN) is PERSON
    assert scene.kind() is PERSON and scene.ask().neighbours == ()


def test_a_daemon_of_an_agent_is_a_stranger_without_the_key_and_no_holder(scene):
    """It has left its parents and cleared its environment; `PATIENCE` bounds only its start."""
    lease_holder = scene.start()
    scene.take(pid=lease_holder.pid, key=KEY)
    left = "import os,sys,time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n"
    left += "print(os.getpid(), flush=True); time.sleep(600)"
    done = scene.start(sys.executable, "-c", left, stdout=subprocess.PIPE, text=True, env={})
    pid = int(done.stdout.readline())
    done.wait(PATIENCE)
    tree = scene.place.worktrees / "api"
    tree.mkdir(parents=True)
    assert scene.kind(tree=tree, pid=pid) is STRANGER
    psutil.Process(pid).kill()


def test_time_does_not_grow_with_the_history(tmp_path):
    scenes = [Scene(tmp_path / name) for name in ("short", "long")]
    for scene, count in zip(scenes, (20, 3_000), strict=True):
        lease = scene.take()
        bind_session(scene.store, "mine", lease, of_process=False)
        fact = HookAnswered(moment="pretool", action="DENY", tool="Write", session="mine")
        entry = Entry(stream=session_stream("mine"), kind=fact.kind, body=fact)
        scene.store.append_all([entry] * count)

    def ask(scene):
        for _ in range(10):
            assert scene.kind(session="mine") is HOLDER

    try:
        assert grows_less_than(3, ask, *scenes)
    finally:
        for scene in scenes:
            scene.end()


def test_all_lanes_that_a_person_took_are_its_own(scene):
    shell = scene.start(sys.executable, "-c", PARENT, stdout=subprocess.PIPE, text=True)
    child = int(shell.stdout.readline())
    scene.take("api", pid=shell.pid)
    scene.take("docs", pid=shell.pid)
    found = scene.ask(pid=child)
    assert (found.lane, [one.lane for one in found.further]) == ("api", ["docs"])
    assert found.neighbours == ()


@pytest.mark.parametrize("name", run_ids.VARIABLES)
def test_all_lanes_of_a_run_are_its_own_and_a_lane_of_another_is_not(scene, name):
    scene.take("api", run=RUN)
    scene.take("docs", run=RUN)
    found = scene.ask(**{name: RUN})
    assert (found.lane, [one.lane for one in found.further]) == ("api", ["docs"])
    other = scene.ask(**{name: RUN + "2"})
    assert (other.kind, len(other.neighbours)) == (PERSON, 2)


def test_of_the_leases_of_a_worker_only_the_one_that_its_agent_works_under_counts(scene):
    own = scene.take("api", key=KEY, run=RUN, pid=os.getpid())
    scene.take("docs", key=KEY + "2", run=RUN, pid=os.getpid())
    for named in ({"DOS_LEASE_KEY": KEY}, {"DOS_RUN_ID": RUN}, {}):
        found = scene.ask(pid=scene.start().pid, **named)
        assert (found.fence, found.further, found.neighbours) == (own.fence, (), ()), named


def test_a_session_that_was_bound_to_one_lane_keeps_the_others_of_its_terminal(scene):
    first = scene.take("api", pid=os.getpid())
    scene.take("docs", pid=os.getpid())
    bind_session(scene.store, "s", first, of_process=False)
    found = scene.ask(session="s", pid=scene.start().pid)
    assert (found.lane, [one.lane for one in found.further]) == ("api", ["docs"])
    elsewhere = scene.ask(session="s", pid=1)
    assert (elsewhere.lane, elsewhere.further) == ("api", ())
