"""Which exit codes of a git command are answers, in one table for every command that we run.

Any other code, 128 and death by a signal included, says nothing: git may have been killed, or met the lock of another
git, or a disk that was full for a moment. Where an absence would be 128, the caller asks in another way.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

# What a reader may run: whatever words follow, no ref, no index and no setting changes.
ReadCommand = Literal[
    "cat-file", "check-ignore", "check-ref-format", "config --get", "config --get-regexp", "diff", "diff-index",
    "diff-tree", "for-each-ref", "grep", "log", "ls-files", "ls-tree", "merge-base", "remote show", "rev-list",
    "rev-parse", "show", "status", "var", "worktree list",
]  # fmt: skip


class Rule(Struct, frozen=True, kw_only=True):
    command: str
    options: tuple[str, ...] = ()  # with all of these among its words
    answers: tuple[int, ...] = (0,)
    is_repeatable: bool = True  # doing it twice does what doing it once does


# A command with options stands before the same command without.
RULES = (
    Rule(
        command="rev-parse", options=("--verify", "--quiet"), answers=(0, 1)
    ),  # 1: there is no such object
    Rule(command="rev-parse"),
    Rule(command="symbolic-ref", options=("--quiet",), answers=(0, 1)),  # 1: a detached HEAD
    Rule(command="merge-base", answers=(0, 1)),  # 1: no ancestor, or none in common
    Rule(command="diff", options=("--quiet",), answers=(0, 1)),
    Rule(command="diff"),
    Rule(command="diff-index", options=("--quiet",), answers=(0, 1)),
    Rule(command="diff-index"),
    Rule(command="diff-tree"),
    Rule(command="config", answers=(0, 1)),  # 1: it is not set
    Rule(command="check-ignore", answers=(0, 1)),  # 1: none of them
    Rule(command="check-ref-format", answers=(0, 1, 128)),  # it looks at its words alone
    Rule(command="grep", answers=(0, 1)),
    Rule(command="merge-tree", answers=(0, 1)),  # 1: with conflicts
    Rule(command="cat-file"),
    Rule(command="for-each-ref"),
    Rule(command="log"),
    Rule(command="ls-files"),
    Rule(command="ls-tree"),
    Rule(command="remote"),
    Rule(command="rev-list"),
    Rule(command="show"),
    Rule(command="status"),
    Rule(command="var"),
    Rule(command="worktree", options=("list",)),
    # What writes objects, an index or files: the second time it writes the same.
    Rule(command="add"),
    Rule(command="checkout"),
    Rule(command="clean"),
    Rule(command="commit-tree"),
    Rule(command="hash-object"),
    Rule(command="read-tree"),
    Rule(command="reset"),
    Rule(command="restore"),
    Rule(command="submodule", answers=(0, 1, 128)),  # a submodule that cannot be fetched
    Rule(command="update-index"),
    Rule(command="worktree", options=("prune",)),
    Rule(command="write-tree"),
    # What moves something from where it was seen: whoever runs it looks how far it came.
    Rule(command="commit", is_repeatable=False),
    Rule(command="rebase", options=("--abort",), answers=(0, 1, 128), is_repeatable=False),
    Rule(command="rebase", answers=(0, 1), is_repeatable=False),  # 1: a conflict
    Rule(command="update-ref", options=("--no-deref",)),
    Rule(command="update-ref", is_repeatable=False),
    Rule(command="worktree", options=("add",), is_repeatable=False),
    # Over the network 128 is also a remote that is away or says no: what it printed tells which.
    Rule(command="fetch", answers=(0, 1, 128), is_repeatable=False),
    Rule(command="ls-remote", answers=(0, 1, 128), is_repeatable=False),
    Rule(command="push", answers=(0, 1, 128), is_repeatable=False),
)
# What 128 says for sure, by git's own words: it will not answer otherwise the next time.
NO_REPOSITORY = "fatal: not a git repository"
MALFORMED = (
    "fatal: refusing to create malformed object",
    "fatal: corrupt commit",
)  # since 2.40, and before
USAGE = 129  # git does not know the words: they will be as wrong the next time


def rule_for(words: Sequence[str]) -> Rule:
    """The rule of a command, from the words after `git`; settings may stand in front of it.

    One that the table does not know answers with 0 alone, and is run once.
    """
    command, *rest = without_settings(words)
    for each in RULES:
        if each.command == command and set(each.options) <= set(rest):
            return each
    return Rule(command=command, is_repeatable=False)


def without_settings(words: Sequence[str]) -> list[str]:
    """The words of a command without the `-c key=value` and the options of git itself in front."""
    left = list(words)
    while left and left[0].startswith("-"):
        left = left[2 if left[0] == "-c" else 1 :]
    return left
