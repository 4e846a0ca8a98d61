"""Hosts with clones of one remote.

Each lands by compare-and-swap, and the remote itself refuses a stale one.
"""

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from msgspec import structs
from patience import wait_until_ended
from sample_repository import CONFIG, PLAN

from dos import workspace
from dos.config.load import load
from dos.errors import BadInput, Fenced, RemoteAway
from dos.fleet.effects import NotLanded
from dos.git.fence import raise_fence
from dos.git.repository import Writer
from dos.journal.events.fleet import UnitClaimed
from dos.landing import remote_fetch, remote_push
from dos.landing.target import open_target
from dos.lanes.io.gather import admission_rules
from dos.lanes.io.held_leases import lease_request
from dos.lease import Lease, Refusal
from dos.machine.process import holder_has_exited
from dos.units.unit import Landing
from dos.world import open_journal, workspace_id

pytestmark = pytest.mark.sampled(3)

SAFE = ["-c", "user.name=T", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]


def git(tree: Path, *words: str) -> str:
    done = subprocess.run(["git", *SAFE, *words], cwd=tree, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Clone:
    """The repository of one host."""

    def __init__(self, remote: Path, tree: Path) -> None:
        git(remote.parent, "clone", "-q", f"file://{remote}", str(tree))
        self.tree, self.git = tree, Writer(tree)

    def work(self, path: str, *, base: str = "") -> Landing:
        """A commit on top of what the remote has, on no branch, as a lane's worktree makes them."""
        old = base or remote_fetch.base_commit(self.git, "origin", "main")
        folder = self.tree.parent / f"{self.tree.name}-lane"
        if not folder.exists():
            git(self.tree, "worktree", "add", "-q", "--detach", str(folder), old)
        git(folder, "checkout", "-q", "--detach", old)
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(f"by {self.tree.name}\n")
        git(folder, "add", "--all")
        git(folder, "commit", "-qm", f"Write {path}")
        return Landing(
            unit="DEMO/A1", branch="main", base=old, commit=git(folder, "rev-parse", "HEAD")
        )

    def holds(self, lane: str, fence: int) -> None:
        raise_fence(self.git, lane, fence)
        remote_push.raise_fence(self.git, "origin", lane, fence)

    def lands(self, landing: Landing, *, lane: str = "one", fence: int) -> NotLanded | None:
        return remote_push.push(self.git, "origin", lane=lane, fence=fence, landing=landing)

    def follows(self, commit: str, *, lane: str = "one", fence: int) -> str:
        return remote_push.update_local_branch(
            self.git, lane=lane, fence=fence, branch="main", commit=commit, why="DEMO/A1"
        )


@pytest.fixture
def remote(tmp_path) -> Path:
    return make_remote(tmp_path)


def make_remote(tmp_path: Path) -> Path:
    place, seed = tmp_path / "remote.git", tmp_path / "seed"
    git(tmp_path, "init", "-q", "--bare", "--initial-branch", "main", str(place))
    git(tmp_path, "init", "-q", "--initial-branch", "main", str(seed))
    for folder in ("one", "two", "docs"):
        (seed / folder).mkdir()
        (seed / folder / "keep").touch()
    (seed / "docs" / "demo-plan.md").write_text(PLAN)
    config = CONFIG.format(script=tmp_path / "script.json", home=tmp_path)
    (seed / "dos.toml").write_text(config)
    git(seed, "add", "--all")
    git(seed, "commit", "-qm", "Begin")
    git(seed, "push", "-q", str(place), "main")
    return place


@pytest.fixture
def here(remote) -> Clone:
    return Clone(remote, remote.parent / "here")


@pytest.fixture
def there(remote) -> Clone:
    return Clone(remote, remote.parent / "there")


def refs(remote: Path) -> str:
    return git(remote, "for-each-ref", "--format=%(refname) %(objectname)")


def head(remote: Path) -> str:
    return git(remote, "rev-parse", "main")


def hook(remote: Path, text: str) -> None:
    path = remote / "hooks" / "pre-receive"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_work_starts_where_the_remote_is_and_lands_there(remote, here, there):
    here.holds("one", 5)
    landing = here.work("one/a")
    before = git(here.tree, "for-each-ref", "refs/heads", "refs/tags")
    assert not remote_fetch.has_landed(here.git, "origin", landing)
    assert here.lands(landing, fence=5) is None
    assert head(remote) == landing.commit
    assert git(here.tree, "for-each-ref", "refs/heads", "refs/tags") == before
    assert remote_fetch.base_commit(there.git, "origin", "main") == landing.commit
    assert remote_fetch.has_landed(there.git, "origin", landing)


def test_many_landings_of_one_holder_each_move_the_fence_along(remote, here):
    here.holds("one", 5)
    seen = set()
    for number in range(4):
        assert here.lands(here.work(f"one/{number}"), fence=5) is None
        seen.add(git(remote, "rev-parse", "refs/dos/fence/one"))
    assert len(seen) == 4


def test_the_old_holder_that_pushes_late_is_refused(remote, here, there):
    here.holds("one", 5)
    late = here.work("one/late")
    there.holds("one", 9)
    before = refs(remote)
    refused = here.lands(late, fence=5)
    assert refused and not refused.retryable and "taken over" in refused.reason
    assert refs(remote) == before
    assert there.lands(there.work("one/next"), fence=9) is None


def test_a_takeover_while_the_old_holders_push_is_under_way_refuses_it(remote, here, there):
    """The server has the push and has not moved anything yet: then the fence moves."""
    here.holds("one", 5)
    late = here.work("one/late")
    newer = remote_push._write_fence_commit(Writer(remote), 9, "taken")
    hook(remote, f"unset GIT_QUARANTINE_PATH; git update-ref refs/dos/fence/one {newer}")
    before = head(remote)
    refused = here.lands(late, fence=5)
    assert refused and not refused.retryable and "taken over" in refused.reason
    assert head(remote) == before


def test_a_branch_that_moves_while_the_push_is_under_way_is_not_overwritten(remote, here, there):
    here.holds("one", 5)
    mine, theirs = here.work("one/a"), there.work("two/b")
    git(there.tree, "push", "-q", "origin", f"{theirs.commit}:refs/heads/elsewhere")
    hook(remote, f"unset GIT_QUARANTINE_PATH; git update-ref refs/heads/main {theirs.commit}")
    refused = here.lands(mine, fence=5)
    assert refused and refused.retryable and "moved" in refused.reason
    assert head(remote) == theirs.commit


def test_a_fence_only_goes_up(remote, here, there):
    here.holds("one", 5)
    here.holds("one", 5)
    there.holds("one", 9)
    before = refs(remote)
    with pytest.raises(Fenced, match="newer fence"):
        remote_push.raise_fence(here.git, "origin", "one", 5)
    assert refs(remote) == before
    here.holds("two", 3)  # another lane is another matter


def test_what_the_old_holder_landed_before_the_takeover_is_recognised_and_not_done_again(
    remote, here, there
):
    here.holds("one", 5)
    landing = here.work("one/a")
    assert here.lands(landing, fence=5) is None  # and it dies before it writes that down
    there.holds("one", 9)
    assert remote_fetch.has_landed(there.git, "origin", landing)
    before = refs(remote)
    assert there.lands(landing, fence=9) is None
    assert refs(remote) == before


def test_what_the_old_holder_never_pushed_is_not_to_be_had_elsewhere(here, there):
    here.holds("one", 5)
    landing = here.work("one/a")
    there.holds("one", 9)
    assert not remote_fetch.has_landed(there.git, "origin", landing)
    refused = there.lands(landing, fence=9)
    assert refused and not refused.retryable and "another host" in refused.reason


def test_a_refused_landing_leaves_the_clones_own_branch_alone(here, there):
    here.holds("one", 5)
    late = here.work("one/late")
    there.holds("one", 9)
    before = git(here.tree, "rev-parse", "main")
    assert here.lands(late, fence=5)
    assert here.follows(remote_fetch.base_commit(here.git, "origin", "main"), fence=5) == ""
    assert git(here.tree, "rev-parse", "main") == before


def test_a_landing_that_is_not_on_top_of_what_was_seen_is_refused(remote, here, there):
    here.holds("one", 5)
    first = here.work("one/a")
    assert here.lands(first, fence=5) is None
    aside = here.work("one/b", base=first.base)
    refused = here.lands(structs.replace(aside, base=first.commit), fence=5)
    assert refused and "does not descend from" in refused.reason
    assert head(remote) == first.commit


@pytest.mark.parametrize("verdict", ["echo 'only on Tuesdays'; exit 1"])
def test_a_remote_that_says_no_is_quoted(remote, here, verdict):
    here.holds("one", 5)
    landing = here.work("one/a")
    hook(remote, verdict)
    before = refs(remote)
    refused = here.lands(landing, fence=5)
    assert refused and not refused.retryable and "only on Tuesdays" in refused.reason
    assert refs(remote) == before


def test_a_lock_on_the_remote_is_waited_for(remote, here):
    here.holds("one", 5)
    landing = here.work("one/a")
    lock = remote / "refs" / "heads" / "main.lock"
    lock.touch()
    refused = here.lands(landing, fence=5)
    assert refused and refused.retryable
    lock.unlink()
    assert here.lands(landing, fence=5) is None


def test_a_remote_that_is_away_is_its_own_kind_of_trouble(remote, here):
    here.holds("one", 5)
    landing = here.work("one/a")
    remote.rename(remote.with_name("unplugged"))
    for act in (
        lambda: remote_fetch.fetch(here.git, "origin", "main"),
        lambda: remote_fetch.base_commit(here.git, "origin", "main"),
        lambda: remote_fetch.has_landed(here.git, "origin", landing),
        lambda: remote_push.raise_fence(here.git, "origin", "one", 6),
        lambda: here.lands(landing, fence=5),
    ):
        with pytest.raises(RemoteAway, match="origin"):
            act()
    remote.with_name("unplugged").rename(remote)
    assert here.lands(landing, fence=5) is None


def test_an_answer_that_was_lost_is_found_out(remote, here):
    """The remote moved both refs, and the connection broke before it could say so."""
    here.holds("one", 5)
    landing = here.work("one/a")
    post = remote / "hooks" / "post-receive"
    post.write_text("#!/bin/sh\nkill -9 $PPID\n")
    post.chmod(0o755)
    assert here.lands(landing, fence=5) is None
    assert head(remote) == landing.commit


def test_a_branch_or_a_remote_that_is_not_there_is_said(remote, here):
    assert remote_fetch.fetch(here.git, "origin", "none") is None
    with pytest.raises(BadInput, match="no branch 'none'"):
        remote_fetch.base_commit(here.git, "origin", "none")
    with pytest.raises(BadInput, match="has no remote 'nowhere'"):
        remote_fetch.check_remote_name(here.git, "nowhere")
    remote_fetch.check_remote_name(here.git, "origin")
    here.holds("one", 5)
    landing = here.work("one/a")
    git(remote, "update-ref", "-d", "refs/dos/fence/one")
    refused = here.lands(landing, fence=5)
    assert refused and "no longer has a fence" in refused.reason


def test_a_branch_whose_name_ends_like_the_target_is_another(remote, here):
    git(remote, "update-ref", "refs/heads/x/refs/heads/main", "main")
    here.holds("one", 5)
    assert here.lands(here.work("one/a"), fence=5) is None


def test_a_force_pushed_target_is_seen_as_it_is_now(remote, here, there):
    here.holds("one", 5)
    landing = here.work("one/a")
    assert here.lands(landing, fence=5) is None
    git(remote, "update-ref", "refs/heads/main", landing.base)
    assert not remote_fetch.has_landed(here.git, "origin", landing)
    assert here.lands(landing, fence=5) is None
    assert head(remote) == landing.commit


def test_what_is_known_of_the_remote_never_goes_back(here, there, monkeypatch):
    """Between the question and the answer of one worker, another fetches something newer."""
    here.holds("one", 5)
    there.holds("two", 6)
    old = remote_fetch.base_commit(here.git, "origin", "main")
    landing, ask = there.work("two/a"), remote_fetch._ask

    def slow(git: Writer, remote: str, *refs: str) -> dict[str, str]:
        heard = ask(git, remote, *refs)
        monkeypatch.setattr(remote_fetch, "_ask", ask)
        assert there.lands(landing, lane="two", fence=6) is None
        assert remote_fetch.fetch(here.git, "origin", "main") == landing.commit
        return heard

    git(here.tree, "update-ref", "-d", remote_fetch.shared_ref("main"))
    monkeypatch.setattr(remote_fetch, "_ask", slow)
    assert remote_fetch.fetch(here.git, "origin", "main") == landing.commit != old
    assert git(here.tree, "rev-parse", remote_fetch.shared_ref("main")) == landing.commit


def test_the_clones_branch_and_the_users_files_follow(here, there):
    here.holds("one", 5)
    landing = here.work("one/a")
    assert here.lands(landing, fence=5) is None
    assert here.follows(landing.commit, fence=5) == ""
    assert git(here.tree, "rev-parse", "main") == landing.commit
    assert (here.tree / "one" / "a").exists() and git(here.tree, "status", "--porcelain") == ""
    there.holds("two", 6)
    assert (
        there.follows(remote_fetch.base_commit(there.git, "origin", "main"), lane="two", fence=6)
        == ""
    )
    assert (there.tree / "one" / "a").exists()


def test_what_the_user_has_in_the_way_is_left_and_said(here):
    here.holds("one", 5)
    landing = here.work("one/keep")
    (here.tree / "one" / "keep").write_text("an edit of mine\n")
    assert here.lands(landing, fence=5) is None
    assert "one/keep has uncommitted changes" in here.follows(landing.commit, fence=5)
    assert (here.tree / "one" / "keep").read_text() == "an edit of mine\n"
    assert git(here.tree, "rev-parse", "main") == landing.base


def test_a_clone_that_stays_behind_says_so_until_it_comes_along(here):
    target = open_target(here.git, "origin")
    target.raise_fence("one", 5)
    first = here.work("one/keep")
    (here.tree / "one" / "keep").write_text("an edit of mine\n")
    assert target.move(first, lane="one", fence=5) is None
    assert "stays behind the remote: one/keep has uncommitted changes" in target.stays_behind
    git(here.tree, "checkout", "-q", "--", "one/keep")
    assert target.move(here.work("one/b"), lane="one", fence=5) is None
    assert target.stays_behind == ""


def test_commits_of_the_users_that_are_not_on_the_remote_are_left_and_said(here):
    here.holds("one", 5)
    landing = here.work("one/a")
    git(here.tree, "commit", "-q", "--allow-empty", "-m", "Mine, not pushed")
    mine = git(here.tree, "rev-parse", "main")
    assert here.lands(landing, fence=5) is None
    assert "has commits that are not on the remote" in here.follows(landing.commit, fence=5)
    assert git(here.tree, "rev-parse", "main") == mine


LANDER = """
import sys
from pathlib import Path
from dos.units.unit import Landing
from dos.landing import remote_push
from dos.git.repository import Writer

tree, lane, fence, old, new = sys.argv[1:]
sys.stdin.read()  # until everybody is ready
landing = Landing(unit="DEMO/A1", branch="main", base=old, commit=new)
git = Writer(Path(tree))
refused = remote_push.push(git, "origin", lane=lane, fence=int(fence), landing=landing)
print("landed" if refused is None else "again" if refused.retryable else refused.reason)
"""


def race(landers: list[tuple[Clone, str, int, Landing]]) -> list[str]:
    started = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                LANDER,
                str(clone.tree),
                lane,
                str(fence),
                landing.base,
                landing.commit,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for clone, lane, fence, landing in landers
    ]
    for process in started:
        assert process.stdin
        process.stdin.close()
    answers = []
    for process in started:
        assert process.stdout
        answers.append(process.stdout.read().strip())
        process.wait()
    return answers


