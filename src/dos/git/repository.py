"""Git, as every part of us runs it: in one hardened environment, and with one table of what counts as an answer.

Nothing that lies beside the objects of a repository changes what we see: an agent can write grafts, replacements, a
commit graph or hooks. What git does not answer, because it died or something stood in its way for a moment, is asked
again here, and then raised as GitUnanswered: nobody may take it for a no.
"""

import errno
import os
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dos.errors import GitFailed, GitUnanswered, MalformedObject, NotARepository
from dos.git import exit_codes
from dos.git.exit_codes import ReadCommand, without_settings
from dos.times import Backoff
from dos.unknown import Unknown

# A caller inside a hook exports its own GIT_DIR and index: they are not ours.
_KEPT = {"GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_SSL_CAINFO"}
# Of the shell around us: git and what it starts (ssh, credential helpers, filters) ask the system where they are.
_DIRECTORY = {"PWD", "OLDPWD"}
# For what dos itself commits: a rebase, a salvage. The author of the work stays its author.
AS_DOS = ("-c", "user.name=dos", "-c", "user.email=dos@localhost", "-c", "commit.gpgSign=false")
# For every git of ours. Commits and packs are read themselves, not what somebody noted of them beside.
SAFE = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false",
    "-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false",
    "-c", "protocol.ext.allow=never",  # a remote that is a command to run
    "-c", "advice.graftFileDeprecated=false",  # of the empty file that we name: it would be the last line git says
    "-c", "submodule.recurse=false",  # a checkout would clear what is in them
)  # fmt: skip
# For what judges: nothing that is configured may change the answer.
SAFE_READING = (
    *SAFE, "-c", "core.abbrev=auto", "-c", "core.attributesFile=/dev/null",
    "-c", "log.showSignature=false", "-c", "log.decorate=no", "-c", "log.mailmap=false", "-c", "color.ui=never",
    "-c", "diff.noprefix=false", "-c", "diff.orderFile=/dev/null", "-c", "i18n.logOutputEncoding=UTF-8",
)  # fmt: skip
TIMEOUT_SECONDS = 120.0
TRIES = 4  # of a command that gives no answer
PAUSES = Backoff((0.02, 0.1, 0.4))  # in seconds
MOST_RACES = 200  # for one ref, lost to others that moved it
_FOR_A_MOMENT = (
    errno.EAGAIN,
    errno.ENOMEM,
    errno.EMFILE,
    errno.ENFILE,
)  # no process can be started now
_WHOLE_STATUS = ("-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=none")
_SPACES = {
    "1": 8,
    "u": 10,
}  # before the path of a status entry: of a changed path, of an unmerged one
_SUBMODULE = "160000"  # the mode of one
# https://user:token@host:443/path, ssh://git@host/path, git@host:path; a plain path is its own name.
_REMOTE = re.compile(
    r"(?:[a-z+]+://(?:[^@/]*@)?(?P<host>[^/:@]+)(?::\d+)?/|(?:[^@/]+@)(?P<at>[^/:@]+):)(?P<path>.+)"
)

if TYPE_CHECKING:  # loaded where git is started: most verbs never start it
    import subprocess


