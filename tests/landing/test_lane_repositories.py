"""What an agent finds in the repository of its lane: the history and the tags, nothing that leads
out of it, and nothing of the agents before it whose work did not land."""

import subprocess
from pathlib import Path

import pytest
from driven_worker import work
from lane_tree import prepare_lane
from sample_repository import Repository, commit, set_level, write

from dos import workspace
from dos.loop.types import StopReason
from dos.machine import filesystem


def git(folder: Path, *words: str, check: bool = True) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=check, capture_output=True, text=True)
    return (done.stdout + done.stderr).strip()


def test_it_has_the_history_and_the_tags_and_its_own_settings_alone(repository: Repository):
    repository.git("tag", "-a", "v1.2", "-m", "Release")
    repository.git("commit", "--quiet", "--allow-empty", "-m", "Go on")
    repository.git("branch", "private")
    for key, value in (
        ("remote.origin.url", "https://user:token@example.invalid/x"),
        ("core.hooksPath", "/elsewhere"),
        ("alias.st", "!touch evil"),
        ("filter.mine.smudge", "cat"),
    ):
        repository.git("config", key, value)
    lane = prepare_lane(repository).path
    assert git(lane, "describe").startswith("v1.2-1-g")
    assert git(lane, "log", "--format=%s").split("\n") == ["Go on", "Begin"]
    assert git(lane, "rev-parse", "--abbrev-ref", "HEAD") == "HEAD", "on no branch"
    assert git(lane, "for-each-ref", "--format=%(refname)") == "refs/heads/main\nrefs/tags/v1.2"
    assert git(lane, "remote") == ""
    names = set(git(lane, "config", "--local", "--name-only", "--list").split())
    assert {"user.name", "user.email"} <= names
    assert not [name for name in names if name.startswith(("remote", "alias", "filter"))]
    assert "core.hookspath" not in names


@pytest.mark.parametrize("level", ["off", "auto"])
def test_what_an_agent_pushes_reaches_nothing(repository: Repository, tmp_path, level):
    """It names no remote; where the sandbox is off, it could name one by its path."""
    set_level(repository, level)
    git(tmp_path, "init", "--quiet", "--bare", "remote.git")
    repository.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    repository.git("push", "--quiet", "origin", "main")
    before = repository.git("rev-parse", "main")
    push = "git push origin HEAD:refs/heads/main; git push; git push --all; true"
    moves = "git update-ref refs/heads/main HEAD; git branch -f other HEAD; git tag -f v1"
    steps = [write("one/a.txt"), commit("Write a"), {"run": push}, {"run": moves}]
    repository.play({"DEMO/A1": [[*steps, {"ending": "auth"}]]})
    work(repository)
    assert git(tmp_path / "remote.git", "for-each-ref", "--format=%(objectname)") == before
    assert repository.git("for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags") == (
        "refs/heads/main"
    )


def test_a_clean_up_of_the_user_takes_nothing_from_a_lane(repository: Repository):
    """Its base is on no branch of the user's any more, and is still what its agent builds on."""
    rewrite = "commit --quiet --amend --allow-empty -m Rewritten"
    collect = "reflog expire --expire=now --all; {} gc --quiet --prune=now"
    user = f"git -C {repository.root}"
    steps = [
        {"run": f"{user} {rewrite}; {user} {collect.format(user)}"},
        {"run": "git fsck --connectivity-only && git log --format=%s > ../seen; true"},
        write("one/a.txt"),
        commit("Write a"),
    ]
    repository.play({"DEMO/A1": [steps], "DEMO/A2": [[write("one/b.txt"), commit("Write b")]]})
    assert work(repository).reason is StopReason.COMPLETE
    assert repository.subjects() == ["Write b", "Write a", "Rewritten"]


POISON = """
echo '* filter=evil' > .git/info/attributes
git config filter.evil.clean 'touch {mark}; cat'
git config alias.status '!touch {mark}'
mkdir -p .git/hooks
printf '#!/bin/sh\\ntouch {mark}\\n' > .git/hooks/pre-commit
chmod +x .git/hooks/pre-commit
git branch hidden
git update-index --skip-worktree one/keep
echo hidden > one/keep
"""


@pytest.mark.parametrize("lands", [True, False])
def test_what_an_agent_left_in_the_repository_is_gone_before_the_next(repository, lands):
    mark = repository.home / "ran"
    look = (
        "git config --list --local > seen.txt; git for-each-ref --format='%(refname)' >> seen.txt;"
        f" cat one/keep .git/info/attributes >> seen.txt; mv seen.txt {repository.home}/seen;"
        f" rm -f {mark}"
    )
    first = [write("one/a.txt")] if lands else [write("two/stray.txt")]
    left = [*first, commit("Write a"), {"run": POISON.format(mark=mark)}]
    again = [{"run": look}, write("one/a.txt"), commit("Write a again")]
    repository.play(
        {
            "DEMO/A1": [left, again],
            "DEMO/A2": [[{"run": look}, write("one/b.txt"), commit("Write b")]],
        }
    )
    assert work(repository).reason is StopReason.COMPLETE
    assert ("Write a again" in repository.subjects()) == (not lands)
    seen = (repository.home / "seen").read_text()
    for word in ("evil", "alias", "hidden"):
        assert word not in seen, seen
    assert not mark.exists(), "the next agent's git has run nothing of it"


def test_what_an_agent_left_in_a_submodule_is_gone_before_the_next(repository: Repository):
    library = repository.home / "library"
    library.mkdir()
    (library / "words").write_text("hello\n")
    own = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Library"]):
        git(library, *own, *words)
    repository.git(*own, "submodule", "--quiet", "add", str(library), "vendor")
    repository.commit_all("Add a library")
    poison = (
        "cd vendor; git config alias.status '!touch evil'; git update-index --skip-worktree words;"
        " echo hidden > words"
    )
    look = f"cat vendor/words > {repository.home}/seen; git -C vendor config --list --local"
    repository.play(
        {
            "DEMO/A1": [[write("one/a.txt"), commit("Write a"), {"run": poison}]],
            "DEMO/A2": [
                [
                    {"run": f"{look} >> {repository.home}/seen"},
                    write("one/b.txt"),
                    commit("Write b"),
                ]
            ],
        }
    )
    assert work(repository).reason is StopReason.COMPLETE
    seen = (repository.home / "seen").read_text()
    assert seen.startswith("hello\n") and "evil" not in seen


NEST = "import os\nfor _ in range(3000):\n    os.mkdir('d')\n    os.chdir('d')\nopen('f', 'w')\n"


@pytest.mark.parametrize("lands", [True, pytest.param(False, marks=pytest.mark.soak)])
def test_folders_that_are_nested_deeper_than_python_recurses_are_cleared(repository, lands):
    script = repository.home / "nest.py"
    script.write_text(NEST)
    nest = {"run": f"mkdir one/deep; cd one/deep; python3 {script}"}
    first = [nest, write("one/a.txt" if lands else "one/b.txt"), commit("Write a"), nest]
    again = [write("one/a.txt"), commit("Write a again")]
    repository.play(
        {"DEMO/A1": [first, again], "DEMO/A2": [[write("one/b.txt", "y"), commit("Write b")]]}
    )
    assert work(repository).reason is StopReason.COMPLETE
    assert "Write b" in repository.subjects()
    state = workspace.find(repository.root)
    assert not (state.worktrees / "one" / "one" / "deep").exists()
    for folder in (state.state, state.worktrees.parent):  # pytest itself could not remove them
        filesystem.remove_tree(folder)