@pytest.mark.soak
def test_of_landings_at_the_same_time_one_wins_and_the_others_may_try_again(remote, here, there):
    here.holds("one", 5)
    there.holds("two", 6)
    for number in range(4):
        mine, theirs = here.work(f"one/{number}"), there.work(f"two/{number}")
        assert mine.base == theirs.base
        answers = race([(here, "one", 5, mine), (there, "two", 6, theirs)])
        assert sorted(answers) == ["again", "landed"]
        won = mine if answers[0] == "landed" else theirs
        assert head(remote) == won.commit


@pytest.mark.soak
def test_of_two_that_think_they_hold_one_lane_only_the_newer_lands(remote, here, there):
    for number in range(3):
        here.holds("one", 10 * number + 5)
        mine = here.work(f"one/{number}")
        there.holds("one", 10 * number + 9)
        theirs = there.work(f"one/{number}", base=mine.base)
        answers = race(
            [(here, "one", 10 * number + 5, mine), (there, "one", 10 * number + 9, theirs)]
        )
        assert answers[1] == "landed" and "taken over" in answers[0]
        assert head(remote) == theirs.commit


@pytest.mark.sampled(3)
@pytest.mark.parametrize("milliseconds", [20, 60, 90, 120, 150, 200])
def test_once_a_takeover_is_known_nothing_that_the_killed_holder_began_lands_any_more(
    remote, here, there, milliseconds
):
    """Its git goes on without it.

    Either it came before the takeover, and is seen, or it is refused.
    """
    here.holds("one", 5)
    landing = here.work("one/a")
    words = [sys.executable, "-c", LANDER, str(here.tree), "one", "5", landing.base, landing.commit]
    worker = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
    )
    time.sleep(milliseconds / 1000)
    begun = psutil.Process(worker.pid).children(recursive=True)
    worker.kill()
    worker.wait()
    there.holds("one", 9)
    seen = remote_fetch.has_landed(there.git, "origin", landing)
    wait_until_ended(begun)
    assert remote_fetch.has_landed(there.git, "origin", landing) is seen
    next_one = there.work("one/b")
    assert there.lands(next_one, fence=9) is None
    assert git(remote, "log", "--format=%s", "main").count("Write one/a") == int(seen)


