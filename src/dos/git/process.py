"""How dos starts git: one hardened environment, and retries of commands that gave no answer.

An agent can write grafts, replacement refs, a commit graph or hooks beside the objects of a
repository. Nothing of that changes what git shows here. A git that died, or that met a lock or a
full disk for a moment, is started again; after that GitUnanswered is raised, so that a missing
answer is never taken for a "no".
"""

import errno
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from dos.errors import GitFailed, GitUnanswered, MalformedObject, NotARepository
from dos.times import Backoff
from dos.unknown import Unknown

if TYPE_CHECKING:  # imported where git is started: most verbs never start it
    import subprocess

    Completed = subprocess.CompletedProcess[str]

# Which exit codes are answers
#
# One table for every command that dos runs. Any code that is not in it, among them 128 and death by
# a signal, answers nothing: git may have been killed, or have met the lock of another git or a disk
# that was full for a moment. Where a missing thing would be 128, the caller asks in another way.

# What a reader may run: with any arguments, no ref, no index and no setting changes.
ReadCommand = Literal[
    "cat-file", "check-ignore", "check-ref-format", "config --get", "config --get-regexp", "diff",
    "diff-index", "diff-tree", "for-each-ref", "grep", "log", "ls-files", "ls-tree", "merge-base",
    "remote show", "rev-list", "rev-parse", "show", "status", "var", "worktree list",
]  # fmt: skip


class ExitRule(Struct, frozen=True, kw_only=True):
    """The exit codes of a command that are answers, and whether it can be run again."""

    command: str
    options: tuple[str, ...] = ()  # the rule applies when all of these are among the words
    answers: tuple[int, ...] = (0,)
    is_repeatable: bool = True  # running it twice has the effect of running it once


# A rule with options comes before the rule of the same command without.
EXIT_RULES = (
    ExitRule(command="rev-parse", options=("--verify", "--quiet"), answers=(0, 1)),  # 1: no object
    ExitRule(command="rev-parse"),
    ExitRule(command="symbolic-ref", options=("--quiet",), answers=(0, 1)),  # 1: a detached HEAD
    ExitRule(command="merge-base", answers=(0, 1)),  # 1: no ancestor, or none in common
    ExitRule(command="diff", options=("--quiet",), answers=(0, 1)),
    ExitRule(command="diff"),
    ExitRule(command="diff-index", options=("--quiet",), answers=(0, 1)),
    ExitRule(command="diff-index"),
    ExitRule(command="diff-tree"),
    ExitRule(command="config", answers=(0, 1)),  # 1: it is not set
    ExitRule(command="check-ignore", answers=(0, 1)),  # 1: none of them
    ExitRule(command="check-ref-format", answers=(0, 1, 128)),  # it looks at its words alone
    ExitRule(command="grep", answers=(0, 1)),
    ExitRule(command="merge-tree", answers=(0, 1)),  # 1: with conflicts
    ExitRule(command="cat-file"),
    ExitRule(command="for-each-ref"),
    ExitRule(command="log"),
    ExitRule(command="ls-files"),
    ExitRule(command="ls-tree"),
    ExitRule(command="remote"),
    ExitRule(command="rev-list"),
    ExitRule(command="show"),
    ExitRule(command="status"),
    ExitRule(command="var"),
    ExitRule(command="worktree", options=("list",)),
    # Commands that write objects, an index or files: the second run writes the same.
    ExitRule(command="add"),
    ExitRule(command="checkout"),
    ExitRule(command="clean"),
    ExitRule(command="commit-tree"),
    ExitRule(command="hash-object"),
    ExitRule(command="read-tree"),
    ExitRule(command="reset"),
    ExitRule(command="restore"),
    ExitRule(command="submodule", answers=(0, 1, 128)),  # a submodule that cannot be fetched
    ExitRule(command="update-index"),
    ExitRule(command="worktree", options=("prune",)),
    ExitRule(command="write-tree"),
    # Commands that move something from where it was seen: the caller looks how far they came.
    ExitRule(command="commit", is_repeatable=False),
    ExitRule(command="rebase", options=("--abort",), answers=(0, 1, 128), is_repeatable=False),
    ExitRule(command="rebase", answers=(0, 1), is_repeatable=False),  # 1: a conflict
    ExitRule(command="update-ref", options=("--no-deref",)),
    ExitRule(command="update-ref", is_repeatable=False),
    ExitRule(command="worktree", options=("add",), is_repeatable=False),
    ExitRule(command="index-pack", is_repeatable=False),  # its input is a stream
    # Over the network 128 is also a remote that is away or refuses: the output tells which.
    ExitRule(command="fetch", answers=(0, 1, 128), is_repeatable=False),
    ExitRule(command="ls-remote", answers=(0, 1, 128), is_repeatable=False),
    ExitRule(command="push", answers=(0, 1, 128), is_repeatable=False),
)
# Texts of git by which 128 is an answer after all: the next run would print the same.
NO_REPOSITORY = "fatal: not a git repository"
# Of git 2.40 and later, and of older ones.
MALFORMED = ("fatal: refusing to create malformed object", "fatal: corrupt commit")
USAGE = 129  # git does not know the words: a further run does not help


