"""Which exit codes of a git command are answers, in one table for every command that dos runs.

Any other code, among them 128 and death by a signal, answers nothing: git may have been killed, or
have met the lock of another git or a disk that was full for a moment. Where a missing thing would
be 128, the caller asks in another way.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

# What a reader may run: with any arguments, no ref, no index and no setting changes.
ReadCommand = Literal[
    "cat-file", "check-ignore", "check-ref-format", "config --get", "config --get-regexp", "diff",
    "diff-index", "diff-tree", "for-each-ref", "grep", "log", "ls-files", "ls-tree", "merge-base",
    "remote show", "rev-list", "rev-parse", "show", "status", "var", "worktree list",
]  # fmt: skip


class Rule(Struct, frozen=True, kw_only=True):
    """The exit codes of a command that are answers, and whether it can be run again."""

    command: str
    options: tuple[str, ...] = ()  # the rule applies when all of these are among the words
    answers: tuple[int, ...] = (0,)
    is_repeatable: bool = True  # running it twice has the effect of running it once


# A rule with options comes before the rule of the same command without.
RULES = (
    Rule(command="rev-parse", options=("--verify", "--quiet"), answers=(0, 1)),  # 1: no object
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
    # Commands that write objects, an index or files: the second run writes the same.
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
    # Commands that move something from where it was seen: the caller looks how far they came.
    Rule(command="commit", is_repeatable=False),
    Rule(command="rebase", options=("--abort",), answers=(0, 1, 128), is_repeatable=False),
    Rule(command="rebase", answers=(0, 1), is_repeatable=False),  # 1: a conflict
    Rule(command="update-ref", options=("--no-deref",)),
    Rule(command="update-ref", is_repeatable=False),
    Rule(command="worktree", options=("add",), is_repeatable=False),
    # Over the network 128 is also a remote that is away or refuses: the output tells which.
    Rule(command="fetch", answers=(0, 1, 128), is_repeatable=False),
    Rule(command="ls-remote", answers=(0, 1, 128), is_repeatable=False),
    Rule(command="push", answers=(0, 1, 128), is_repeatable=False),
)
# Texts of git by which 128 is an answer after all: the next run would print the same.
NO_REPOSITORY = "fatal: not a git repository"
# Of git 2.40 and later, and of older ones.
MALFORMED = ("fatal: refusing to create malformed object", "fatal: corrupt commit")
USAGE = 129  # git does not know the words: a further run does not help


def rule_for(words: Sequence[str]) -> Rule:
    """Return the rule of a command, from the words after `git`; settings may come before it.

    A command that is not in the table answers with 0 alone and is run once.
    """
    command, *arguments = without_settings(words)
    for rule in RULES:
        if rule.command == command and set(rule.options) <= set(arguments):
            return rule
    return Rule(command=command, is_repeatable=False)


def without_settings(words: Sequence[str]) -> list[str]:
    """Return the words of a command without git's own options before it (`-c key=value`)."""
    rest = list(words)
    while rest and rest[0].startswith("-"):
        length = 2 if rest[0] == "-c" else 1
        rest = rest[length:]
    return rest
