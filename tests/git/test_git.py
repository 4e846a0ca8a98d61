"""What is read from git."""

import subprocess

import pytest

from dos.errors import GitFailed
from dos.git import process
from dos.git.repository import Writer
from dos.unknown import Unknown


@pytest.fixture
def repository(tmp_path):
    for words in (["init", "-q", "-b", "main"], ["commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], cwd=tmp_path, check=True
        )
    return tmp_path


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:token@Example.org/team/thing.git", "example.org/team/thing"),
        ("https://example.org:8443/team/thing", "example.org/team/thing"),
        ("ssh://git@example.org:22/team/thing.git/", "example.org/team/thing"),
        ("git@example.org:team/thing.git", "example.org/team/thing"),
        ("/srv/git/thing.git", "/srv/git/thing"),
        ("../thing", "../thing"),
    ],
)
def test_one_shared_repository_has_one_name_without_its_password(repository, url, shown):
    subprocess.run(["git", "remote", "add", "origin", url], cwd=repository, check=True)
    assert Writer(repository).remote() == shown


def test_without_a_remote_there_is_no_name(repository):
    assert Writer(repository).remote() == ""


def test_the_callers_own_git_environment_is_kept_out(repository, monkeypatch, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.setenv("GIT_DIR", str(elsewhere))
    monkeypatch.setenv("GIT_INDEX_FILE", str(elsewhere / "index"))
    assert Writer(repository).branch() == "main"


def test_what_git_refuses_is_said_with_what_to_type(repository):
    with pytest.raises(GitFailed) as failed:
        Writer(repository).run("-c", "user.name=x", "rev-parse", "--verify", "nowhere")
    assert "git rev-parse --verify" in failed.value.message
    assert failed.value.hint.endswith("rev-parse --verify nowhere")


def test_an_odd_file_name_is_read_as_it_is(repository):
    name = 'a "quoted"\tname\né.txt'
    (repository / name).write_text("x")
    assert Writer(repository).dirty_paths() == [name]


def test_a_repository_without_a_commit_has_no_first_one(tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert isinstance(Writer(tmp_path).root_commit(), Unknown)


def test_the_version_is_numbers():
    assert process.version() > (2, 0)


def test_a_history_that_was_cut_off_has_no_first_commit(repository, tmp_path_factory):
    subprocess.run(
        [
            "git",
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "two",
        ],
        cwd=repository,
        check=True,
    )
    shallow, whole = (tmp_path_factory.mktemp(name) for name in ("shallow", "whole"))
    for depth, target in (("1", shallow), ("2", whole)):
        subprocess.run(
            ["git", "clone", "-q", "--depth", depth, f"file://{repository}", str(target)],
            check=True,
        )
    assert isinstance(Writer(shallow).root_commit(), Unknown)
    assert Writer(whole).root_commit() == Writer(repository).root_commit(), (
        "what was not cut off is as good as a whole one"
    )


def test_a_directory_that_git_cannot_run_in_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(GitFailed, match="Not a directory"):
        Writer(tmp_path / "file").run("status")
