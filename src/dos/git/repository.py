"""A git repository as dos reads it (`Reader`) and changes it (`Writer`)."""

import os
import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dos.errors import GitFailed, GitUnanswered, NotARepository
from dos.git import process, ref_locks
from dos.git.process import GitStart, ReadCommand
from dos.unknown import Unknown

if TYPE_CHECKING:  # imported where git is started: most verbs never start it
    import subprocess

# For commits that dos itself makes: a rebase, a salvage. The author of the work stays its author.
AS_DOS = ("-c", "user.name=dos", "-c", "user.email=dos@localhost", "-c", "commit.gpgSign=false")
SALVAGE_REFS = "refs/dos/salvage/"  # below it, a folder of refs for the saved work of each run
MOST_RACES = 200  # attempts to move a ref that other processes keep moving
_WHOLE_STATUS = ("-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=none")
# Spaces before the path of a status entry: of a changed path, of an unmerged one.
_SPACES = {"1": 8, "u": 10}
_SUBMODULE = "160000"  # the mode of one
# https://user:token@host:443/path, ssh://git@host/path, git@host:path; a path is its own name.
_REMOTE = re.compile(
    r"(?:[a-z+]+://(?:[^@/]*@)?(?P<host>[^/:@]+)(?::\d+)?/|(?:[^@/]+@)(?P<at>[^/:@]+):)(?P<path>.+)"
)


