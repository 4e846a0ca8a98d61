"""Shells that are started by a command: whether their script means what is read in it here."""

import re
from collections.abc import Sequence

from dos.permission.shell.name_table import name_table
from dos.permission.shell.options import Arguments
from dos.permission.shell.syntax.tokens import Word

SHELLS = name_table("sh bash dash zsh ksh ash fish")
_PLAIN_SHELLS = name_table("sh dash ash")
_NOT_PLAIN = re.compile(r"\{|(?<!\$)\(\s*\(")
# Options with which a shell runs its script and nothing else, and reads it as it is read here.
_SHELL_OPTIONS = (frozenset("ceflnuvx"), name_table("login norc noprofile posix version help"))
_SHELL_MODES = name_table("errexit nounset noglob pipefail verbose xtrace")


def is_plain(name: str, script: str) -> bool:
    """Whether a shell has everything that is used in a script."""
    return name not in _PLAIN_SHELLS or not _NOT_PLAIN.search(script)


def reads_as_told(found: Arguments, words: Sequence[Word]) -> bool:
    """Whether the options of a shell are known, and change nothing of what its script means."""
    letters, names = _SHELL_OPTIONS
    modes = {word.text for word in found.all_values("o")}
    is_known = found.letters <= letters and found.names <= names and found.valued.keys() <= {"o"}
    has_expanded = any(not word.is_literal for word in words[: len(words) - len(found.operands)])
    return is_known and modes <= _SHELL_MODES and not has_expanded
