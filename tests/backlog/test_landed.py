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


def git(repository, *words):
    safe = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *safe, *words], cwd=repository, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path):
    git(tmp_path, "init", "--quiet", "--initial-branch", "main", ".")
    commit(tmp_path, "begin")
    return tmp_path


def commit(repository, message, **files):
    for name, text in files.items():
        (repository / f"{name}.py").write_text(text)
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(repository, "rev-parse", "HEAD")


def record(repository, **commits):
    with open_journal(find(repository), "") as journal:
        for name, sha in commits.items():
            fact = UnitLanded(
                run_id="RID-1", lane="api", unit=f"A/{name}", branch="main", base="", commit=sha
            )
            journal.record(streams.unit(f"A/{name}"), fact)


def truths(repository, *names):
    with World(repository) as world:
        found = landed.gather(world, [f"A/{name}" for name in names])
    return {name.removeprefix("A/"): truth for name, truth in found.items()}


def test_a_landing_that_the_branch_still_holds_has_landed(repository):
    sha = commit(repository, "work")
    record(repository, U1=sha)
    commit(repository, "more")
    shown = truths(repository, "U1", "U2")
    assert shown["U1"] == Landed(sha)
    assert isinstance(shown["U2"], NotLanded) and not shown["U2"].is_claimed


def test_a_landing_that_was_taken_off_the_branch_has_not(repository):
    before = git(repository, "rev-parse", "HEAD")
    lost = commit(repository, "work")
    git(repository, "reset", "--quiet", "--hard", before)
    kept = commit(repository, "other work")
    record(repository, U1=lost, U2=kept)
    shown = truths(repository, "U1", "U2")
    assert isinstance(shown["U1"], NotLanded) and lost[:9] in shown["U1"].why
    assert shown["U2"] == Landed(kept)


def test_a_commit_that_is_not_in_the_repository_hides_no_other(repository):
    kept = commit(repository, "work")
    record(repository, U1="0123456789" * 4, U2=kept)
    shown = truths(repository, "U1", "U2")
    assert isinstance(shown["U1"], NotLanded)
    assert shown["U2"] == Landed(kept)


def test_in_a_history_that_is_cut_off_nobody_knows(repository, tmp_path_factory):
    first = commit(repository, "work")
    commit(repository, "more")
    clone = tmp_path_factory.mktemp("clone") / "shallow"
    subprocess.run(
        ["git", "clone", "--quiet", "--depth=1", f"file://{repository}", str(clone)], check=True
    )
    record(clone, U1=first)
    assert isinstance(truths(clone, "U1")["U1"], Unknown)


@pytest.mark.parametrize("branch", ["release", "a b", "x\ny", "--all"])
def test_a_branch_that_is_not_there_leaves_it_unknown(repository, branch):
    record(repository, U1=commit(repository, "work"))
    written = branch.replace("\n", "\\n")
    (repository / "dos.toml").write_text(f'[workers]\ntarget_branch = "{written}"\n')
    assert isinstance(truths(repository, "U1")["U1"], Unknown)


def test_on_no_branch_it_is_asked_of_what_is_checked_out(repository):
    sha = commit(repository, "work")
    record(repository, U1=sha)
    git(repository, "checkout", "--quiet", "--detach")
    shown = truths(repository, "U1", "U2")
    assert shown["U1"] == Landed(sha)
    assert isinstance(shown["U2"], NotLanded)


def test_where_the_target_cannot_be_read_nobody_knows(repository):
    record(repository, U1=commit(repository, "work"))
    (repository / "dos.toml").write_text('[workers]\ntarget_branch = "gone"\n')
    assert all(isinstance(truth, Unknown) for truth in truths(repository, "U1", "U2").values())


def test_the_configured_branch_is_the_one_that_is_asked(repository):
    git(repository, "checkout", "--quiet", "-b", "feature")
    sha = commit(repository, "work")
    record(repository, U1=sha)
    (repository / "dos.toml").write_text('[workers]\ntarget_branch = "main"\n')
    assert isinstance(truths(repository, "U1")["U1"], NotLanded)
    git(repository, "update-ref", "refs/heads/main", sha)
    assert truths(repository, "U1")["U1"] == Landed(sha)


