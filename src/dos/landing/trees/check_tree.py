"""One check tree: files of one commit, in which commands judge work, and our git beside them.

    <folder>/tree/       the files; commands run here
    <folder>/tree/.git   a repository for the commands alone, written anew before each of them
    <folder>/git/        the git directory of dos: HEAD, index, configuration; no command gets it
    <folder>/set-up      what the setup command made, once it has passed

Agents never write here. The code under test does, so whatever it leaves (junk, nested repositories,
edited files, an edited index or configuration) is put in order before the next command. Objects are
those of the user's repository: a rebase in a check tree writes its commits there.
"""

import os
import stat
import subprocess
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from dos.agents.io import orphans
from dos.errors import GitFailed, NotReady
from dos.git import process
from dos.git.config_text import quoted
from dos.git.files import object_folders
from dos.git.repository import Reader, Writer
from dos.landing.trees import leftovers, worktree_files
from dos.landing.trees.check_repository import (
    Source,
    format_lines,
    isolate_submodules,
    write_repository,
)
from dos.landing.trees.set_up import Setup, SetUpRecord
from dos.machine import filesystem
from dos.receipts.io.acceptance import AcceptanceResult

# Runs a command in a tree, within so many seconds; None: the time limit of checks.
RunCommand = Callable[["CheckTree", str, float | None], AcceptanceResult]

SET_UP = "set-up"
CACHE = "cache"  # of the home in which the commands of a tree run
MOST_PRESERVED = 64  # paths that walls preserve; one mount each
MOST_SET_UP_PATHS = 5_000  # above, the folders around them are kept as a whole
LOCKS = ("index.lock", "HEAD.lock")
UNFINISHED = ("rebase-merge", "rebase-apply", "sequencer")
_LITERALLY = ("--literal-pathspecs",)  # paths are names, not patterns
# Our git writes into the object store of the user and knows none of the user's refs: a garbage
# collection from here would remove the user's commits. No configuration may allow one, or make git
# trust less of a file's state than all of it.
_FIXED = {
    "gc.auto": "0",
    "maintenance.auto": "false",
    "core.bare": "false",
    "core.sparseCheckout": "false",
    "core.trustctime": "true",
    "core.checkStat": "default",
    "core.ignoreStat": "false",
    "core.untrackedCache": "false",
    "core.splitIndex": "false",
}


class CannotCheck(NotReady):
    """A check tree could not be made ready, so that nothing can be said about the work."""

    def __init__(self, problem: str, *, hint: str, result: AcceptanceResult | None = None) -> None:
        super().__init__(f"{problem}. {hint}", hint=hint)
        self.problem = problem
        self.result = result  # of the setup command, if that failed


