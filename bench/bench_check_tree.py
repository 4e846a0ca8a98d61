"""Moving a check tree from commit to commit, beside clearing a linked worktree, as a ratio.

Both move between two commits that differ in one file, in repositories of several sizes. The first
column is the time of the worktree in milliseconds, to show what the ratios are of; the last ones
count the processes that one move starts.
"""

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from dos.git.repository import Writer
from dos.landing.trees.check_tree import CheckTree
from dos.landing.trees.check_trees import CheckTrees
from dos.receipts.io.acceptance import AcceptanceResult
from dos.world import World
from table import median, show


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--files", type=int, nargs="+", default=[100, 10_000])
    words.add_argument("--moves", type=int, default=15)
    args = words.parse_args()
    rows = []
    for count in args.files:
        with tempfile.TemporaryDirectory(prefix="dos-bench-") as home:
            os.environ["XDG_STATE_HOME"] = f"{home}/state"
            rows.append(measured(Path(home) / "repository", count, args.moves))
    header = ["files", "worktree ms", "check tree", "made anew", "processes", "of a worktree"]
    show("Moving a check tree to a commit, as a ratio to a linked worktree", header, rows)


def measured(root: Path, count: int, moves: int) -> list[object]:
    commits = make_repository(root, count)
    with World(root) as world:
        git = Writer(root)
        trees = CheckTrees(world.workspace, world.config, git)
        path = root.parent / "linked"
        git.run("worktree", "add", "--quiet", "--detach", str(path), commits[0])
        linked = Writer(path)
        linked_times: list[float] = []
        check_times: list[float] = []
        began = time.perf_counter()
        with trees.at(commits[0], run_nothing) as tree:
            anew = time.perf_counter() - began
            for number in range(moves):
                commit = commits[(number + 1) % 2]
                linked_times.append(taken(clear, linked, commit))
                check_times.append(taken(tree.move, commit))
            processes = count_processes(tree, commits[0])
    base = median(linked_times)
    return [
        count,
        base * 1000,
        median(check_times) / base,
        anew / base,
        processes,
        count_git(lambda: clear(linked, commits[1])),
    ]


def clear(linked: Writer, commit: str) -> None:
    """Reset a linked worktree to a commit, as lanes were reset when they were worktrees."""
    linked.run("checkout", "--quiet", "--force", "--detach", commit)
    linked.run("reset", "--quiet", "--hard")
    linked.run("clean", "-fdq")


def taken(act: Callable[..., None], *arguments: object) -> float:
    began = time.perf_counter()
    act(*arguments)
    return time.perf_counter() - began


def count_processes(tree: CheckTree, commit: str) -> int:
    return count_git(lambda: tree.move(commit))


def count_git(act: Callable[[], None]) -> int:
    """Count the processes that Python starts meanwhile."""
    started = 0
    real = subprocess.Popen.__init__

    def counted(self: object, *arguments: object, **keys: object) -> None:
        nonlocal started
        started += 1
        real(self, *arguments, **keys)  # type: ignore[arg-type,call-overload]

    subprocess.Popen.__init__ = counted  # type: ignore[assignment,method-assign]
    try:
        act()
    finally:
        subprocess.Popen.__init__ = real  # type: ignore[method-assign]
    return started


def run_nothing(_tree: CheckTree, _command: str, _seconds: float | None) -> AcceptanceResult:
    return AcceptanceResult()


def make_repository(root: Path, count: int) -> list[str]:
    """Make a repository with so many files and two commits; return their names."""
    for number in range(count):
        folder = root / f"d{number % 100}" / f"e{number // 1_000}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number}").write_text(f"{number}\n")
    run_git(root, "init", "--quiet", "--initial-branch=main")
    commits = []
    for text in ("one", "two"):
        (root / "changed").write_text(text)
        run_git(root, "add", "--all")
        run_git(root, "-c", "user.name=a", "-c", "user.email=a@a", "commit", "-qm", text)
        commits.append(run_git(root, "rev-parse", "HEAD").strip())
    return commits


def run_git(root: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=root, check=True, capture_output=True, text=True
    ).stdout


if __name__ == "__main__":
    main()
