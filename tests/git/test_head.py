"""The commit that is checked out, without starting git."""

import pytest

from dos import workspace
from dos.git import files
from dos.git.repository import Reader, Writer


@pytest.fixture
def repository(tmp_path):
    git = Writer(tmp_path)
    git.run("init", "--quiet", "--initial-branch", "main", ".")
    _commit(git, "one")
    return git


def _commit(git, message):
    git.run(
        "-c",
        "user.name=T",
        "-c",
        "user.email=t@t",
        "commit",
        "--quiet",
        "--allow-empty",
        "--message",
        message,
    )


def read(git, monkeypatch=None):
    folder = workspace.find(git.tree)
    if monkeypatch:
        monkeypatch.setattr(
            Reader, "run_once", lambda *arguments, **settings: pytest.fail("git was started")
        )
    return files.head_commit(folder)


def on_a_branch(git):
    """As it is after a commit."""


def on_a_packed_branch(git):
    git.run("pack-refs", "--all")


def on_a_branch_that_moved_after_packing(git):
    git.run("pack-refs", "--all")
    _commit(git, "two")


def on_a_branch_with_folders_in_its_name(git):
    git.run("checkout", "--quiet", "-b", "a/b/main")
    git.run("pack-refs", "--all")


def detached(git):
    git.run("checkout", "--quiet", "--detach")


@pytest.mark.parametrize(
    "arrange",
    [
        on_a_branch, on_a_packed_branch, on_a_branch_that_moved_after_packing,
        on_a_branch_with_folders_in_its_name, detached,
    ],
)  # fmt: skip
def test_it_is_what_git_says_and_git_is_not_started(repository, monkeypatch, arrange):
    arrange(repository)
    expected = repository.commit_of("HEAD")
    assert read(repository, monkeypatch) == expected != None  # noqa: E711


def test_a_linked_worktree_has_a_head_of_its_own(repository, tmp_path_factory, monkeypatch):
    tree = tmp_path_factory.mktemp("linked") / "tree"
    repository.run("worktree", "add", "--quiet", "-b", "side", str(tree))
    linked = Writer(tree)
    _commit(linked, "two")
    expected, main = linked.commit_of("HEAD"), repository.commit_of("HEAD")
    assert read(linked, monkeypatch) == expected != main


def test_a_symbolic_branch_is_followed(repository, monkeypatch):
    repository.run("symbolic-ref", "refs/heads/other", "refs/heads/main")
    repository.run("symbolic-ref", "HEAD", "refs/heads/other")
    expected = repository.commit_of("HEAD")
    assert read(repository, monkeypatch) == expected


def test_a_branch_without_a_commit_has_none(repository):
    repository.run("checkout", "--quiet", "--orphan", "empty")
    assert read(repository) == ""


@pytest.mark.parametrize(
    "text", ["", "garbage", "ref: refs/heads/../../x", "ref: refs/heads/.invalid", "ref: HEAD"]
)
def test_what_is_not_plain_is_left_to_git(repository, text):
    (repository.tree / ".git" / "HEAD").write_text(text)
    assert read(repository) == (repository.commit_of("HEAD") or "")


def test_another_way_to_keep_refs_is_left_to_git(tmp_path):
    git = Writer(tmp_path)
    if git.run_once("init", "--quiet", "--ref-format=reftable", ".").returncode != 0:
        pytest.skip("this git keeps refs in files only")
    _commit(git, "one")
    assert read(git) == git.commit_of("HEAD")


def test_outside_of_git_there_is_none(tmp_path):
    assert files.head_commit(workspace.find(tmp_path)) == ""