class CheckTree:
    """The files of one commit and our git for them; whoever has one holds its lock."""

    def __init__(self, folder: Path, source: Source, digest: str, run: RunCommand) -> None:
        self.digest = digest  # of the setup command and the lock files
        self.folder = folder
        self.path = folder / "tree"
        self.directory = folder / "git"
        self.git = Writer(self.path, partial(process.run_once, variables=self._variables(source)))
        self.commit = ""
        self._source = source
        self._run = run
        self._setup: Setup | None = None
        self._record = SetUpRecord(self.path, folder / CACHE, folder / SET_UP)
        self._was_set_up = False  # when it was moved last, also if that spoiled it for the next
        self._is_clean = False
        self._missing_submodule = ""

    def _variables(self, source: Source) -> dict[str, str]:
        variables = {
            "GIT_DIR": str(self.directory),
            "GIT_WORK_TREE": str(self.path),
            "GIT_OBJECT_DIRECTORY": str(source.objects),
            "GIT_CONFIG_COUNT": str(len(_FIXED)),
        }
        for number, (key, value) in enumerate(_FIXED.items()):
            variables[f"GIT_CONFIG_KEY_{number}"] = key
            variables[f"GIT_CONFIG_VALUE_{number}"] = value
        return variables

    # What callers do with it

    def run(self, command: str, seconds: float | None = None) -> AcceptanceResult:
        """Run a command on exactly the files of the commit and what the setup made.

        The tree is put in order first, if a command has run since. Without a command there is no
        result. Raises CannotCheck if a submodule of the commit cannot be had.
        """
        if not command:
            return AcceptanceResult()
        self.reset()
        self.raise_if_incomplete()
        self._is_clean = False
        return self._run(self, command, seconds)

    def reset(self) -> None:
        """Put the tree in order, if a command has run since; what is edited now, `run` keeps."""
        if not self._is_clean:
            self.prepare(self.commit, self._setup)

    def overlay(
        self, paths: Iterable[str], commit: str, texts: Mapping[str, str] | None = None
    ) -> None:
        """Put these paths into the tree as another commit has them, and files with these texts.

        A path that the other commit lacks is removed, and a file in the place of its folder too. It
        holds until the tree is moved, so for one command.
        """
        wanted = set(paths)
        entries = [f"0 {'0' * len(self.commit)}\t{path}" for path in wanted]
        for entry in self.git.run("ls-tree", "-r", "-z", "--full-tree", commit).split("\0"):
            if entry.partition("\t")[2] in wanted:
                entries.append(entry)
        for path, text in (texts or {}).items():
            blob = self.git.run("hash-object", "-w", "--stdin", feed=text).strip()
            entries.append(f"100644 {blob}\t{path}")
        self.reset()
        index = self.folder / "overlay"
        for leftover in (index, self.folder / "overlay.lock"):
            leftover.unlink(missing_ok=True)
        self.git.run("read-tree", self.commit, index=str(index))
        feed = "".join(f"{entry}\0" for entry in entries)
        self.git.run("update-index", "--replace", "-z", "--index-info", feed=feed, index=str(index))
        tree = self.git.run("write-tree", index=str(index)).strip()
        self.git.run("read-tree", "--reset", "-u", tree)
        self._write_repository()

    @property
    def setup_paths(self) -> tuple[str, ...]:
        """The paths that the setup made, which stay from check to check; folders end with `/`."""
        return tuple(self._record.paths() or ())

    @property
    def preserved(self) -> tuple[str, ...]:
        """What walls keep as the setup left it, whatever a check writes: its paths, its caches.

        Nothing while the setup itself runs, and no more than walls can: changes of other paths are
        noticed afterwards.
        """
        made = self._record.paths()
        if made is None or len(made) > MOST_PRESERVED:
            return ()
        paths = (*(self.path / path for path in made), self.folder / CACHE)
        return tuple(str(path) for path in paths)

    @property
    def objects(self) -> Path:
        """The user's objects, which the commands read: all that they need of that repository."""
        return self._source.objects

    def raise_if_incomplete(self) -> None:
        """Raise CannotCheck if a submodule of the commit could not be checked out."""
        if self._missing_submodule:
            root = self._source.workspace.root
            hint = f"Try: git -C {root} submodule update --init --recursive"
            raise CannotCheck(self._missing_submodule, hint=hint)

    # Moving it

    def prepare(self, commit: str, setup: Setup | None) -> None:
        """Set the tree up where that is needed, and move it to the commit.

        Raises CannotCheck if the setup fails.
        """
        self._setup = setup
        if setup is None:
            self.move(commit)
            return
        for _ in range(2):  # a tree that had to be made anew has to be set up again
            self._record.remove_if_changed()
            if self._record.paths() is None:
                self.move(setup.commit)
                self._set_up(setup)
            self.move(commit)
            if self._was_set_up:
                return
        raise CannotCheck(
            f"what the setup made in {self.path} is gone again", hint="[workers] setup in dos.toml"
        )

    def move(self, commit: str) -> None:
        """Make the files exactly those of a commit, and what the setup made.

        A tree that git cannot put in order is made anew; raises GitFailed if that fails as well.
        """
        try:
            self._move(commit)
        except (GitFailed, OSError, subprocess.SubprocessError):
            # What the code under test left may be of any kind. The setup has to run again.
            self.remove()
            self.create()
            self._move(commit)

    def _move(self, commit: str) -> None:
        self._check_shape()
        self._is_clean = False
        for name in LOCKS:
            if (self.directory / name).exists():
                orphans.wait_for_git(self.path)
                (self.directory / name).unlink(missing_ok=True)
        for name in UNFINISHED:
            if os.path.lexists(self.directory / name):
                filesystem.remove_tree(self.directory / name)
        self._remove_repository()
        self._remove_submodules()
        (self.directory / "HEAD").write_text(f"{commit}\n")
        self._write_if_any("shallow", self._source.shallow())
        self.git.run("read-tree", "--reset", "-u", commit)
        self._clean()
        self._forget_overwritten_setup()
        self.commit = commit
        self._missing_submodule = self._check_out_submodules()
        self._copy_included_files()
        self._write_repository()
        self._is_clean = True

    def _check_shape(self) -> None:
        """Raise OSError unless the folders are folders of ours: code may have put links there."""
        for folder in (self.folder, self.path, self.directory):
            if not stat.S_ISDIR(folder.lstat().st_mode):
                raise NotADirectoryError(str(folder))

    def _copy_included_files(self) -> None:
        if not (self._source.workspace.tree / worktree_files.LIST).is_file():
            return
        half_copy = self.folder / "including"
        worktree_files.copy_included_files(self._source.git, self.git, half_copy=half_copy)

    def _clean(self) -> None:
        """Remove all that is neither in git nor made by the setup, also from the cache.

        Not by `git clean`, which takes minutes for folders that are nested deeply.
        """
        kept = self.setup_paths
        cache = self.folder / CACHE
        if self._record.paths() is None and cache.exists():
            filesystem.remove_tree(cache)
        filesystem.remove_trees(
            self.path / path for path in leftovers.untracked_paths(self.git, kept)
        )
        filesystem.remove_trees(leftovers.hidden_files(self.path, kept))

    def _forget_overwritten_setup(self) -> None:
        """Let the setup run again before the next check where this commit tracks what it made."""
        made = self._record.paths()
        self._was_set_up = made is not None
        if made and self.git.run(*_LITERALLY, "ls-files", "-z", "--", *made):
            self._record.remove()

    # Making and removing it

    def create(self) -> None:
        """Make the folders, without any file in the tree; nothing is done where they are."""
        if self._is_made():
            return
        self.remove()
        self.path.mkdir(parents=True)
        (self.directory / "refs").mkdir(parents=True)
        (self.directory / "objects").mkdir()
        lines = format_lines(self._source.extensions())
        lines += ["[include]", f"\tpath = {quoted(str(self._source.common / 'config'))}"]
        storage = self._source.common / "lfs"
        if storage.is_dir():
            lines += ["[lfs]", f"\tstorage = {quoted(str(storage))}"]
        (self.directory / "config").write_bytes(os.fsencode("\n".join([*lines, ""])))
        # Last: without it the folder is not one of ours.
        (self.directory / "HEAD").write_text("ref: refs/heads/none\n")

    def _is_made(self) -> bool:
        try:
            self._check_shape()
        except OSError:
            return False
        return (self.directory / "HEAD").is_file() and (self.directory / "config").is_file()

    def remove(self) -> None:
        """Remove the whole folder; raises OSError if something in it cannot be removed."""
        filesystem.remove_tree(self.folder)
        self.commit = ""
        self._is_clean = False

    # The setup

    def _set_up(self, setup: Setup) -> None:
        """Run the setup command and record what it made; raises CannotCheck if it fails.

        A tree in which it failed is removed.
        """
        made_before = set(leftovers.untracked_paths(self.git))
        result = self._run(self, setup.command, setup.seconds)
        self._is_clean = False
        if result.passed is False:
            self.remove()
            raise CannotCheck(
                f"the setup command failed: {result.detail}",
                hint="[workers] setup in dos.toml",
                result=result,
            )
        made = [path for path in leftovers.untracked_paths(self.git) if path not in made_before]
        self._record.write(leftovers.at_most(made, MOST_SET_UP_PATHS))
        # The setup may have fetched what was missing.
        self._missing_submodule = self._check_out_submodules()

    # Submodules

    def _check_out_submodules(self) -> str:
        """Check out the submodules of the commit; empty, or which one could not be and why."""
        if not (self.path / ".gitmodules").is_file():
            return ""
        problem = worktree_files.check_out_submodules(self.git, self._source.modules)
        isolate_submodules(self.path, self.directory, worktree_files.recorded_commits(self.git))
        return problem

    def _remove_submodules(self) -> None:
        """Remove the folders of submodules: the code under test had their repositories too."""
        if not (self.directory / "index").exists():
            return
        if not (self.directory / "modules").exists():
            return
        for path in worktree_files.recorded_commits(self.git):
            # What is in place of a parent goes with all that is not in git.
            is_there = filesystem.is_reached_by_folders(self.path, path)
            if is_there and os.path.lexists(self.path / path):
                filesystem.remove_tree(self.path / path)
                (self.path / path).mkdir()

    def unpublished_submodule(self, base: str) -> str:
        """Return a submodule that moved since `base` to a commit that no remote has; or empty."""
        moved = self.git.submodules_between(base, self.commit)
        names = {path: name for name, path in self.git.submodules().items()}
        for path, commit in moved.items():
            inner = Reader(self.directory / "modules" / names.get(path, path))
            if not (inner.tree / "HEAD").exists() or inner.commit_of(commit) is None:
                return path
            refs = inner.run("for-each-ref", "--count=1", "--contains", commit, "refs/remotes/")
            if not refs:
                return path
        return ""

    # The repository that the commands see

    def _remove_repository(self) -> None:
        marker = self.path / ".git"
        if os.path.lexists(marker):
            filesystem.remove_tree(marker)

    def _write_repository(self) -> None:
        """Write the repository for the commands: HEAD at the commit, our index, all tags.

        Its objects are the user's, by alternates. What commands do to it is gone at the next check.
        """
        self._remove_repository()
        write_repository(
            self.path / ".git",
            commit=self.commit,
            objects=object_folders(self._source.common),
            index=self.directory / "index",
            formats=format_lines(self._source_formats()),
            tags=self._source.tags(),
            shallow=self._source.shallow(),
        )

    def _source_formats(self) -> Mapping[str, str]:
        """Return the object format, from our own configuration: a partial clone's is not needed."""
        for line in (self.directory / "config").read_text(errors="surrogateescape").splitlines():
            key, _, value = line.strip().partition(" = ")
            if key == "objectformat":
                return {key: value}
        return {}

    def _write_if_any(self, name: str, text: str) -> None:
        path = self.directory / name
        if text:
            path.write_text(text)
        else:
            path.unlink(missing_ok=True)
