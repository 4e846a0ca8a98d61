"""The language of a script whose name does not tell it: its first line names the interpreter."""

import re

_INTERPRETER = re.compile(
    r"#![ \t]*+(?:[^\s/]*+/)*+"
    r"(?:env[ \t]++(?:(?:-\S*+|\w++=\S*+)[ \t]++)*+(?:[^\s/]*+/)*+)?([a-z]++)"
)
_LONGEST = 300  # characters of a first line that are read
_SUFFIXES = {
    "sh": "sh", "bash": "sh", "dash": "sh", "ash": "sh", "ksh": "sh", "zsh": "sh", "python": "py",
    "pypy": "py", "ruby": "rb", "node": "js", "deno": "ts", "bun": "ts", "perl": "pl", "php": "php",
    "lua": "lua", "make": "makefile",
}  # fmt: skip


def suffix(text: str) -> str:
    """The suffix that a script would have; empty if its interpreter is not known."""
    interpreter = _INTERPRETER.match(text[:_LONGEST])
    if interpreter is None:
        return ""
    return _SUFFIXES.get(interpreter[1], "")