class Reader:
    """Everything that can be asked of a repository. No method changes a ref, an index or a setting.

    The type of `command` ensures that: mypy refuses any other command. A command of two words
    (`config --get`) is run as both.
    """

    def __init__(self, tree: Path, start: GitStart = process.run_once) -> None:
        """`start` runs git once: by default here, with dos's own environment."""
        self.tree = tree
        self._start = start

    def run(
        self, command: ReadCommand, /, *arguments: str, feed: str | None = None, index: str = ""
    ) -> str:
        """Return what git printed.

        Raises GitFailed when git's answer is an error, and GitUnanswered when it gave none.
        """
        done = self.attempt(command, *arguments, feed=feed, index=index)
        return process.output_of(self.tree, (command, *arguments), done)

    def attempt(
        self, command: ReadCommand, /, *arguments: str, feed: str | None = None, index: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """Return a run of git that ended with an answer, which may be a "no".

        Raises GitUnanswered when there is none after several tries.
        """
        once = partial(self.run_once, command, *arguments, feed=feed, index=index)
        return process.run_until_answered(self.tree, (command, *arguments), once)

    def run_once(
        self, command: ReadCommand, /, *arguments: str, feed: str | None = None, index: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """Run git once, whatever its exit code.

        For callers that can tell a "no" from a failure by what git printed, or by asking again.
        """
        return self._start(self.tree, (command, *arguments), feed, index)

    def object_of(self, name: str) -> str | None:
        """Return the object that a ref or a name stands for; None when there is none."""
        try:
            done = self.attempt("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        except NotARepository:
            return None
        return done.stdout.strip() or None

    def commit_of(self, name: str) -> str | None:
        """Return the commit that a ref, a tag or a hash stands for; None when there is none."""
        return self.object_of(f"{name}^{{commit}}")

    def branch(self) -> str | None:
        """Return the branch that is checked out here; None when HEAD is detached."""
        # Not a ReadCommand: with one word more it would write.
        words = ("symbolic-ref", "--quiet", "HEAD")
        once = partial(self._start, self.tree, words, None, "")
        done = process.run_until_answered(self.tree, words, once)
        return done.stdout.strip().removeprefix("refs/heads/") or None

    def target_branch(self, configured: str) -> str:
        """Return the branch that work lands on: the configured one, else the one checked out.

        It is "" when none is configured and HEAD is detached.
        """
        return configured or self.branch() or ""

    def target_ref(self, branch: str, remote: str) -> str:
        """Return the local ref that shows the target branch. Nothing is fetched.

        With a remote that is its recorded state, once there is one; else the branch of this clone.
        """
        shared = shared_ref(branch)
        if remote and self.commit_of(shared):
            return shared
        return f"refs/heads/{branch}"

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether a commit is the other one or an ancestor of it. A missing one is no ancestor."""
        words = ("--is-ancestor", old, new)
        done = self.run_once("merge-base", *words)
        if done.returncode not in process.exit_rule(("merge-base", *words)).answers:
            if self.commit_of(old) is None or self.commit_of(new) is None:
                return False
            done = self.attempt("merge-base", *words)
        return done.returncode == 0

    def commits_between(self, base: str, head: str, *others: str) -> list[str]:
        """Return the commits of a head that neither the base nor one of the others has.

        The oldest comes first.
        """
        excluded = [f"^{other}" for other in others]
        return self.run("rev-list", "--reverse", f"{base}..{head}", *excluded).split()

    def paths_between(self, base: str, head: str) -> list[str]:
        """Return every path that differs, both names of a rename."""
        words = ("-r", "-z", "--no-renames", "--ignore-submodules=none", "--name-only")
        return _records(self.run("diff-tree", *words, base, head))

    def paths_differing_from(self, commit: str) -> list[str]:
        """Return every tracked path whose file or index entry differs from a commit."""
        words = ("-z", "--no-renames", "--name-only")
        files = self.run("diff-index", *words, commit)
        index = self.run("diff-index", *words, "--ignore-submodules=none", "--cached", commit)
        return [*_records(files), *_records(index)]

    def paths_of(self, commit: str) -> list[str]:
        """Return every path in the tree of a commit."""
        return _records(self.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit))

    def staged_paths(self) -> list[str]:
        """Return the paths that are about to be committed.

        Inside a hook of `git commit -a` they are in an index of that command, which is used here.
        """
        words = ("--cached", "-z", "--no-renames", "--name-only")
        return _records(self.run("diff", *words, index=os.environ.get("GIT_INDEX_FILE", "")))

    def dirty_paths(self) -> list[str]:
        """Return changed and untracked paths, without ignored ones.

        A submodule counts also for changes inside it, whatever is configured.
        """
        entries = _records(self.run("status", "--porcelain=v1", *_WHOLE_STATUS))
        return [entry[3:] for entry in entries]

    def changed_submodules(self) -> dict[str, bool]:
        """Return the submodules that differ from the index, and whether they have local changes."""
        changed = {}
        for entry in _records(self.run("status", "--porcelain=v2", *_WHOLE_STATUS)):
            kind, *states, path = entry.split(" ", _SPACES.get(entry[0], 1))
            if kind in _SPACES and states[1].startswith("S"):
                changed[path] = "M" in states[1] or "U" in states[1]
        return changed

    def submodules(self) -> dict[str, str]:
        """Return the path of each submodule by its name, as `.gitmodules` has them."""
        words = ("--null", "--file", ".gitmodules", r"^submodule\..*\.path$")
        paths = {}
        for entry in _records(self.attempt("config --get-regexp", *words).stdout):
            key, _, path = entry.partition("\n")
            paths[key.removeprefix("submodule.").removesuffix(".path")] = path
        return paths

    def submodules_between(self, base: str, head: str) -> dict[str, str]:
        """Return the new commit of every submodule that was moved or added, by its path."""
        words = _records(self.run("diff-tree", "-r", "-z", "--no-renames", "--raw", base, head))
        commits = {}
        for state, path in zip(words[::2], words[1::2], strict=True):
            _, mode, _, commit, _ = state.split(" ")
            if mode == _SUBMODULE:
                commits[path] = commit
        return commits

    def salvage_refs(self) -> list[str]:
        """Return the refs that hold saved work, newest last."""
        return self.run(
            "for-each-ref", "--sort=creatordate", "--format=%(refname)", SALVAGE_REFS
        ).split()

    def root_commit(self) -> str | Unknown:
        """Return the first commit of the history, which all clones of a repository share."""
        if self.commit_of("HEAD") is None:
            return Unknown("the repository has no commit yet")
        roots = self.run("rev-list", "--max-parents=0", "HEAD").split()
        for root in roots:
            # In a shallow clone the history ends at commits that name parents themselves.
            header = self.run("cat-file", "commit", root).partition("\n\n")[0]
            if "\nparent " in header:
                return Unknown(
                    "the clone is shallow, and its history does not go back to the first commit"
                )
        return min(roots)

    def remote(self) -> str:
        """Return the host and path of `origin`.

        It is the same for every URL by which a clone reaches it, and holds no password.
        """
        url = self.attempt("config --get", "remote.origin.url").stdout.strip()
        parts = _REMOTE.match(url)
        address = url
        if parts:
            host = parts["host"] or parts["at"]
            address = f"{host.lower()}/{parts['path'].lstrip('/')}"
        return address.rstrip("/").removesuffix(".git")


def shared_ref(branch: str) -> str:
    """Return the ref that records where a remote's branch was when it was last fetched."""
    return f"refs/dos/shared/heads/{branch}"


class Writer(Reader):
    """A repository for code that changes it: any git command can be run."""

    def run(self, *words: str, feed: str | None = None, index: str = "") -> str:
        """Return what git printed. Raises as `Reader.run` does."""
        done = self.attempt(*words, feed=feed, index=index)
        return process.output_of(self.tree, words, done)

    def attempt(
        self, *words: str, feed: str | None = None, index: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """Return a run of git that ended with an answer, which may be a "no".

        A command that cannot safely be repeated is run once. Raises GitUnanswered when there is no
        answer.
        """
        once = partial(self.run_once, *words, feed=feed, index=index)
        return process.run_until_answered(self.tree, words, once)

    def run_once(
        self, *words: str, feed: str | None = None, index: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """Run git once, whatever its exit code."""
        return self._start(self.tree, words, feed, index)

    def submodule(self, path: str) -> "Writer":
        """Return the repository of a submodule that is checked out at a path."""
        return Writer(self.tree / path)

    def swap_ref(
        self, ref: str, new: str | None, old: str | None, *, verified: str = "", message: str = ""
    ) -> str:
        """Move a ref from `old` to `new`; return why it was not moved, or "" when it was.

        None, or a name of zeros as git writes it, stands for a missing ref. `verified` is a
        `verify` line for git that has to hold in the same transaction. Git exits with 128 when
        another process was faster and also when it dies: where the ref is afterwards tells which.
        """
        if old and not old.strip("0"):
            old = None
        absent = "0" * len(new or old or "")
        script = f"start\n{verified}update {ref} {new or absent} {old or absent}\nprepare\ncommit\n"
        reflog: tuple[str, ...] = ()
        if message:
            reflog = ("--create-reflog", "-m", message)
        why = ""
        for pause in process.PAUSES.delays_before_attempts(process.TRIES):
            time.sleep(pause)
            try:
                self.attempt("update-ref", *reflog, "--stdin", feed=script)
            except GitUnanswered as error:
                why = error.message
            value = new
            if why:
                value = self.object_of(ref)
            if value == new:
                return ""
            if value != old or not self._holds(verified):
                break
            self._remove_stale_locks(ref)
        return why

    def _remove_stale_locks(self, ref: str) -> None:
        """Remove the locks on a ref that a killed git left."""
        folder = self.run("rev-parse", "--path-format=absolute", "--git-common-dir").strip()
        ref_locks.remove_stale_locks(Path(os.path.realpath(folder)), ref)

    def change_ref(
        self, ref: str, change: Callable[[str | None], str], *, message: str = ""
    ) -> None:
        """Move a ref to what `change` makes of its value, and again whenever another moved it.

        A `change` with nothing to do returns what it was given. Raises GitFailed when git refuses
        although no other process moved the ref, or when others never stop moving it.
        """
        unmoved = 0
        for _ in range(MOST_RACES):
            old = self.object_of(ref)
            new = change(old)
            if new == old:
                return
            why = self.swap_ref(ref, new, old, message=message)
            if not why:
                return
            if self.object_of(ref) == old:
                unmoved += 1
            else:
                unmoved = 0
            if unmoved == process.TRIES:
                raise GitFailed(
                    why, hint=f"Try it yourself: git -C {self.tree} update-ref {ref} {new}"
                )
        raise GitFailed(
            f"{ref} changed during all {MOST_RACES} attempts",
            hint="Look for another program that writes it.",
        )

    def _holds(self, verified: str) -> bool:
        """Whether every `verify REF OBJECT` line is still true."""
        for line in verified.splitlines():
            _, ref, expected = line.split(" ")
            if self.object_of(ref) != expected:
                return False
        return True


def _records(text: str) -> list[str]:
    return [record for record in text.split("\0") if record]