def test_from_an_agents_worktree_it_is_the_main_ones_branch(repository, tmp_path_factory):
    (repository / "dos.toml").touch()
    elsewhere = tmp_path_factory.mktemp("trees") / "api"
    git(repository, "worktree", "add", "--quiet", "-b", "agents", str(elsewhere))
    theirs = commit(elsewhere, "not landed yet")
    ours = commit(repository, "landed")
    record(repository, U1=theirs, U2=ours)
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


def test_git_is_asked_once_for_all_of_them(repository, asked):
    shas = [commit(repository, f"work {number}") for number in range(20)]
    record(repository, **{f"U{number}": sha for number, sha in enumerate(shas)})
    shown = truths(repository, *(f"U{number}" for number in range(20)))
    assert set(shown.values()) == {Landed(sha) for sha in shas}
    assert asked["rev-list"] == 1 and asked.total() <= 3


def test_git_is_asked_once_for_all_branches_that_wait_for_somebody_to_merge_them(repository, asked):
    units = {}
    for number in range(20):
        git(repository, "checkout", "--quiet", "-b", f"dos/U{number}", "main")
        units[f"A/U{number}"] = UnitState(
            landed=commit(repository, f"work {number}"), landed_on=f"dos/U{number}"
        )
    commit(repository, "somebody added to it")  # U19
    git(repository, "checkout", "--quiet", "-B", "dos/U18", "main")
    git(repository, "branch", "--quiet", "-D", "dos/U17")
    git(repository, "checkout", "--quiet", "main")
    with World(repository) as world:
        found, _ = landed.inspect_target(
            world, units, FleetState(units=units), ref="refs/heads/main"
        )
    waiting = {
        name for name, truth in found.items() if truth == Landed(units[name].landed, "branch")
    }
    assert waiting == units.keys() - {"A/U17", "A/U18"}
    assert asked["for-each-ref"] == 1 and asked["merge-base"] == 2


def test_a_landing_is_found_though_the_dates_of_commits_lie(repository):
    for number in range(30):
        os.environ["GIT_COMMITTER_DATE"] = f"{1_700_000_000 - 60 * number} +0000"
        try:
            sha = commit(repository, f"work {number}")
        finally:
            del os.environ["GIT_COMMITTER_DATE"]
        if number == 20:
            git(repository, "branch", "other")
            record(repository, U1=sha)
    git(repository, "checkout", "--quiet", "other")
    record(repository, U2=commit(repository, "not on the branch"))
    git(repository, "checkout", "--quiet", "main")
    shown = truths(repository, "U1", "U2")
    assert isinstance(shown["U1"], Landed) and isinstance(shown["U2"], NotLanded)


PLAN = "## A U1: one\n\n## A U2: two\n\n## A U3: three\n"


def plan_edited(repository):
    (repository / "docs" / "a-plan.md").write_text(PLAN + "- paths: src/**\n")
    commit(repository, "groom")


def ruled(repository):
    (repository / "dos.toml").write_text('[verify]\nrequire = "named"\n')
    commit(repository, "rules")


def merged(repository):
    git(repository, "checkout", "--quiet", "-b", "side", "HEAD~1")
    commit(repository, "work of others", other="other = 1\n")
    git(repository, "checkout", "--quiet", "main")
    git(repository, "merge", "--quiet", "--no-edit", "side")


WHAT_HAPPENS = {
    "nothing": (lambda repository: None, []),
    "a commit that concerns none": (
        lambda repository: commit(repository, "tidy", other="other = 1\n"),
        [],
    ),
    "a landing": (
        lambda repository: commit(repository, "three\n\nUnit: A/U3", three="three = 3\n"),
        ["U3"],
    ),
    "a unit's file is edited": (
        lambda repository: commit(repository, "tidy", one="one = 1\nmore = 2\n"),
        ["U1"],
    ),
    "a unit is reverted": (
        lambda repository: git(repository, "revert", "--no-edit", "HEAD~1"),
        ["U1"],
    ),
    "a unit's file is moved": (
        lambda repository: git(repository, "mv", "one.py", "1.py") or commit(repository, "move"),
        ["U1"],
    ),
    "a branch is merged": (merged, []),
    "a plan is edited": (plan_edited, ["U1", "U2", "U3"]),
    "other rules are set": (
        lambda repository: commit(repository, "rules", **{"dos.toml\0"[:0] or "rules": ""}),
        [],
    ),
    "commits are taken away": (
        lambda repository: git(repository, "reset", "--hard", "HEAD~1"),
        ["U1", "U2", "U3"],
    ),
    "commits are replaced": (
        lambda repository: git(repository, "commit", "--amend", "-m", "x"),
        ["U1", "U2", "U3"],
    ),
}


