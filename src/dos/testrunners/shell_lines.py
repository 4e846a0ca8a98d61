"""Splits shell text into its simple commands, as far as one can without running it."""

import re
from collections.abc import Iterator

from msgspec import Struct

_TOKEN = re.compile(
    r"(?P<space>[ \t\r]++|\\\n)"
    r"|(?P<comment>(?<![^\s;&|(])\#[^\n]*+)"
    r"|(?P<redirect>\d?(?:<<?-?|>>?|&>)[&|]?[ \t]*+[^\s;&|()]*+)"
    r"|(?P<joint>\|\||&&|;;|[;|&\n()])"
    r"|(?P<word>(?:\$\{\{[^}]*+\}\}|[^\s'\"\\;|&()<>]|\\.|'[^']*+(?:'|\Z)"
    r'|"(?:[^"\\]|\\.)*+(?:"|\\?\Z))++)'
    r"|(?P<other>.)",
    re.DOTALL,
)
_QUOTED = re.compile(r"'([^']*+)'?|\"((?:[^\"\\]|\\.)*+)\"?|\\(.)", re.DOTALL)
LONGEST_TEXT = 200_000  # characters; the rest is not read


class SimpleCommand(Struct, frozen=True):
    """The words of one command without their quotes, and the operator that follows it."""

    words: tuple[str, ...]
    joint: str


def simple_commands(text: str) -> Iterator[SimpleCommand]:
    """Yield the simple commands of a shell text in their order, without redirections."""
    words: list[str] = []
    for match in _TOKEN.finditer(text[:LONGEST_TEXT]):
        if match.lastgroup == "word":
            words.append(unquoted(match[0]))
        elif match.lastgroup == "joint" and words:
            yield SimpleCommand(tuple(words), match[0])
            words = []
    if words:
        yield SimpleCommand(tuple(words), "")


def unquoted(word: str) -> str:
    """Return a word of the shell as a program gets it, with its variables unexpanded."""
    return _QUOTED.sub(lambda match: match[1] or match[2] or match[3] or "", word)
