"""The commands of the skills with their placeholders filled in."""

import re
import shlex
from collections.abc import Mapping

from dos.skills.io import packaged

# Capital words that are no part of a flag or a variable, nor the kind of a decision.
PLACEHOLDER = re.compile(r"(?<![\w$-])(?<!--kind )\"?[A-Z][A-Z_]+\"?(?![\w-])")
LITERAL = {"HEAD"}


def commands(skill: str, program: str = "dos") -> list[str]:
    """The commands of a program in the fences of a skill, each once."""
    lines = packaged.skills()[skill].command_lines
    return list(dict.fromkeys(line for line in lines if line.startswith(program + " ")))


def filled(line: str, values: Mapping[str, str]) -> str:
    """The command with a value for every placeholder; KeyError names one that has none.

    A word in double quotes may also be a word of JSON.
    """

    def value(match: re.Match[str]) -> str:
        word = match[0].strip('"')
        if match[0] == word and word not in LITERAL:
            return values[word]
        return match[0].replace(word, values.get(word, word))

    return PLACEHOLDER.sub(value, line)


def words(line: str, values: Mapping[str, str]) -> list[str]:
    """The arguments of a filled command, as a shell would split them."""
    return shlex.split(filled(line, values))[1:]
