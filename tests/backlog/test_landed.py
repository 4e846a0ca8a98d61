"""Which units have landed: the journal's word, checked against git as it is now."""

import os
import subprocess
from collections import Counter

import pytest

from dos.backlog.io import landed
from dos.backlog.io.landed import Landed, NotLanded
from dos.fleet.state.fleet import FleetState, UnitState
from dos.git import objects
from dos.git.repository import Reader
from dos.journal import streams
from dos.journal.events.fleet import UnitLanded
from dos.unknown import Unknown
from dos.verify.io.verdict_cache import VerdictCache
from dos.verify.io.verifier import Verifier
from dos.workspace import find
from dos.world import World, open_journal


def git(place, *words):
    safe = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *safe, *words], cwd=place, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def place(tmp_path):
    git(tmp_path, "init", "--quiet", "--initial-branch", "main", ".")
    commit(tmp_path, "begin")
    return tmp_path


def commit(place, message, **files):
    for name, text in files.items():
        (place / f"{name}.py").write_text(text)
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(place, "rev-parse", "HEAD")


def record(place, **commits):
    with open_journal(find(place), "") as journal:
        for name, sha in commits.items():
            fact = UnitLanded(
                run_id="RID-1", lane="api", unit=f"A/{name}", branch="main", base="", commit=sha
            )
            journal.record(streams.unit(f"A/{name}"), fact)


def truths(place, *names):
    with World(place) as world:
        found = landed.gather(world, [f"A/{name}" for name in names])
    return {name.removeprefix("A/"): truth for name, truth in found.items()}


def test_a_landing_that_the_branch_still_holds_has_landed(place):
    sha = commit(place, "work")
    record(place, U1=sha)
    commit(place, "more")
    shown = truths(place, "U1", "U2")
    assert shown["U1"] == Landed(sha)
    assert isinstance(shown["U2"], NotLanded) and not shown["U2"].is_claimed


def test_a_landing_that_was_taken_off_the_branch_has_not(place):
    before = git(place, "rev-parse", "HEAD")
    lost = commit(place, "work")
    git(place, "reset", "--quiet", "--hard", before)
    kept = commit(place, "other work")
    record(place, U1=lost, U2=kept)
    shown = truths(place, "U1", "U2")
    assert isinstance(shown["U1"], NotLanded) and lost[:9] in shown["U1"].why
    assert shown["U2"] == Landed(kept)


def test_a_commit_that_is_not_in_the_repository_hides_no_other(place):
    kept = commit(place, "work")
    record(place, U1="0123456789" * 4, U2=kept)
    shown = truths(place, "U1", "U2")
    assert isinstance(shown["U1"], NotLanded)
    assert shown["U2"] == Landed(kept)


def test_in_a_history_that_is_cut_off_nobody_knows(place, tmp_path_factory):
    first = commit(place, "work")
    commit(place, "more")
    clone = tmp_path_factory.mktemp("clone") / "shallow"
    subprocess.run(
        ["git", "clone", "--quiet", "--depth=1", f"file://{place}", str(clone)], check=True
    )
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
    shown = truths(place, "U1", "U2")
    assert shown["U1"] == Landed(sha)
    assert isinstance(shown["U2"], NotLanded)


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
    shown = truths(elsewhere, "U1", "U2")
    assert isinstance(shown["U1"], NotLanded)
    assert shown["U2"] == Landed(ours)


@pytest.fixture
def asked(monkeypatch):
    """How often each command of git was run."""
    found, real = Counter(), Reader.run_once

    def counted(self, *words, **more):
        found[words[0]] += 1
        return real(self, *words, **more)

    monkeypatch.setattr(Reader, "run_once", counted)
    return found


def test_git_is_asked_once_for_all_of_them(place, asked):
    shas = [commit(place, f"work {number}") for number in range(20)]
    record(place, **{f"U{number}": sha for number, sha in enumerate(shas)})
    shown = truths(place, *(f"U{number}" for number in range(20)))
    assert set(shown.values()) == {Landed(sha) for sha in shas}
    assert asked["rev-list"] == 1 and asked.total() <= 3


def test_git_is_asked_once_for_all_branches_that_wait_for_somebody_to_merge_them(place, asked):
    units = {}
    for number in range(20):
        git(place, "checkout", "--quiet", "-b", f"dos/U{number}", "main")
        units[f"A/U{number}"] = UnitState(
            landed=commit(place, f"work {number}"), landed_on=f"dos/U{number}"
        )
    commit(place, "somebody added to it")  # U19
    git(place, "checkout", "--quiet", "-B", "dos/U18", "main")
    git(place, "branch", "--quiet", "-D", "dos/U17")
    git(place, "checkout", "--quiet", "main")
    with World(place) as world:
        found, _ = landed.inspect_target(
            world, units, FleetState(units=units), ref="refs/heads/main"
        )
    waiting = {
        name for name, truth in found.items() if truth == Landed(units[name].landed, "branch")
    }
    assert waiting == units.keys() - {"A/U17", "A/U18"}
    assert asked["for-each-ref"] == 1 and asked["merge-base"] == 2


