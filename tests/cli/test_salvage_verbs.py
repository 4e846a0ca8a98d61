"""Saved work from the command line: looked at, taken back, let go of."""

import subprocess
from pathlib import Path

import pytest
from commanding import git
from lane_tree import open_lane

from dos.journal.backends.open import open_store

pytestmark = pytest.mark.sampled(3)


@pytest.fixture
def saved(workspace: Path) -> list[str]:
    """Two commits of changes that nobody committed, and a folder; oldest first."""
    state = workspace / ".git" / "dos"

    def begin() -> Path:
        lane = open_lane(workspace, "api")
        lane.prepare(git("rev-parse", "main", cwd=workspace).strip(), run_id="RUN")
        return lane.folder

    (begin() / "api" / "a.txt").write_text("first\n")
    (begin() / "api" / "new.txt").write_text("second\n")
    git("init", "--quiet", "docs/nested", cwd=begin())
    begin()
    with open_store("", state_directory=state, workspace_id="") as store:
        store.append(
            "run/RUN",
            "unit_claimed",
            {"run_id": "RUN", "lane": "api", "unit": "P/U", "iteration": 1},
        )
        for number in (1, 2):
            ref = f"refs/dos/salvage/RUN/{number}"
            commit = git("rev-parse", ref, cwd=workspace).strip()
            fact = {
                "run_id": "RUN",
                "lane": "api",
                "ref": ref,
                "commit": commit,
                "why": "left uncommitted",
            }
            store.append("run/RUN", "work_salvaged", fact)
    return [
        *git("for-each-ref", "--format=%(objectname)", "refs/dos/salvage/", cwd=workspace).split(),
        "folder",
    ]


def number_of(dos, name: str) -> str:
    return next(
        str(salvage["number"])
        for salvage in dos("salvage", "list", "--json").json["salvaged"]
        if name in salvage["ref"]
    )


def test_nothing_saved_is_said(dos, workspace):
    answer = dos("salvage", "list")
    assert (answer.code, answer.out) == (0, "no saved work\n")
    assert dos("salvage", "list", "--json").json == {"salvaged": [], "count": 0}


def test_the_list_says_of_each_what_is_known_the_newest_first(dos, saved):
    answer = dos("salvage", "list")
    assert answer.code == 0 and answer.out.index("RUN/2 ") < answer.out.index("RUN/1 ")
    assert "lane api, P/U: left uncommitted" in answer.out and "1 file, 7 bytes" in answer.out
    rows = {
        row["ref"].rpartition("/")[2]: row
        for row in dos("salvage", "list", "--json").json["salvaged"]
    }
    assert rows["2"] | {"at": "", "at_ms": 0, "number": 0} == {
        "number": 0,
        "ref": "refs/dos/salvage/RUN/2",
        "commit": saved[1],
        "base": rows["2"]["base"],
        "at": "",
        "at_ms": 0,
        "run_id": "RUN",
        "lane": "api",
        "unit": "P/U",
        "why": "left uncommitted",
        "files": 1,
        "bytes": 7,
        "kind": "ref",
    }
    assert rows["1-nested"]["kind"] == "folder" and rows["1-nested"]["commit"] == ""


def test_the_list_can_be_of_one_lane_and_short(dos, saved):
    assert dos("salvage", "list", "--lane", "API", "--json").json["count"] == 2
    assert dos("salvage", "list", "--lane", "docs").out == "no saved work of lane 'docs'\n"
    answer = dos("salvage", "list", "--limit", "1")
    assert "and 2 older" in answer.out and len(answer.out.splitlines()) == 3
    assert dos("salvage", "list", "--limit", "-1").code == 2


def test_one_is_shown_with_its_files_and_its_change(dos, saved):
    answer = dos("salvage", "show", "RUN/1")
    assert answer.code == 0 and "M api/a.txt" in answer.out and "+first" not in answer.out
    assert "+first" in dos("salvage", "show", "RUN/1", "--patch").out
    reply = dos("salvage", "show", saved[1], "--json").json
    assert reply["changed"] == [{"how": "A", "path": "api/new.txt"}] and reply["unit"] == "P/U"
    assert dos("salvage", "show", "RUN/1-nested").code == 0