class Host:
    """One machine of the fleet: its clone, and its sight of the one journal."""

    def __init__(self, clone: Clone, url: str, name: str) -> None:
        self.clone, self.url, self.name = clone, url, name
        self.place = workspace.find(clone.tree)
        self.config = load(self.place.root).config

    def __enter__(self) -> "Host":
        self.journal = open_journal(self.place, self.url, actor=self.name)
        return self

    def __exit__(self, *ended: object) -> None:
        self.journal.close()

    def take(
        self, monkeypatch: pytest.MonkeyPatch, lane: str = "one", ttl_ms: int = 60_000
    ) -> Lease | Refusal:
        monkeypatch.setenv("DISPATCH_HOST_ID", self.name)
        asked = structs.replace(
            lease_request(self.config, lane, run_id=f"RUN-{self.name}"), ttl_ms=ttl_ms
        )
        return self.journal.acquire(asked, admission_rules(self.place.root, self.config))


def test_clones_of_one_remote_share_one_journal(postgres, here, there, monkeypatch):
    url = postgres.createdb(f"journal_{time.time_ns()}")
    assert workspace_id(workspace.find(here.tree), url) == workspace_id(
        workspace.find(there.tree), url
    )
    with Host(here, url, "host-a") as a, Host(there, url, "host-b") as b:
        taken = a.take(monkeypatch)
        assert isinstance(taken, Lease) and taken.host == "host-a"
        assert isinstance(b.take(monkeypatch), Refusal)
        assert b.journal.leases() == [taken]
        # Of a process of another machine nobody here can say that it is gone, whatever
        # its number is.
        monkeypatch.setenv("DISPATCH_HOST_ID", "host-b")
        elsewhere = structs.replace(taken, pid=2**22 - 1, pid_started=1.0)
        assert not holder_has_exited(elsewhere)