def test_a_landing_is_found_though_the_dates_of_commits_lie(place):
    for number in range(30):
        os.environ["GIT_COMMITTER_DATE"] = f"{1_700_000_000 - 60 * number} +0000"
        try:
            sha = commit(place, f"work {number}")
        finally:
            del os.environ["GIT_COMMITTER_DATE"]
        if number == 20:
            git(place, "branch", "other")
            record(place, U1=sha)
    git(place, "checkout", "--quiet", "other")
    record(place, U2=commit(place, "not on the branch"))
    git(place, "checkout", "--quiet", "main")
    shown = truths(place, "U1", "U2")
    assert isinstance(shown["U1"], Landed) and isinstance(shown["U2"], NotLanded)


PLAN = "## A U1: one\n\n## A U2: two\n\n## A U3: three\n"


def plan_edited(place):
    (place / "docs" / "a-plan.md").write_text(PLAN + "- paths: src/**\n")
    commit(place, "groom")


def ruled(place):
    (place / "dos.toml").write_text('[verify]\nrequire = "named"\n')
    commit(place, "rules")


def merged(place):
    git(place, "checkout", "--quiet", "-b", "side", "HEAD~1")
    commit(place, "work of others", other="other = 1\n")
    git(place, "checkout", "--quiet", "main")
    git(place, "merge", "--quiet", "--no-edit", "side")


WHAT_HAPPENS = {
    "nothing": (lambda place: None, []),
    "a commit that concerns none": (lambda place: commit(place, "tidy", other="other = 1\n"), []),
    "a landing": (lambda place: commit(place, "three\n\nUnit: A/U3", three="three = 3\n"), ["U3"]),
    "a unit's file is edited": (
        lambda place: commit(place, "tidy", one="one = 1\nmore = 2\n"),
        ["U1"],
    ),
    "a unit is reverted": (lambda place: git(place, "revert", "--no-edit", "HEAD~1"), ["U1"]),
    "a unit's file is moved": (
        lambda place: git(place, "mv", "one.py", "1.py") or commit(place, "move"),
        ["U1"],
    ),
    "a branch is merged": (merged, []),
    "a plan is edited": (plan_edited, ["U1", "U2", "U3"]),
    "other rules are set": (
        lambda place: commit(place, "rules", **{"dos.toml\0"[:0] or "rules": ""}),
        [],
    ),
    "commits are taken away": (
        lambda place: git(place, "reset", "--hard", "HEAD~1"),
        ["U1", "U2", "U3"],
    ),
    "commits are replaced": (
        lambda place: git(place, "commit", "--amend", "-m", "x"),
        ["U1", "U2", "U3"],
    ),
}


@pytest.mark.parametrize("happens", WHAT_HAPPENS)
def test_only_what_can_have_changed_is_looked_at_again(place, monkeypatch, happens):
    (place / "docs").mkdir()
    (place / "docs" / "a-plan.md").write_text(PLAN)
    commit(place, "plan")
    commit(place, "one\n\nUnit: A/U1", one="one = 1\n")
    commit(place, "two\n\nUnit: A/U2", two="two = 2\n")
    again, really = [], Verifier.gather_evidence

    def at(self, units, progress=None):
        again.extend(phase for _, phase in units)
        return really(self, units, progress)

    act, expected = WHAT_HAPPENS[happens]
    names, memory = ["A/U1", "A/U2", "A/U3"], VerdictCache()
    with World(place) as world:
        landed.inspect_target(world, names, FleetState(), memory=memory)
        monkeypatch.setattr(Verifier, "gather_evidence", at)
        act(place)
        found = landed.inspect_target(world, names, FleetState(), memory=memory)
        assert again == expected
        assert found == landed.inspect_target(world, names, FleetState())


def test_a_commit_that_only_says_it_takes_a_unit_back_counts_for_what_is_remembered(place):
    sha = commit(place, "one\n\nUnit: A/U1", one="one = 1\ntwo = 2\nthree = 3\n")
    commit(place, "rework", one="one = 1\nother = 2\nsome = 3\n")
    memory = VerdictCache()
    with World(place) as world:
        before = landed.inspect_target(world, ["A/U1"], FleetState(), memory=memory)[0]["A/U1"]
        commit(place, f"back\n\nThis reverts commit {sha}.")
        found = landed.inspect_target(world, ["A/U1"], FleetState(), memory=memory)[0]["A/U1"]
    assert isinstance(before, Landed) and isinstance(found, NotLanded)


def test_more_files_than_are_kept_in_mind_change_no_answer(place, monkeypatch):
    for number in range(6):
        commit(place, f"work\n\nUnit: A/U{number}", **{f"file{number}": f"number = {number}\n"})
    names = [f"U{number}" for number in range(7)]
    before = truths(place, *names)
    monkeypatch.setattr(objects, "MOST_ENTRIES", 3)
    assert truths(place, *names) == before
    assert sum(isinstance(truth, Landed) for truth in before.values()) == 6


def test_work_that_is_on_the_branch_needs_no_journal(place):
    (place / "login.py").write_text("def login():\n    return 1\n")
    git(place, "add", "--all")
    sha = commit(place, "log in\n\nUnit: A/U1")
    shown = truths(place, "U1", "U2")
    assert shown["U1"] == Landed(sha, "grep-subject")
    assert isinstance(shown["U2"], NotLanded)


def test_a_landing_that_was_reverted_has_not_landed(place):
    (place / "login.py").write_text("def login():\n    return 1\n")
    git(place, "add", "--all")
    sha = commit(place, "log in\n\nUnit: A/U1")
    record(place, U1=sha)
    git(place, "revert", "--no-edit", "HEAD")
    assert "reverted" in truths(place, "U1")["U1"].why
