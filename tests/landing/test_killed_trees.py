"""A worker is killed at any git command, or order, at a lane.

The next one finds the lane usable, and no edit is lost.
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
from lane_tree import PreparedLane, open_lane, prepare_lane
from patience import PATIENCE
from sample_repository import Repository

from dos.git.repository import Writer
from dos.landing.lane.inside import LaneShell
from dos.landing.lane.salvage_writer import save_head

MOST_COMMANDS = 60


class Killed(BaseException):
    pass


@contextmanager
def killed_at(number: int, *, done: bool) -> Iterator[None]:
    """Breaks off at one git command or order: before it, or when it is done and nobody knows."""
    attempt, order = Writer.attempt, LaneShell.order
    seen: list[object] = []

    def breaking(real):
        def act(*arguments, **named):
            seen.append(arguments)
            if len(seen) == number and not done:
                raise Killed
            answer = real(*arguments, **named)
            if len(seen) == number:
                raise Killed
            return answer

        return act

    Writer.attempt, LaneShell.order = breaking(attempt), breaking(order)
    try:
        yield
    finally:
        Writer.attempt, LaneShell.order = attempt, order


def prepare(repository: Repository, run_id: str = "RUN") -> PreparedLane:
    return prepare_lane(repository, run_id=run_id)


def lane(repository: Repository) -> Writer:
    return Writer(open_lane(repository.root).folder)


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
    """Those that can still be had: on a salvage ref, in the lane, or set aside."""
    git = Writer(repository.root)
    refs = git.salvage_refs()
    texts = [git.attempt("grep", "-h", "token-", *refs).stdout] if refs else []
    state = repository.root / ".git" / "dos"
    for folder in (state / "salvage", lane(repository).tree.parent):
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
    """A repository with a lane in which an agent has left something."""
    repository = Repository(folder)
    prepare(repository).lane.mark_ready()
    return repository, edit(lane(repository))


def save_and_clear(repository: Repository) -> None:
    """As a worker does when its agent has ended."""
    base = repository.git("rev-parse", "main")
    opened = open_lane(repository.root)
    opened.take_over(base, run_id="RUN", why="left uncommitted")
    head = opened.delivered_head()
    save_head(opened.git, head, run_id="RUN", why="did not land", base=base)
    opened.settle(landed=False)
    prepare(repository)


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


def trees_saved(repository: Repository) -> list[str]:
    """What each salvage ref holds: its files, and the commit that they were changed on."""
    lines = repository.git(
        "for-each-ref", "--format=%(tree) %(parent)", "refs/dos/salvage/"
    ).splitlines()
    return sorted(lines)


@pytest.mark.parametrize("edit", [edit_plainly, edit_amid_a_rebase])
def test_nothing_is_saved_twice_when_the_worker_dies_before_it_has_taken_the_lane_over(
    repository, edit, monkeypatch
):
    """The work is on refs, and the ref that says so is not there yet."""
    prepare(repository).lane.mark_ready()
    tokens = edit(lane(repository))
    base = repository.git("rev-parse", "main")
    dying = open_lane(repository.root)
    real = dying._set_ref

    def die(ref, commit):
        if ref == dying.work_ref:
            raise Killed
        real(ref, commit)

    monkeypatch.setattr(dying, "_set_ref", die)
    with pytest.raises(Killed):
        dying.take_over(base, run_id="FIRST", why="left by the agent")
    saved = trees_saved(repository)
    assert saved
    time.sleep(1.1)  # the date of a commit has seconds
    # The same run answers the same; another has nothing new to save but the commits.
    again = open_lane(repository.root).take_over(base, run_id="FIRST", why="left by the agent")
    assert {salvage.ref for salvage in again} <= set(Writer(repository.root).salvage_refs())
    assert trees_saved(repository) == saved
    repository.git("update-ref", "-d", dying.work_ref)
    prepare(repository, "SECOND")
    assert len(set(trees_saved(repository))) == len(trees_saved(repository))
    assert found(repository, tokens) == tokens


@pytest.mark.parametrize("is_on_another", [True, False])
def test_the_same_changes_of_another_agent_are_other_work(repository, is_on_another):
    """They are judged again, so they are saved again."""
    tree = lane(repository)
    for run in ("FIRST", "SECOND"):
        made = prepare(repository, run)
        (tree.tree / "one" / "new").write_text("token-new\n")
        assert made.lane.take_over(made.base, run_id=run, why="left by the agent")
        if is_on_another:
            repository.commit_all(f"Go on after {run}")
        made.lane.settle(landed=False)
    assert len(trees_saved(repository)) == 2


@pytest.mark.soak
def test_killed_before_any_command_while_an_earlier_runs_lane_is_reset(tmp_path):
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
def test_killed_while_a_lane_is_made(tmp_path, done):
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
from lane_tree import open_lane
lane = open_lane(Path(sys.argv[1]), sys.argv[2])
base = lane.git.commit_of("refs/heads/main")
print("begun", flush=True)
lane.prepare(base, run_id="RUN")
print("done")
"""


def preparing(repository: Repository, lane: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", PREPARE, str(repository.root), lane]
    return subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        start_new_session=True,
    )


@pytest.mark.soak
def test_eight_processes_that_make_eight_lanes_at_once_all_get_theirs(repository):
    makers = [preparing(repository, f"lane{number}") for number in range(8)]
    for maker in makers:
        out, err = maker.communicate(timeout=PATIENCE)
        assert out == "begun\ndone\n", err
    for number in range(8):
        folder = open_lane(repository.root, f"lane{number}").folder
        assert run_git(Writer(folder), "status", "--porcelain") == ""


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
