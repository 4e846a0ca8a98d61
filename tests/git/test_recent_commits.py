"""What was committed lately, however the user has set git up."""

import subprocess

import pytest

from dos.git import commits
from dos.git.repository import Writer
from dos.unknown import Unknown

SAFE = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]


@pytest.fixture
def repository(tmp_path):
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=tmp_path, check=True)
    return tmp_path


def git(repository, *words):
    subprocess.run(["git", *SAFE, *words], cwd=repository, check=True, capture_output=True)


def commit(repository, **files):
    for name, text in files.items():
        (repository / name).write_text(text)
    git(repository, "add", "--all")
    git(repository, "commit", "-q", "--allow-empty", "-m", "work")


def test_a_repository_without_a_commit_has_none(repository):
    assert commits.recent_commits(Writer(repository), 0) == []


def test_each_commit_has_its_parents_its_time_and_its_paths(repository):
    commit(repository, a="1", b="1")
    commit(repository, a="2")
    commit(repository)
    third, second, first = commits.recent_commits(Writer(repository), 0)
    assert (first.parents, first.paths) == ((), ("a", "b"))
    assert (second.parents, second.paths) == ((first.sha,), ("a",))
    assert (third.parents, third.paths) == ((second.sha,), ())
    assert first.committed_ms % 1000 == 0
    assert commits.recent_commits(Writer(repository), third.committed_ms + 1000) == []


def test_what_a_commit_was_built_on_is_known(repository):
    for text in "123":
        commit(repository, a=text)
    recent_commits = commits.recent_commits(Writer(repository), 0)
    third, second, first = recent_commits
    assert commits.ancestors(recent_commits, second.sha) == {second.sha, first.sha}
    assert commits.ancestors(recent_commits, "elsewhere") == {"elsewhere"}
    assert commits.ancestors([third], second.sha) == {second.sha}


@pytest.mark.parametrize(
    "setting",
    [
        "log.showSignature=true", "color.ui=always", "log.decorate=full", "diff.renames=copies",
        "log.follow=true", "log.diffMerges=first-parent", "diff.relative=true",
        "grep.patternType=fixed", "core.quotePath=true", "format.pretty=oneline",
        "log.abbrevCommit=true", "log.date=relative", "log.showRoot=false",
    ],
)  # fmt: skip
def test_no_setting_of_the_user_changes_what_is_read(repository, setting):
    commit(repository, a="same\n" * 50)
    git(repository, "mv", "a", "ü")
    commit(repository)
    before = commits.recent_commits(Writer(repository), 0)
    assert [set(found.paths) for found in before] == [{"a", "ü"}, {"a"}]
    git(repository, "config", *setting.split("=", 1))
    assert commits.recent_commits(Writer(repository), 0) == before


def test_a_place_without_git_is_unknown(tmp_path):
    assert isinstance(commits.recent_commits(Writer(tmp_path / "nowhere"), 0), Unknown)