@pytest.mark.parametrize("happens", WHAT_HAPPENS)
def test_only_what_can_have_changed_is_looked_at_again(repository, monkeypatch, happens):
    (repository / "docs").mkdir()
    (repository / "docs" / "a-plan.md").write_text(PLAN)
    commit(repository, "plan")
    commit(repository, "one\n\nUnit: A/U1", one="one = 1\n")
    commit(repository, "two\n\nUnit: A/U2", two="two = 2\n")
    again, really = [], Verifier.gather_evidence

    def at(self, units, progress=None):
        again.extend(phase for _, phase in units)
        return really(self, units, progress)

    act, expected = WHAT_HAPPENS[happens]
    names, memory = ["A/U1", "A/U2", "A/U3"], VerdictCache()
    with World(repository) as world:
        landed.inspect_target(world, names, FleetState(), memory=memory)
        monkeypatch.setattr(Verifier, "gather_evidence", at)
        act(repository)
        found = landed.inspect_target(world, names, FleetState(), memory=memory)
        assert again == expected
        assert found == landed.inspect_target(world, names, FleetState())


def test_a_commit_that_only_says_it_takes_a_unit_back_counts_for_what_is_remembered(repository):
    sha = commit(repository, "one\n\nUnit: A/U1", one="one = 1\ntwo = 2\nthree = 3\n")
    commit(repository, "rework", one="one = 1\nother = 2\nsome = 3\n")
    memory = VerdictCache()
    with World(repository) as world:
        before = landed.inspect_target(world, ["A/U1"], FleetState(), memory=memory)[0]["A/U1"]
        commit(repository, f"back\n\nThis reverts commit {sha}.")
        found = landed.inspect_target(world, ["A/U1"], FleetState(), memory=memory)[0]["A/U1"]
    assert isinstance(before, Landed) and isinstance(found, NotLanded)


def test_more_files_than_are_kept_in_mind_change_no_answer(repository, monkeypatch):
    for number in range(6):
        commit(
            repository, f"work\n\nUnit: A/U{number}", **{f"file{number}": f"number = {number}\n"}
        )
    names = [f"U{number}" for number in range(7)]
    before = truths(repository, *names)
    monkeypatch.setattr(objects, "MOST_ENTRIES", 3)
    assert truths(repository, *names) == before
    assert sum(isinstance(truth, Landed) for truth in before.values()) == 6


def test_work_that_is_on_the_branch_needs_no_journal(repository):
    (repository / "login.py").write_text("def login():\n    return 1\n")
    git(repository, "add", "--all")
    sha = commit(repository, "log in\n\nUnit: A/U1")
    shown = truths(repository, "U1", "U2")
    assert shown["U1"] == Landed(sha, "grep-subject")
    assert isinstance(shown["U2"], NotLanded)


def test_a_landing_that_was_reverted_has_not_landed(repository):
    (repository / "login.py").write_text("def login():\n    return 1\n")
    git(repository, "add", "--all")
    sha = commit(repository, "log in\n\nUnit: A/U1")
    record(repository, U1=sha)
    git(repository, "revert", "--no-edit", "HEAD")
    assert "reverted" in truths(repository, "U1")["U1"].why


def test_a_landing_whose_soak_is_in_progress_has_not_shipped_and_is_not_undone(repository):
    (repository / "dos.toml").write_text("")
    folder = repository / ".dos" / "soaks"
    folder.mkdir(parents=True)
    index = folder / "index.yaml"
    index.write_text("soaks:\n- {id: u1, plan: A, status: in_progress}\n")
    sha = commit(repository, "A/U1: work", work="def work():\n    return 1\n")
    record(repository, U1=sha)
    fleet = FleetState(units={"A/U1": UnitState(landed=sha)})
    with World(repository) as world:
        found, corrected = landed.inspect_target(world, ["A/U1"], fleet)
    assert isinstance(found["A/U1"], NotLanded)
    shown = corrected.units["A/U1"]
    assert (shown.landed, shown.undone) == ("", "") and shown.soaking
    index.write_text("soaks:\n- {id: u1, plan: A, status: done}\n")
    commit(repository, "End the soak")
    assert truths(repository, "U1")["U1"].commit == sha
