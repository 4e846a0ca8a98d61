"""What was committed lately, however the user has set git up."""

import subprocess

import pytest

from dos.git import commits
from dos.git.repository import Writer
from dos.unknown import Unknown

SAFE = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]


@pytest.fixture
def place(tmp_path):
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=tmp_path, check=True)
    return tmp_path


def git(place, *words):
    subprocess.run(["git", *SAFE, *words], cwd=place, check=True, capture_output=True)


def commit(place, **files):
    for name, text in files.items():
        (place / name).write_text(text)
    git(place, "add", "--all")
    git(place, "commit", "-q", "--allow-empty", "-m", "work")


def test_a_repository_without_a_commit_has_none(place):
    assert commits.recent_commits(Writer(place), 0) == []


def test_each_commit_has_its_parents_its_time_and_its_paths(place):
    commit(place, a="1", b="1")
    commit(place, a="2")
    commit(place)
    third, second, first = commits.recent_commits(Writer(place), 0)
    assert (first.parents, first.paths) == ((), ("a", "b"))
    assert (second.parents, second.paths) == ((first.sha,), ("a",))
    assert (third.parents, third.paths) == ((second.sha,), ())
    assert first.committed_ms % 1000 == 0
    assert commits.recent_commits(Writer(place), third.committed_ms + 1000) == []


def test_what_a_commit_was_built_on_is_known(place):
    for text in "123":
        commit(place, a=text)
    recent_commits = commits.recent_commits(Writer(place), 0)
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
def test_no_setting_of_the_user_changes_what_is_read(place, setting):
    commit(place, a="same\n" * 50)
    git(place, "mv", "a", "ü")
    commit(place)
    before = commits.recent_commits(Writer(place), 0)
    assert [set(found.paths) for found in before] == [{"a", "ü"}, {"a"}]
    git(place, "config", *setting.split("=", 1))
    assert commits.recent_commits(Writer(place), 0) == before


def test_a_place_without_git_is_unknown(tmp_path):
    assert isinstance(commits.recent_commits(Writer(tmp_path / "nowhere"), 0), Unknown)
