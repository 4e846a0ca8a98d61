"""A worker is killed at any git command at a worktree.

The next one finds it usable, and no edit is lost.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import psutil
import pytest
from amounts import long
from patience import PATIENCE
from sample_repository import Repository

from dos.errors import GitFailed
from dos.fleet import effects
from dos.git.repository import Writer
from dos.landing import worktree

MOST_COMMANDS = 60


class Killed(BaseException):
    pass


@contextmanager
def killed_at(number: int, *, done: bool) -> Iterator[None]:
    """Breaks off at one git command: before it, or when it is done and nobody has heard of it."""
    real, seen = Writer.attempt, []

    def attempt(self, *arguments, **named):
        seen.append(arguments)
        if len(seen) == number and not done:
            raise Killed
        answer = real(self, *arguments, **named)
        if len(seen) == number:
            raise Killed
        return answer

    Writer.attempt = attempt
    try:
        yield
    finally:
        Writer.attempt = real


def prepare(repository: Repository, run_id: str = "RUN") -> effects.Worktree:
    git = Writer(repository.root)
    return worktree.prepare(
        git, repository.root / ".git" / "dos", lane="one", run_id=run_id, target="main"
    )


def lane(repository: Repository) -> Writer:
    return Writer(repository.root / ".git" / "dos" / "worktrees" / "one")


def run_git(tree: Writer, *words: str, check: bool = True) -> str:
    return subprocess.run(
        ["git", *words], cwd=tree.tree, check=check, capture_output=True, text=True
    ).stdout.strip()


def edit_plainly(tree: Writer) -> set[str]:
    (tree.tree / "one" / "committed").write_text("token-committed\n")
    run_git(tree, "add", "--all")
    run_git(tree, "commit", "-qm", "Not landed")
    (tree.tree / "one" / "staged").write_text("token-staged\n")
    run_git(tree, "add", "--all")
    (tree.tree / "one" / "keep").write_text("token-edited\n")
    (tree.tree / "one" / "new").write_text("token-new\n")
    return {"token-committed", "token-staged", "token-edited", "token-new"}


def edit_amid_a_merge(tree: Writer) -> set[str]:
    (tree.tree / "one" / "keep").write_text("token-theirs\n")
    run_git(tree, "commit", "-qam", "Theirs")
    theirs = run_git(tree, "rev-parse", "HEAD")
    run_git(tree, "checkout", "-q", "HEAD~")
    (tree.tree / "one" / "keep").write_text("token-ours\n")
    run_git(tree, "commit", "-qam", "Ours")
    run_git(tree, "merge", theirs, check=False)
    assert run_git(tree, "ls-files", "--unmerged")
    return {"token-theirs", "token-ours"}


def edit_amid_a_rebase(tree: Writer) -> set[str]:
    (tree.tree / "one" / "keep").write_text("token-committed\n")
    run_git(tree, "commit", "-qam", "One")
    (tree.tree / "two" / "keep").write_text("token-stashed\n")
    stops = [
        "-c",
        "sequence.editor=sed -i s/^pick/edit/",
        "rebase",
        "-q",
        "--interactive",
        "--autostash",
        "HEAD~",
    ]
    run_git(tree, *stops, check=False)
    (tree.tree / "one" / "new").write_text("token-new\n")
    return {"token-committed", "token-stashed", "token-new"}


def edit_a_nested_repository(tree: Writer) -> set[str]:
    run_git(tree, "init", "-q", "one/nested")
    (tree.tree / "one" / "nested" / "file").write_text("token-nested\n")
    (tree.tree / "one" / "new").write_text("token-new\n")
    return {"token-nested", "token-new"}


EDITS = [edit_plainly, edit_amid_a_merge, edit_amid_a_rebase, edit_a_nested_repository]


def found(repository: Repository, tokens: set[str]) -> set[str]:
    """Those that can still be had: on a salvage ref, in the worktree, or set aside."""
    git = Writer(repository.root)
    refs = git.salvage_refs()
    texts = [git.attempt("grep", "-h", "token-", *refs).stdout] if refs else []
    state = repository.root / ".git" / "dos"
    for folder in (state / "salvage", state / "worktrees"):
        for path in folder.rglob("*"):
            if path.is_file() and ".git" not in path.relative_to(folder).parts:
                texts.append(path.read_text())
    return {token for token in tokens if any(token in text for text in texts)}


def check_usable(repository: Repository) -> None:
    made, tree = prepare(repository, "LAST"), lane(repository)
    assert run_git(tree, "rev-parse", "HEAD") == made.base == repository.git("rev-parse", "main")
    assert run_git(tree, "status", "--porcelain") == ""
    assert "in progress" not in run_git(tree, "status")
    assert {path.name for path in (tree.tree / "one").iterdir()} == {"keep"}
    (tree.tree / "one" / "next").write_text("x")
    run_git(tree, "add", "--all")
    run_git(tree, "commit", "-qm", "Next")


def is_killed(act, number: int, *, done: bool) -> bool:
    try:
        with killed_at(number, done=done):
            act()
    except Killed:
        return True
    return False


def at_work(folder: Path, edit) -> tuple[Repository, set[str]]:
    """A repository with a worktree in which an agent has left something."""
    repository = Repository(folder)
    prepare(repository)
    worktree.mark_ready(lane(repository))
    return repository, edit(lane(repository))


def save_and_clear(repository: Repository) -> None:
    """As a worker does when its agent has ended."""
    state, tree = repository.root / ".git" / "dos", lane(repository)
    base = repository.git("rev-parse", "main")
    worktree.save_changes(tree, state, run_id="RUN", why="left uncommitted", base=base)
    worktree.clear(tree, "HEAD")
    worktree.save_commits(tree, run_id="RUN", why="did not land", base=base)
    worktree.clear(tree, base)


def check_all_kills(folder: Path, edit, act, *, done: bool, first: int = 1, every: int = 1) -> None:
    for number in range(first, MOST_COMMANDS, every):
        repository, tokens = at_work(folder / str(number), edit)
        killed = is_killed(lambda: act(repository), number, done=done)  # noqa: B023 - called at once
        check_usable(repository)
        assert found(repository, tokens) == tokens, number
        if not killed:
            assert number > 5
            return
    raise AssertionError(f"more than {MOST_COMMANDS} commands")


@pytest.mark.soak
def test_killed_before_any_command_while_an_earlier_runs_worktree_is_cleared(tmp_path):
    check_all_kills(tmp_path, edit_plainly, prepare, done=False, every=4)


@pytest.mark.soak
@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize("act", [prepare, save_and_clear])
@pytest.mark.parametrize("edit", EDITS)
def test_killed_before_or_after_any_command_whatever_was_left(tmp_path, edit, act, done):
    """In a soak each of them dies at every third command, and all together at each."""
    every = long(3, 1)
    check_all_kills(
        tmp_path, edit, act, done=done, first=1 + (EDITS.index(edit) + done) % every, every=every
    )


@pytest.mark.soak
@pytest.mark.parametrize("done", [False, True])
def test_killed_while_a_worktree_is_made(tmp_path, done):
    for number in range(1, MOST_COMMANDS):
        repository = Repository(tmp_path / str(number))
        killed = is_killed(lambda: prepare(repository), number, done=done)  # noqa: B023 - called at once
        assert prepare(repository, "NEXT").salvaged == [], "nobody had worked in it"
        check_usable(repository)
        if not killed:
            return


# Processes

PREPARE = """
import sys
from pathlib import Path
from dos.landing import worktree
from dos.git.repository import Writer
root, lane = Path(sys.argv[1]), sys.argv[2]
print("begun", flush=True)
worktree.prepare(Writer(root), root / ".git" / "dos", lane=lane, run_id="RUN", target="main")
print("done")
"""


def preparing(repository: Repository, lane: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", PREPARE, str(repository.root), lane]
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


@pytest.mark.soak
def test_eight_processes_that_make_eight_worktrees_at_once_all_get_theirs(repository):
    makers = [preparing(repository, f"lane{number}") for number in range(8)]
    for maker in makers:
        out, err = maker.communicate(timeout=PATIENCE)
        assert out == "begun\ndone\n", err
    places = repository.root / ".git" / "dos" / "worktrees"
    for number in range(8):
        assert run_git(Writer(places / f"lane{number}"), "status", "--porcelain") == ""
    assert len(repository.git("worktree", "list").splitlines()) == 9


def test_a_holder_that_does_not_move_is_an_error_and_not_a_hang(repository, monkeypatch):
    monkeypatch.setattr(worktree, "BUSY_SECONDS", 0.05)
    state = repository.root / ".git" / "dos"
    state.mkdir()
    with (
        worktree._alone(state / "worktrees.gate"),
        pytest.raises(GitFailed, match="has held the lock for worktrees"),
    ):
        prepare(repository)


@pytest.mark.soak
@pytest.mark.parametrize("with_git", [False, True])
@pytest.mark.parametrize("seed", range(long(8, 300)))
def test_killed_at_any_moment(tmp_path, seed, with_git):
    """The worker alone, so that a git that it began goes on; or both."""
    random = Random(seed)
    repository, tokens = at_work(tmp_path, random.choice(EDITS))
    for number in range(1000):
        (repository.root / "two" / f"{number}").write_text("x\n" * 50)
    repository.commit_all("Many files")
    maker = preparing(repository, "one")
    maker.stdout.readline()
    time.sleep(random.random() * 0.4)
    if with_git:
        os.killpg(maker.pid, signal.SIGKILL)
    else:
        maker.kill()
    maker.wait()
    check_usable(repository)
    assert found(repository, tokens) == tokens
    assert [
        each
        for each in psutil.process_iter(["cwd"])
        if each.info["cwd"] == str(lane(repository).tree)
    ] == []
