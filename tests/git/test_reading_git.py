"""A reader of git leaves no trace in the repository, and a World offers nothing but reading."""

import inspect
import re
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import get_args

import pytest
from type_checking import check

import dos
from dos.git.process import ReadCommand
from dos.git.repository import Reader, Writer
from dos.world import World

# With what each can be asked of the repository below.
METHODS = {
    "run": [],
    "attempt": [],
    "run_once": [],
    "object_of": ["HEAD"],
    "commit_of": ["HEAD"],
    "branch": [],
    "target_branch": [""],
    "target_ref": ["main", "origin"],
    "is_ancestor": ["HEAD~1", "HEAD"],
    "commits_between": ["HEAD~1", "HEAD"],
    "paths_between": ["HEAD~1", "HEAD"],
    "paths_differing_from": ["HEAD"],
    "paths_of": ["HEAD"],
    "staged_paths": [],
    "dirty_paths": [],
    "changed_submodules": [],
    "submodules": [],
    "submodules_between": ["HEAD~1", "HEAD"],
    "salvage_refs": [],
    "root_commit": [],
    "remote": [],
}
COMMANDS: dict[ReadCommand, list[str]] = {
    "cat-file": ["commit", "HEAD"],
    "check-ignore": ["a.txt"],
    "check-ref-format": ["--branch", "new"],
    "config --get": ["user.name"],
    "config --get-regexp": ["user"],
    "diff": [],
    "diff-index": ["HEAD"],
    "diff-tree": ["HEAD"],
    "for-each-ref": [],
    "grep": ["one"],
    "log": [],
    "ls-files": [],
    "ls-tree": ["HEAD"],
    "merge-base": ["HEAD", "HEAD~1"],
    "remote show": [],
    "rev-list": ["HEAD"],
    "rev-parse": ["HEAD"],
    "show": ["HEAD"],
    "status": [],
    "var": ["GIT_COMMITTER_IDENT"],
    "worktree list": [],
}


@pytest.fixture
def repository(tmp_path):
    """With two commits, one file staged, one edited, and one that only looks edited: git would note
    that it is not."""

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], cwd=tmp_path, check=True
        )

    git("init", "-q", "-b", "main")
    git("config", "user.name", "t")
    git("config", "user.email", "t@t")
    for number in ("one", "two"):
        (tmp_path / f"{number}.txt").write_text(number)
        git("add", ".")
        git("commit", "-q", "-m", number)
    (tmp_path / "staged.txt").write_text("staged")
    git("add", ".")
    (tmp_path / "one.txt").write_text("edited")
    (tmp_path / "two.txt").touch()
    return tmp_path


def contents(repository: Path) -> dict[str, str]:
    """Refs, index, settings and objects: all that lies in .git."""
    files = (path for path in sorted((repository / ".git").rglob("*")) if path.is_file())
    return {path.as_posix(): sha256(path.read_bytes()).hexdigest() for path in files}


def public(kind: type) -> set[str]:
    return {
        name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")
    }


def test_the_tables_are_complete():
    assert set(METHODS) == public(Reader)
    assert set(COMMANDS) == set(get_args(ReadCommand))


@pytest.mark.parametrize(
    "name", [name for name in METHODS if name not in ("run", "attempt", "run_once")]
)
def test_no_method_of_a_reader_changes_the_repository(repository, name):
    before = contents(repository)
    getattr(Reader(repository), name)(*METHODS[name])
    assert contents(repository) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_of_a_reader_changes_the_repository(repository, command):
    before = contents(repository)
    assert Reader(repository).attempt(command, *COMMANDS[command]).returncode in (0, 1)
    assert contents(repository) == before


def test_a_world_holds_a_reader_and_only_writers_write(repository):
    assert type(World(repository).git) is Reader
    assert public(Writer) - public(Reader) == {"swap_ref", "change_ref", "submodule"}


ACT = ("git", "landing", "hooks")
# The simulator's is one that writes to its model of a repository.
ALSO = {Path("doctor/examine.py"), Path("testing/simulator/world/lane.py")}


def test_only_those_who_act_know_a_writer():
    package = Path(dos.__file__).parent
    users = set()
    for path in package.rglob("*.py"):
        if re.search(r"\bWriter\b", path.read_text()):
            users.add(path.relative_to(package))
    assert Path("git/repository.py") in users
    for path in users - ALSO:
        assert path.parts[0] in ACT or "io" in path.parts, path


SNIPPET = """
from dos.git.repository import Reader, Writer
from dos.world import World


def act(git: Writer) -> None:
    git.run("update-ref", "refs/heads/main", "HEAD")


def judge(world: World, words: list[str]) -> str:
    world.git.run("update-ref", "refs/heads/main", "HEAD")  # refused
    world.git.run("config", "user.name", "x")  # refused
    world.git.run_once(*words)  # refused
    world.git.swap_ref("refs/heads/main", "a", "b")  # refused
    act(world.git)  # refused
    reader: Reader = Writer(world.workspace.tree)
    return reader.run("config --get", "user.name")
"""


def test_mypy_refuses_to_write_by_what_a_world_holds(tmp_path):
    check(SNIPPET, tmp_path)
