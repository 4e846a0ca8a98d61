"""Reads of a git repository through its plumbing, with the caller's environment and hooks kept out."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from dos.errors import GitFailed
from dos.records.unknown import Unknown

# A caller inside a hook exports its own GIT_DIR and index: they are not ours.
_KEPT = {"GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_SSL_CAINFO"}
# Of the shell around us: git and what it starts (ssh, credential helpers, filters) ask the system where they are.
_DIRECTORY = {"PWD", "OLDPWD"}
# For what dos itself commits: a rebase, a salvage. The author of the work stays its author.
AS_DOS = ("-c", "user.name=dos", "-c", "user.email=dos@localhost", "-c", "commit.gpgSign=false")
_SAFE = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false",
    "-c", "submodule.recurse=false",  # a checkout would clear what is in them
)  # fmt: skip
# For what judges: nothing that is configured, grafted or cached beside the objects may change the answer.
SAFE_READING = (
    *_SAFE, "-c", "core.commitGraph=false", "-c", "core.abbrev=auto", "-c", "core.attributesFile=/dev/null",
    "-c", "log.showSignature=false", "-c", "log.decorate=no", "-c", "log.mailmap=false", "-c", "color.ui=never",
    "-c", "diff.noprefix=false", "-c", "diff.orderFile=/dev/null", "-c", "i18n.logOutputEncoding=UTF-8",
)  # fmt: skip
TIMEOUT_SECONDS = 120.0
_WHOLE_STATUS = ("-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=none")
_SPACES = {"1": 8, "u": 10}  # before the path of a status entry: of a changed path, of an unmerged one
_SUBMODULE = "160000"  # the mode of one
# https://user:token@host:443/path, ssh://git@host/path, git@host:path; a plain path is its own name.
_REMOTE = re.compile(r"(?:[a-z+]+://(?:[^@/]*@)?(?P<host>[^/:@]+)(?::\d+)?/|(?:[^@/]+@)(?P<at>[^/:@]+):)(?P<path>.+)")

if TYPE_CHECKING:  # loaded where git is started: most verbs never start it
    import subprocess


def environment() -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _DIRECTORY and (not name.startswith("GIT_") or name in _KEPT)
    }
    return kept | {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1"}


def reading_environment() -> dict[str, str]:
    """For what judges: no grafts, and nothing is fetched to answer a question."""
    return environment() | {"GIT_GRAFT_FILE": "/dev/null", "GIT_NO_LAZY_FETCH": "1", "GIT_ATTR_NOSYSTEM": "1"}


class Git:
    def __init__(self, tree: Path) -> None:
        self.tree = tree

    def run(self, *arguments: str, feed: str | None = None, index: str = "") -> str:
        """What git printed; GitFailed when it said no."""
        done = self.attempt(*arguments, feed=feed, index=index)
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip().splitlines()
            raise GitFailed(
                f"git {_shown(arguments)} in {self.tree}: {said[-1] if said else f'exit {done.returncode}'}",
                hint=f"Try it yourself: git -C {self.tree} {_shown(arguments, most=20)}",
            )
        return done.stdout

    def attempt(self, *arguments: str, feed: str | None = None, index: str = "") -> "subprocess.CompletedProcess[str]":
        import subprocess

        try:
            # Not as text: that would make a line end of a carriage return in the name of a file.
            done = subprocess.run(
                ["git", *_SAFE, *arguments],
                cwd=self.tree,
                input=None if feed is None else feed.encode("utf-8", "surrogateescape"),
                stdin=subprocess.DEVNULL if feed is None else None,
                capture_output=True,
                env=environment() | ({"GIT_INDEX_FILE": index} if index else {}),
                timeout=TIMEOUT_SECONDS,
            )
        except OSError as error:
            raise GitFailed(f"git cannot be run in {self.tree}: {error.strerror}", hint="Install git 2.38+.") from error
        except subprocess.TimeoutExpired as error:
            raise GitFailed(f"git {_shown(arguments)} took longer than {TIMEOUT_SECONDS:g} s in {self.tree}") from error
        said, complained = (each.decode("utf-8", "surrogateescape") for each in (done.stdout, done.stderr))
        return subprocess.CompletedProcess(done.args, done.returncode, said, complained)

    def commit_of(self, name: str) -> str | None:
        done = self.attempt("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        return done.stdout.strip() or None

    def branch(self) -> str | None:
        """The branch that is checked out here; None on a detached head."""
        return self.attempt("symbolic-ref", "--quiet", "HEAD").stdout.strip().removeprefix("refs/heads/") or None

    def is_ancestor(self, old: str, new: str) -> bool:
        return self.attempt("merge-base", "--is-ancestor", old, new).returncode == 0

    def commits_between(self, base: str, head: str) -> list[str]:
        return self.run("rev-list", "--reverse", f"{base}..{head}").split()

    def paths_between(self, base: str, head: str) -> list[str]:
        """Every path that differs, both names of a rename."""
        words = ("diff-tree", "-r", "-z", "--no-renames", "--ignore-submodules=none", "--name-only")
        return _records(self.run(*words, base, head))

    def paths_unlike(self, commit: str) -> list[str]:
        """Every tracked path whose file or index entry is not as a commit has it."""
        words = ("diff-index", "-z", "--no-renames", "--name-only")
        return [
            *_records(self.run(*words, commit)),
            *_records(self.run(*words, "--ignore-submodules=none", "--cached", commit)),
        ]

    def paths_of(self, commit: str) -> list[str]:
        return _records(self.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit))

    def staged_paths(self) -> list[str]:
        """What is about to be committed: inside a hook of `git commit -a` that is in an index of its own."""
        words = ("diff", "--cached", "-z", "--no-renames", "--name-only")
        return _records(self.run(*words, index=os.environ.get("GIT_INDEX_FILE", "")))

    def dirty_paths(self) -> list[str]:
        """Changed and untracked, the ignored left out; a submodule also for what is in it, whatever is configured."""
        return [entry[3:] for entry in _records(self.run("status", "--porcelain=v1", *_WHOLE_STATUS))]

    def changed_submodules(self) -> dict[str, bool]:
        """The submodules that are not as recorded, with whether they hold changes that nobody committed."""
        found = {}
        for entry in _records(self.run("status", "--porcelain=v2", *_WHOLE_STATUS)):
            kind, *states, path = entry.split(" ", _SPACES.get(entry[0], 1))
            if kind in _SPACES and states[1].startswith("S"):
                found[path] = "M" in states[1] or "U" in states[1]
        return found

    def submodules(self) -> dict[str, str]:
        """Name -> path, as `.gitmodules` has them."""
        asked = ("config", "--null", "--file", ".gitmodules", "--get-regexp", r"^submodule\..*\.path$")
        entries = (entry.partition("\n") for entry in _records(self.attempt(*asked).stdout))
        return {key.removeprefix("submodule.").removesuffix(".path"): path for key, _, path in entries}

    def submodules_between(self, base: str, head: str) -> dict[str, str]:
        """Path -> commit of every submodule that was moved or added."""
        words = _records(self.run("diff-tree", "-r", "-z", "--no-renames", "--raw", base, head))
        pairs = zip(words[::2], words[1::2], strict=True)
        return {path: state.split(" ")[3] for state, path in pairs if state.split(" ")[1] == _SUBMODULE}

    def salvaged(self) -> list[str]:
        """The refs that hold saved work, newest last."""
        done = self.attempt("for-each-ref", "--sort=creatordate", "--format=%(refname)", "refs/dos/salvage/")
        return done.stdout.split()

    def root_commit(self) -> str | Unknown:
        """The first commit of the history: what two clones of one repository share."""
        found = self.attempt("rev-list", "--max-parents=0", "HEAD").stdout.split()
        if not found:
            return Unknown("the repository has no commit yet")
        # In a shallow clone the history ends at commits that say themselves that they have parents.
        headers = [self.run("cat-file", "commit", root).partition("\n\n")[0] for root in found]
        if any("\nparent " in header for header in headers):
            return Unknown("the clone is shallow, and its history does not go back to the first commit")
        return min(found)

    def remote(self) -> str:
        """The shared repository as host and path: the same however a clone reaches it, and without a password."""
        url = self.attempt("config", "--get", "remote.origin.url").stdout.strip()
        found = _REMOTE.match(url)
        place = f"{(found['host'] or found['at']).lower()}/{found['path'].lstrip('/')}" if found else url
        return place.rstrip("/").removesuffix(".git")


def version() -> tuple[int, ...] | Unknown:
    import subprocess

    try:
        said = subprocess.run(["git", "--version"], capture_output=True, text=True, timeout=10).stdout
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        return Unknown(str(error))
    numbers = said.split()[2].split(".") if len(said.split()) > 2 else []
    return tuple(int(number) for number in numbers[:3] if number.isdigit()) or Unknown(f"git said {said.strip()!r}")


def _records(text: str) -> list[str]:
    return [record for record in text.split("\0") if record]


def _shown(arguments: tuple[str, ...], most: int = 2) -> str:
    """The command as a person would type it, without our own settings in front."""
    words = list(arguments)
    while words and words[0] == "-c":
        words = words[2:]
    return " ".join(words[:most])
