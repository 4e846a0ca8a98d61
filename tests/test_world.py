"""Which journal a clone goes by, where many clones share a store."""

import subprocess
from pathlib import Path

import pytest

from dos import workspace
from dos.errors import BadInput
from dos.world import open_journal, workspace_id


def git(where: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], cwd=where, check=True
    )


@pytest.fixture
def origin(tmp_path) -> Path:
    folder = tmp_path / "origin"
    folder.mkdir()
    git(folder, "init", "-q")
    for name in ("one", "two", "three"):
        git(folder, "commit", "-q", "--allow-empty", "-m", name)
    return folder


def clone(origin: Path, name: str, *words: str) -> workspace.Workspace:
    git(origin.parent, "clone", "-q", *words, f"file://{origin}", name)
    return workspace.find(origin.parent / name)


@pytest.fixture
def url(postgres, request) -> str:
    return postgres.createdb(f"world_{abs(hash(request.node.name))}")


@pytest.mark.soak
def test_a_shallow_clone_goes_by_the_journal_of_the_whole_ones(origin, url):
    whole, shallow = clone(origin, "whole"), clone(origin, "shallow", "--depth", "1")
    with open_journal(whole, url) as journal:
        journal.append("x", "written", {})
    with open_journal(shallow, url) as journal:
        assert [event.stream for event in journal.tail()] == ["x"]
    assert (
        workspace_id(shallow, url)
        == workspace_id(whole, url)
        == workspace_id(clone(origin, "another"), url)
    )


def test_a_shallow_clone_that_cannot_know_its_journal_is_refused(origin, url):
    shallow = clone(origin, "shallow", "--depth", "1")
    with pytest.raises(BadInput, match="no journal for") as refused:
        open_journal(shallow, url)
    assert "--unshallow" in refused.value.hint
    for root in ("a", "b"):
        name = f"file://{origin}#{root}"
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("dos.world.workspace_id", lambda place, url, name=name: name)
            with open_journal(shallow, url) as journal:
                journal.append("x", "written", {})
    with pytest.raises(BadInput, match="2 journals for"):
        open_journal(shallow, url)


def test_a_place_without_a_remote_and_without_a_commit_shares_no_journal(tmp_path):
    with pytest.raises(BadInput, match="no remote, and the repository has no commit yet"):
        workspace_id(workspace.find(tmp_path), "postgresql://unused")