@pytest.mark.parametrize("verb", [["show"], ["apply"], ["drop", "--yes"]])
def test_what_is_not_there_is_a_mistake_that_lists_what_is(dos, saved, workspace, verb):
    before = git("for-each-ref", cwd=workspace)
    answer = dos("salvage", *verb, "RUN/9")
    assert answer.code == 2 and "RUN/1)" in answer.err and "dos salvage list" in answer.err
    assert git("for-each-ref", cwd=workspace) == before


def test_it_is_applied_to_the_work_tree_and_no_branch_moves(dos, saved, workspace):
    before = git("for-each-ref", cwd=workspace)
    assert dos("salvage", "apply", "RUN/2", "--dry-run").code == 0
    assert not (workspace / "api" / "new.txt").exists()
    answer = dos("salvage", "apply", "RUN/2")
    assert answer.code == 0 and "api/new.txt" in answer.out
    assert (workspace / "api" / "new.txt").read_text() == "second\n"
    assert git("for-each-ref", cwd=workspace) == before
    git("commit", "--quiet", "--message", "Taken", cwd=workspace)
    assert "already" in dos("salvage", "apply", "RUN/2").out


def test_a_conflict_changes_nothing_and_names_the_files(dos, saved, workspace):
    (workspace / "api" / "a.txt").write_text("other\n")
    git("commit", "--quiet", "--all", "--message", "Other", cwd=workspace)
    answer = dos("salvage", "apply", "RUN/1", "--json")
    assert (
        answer.code == 1
        and answer.json["conflicts"] == ["api/a.txt"]
        and answer.json["applied"] is False
    )
    assert git("status", "--porcelain", cwd=workspace) == ""


def test_ones_own_changes_are_not_written_over(dos, saved, workspace):
    (workspace / "api" / "a.txt").write_text("mine\n")
    answer = dos("salvage", "apply", "RUN/1")
    assert answer.code == 1 and "api/a.txt" in answer.out
    assert (workspace / "api" / "a.txt").read_text() == "mine\n"


def test_a_folder_cannot_be_applied(dos, saved):
    answer = dos("salvage", "apply", "RUN/1-nested")
    assert answer.code == 2 and "ls -A" in answer.err


def test_nothing_goes_without_a_yes(dos, saved, workspace):
    before = git("for-each-ref", cwd=workspace)
    answer = dos("salvage", "drop", "RUN/1", "RUN/2")
    assert answer.code == 2 and "--yes" in answer.err
    assert dos("salvage", "drop", "RUN/1", "--dry-run").code == 0
    assert dos("salvage", "drop").code == 2
    assert git("for-each-ref", cwd=workspace) == before


def test_what_goes_is_named_with_how_to_have_it_back(dos, saved, workspace):
    answer = dos(
        "salvage", "drop", number_of(dos, "RUN/1"), number_of(dos, "RUN/2"), "--yes", "--json"
    )
    assert answer.code == 0 and {entry["commit"] for entry in answer.json["dropped"]} == set(
        saved[:2]
    )
    assert git("for-each-ref", "refs/dos/salvage/", cwd=workspace) == ""
    for entry in answer.json["dropped"]:
        subprocess.run(entry["undo"], shell=True, cwd=workspace, check=True)
    assert dos("salvage", "list", "--json").json["count"] == 3


def test_a_folder_goes_for_good(dos, saved, state):
    answer = dos("salvage", "drop", "RUN/1-nested", "--yes")
    assert answer.code == 0 and "for good" in answer.out
    assert not (state / "salvage" / "RUN" / "1-nested").exists()


def test_outside_of_git_it_is_said(dos, tmp_path, monkeypatch):
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")
    answer = dos("salvage", "list")
    assert answer.code == 2 and "not in a git repository" in answer.err