def test_a_host_that_is_cut_off_can_do_no_more_harm_once_its_lane_was_taken_over(
    postgres, remote, here, there, monkeypatch
):
    url = postgres.createdb(f"takeover_{time.time_ns()}")
    with Host(here, url, "host-a") as a, Host(there, url, "host-b") as b:
        old = a.take(monkeypatch, ttl_ms=1)
        assert isinstance(old, Lease)
        here.holds("one", old.fence)
        late = here.work("one/late")

        new = b.take(
            monkeypatch
        )  # by the store's clock its time is over, whatever the clocks of the hosts say
        assert isinstance(new, Lease) and new.fence > old.fence
        there.holds("one", new.fence)

        before = refs(remote)
        refused = here.lands(late, fence=old.fence)
        assert refused and not refused.retryable
        with pytest.raises(Fenced):
            remote_push.raise_fence(here.git, "origin", "one", old.fence)
        with pytest.raises(Fenced):
            a.journal.record(
                "run/RUN-host-a",
                UnitClaimed(run_id="RUN-host-a", lane="one", unit="DEMO/A1", iteration=1),
                key="k",
                fence=old.fence,
            )
        assert a.journal.renew([old.fence]).kept == []
        with pytest.raises(Fenced):
            a.journal.release(old.fence)
        assert refs(remote) == before and b.journal.leases() == [new]
        assert there.lands(there.work("one/next"), fence=new.fence) is None