def exit_rule(words: Sequence[str]) -> ExitRule:
    """Return the rule of a command, from the words after `git`; settings may come before it.

    A command that is not in the table answers with 0 alone and is run once.
    """
    command, *arguments = without_settings(words)
    for rule in EXIT_RULES:
        if rule.command == command and set(rule.options) <= set(arguments):
            return rule
    return ExitRule(command=command, is_repeatable=False)


def without_settings(words: Sequence[str]) -> list[str]:
    """Return the words of a command without git's own options before it (`-c key=value`)."""
    rest = list(words)
    while rest and rest[0].startswith("-"):
        length = 2 if rest[0] == "-c" else 1
        rest = rest[length:]
    return rest


# How git is started

# A caller inside a hook exports its own GIT_DIR and index. Only these are passed on.
_KEPT = {"GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_SSL_CAINFO"}
# The shell's idea of the directory: git and its children (ssh, filters) are to ask the system.
_DIRECTORY = {"PWD", "OLDPWD"}
# For every git that dos starts. Commits and packs are read themselves, not notes about them.
SAFE = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false",
    "-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false",
    "-c", "pack.useBitmaps=false",
    "-c", "protocol.ext.allow=never",  # a remote that is a command to run
    # About the empty graft file that we name: it would be the last line that git prints.
    "-c", "advice.graftFileDeprecated=false",
    "-c", "submodule.recurse=false",  # a checkout would clear what is in them
)  # fmt: skip
# For reads that decide a verdict: no configuration may change the answer.
SAFE_READING = (
    *SAFE, "-c", "core.abbrev=auto", "-c", "core.attributesFile=/dev/null",
    "-c", "log.showSignature=false", "-c", "log.decorate=no", "-c", "log.mailmap=false",
    "-c", "color.ui=never", "-c", "diff.noprefix=false", "-c", "diff.orderFile=/dev/null",
    "-c", "i18n.logOutputEncoding=UTF-8",
)  # fmt: skip
TIMEOUT_SECONDS = 120.0
NO_VARIABLES: Mapping[str, str] = {}
TRIES = 4  # of a command that gives no answer
PAUSES = Backoff((0.02, 0.1, 0.4))  # in seconds
# Errors of a system that can start no process for a moment.
_TRANSIENT = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)


# Commands that reach a remote, and so may need the user's tokens.
_OVER_NETWORK = frozenset({"clone", "fetch", "ls-remote", "push", "remote", "submodule"})


