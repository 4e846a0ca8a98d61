"""The pool of check trees of a workspace on this host.

There is a folder for each set-up digest, with as many trees as checks ran in it at the same time.
A tree is used by who holds the lock of its file; the kernel frees it when that process dies.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dos.config.schema import Config
from dos.errors import GitFailed
from dos.git.repository import Writer
from dos.landing.trees import worktree_files
from dos.landing.trees.check_repository import Source
from dos.landing.trees.check_tree import CannotCheck, CheckTree, RunCommand
from dos.landing.trees.set_up import Setup
from dos.landing.trees.setup_digest import setup_digest
from dos.machine import filesystem
from dos.receipts.io.acceptance import AcceptanceResult
from dos.workspace import Workspace

KEPT_DIGESTS = 4  # of which the trees are kept
MOST_TREES = 256  # of one digest
PLAIN = "plain"  # the folder of trees without a setup
MOST_REMEMBERED = 1_000  # digests of commits


class CheckTrees:
    """Lends check trees of a workspace, each to one process at a time."""

    def __init__(self, workspace: Workspace, config: Config, git: Writer) -> None:
        self.folder = workspace.worktrees.with_name("checks")
        self._source = Source(workspace, git)
        self._setup = config.workers.setup
        self._setup_seconds = config.workers.setup_seconds
        self._digests: dict[str, str] = {}  # commit -> set-up digest

    def digest(self, commit: str) -> str:
        """Return the digest of the setup command and the lock files of a commit."""
        if commit not in self._digests:
            if len(self._digests) >= MOST_REMEMBERED:
                self._digests.clear()
            self._digests[commit] = setup_digest(self._source.git, commit, self._setup)
        return self._digests[commit]

    def included_stamps(self) -> dict[str, str]:
        """Return the size and time of each file that `.worktreeinclude` names, by its path."""
        return worktree_files.included_stamps(self._source.workspace.tree)

    @contextmanager
    def at(
        self, commit: str, run: RunCommand, *, base: str = "", fresh: bool = False
    ) -> Iterator[CheckTree]:
        """Lend a tree of exactly this commit, in which the setup has run.

        The setup runs at `base` where that has the same lock files, so that work which is to be
        judged does not decide what is installed for later checks. With `fresh` the tree is made
        anew. Raises CannotCheck if the setup fails.
        """

        def prepare(tree: CheckTree) -> None:
            if fresh:
                tree.remove()
            tree.create()
            tree.prepare(commit, self._setup_of(commit, base))

        with self._lend(self.digest(commit), run, prepare) as tree:
            yield tree

    def _setup_of(self, commit: str, base: str) -> Setup | None:
        """Return the setup command and where it runs; None if there is none."""
        if not self._setup:
            return None
        set_up_at = commit
        if base and self.digest(base) == self.digest(commit):
            set_up_at = base
        return Setup(command=self._setup, seconds=self._setup_seconds, commit=set_up_at)

    @contextmanager
    def without_setup(self, commit: str) -> Iterator[CheckTree]:
        """Lend a tree of a commit in which no command runs, for what git alone does."""

        def prepare(tree: CheckTree) -> None:
            tree.create()
            tree.move(commit)

        with self._lend(PLAIN, _run_nothing, prepare) as tree:
            yield tree

    @contextmanager
    def _lend(
        self, digest: str, run: RunCommand, prepare: Callable[[CheckTree], None]
    ) -> Iterator[CheckTree]:
        """Lend the first tree of a digest that nobody uses, or a new one.

        One that cannot be removed, such as with files that were made immutable, is not used again.
        """
        folder = self.folder / digest
        if not folder.exists():
            folder.mkdir(parents=True, exist_ok=True)
            self._prune(digest)
        os.utime(folder)
        for number in range(1, MOST_TREES + 1):
            lock = _take_lock(folder / f"{number}.lock")
            if lock is None:
                continue
            try:
                if (folder / f"{number}.broken").exists():
                    continue
                tree = CheckTree(folder / str(number), self._source, digest, run)
                try:
                    prepare(tree)
                except OSError:
                    (folder / f"{number}.broken").touch()
                    continue
                yield tree
                return
            finally:
                os.close(lock)
        raise GitFailed(
            f"none of the {MOST_TREES} check trees in {folder} can be used",
            hint=f"Remove what was left there: rm -rf {folder}",
        )

    def _prune(self, used: str) -> None:
        """Remove the trees of digests that were not used for the longest time."""
        folders = [folder for folder in self.folder.iterdir() if folder.name not in (used, PLAIN)]
        folders.sort(key=_used_at, reverse=True)
        for folder in folders[KEPT_DIGESTS - 1 :]:
            _remove_unused(folder)


def _run_nothing(_tree: CheckTree, _command: str, _seconds: float | None) -> AcceptanceResult:
    raise CannotCheck("no command may run in a tree that is not set up", hint="This is a bug.")


def _used_at(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


def _at_once() -> bool:
    return True


def _take_lock(path: Path) -> int | None:
    """Open and lock a file; None if another process has it."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except FileNotFoundError:
            continue  # its folder was pruned meanwhile
        if not filesystem.lock_file(opened, gives_up=_at_once):
            os.close(opened)
            return None
        try:
            if os.fstat(opened).st_ino == path.stat().st_ino:
                return opened
        except FileNotFoundError:
            pass
        os.close(opened)  # a lock file that was removed guards nothing


def _remove_unused(folder: Path) -> None:
    """Remove the trees of a digest; those that are in use, or cannot be removed, stay."""
    for path in folder.glob("*.lock"):
        lock = _take_lock(path)
        if lock is None:
            continue
        try:
            filesystem.remove_tree(path.with_suffix(""))
            path.unlink()
        except OSError:
            pass  # it is tried again with the next digest
        finally:
            os.close(lock)
    try:
        folder.rmdir()
    except OSError:
        pass  # a tree in it is in use