def environment() -> dict[str, str]:
    """The hardened environment of every git that we start: nothing of the caller's git, no grafts, no replacements."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _DIRECTORY and (not name.startswith("GIT_") or name in _KEPT)
    }
    return kept | {
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_GRAFT_FILE": "/dev/null",
        "GIT_EDITOR": ":",
        "GIT_SEQUENCE_EDITOR": ":",
        "GIT_PAGER": "cat",
    }


def reading_environment() -> dict[str, str]:
    """For what judges: besides, nothing is fetched to answer a question."""
    return environment() | {"GIT_NO_LAZY_FETCH": "1", "GIT_ATTR_NOSYSTEM": "1"}


class Reader:
    """All that can be asked of a repository. Nothing that it offers changes a ref, an index or a setting.

    That holds by the type of `command`: mypy refuses any other. One of two words is run as both.
    """

    def __init__(self, tree: Path) -> None:
        self.tree = tree

    def run(
        self, command: ReadCommand, /, *arguments: str, feed: str | None = None, index: str = ""
    ) -> str:
        """What git printed; GitFailed when it said no, GitUnanswered when it did not answer."""
        done = self.attempt(command, *arguments, feed=feed, index=index)
        return _printed(self.tree, (command, *arguments), done)

    def attempt(
        self, command: ReadCommand, /, *arguments: str, feed: str | None = None, index: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """A run of git that ended with an answer; GitUnanswered when it has none after several tries."""
        once = partial(self.run_once, command, *arguments, feed=feed, index=index)
        return _answered(self.tree, (command, *arguments), once)

    def run_once(
        self, command: ReadCommand, /, *arguments: str, feed: str | None = None, index: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """One run, whatever its exit code: for who can tell a no from a failure by what it says, or by asking again."""
        return _once(self.tree, (command, *arguments), feed, index)

    def object_of(self, name: str) -> str | None:
        """The object that a ref or a name stands for; None when there is none."""
        try:
            done = self.attempt("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        except NotARepository:
            return None
        return done.stdout.strip() or None

    def commit_of(self, name: str) -> str | None:
        return self.object_of(f"{name}^{{commit}}")

    def branch(self) -> str | None:
        """The branch that is checked out here; None on a detached head."""
        words = ("symbolic-ref", "--quiet", "HEAD")  # it would write with one word more
        done = _answered(self.tree, words, lambda: _once(self.tree, words, None, ""))
        return done.stdout.strip().removeprefix("refs/heads/") or None

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether a commit is the other one or below it. One that is not here is below nothing."""
        words = ("--is-ancestor", old, new)
        first = self.run_once("merge-base", *words)
        if first.returncode not in exit_codes.rule_for(("merge-base", *words)).answers:
            if self.commit_of(old) is None or self.commit_of(new) is None:
                return False
            first = self.attempt("merge-base", *words)
        return first.returncode == 0

    def commits_between(self, base: str, head: str, *others: str) -> list[str]:
        """The commits of a head that neither a base nor one of the others has, the oldest first."""
        return self.run(
            "rev-list", "--reverse", f"{base}..{head}", *(f"^{other}" for other in others)
        ).split()

    def paths_between(self, base: str, head: str) -> list[str]:
        """Every path that differs, both names of a rename."""
        words = ("-r", "-z", "--no-renames", "--ignore-submodules=none", "--name-only")
        return _records(self.run("diff-tree", *words, base, head))

    def paths_differing_from(self, commit: str) -> list[str]:
        """Every tracked path whose file or index entry is not as a commit has it."""
        words = ("-z", "--no-renames", "--name-only")
        return [
            *_records(self.run("diff-index", *words, commit)),
            *_records(
                self.run("diff-index", *words, "--ignore-submodules=none", "--cached", commit)
            ),
        ]

    def paths_of(self, commit: str) -> list[str]:
        return _records(self.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit))

    def staged_paths(self) -> list[str]:
        """What is about to be committed: inside a hook of `git commit -a` that is in an index of its own."""
        words = ("--cached", "-z", "--no-renames", "--name-only")
        return _records(self.run("diff", *words, index=os.environ.get("GIT_INDEX_FILE", "")))

    def dirty_paths(self) -> list[str]:
        """Changed and untracked, the ignored left out; a submodule also for what is in it, whatever is configured."""
        return [
            entry[3:] for entry in _records(self.run("status", "--porcelain=v1", *_WHOLE_STATUS))
        ]

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
        asked = ("--null", "--file", ".gitmodules", r"^submodule\..*\.path$")
        entries = (
            entry.partition("\n")
            for entry in _records(self.attempt("config --get-regexp", *asked).stdout)
        )
        return {
            key.removeprefix("submodule.").removesuffix(".path"): path for key, _, path in entries
        }

    def submodules_between(self, base: str, head: str) -> dict[str, str]:
        """Path -> commit of every submodule that was moved or added."""
        words = _records(self.run("diff-tree", "-r", "-z", "--no-renames", "--raw", base, head))
        pairs = zip(words[::2], words[1::2], strict=True)
        return {
            path: state.split(" ")[3] for state, path in pairs if state.split(" ")[1] == _SUBMODULE
        }

    def salvage_refs(self) -> list[str]:
        """The refs that hold saved work, newest last."""
        return self.run(
            "for-each-ref", "--sort=creatordate", "--format=%(refname)", "refs/dos/salvage/"
        ).split()

    def root_commit(self) -> str | Unknown:
        """The first commit of the history: what two clones of one repository share."""
        if self.commit_of("HEAD") is None:
            return Unknown("the repository has no commit yet")
        found = self.run("rev-list", "--max-parents=0", "HEAD").split()
        # In a shallow clone the history ends at commits that say themselves that they have parents.
        headers = [self.run("cat-file", "commit", root).partition("\n\n")[0] for root in found]
        if any("\nparent " in header for header in headers):
            return Unknown(
                "the clone is shallow, and its history does not go back to the first commit"
            )
        return min(found)

    def remote(self) -> str:
        """The shared repository as host and path: the same however a clone reaches it, and without a password."""
        url = self.attempt("config --get", "remote.origin.url").stdout.strip()
        found = _REMOTE.match(url)
        place = (
            f"{(found['host'] or found['at']).lower()}/{found['path'].lstrip('/')}"
            if found
            else url
        )
        return place.rstrip("/").removesuffix(".git")