def environment(command: str = "") -> dict[str, str]:
    """Return the environment of every git that dos starts.

    It has nothing of the caller's git, and disables grafts, replacement refs and prompts. Tokens
    are handed to commands that reach a remote, and to no others: those may run the filters of a
    repository.
    """
    from dos.agents.homes.variables import public_variables

    inherited: Mapping[str, str] = os.environ
    if command not in _OVER_NETWORK:
        inherited = public_variables(os.environ)
    kept = {
        name: value
        for name, value in inherited.items()
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
    """Return the environment for reads that decide a verdict: nothing is fetched to answer one."""
    return environment() | {"GIT_NO_LAZY_FETCH": "1", "GIT_ATTR_NOSYSTEM": "1"}


# Runs git once in a tree: the words after `git`, its standard input, its index file.
GitStart = Callable[[Path, Sequence[str], str | None, str], "Completed"]


def run_once(
    tree: Path,
    words: Sequence[str],
    feed: str | None,
    index: str,
    *,
    variables: Mapping[str, str] = NO_VARIABLES,
) -> "Completed":
    """Run git once, whatever its exit code; `feed` is its standard input, `index` its index file.

    `variables` are added to its environment, such as GIT_DIR of a tree without a `.git`.
    Raises GitFailed if git cannot be started, and GitUnanswered if it takes too long.
    """
    import subprocess

    from dos.git import drivers

    own = environment(exit_rule(split_command(words)).command) | dict(variables)
    command = ["git", *SAFE, *drivers.settings(tree, own), *split_command(words)]
    if index:
        own["GIT_INDEX_FILE"] = index
    try:
        # Bytes, not text: Python would make a line end of a carriage return in a file's name.
        done = subprocess.run(
            command,
            cwd=tree,
            input=None if feed is None else feed.encode("utf-8", "surrogateescape"),
            stdin=subprocess.DEVNULL if feed is None else None,
            capture_output=True,
            env=own,
            timeout=TIMEOUT_SECONDS,
        )
    except OSError as error:
        raise start_failure(tree, error) from error
    except subprocess.TimeoutExpired as error:
        raise GitUnanswered(
            f"git {_command_text(words)} took longer than {TIMEOUT_SECONDS:g} s in {tree}",
            hint=f"Try it yourself: git -C {tree} {_command_text(words, longest=20)}",
        ) from error
    output = done.stdout.decode("utf-8", "surrogateescape")
    errors = done.stderr.decode("utf-8", "surrogateescape")
    return subprocess.CompletedProcess(done.args, done.returncode, output, errors)


def run_until_answered(
    tree: Path, words: Sequence[str], attempt: Callable[[], "Completed"]
) -> "Completed":
    """Call `attempt` until git ends with an exit code that is an answer, and return that run.

    A command that cannot safely be repeated is run once. Raises NotARepository, MalformedObject or
    GitFailed where a further run cannot help, and GitUnanswered after the last one.
    """
    rule = exit_rule(split_command(words))
    tries = 1
    if rule.is_repeatable:
        tries = TRIES
    for pause in PAUSES.delays_before_attempts(tries):
        time.sleep(pause)
        done = attempt()
        if done.returncode in rule.answers:
            return done
        if done.returncode == USAGE:
            raise failure(GitFailed, tree, words, done)
        if NO_REPOSITORY in done.stderr:
            raise failure(NotARepository, tree, words, done)
        if any(text in done.stderr for text in MALFORMED):
            raise failure(MalformedObject, tree, words, done)
    raise failure(GitUnanswered, tree, words, done)


def output_of(tree: Path, words: Sequence[str], done: "Completed") -> str:
    """Return what a run printed. Raises GitFailed for any exit code but 0."""
    if done.returncode != 0:
        raise failure(GitFailed, tree, words, done)
    return done.stdout


def failure(
    kind: type[GitFailed], tree: Path, words: Sequence[str], done: "Completed"
) -> GitFailed:
    """Return the error for a failed run: the last line that git printed, and how to repeat it."""
    lines = (done.stderr or done.stdout).strip().splitlines()
    reason = _describe_exit(done.returncode)
    if lines:
        reason = lines[-1]
    return kind(
        f"git {_command_text(words)} in {tree}: {reason}",
        hint=f"Try it yourself: git -C {tree} {_command_text(words, longest=20)}",
    )


def start_failure(tree: Path, error: OSError) -> GitFailed:
    """Return the error for a git that could not be started."""
    kind = GitUnanswered if error.errno in _TRANSIENT else GitFailed
    return kind(f"git cannot be run in {tree}: {error.strerror}", hint="Install git 2.38+.")


def split_command(words: Sequence[str]) -> list[str]:
    """Return the words with the command as git takes it: `config --get` becomes two words."""
    return [*words[0].split(" "), *words[1:]]


def version() -> tuple[int, ...] | Unknown:
    """Return the version of the installed git, or Unknown if it cannot be run or read."""
    import subprocess

    try:
        done = subprocess.run(["git", "--version"], capture_output=True, text=True, timeout=10)
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        return Unknown(str(error))
    words = done.stdout.split()
    numbers: list[str] = []
    if len(words) > 2:
        numbers = words[2].split(".")[:3]
    found = tuple(int(number) for number in numbers if number.isdigit())
    return found or Unknown(f"`git --version` printed {done.stdout.strip()!r}")


def _describe_exit(code: int) -> str:
    """Say how a git ended that printed nothing."""
    if code < 0:
        return f"it was ended by signal {-code}"
    return f"exit {code}"


def _command_text(words: Sequence[str], longest: int = 2) -> str:
    """Return the command as a person would type it, without the settings that dos adds."""
    return " ".join(without_settings(words)[:longest])
