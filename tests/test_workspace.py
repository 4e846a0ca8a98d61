"""Where we are: the same answer from every subdirectory and worktree."""

import os
import subprocess
from pathlib import Path

import pytest

from dos.errors import WorkspaceMissing
from dos.workspace import find, is_work_tree, with_root


def git(where, *words):
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@t", *words],
        cwd=where,
        check=True,
        capture_output=True,
    )


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "repository"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "deep" / "file").touch()
    (root / "dos.toml").write_text("")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
    return root


def test_a_subdirectory_belongs_to_its_repository(repository):
    assert find(repository / "src" / "deep") == find(repository)
    assert find(repository).state == repository / ".git" / "dos"


def test_a_linked_worktree_shares_the_state_and_keeps_its_own_tree(repository, tmp_path):
    linked = tmp_path / "linked"
    git(repository, "worktree", "add", "-q", str(linked))
    workspace = find(linked / "src")
    assert workspace.state == find(repository).state
    assert workspace.tree == linked
    assert workspace.root == repository, "a branch cannot change the policy that it is judged under"


def test_a_worktree_that_lies_inside_the_repository_is_still_a_worktree(repository):
    inside = repository / "trees" / "one"
    git(repository, "worktree", "add", "-q", str(inside))
    assert find(inside).tree == inside
    assert find(inside).state == find(repository).state


def test_the_nearest_configuration_wins(repository):
    (repository / "src" / "dos.toml").write_text("")
    assert find(repository / "src" / "deep").root == repository / "src"


def test_a_root_that_is_named_stays_one_when_its_configuration_is_gone(repository):
    inner = repository / "inner"
    inner.mkdir()
    (inner / "dos.toml").touch()
    known = find(inner)
    (inner / "dos.toml").unlink()
    assert with_root(inner) == known and find(inner) != known


def test_without_a_configuration_the_top_of_the_work_tree_is_the_root(repository):
    (repository / "dos.toml").unlink()
    assert find(repository / "src").root == repository


def test_a_link_to_a_subdirectory_is_followed(repository, tmp_path):
    (tmp_path / "link").symlink_to(repository / "src")
    assert find(tmp_path / "link").root == repository


def test_outside_of_git_the_state_lies_beside_the_configuration(tmp_path):
    (tmp_path / "dos.toml").write_text("")
    (tmp_path / "sub").mkdir()
    assert find(tmp_path / "sub").state == tmp_path / ".dos"


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "y/" * 3_000, "\udcff"])
def test_a_place_that_cannot_be_is_an_error(name):
    with pytest.raises(WorkspaceMissing) as refused:
        find(Path(name))
    assert "\0" not in refused.value.message


def test_a_place_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(WorkspaceMissing):
        find(tmp_path / "nowhere")


@pytest.mark.parametrize("text", ["", "gitdir: /nowhere", "nonsense", "gitdir: \0"])
def test_a_broken_git_file_is_not_a_repository(tmp_path, text):
    (tmp_path / ".git").write_text(text)
    assert find(tmp_path).common is None


def test_a_submodule_has_its_own_state(repository, tmp_path):
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(
        outer,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        str(repository),
        "inner",
    )
    assert find(outer / "inner" / "src").state == outer / ".git" / "modules" / "inner" / "dos"


def test_git_knows_the_main_checkout_and_its_worktrees(repository, tmp_path):
    linked = tmp_path / "linked"
    git(repository, "worktree", "add", "--detach", "-q", str(linked))
    for start in (repository, repository / "src", linked, linked / "src"):
        assert is_work_tree(find(start)), start
    # Newer versions of git can write both links relative to the folders that they are in.
    private = repository / ".git" / "worktrees" / "linked"
    (private / "gitdir").write_text(f"{os.path.relpath(linked / '.git', private)}\n")
    (linked / ".git").write_text(f"gitdir: {os.path.relpath(private, linked)}\n")
    assert is_work_tree(find(linked))
    assert is_work_tree(find(tmp_path)), "outside of git"


@pytest.mark.parametrize("marker", ["{common}", "{common}/worktrees/linked", "own"])
def test_a_folder_that_only_names_a_repository_is_none_of_its_worktrees(
    repository, tmp_path, marker
):
    git(repository, "worktree", "add", "--detach", "-q", str(tmp_path / "linked"))
    folder = tmp_path / "folder"
    (folder / "own").mkdir(parents=True)
    common = repository / ".git"
    (folder / "own" / "commondir").write_text(f"{common}\n")
    (folder / "own" / "gitdir").write_text(f"{folder / '.git'}\n")
    (folder / ".git").write_text(f"gitdir: {marker.format(common=common)}\n")
    place = find(folder)
    assert place.common == common and place.tree == folder
    assert not is_work_tree(place)