class Writer(Reader):
    """Git for those who act."""

    def run(self, *words: str, feed: str | None = None, index: str = "") -> str:
        """What git printed; GitFailed when it said no, GitUnanswered when it did not answer."""
        return _printed(self.tree, words, self.attempt(*words, feed=feed, index=index))

    def attempt(
        self, *words: str, feed: str | None = None, index: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """A run of git that ended with an answer; GitUnanswered when it has none after several tries.

        A command that cannot simply be repeated is run once.
        """
        return _answered(self.tree, words, partial(self.run_once, *words, feed=feed, index=index))

    def run_once(
        self, *words: str, feed: str | None = None, index: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """One run, whatever its exit code."""
        return _once(self.tree, words, feed, index)

    def swap_ref(
        self, ref: str, new: str | None, old: str | None, *, verified: str = "", message: str = ""
    ) -> str:
        """Move a ref from where it was seen to a new value; why not, empty when it is there.

        None, or a name of zeros as git has it, stands for a ref that is not there. `verified` is a line for git that
        has to hold in the same transaction. Git ends with 128 when another was quicker and also when it dies: where
        the ref is now tells which.
        """
        if old and not old.strip("0"):
            old = None
        absent = "0" * len(new or old or "")
        script = f"start\n{verified}update {ref} {new or absent} {old or absent}\nprepare\ncommit\n"
        reflog = ("--create-reflog", "-m", message) if message else ()
        why = ""
        for pause in PAUSES.delays_before_attempts(TRIES):
            time.sleep(pause)
            try:
                self.attempt("update-ref", *reflog, "--stdin", feed=script)
            except GitUnanswered as error:
                why = error.message
            at = self.object_of(ref) if why else new
            if at == new:
                return ""
            if at != old or not self._holds(verified):
                break
        return why

    def change_ref(
        self, ref: str, change: Callable[[str | None], str], *, message: str = ""
    ) -> None:
        """Move a ref to what `change` makes of where it is, and ask it again whenever somebody else was quicker.

        A change that has nothing to do returns what it was given. Raises GitFailed when git refuses though nobody else
        moved the ref, or when others never stop moving it.
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
            unmoved = unmoved + 1 if self.object_of(ref) == old else 0
            if unmoved == TRIES:
                raise GitFailed(
                    why, hint=f"Try it yourself: git -C {self.tree} update-ref {ref} {new}"
                )
        raise GitFailed(
            f"{ref} changed during all {MOST_RACES} attempts",
            hint="Look for another program that writes it.",
        )

    def _holds(self, verified: str) -> bool:
        """Whether every `verify REF OBJECT` line is as it says."""
        lines = (line.split(" ") for line in verified.splitlines())
        return all(self.object_of(ref) == wanted for _, ref, wanted in lines)


def _split(words: Sequence[str]) -> list[str]:
    """With the command as git takes it: `config --get` is two words."""
    return [*words[0].split(" "), *words[1:]]


def _printed(tree: Path, words: Sequence[str], done: "subprocess.CompletedProcess[str]") -> str:
    if done.returncode != 0:
        raise _failed(GitFailed, tree, words, done)
    return done.stdout


def _answered(
    tree: Path, words: Sequence[str], once: Callable[[], "subprocess.CompletedProcess[str]"]
) -> "subprocess.CompletedProcess[str]":
    rule = exit_codes.rule_for(_split(words))
    for pause in PAUSES.delays_before_attempts(TRIES if rule.is_repeatable else 1):
        time.sleep(pause)
        done = once()
        if done.returncode in rule.answers:
            return done
        if done.returncode == exit_codes.USAGE:
            raise _failed(GitFailed, tree, words, done)
        if exit_codes.NO_REPOSITORY in done.stderr:
            raise _failed(NotARepository, tree, words, done)
        if any(said in done.stderr for said in exit_codes.MALFORMED):
            raise _failed(MalformedObject, tree, words, done)
    raise _failed(GitUnanswered, tree, words, done)


def _once(
    tree: Path, words: Sequence[str], feed: str | None, index: str
) -> "subprocess.CompletedProcess[str]":
    import subprocess

    from dos.git import drivers

    surroundings = environment()
    try:
        # Not as text: that would make a line end of a carriage return in the name of a file.
        done = subprocess.run(
            ["git", *SAFE, *drivers.settings(tree, surroundings), *_split(words)],
            cwd=tree,
            input=None if feed is None else feed.encode("utf-8", "surrogateescape"),
            stdin=subprocess.DEVNULL if feed is None else None,
            capture_output=True,
            env=surroundings | ({"GIT_INDEX_FILE": index} if index else {}),
            timeout=TIMEOUT_SECONDS,
        )
    except OSError as error:
        raise start_failure(tree, error) from error
    except subprocess.TimeoutExpired as error:
        raise GitUnanswered(
            f"git {_shown(words)} took longer than {TIMEOUT_SECONDS:g} s in {tree}",
            hint=f"Try it yourself: git -C {tree} {_shown(words, most=20)}",
        ) from error
    said, complained = (
        each.decode("utf-8", "surrogateescape") for each in (done.stdout, done.stderr)
    )
    return subprocess.CompletedProcess(done.args, done.returncode, said, complained)


def _failed(
    kind: type[GitFailed],
    tree: Path,
    words: Sequence[str],
    done: "subprocess.CompletedProcess[str]",
) -> GitFailed:
    said = (done.stderr or done.stdout).strip().splitlines()
    return kind(
        f"git {_shown(words)} in {tree}: {said[-1] if said else describe_exit(done.returncode)}",
        hint=f"Try it yourself: git -C {tree} {_shown(words, most=20)}",
    )


def version() -> tuple[int, ...] | Unknown:
    import subprocess

    try:
        said = subprocess.run(
            ["git", "--version"], capture_output=True, text=True, timeout=10
        ).stdout
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        return Unknown(str(error))
    numbers = said.split()[2].split(".") if len(said.split()) > 2 else []
    return tuple(int(number) for number in numbers[:3] if number.isdigit()) or Unknown(
        f"git said {said.strip()!r}"
    )


def _records(text: str) -> list[str]:
    return [record for record in text.split("\0") if record]


def start_failure(tree: Path, error: OSError) -> GitFailed:
    kind = GitUnanswered if error.errno in _FOR_A_MOMENT else GitFailed
    return kind(f"git cannot be run in {tree}: {error.strerror}", hint="Install git 2.38+.")


def describe_exit(code: int) -> str:
    """How a git ended that said nothing."""
    return f"it was ended by signal {-code}" if code < 0 else f"exit {code}"


def _shown(words: Sequence[str], most: int = 2) -> str:
    """The command as a person would type it, without our own settings in front."""
    return " ".join(without_settings(words)[:most])
