"""Which units have landed: the journal's word, checked against git as it is now."""

import subprocess

import pytest

from dos.evidence.work import landed
from dos.evidence.work.landed import Landed, NotLanded
from dos.journal.events import UnitLanded
from dos.records.unknown import Unknown
from dos.sources.git import Git
from dos.sources.workspace import find
from dos.sources.world import World, open_journal


def git(place, *words):
    safe = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *safe, *words], cwd=place, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def place(tmp_path):
    git(tmp_path, "init", "--quiet", "--initial-branch", "main", ".")
    commit(tmp_path, "begin")
    return tmp_path


def commit(place, message):
    git(place, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(place, "rev-parse", "HEAD")


def record(place, **commits):
    with open_journal(find(place), "") as journal:
        for name, sha in commits.items():
            fact = UnitLanded(run_id="RID-1", lane="api", unit=f"A/{name}", branch="main", base="", commit=sha)
            journal.record(f"unit/A/{name}", fact)


def truths(place, *names):
    with World(place) as world:
        found = landed.gather(world, [f"A/{name}" for name in names])
    return {name.removeprefix("A/"): truth for name, truth in found.items()}


def test_a_landing_that_the_branch_still_holds_has_landed(place):
    sha = commit(place, "work")
    record(place, U1=sha)
    commit(place, "more")
    found = truths(place, "U1", "U2")
    assert found["U1"] == Landed(sha)
    assert isinstance(found["U2"], NotLanded) and not found["U2"].is_claimed


def test_a_landing_that_was_taken_off_the_branch_has_not(place):
    before = git(place, "rev-parse", "HEAD")
    lost = commit(place, "work")
    git(place, "reset", "--quiet", "--hard", before)
    kept = commit(place, "other work")
    record(place, U1=lost, U2=kept)
    found = truths(place, "U1", "U2")
    assert isinstance(found["U1"], NotLanded) and lost[:9] in found["U1"].why
    assert found["U2"] == Landed(kept)


def test_a_commit_that_is_not_in_the_repository_hides_no_other(place):
    kept = commit(place, "work")
    record(place, U1="0123456789" * 4, U2=kept)
    found = truths(place, "U1", "U2")
    assert isinstance(found["U1"], NotLanded)
    assert found["U2"] == Landed(kept)


def test_in_a_history_that_is_cut_off_nobody_knows(place, tmp_path_factory):
    first = commit(place, "work")
    commit(place, "more")
    clone = tmp_path_factory.mktemp("clone") / "shallow"
    subprocess.run(["git", "clone", "--quiet", "--depth=1", f"file://{place}", str(clone)], check=True)
    record(clone, U1=first)
    assert isinstance(truths(clone, "U1")["U1"], Unknown)


@pytest.mark.parametrize("branch", ["release", "a b", "x\ny", "--all"])
def test_a_branch_that_is_not_there_leaves_it_unknown(place, branch):
    record(place, U1=commit(place, "work"))
    written = branch.replace("\n", "\\n")
    (place / "dos.toml").write_text(f'[workers]\ntarget_branch = "{written}"\n')
    assert isinstance(truths(place, "U1")["U1"], Unknown)


def test_on_no_branch_it_is_asked_of_what_is_checked_out(place):
    sha = commit(place, "work")
    record(place, U1=sha)
    git(place, "checkout", "--quiet", "--detach")
    found = truths(place, "U1", "U2")
    assert found["U1"] == Landed(sha)
    assert isinstance(found["U2"], NotLanded)


def test_where_the_target_cannot_be_read_nobody_knows(place):
    record(place, U1=commit(place, "work"))
    (place / "dos.toml").write_text('[workers]\ntarget_branch = "gone"\n')
    assert all(isinstance(truth, Unknown) for truth in truths(place, "U1", "U2").values())


def test_the_configured_branch_is_the_one_that_is_asked(place):
    git(place, "checkout", "--quiet", "-b", "feature")
    sha = commit(place, "work")
    record(place, U1=sha)
    (place / "dos.toml").write_text('[workers]\ntarget_branch = "main"\n')
    assert isinstance(truths(place, "U1")["U1"], NotLanded)
    git(place, "update-ref", "refs/heads/main", sha)
    assert truths(place, "U1")["U1"] == Landed(sha)


def test_from_an_agents_worktree_it_is_the_main_ones_branch(place, tmp_path_factory):
    (place / "dos.toml").touch()
    elsewhere = tmp_path_factory.mktemp("trees") / "api"
    git(place, "worktree", "add", "--quiet", "-b", "agents", str(elsewhere))
    theirs = commit(elsewhere, "not landed yet")
    ours = commit(place, "landed")
    record(place, U1=theirs, U2=ours)
    found = truths(elsewhere, "U1", "U2")
    assert isinstance(found["U1"], NotLanded)
    assert found["U2"] == Landed(ours)


def test_git_is_asked_once_for_all_of_them(place, monkeypatch):
    shas = [commit(place, f"work {number}") for number in range(20)]
    record(place, **{f"U{number}": sha for number, sha in enumerate(shas)})
    asked = []
    real = Git.attempt

    def counted(self, *words, **more):
        asked.append(words[0])
        return real(self, *words, **more)

    monkeypatch.setattr(Git, "attempt", counted)
    found = truths(place, *(f"U{number}" for number in range(20)))
    assert set(found.values()) == {Landed(sha) for sha in shas}
    assert asked.count("rev-list") == 1 and len(asked) <= 3


def test_work_that_is_on_the_branch_needs_no_journal(place):
    (place / "login.py").write_text("def login():\n    return 1\n")
    git(place, "add", "--all")
    sha = commit(place, "log in\n\nUnit: A/U1")
    found = truths(place, "U1", "U2")
    assert found["U1"] == Landed(sha, "grep-subject")
    assert isinstance(found["U2"], NotLanded)


def test_a_landing_that_was_reverted_has_not_landed(place):
    (place / "login.py").write_text("def login():\n    return 1\n")
    git(place, "add", "--all")
    sha = commit(place, "log in\n\nUnit: A/U1")
    record(place, U1=sha)
    git(place, "revert", "--no-edit", "HEAD")
    assert "reverted" in truths(place, "U1")["U1"].why
