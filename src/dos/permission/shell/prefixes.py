"""What stands before a program: keywords, assignments, and programs that start another one."""

import re
from collections.abc import Sequence

from msgspec import Struct, field

from dos.permission.shell.name_table import name_table
from dos.permission.shell.options import Arguments, parse
from dos.permission.shell.words import Word

_KEYWORDS = name_table("if then elif else while until do ! time { } fi done esac function")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?=")
_RUNS_ANOTHER = {
    # Each with its options that take a value.
    "env": ("uCS", ("unset", "chdir", "split-string")),
    "sudo": ("ugCDhpRrTt", ("user", "group", "chdir", "prompt", "host")),
    "doas": ("uC", ()),
    "nohup": ("", ()),
    "nice": ("n", ("adjustment",)),
    "ionice": ("cnp", ("class", "classdata")),
    "timeout": ("ks", ("kill-after", "signal")),
    "stdbuf": ("ioe", ("input", "output", "error")),
    "setsid": ("", ()),
    "command": ("", ()),
    "builtin": ("", ()),
    "exec": ("a", ()),
    "time": ("fo", ("format", "output")),
    "unbuffer": ("", ()),
    "caffeinate": ("tw", ()),
    "chronic": ("", ()),
    "busybox": ("", ()),
    "noglob": ("", ()),
}
_OPERANDS_BEFORE = {"timeout": 1}
_RUNS_WHAT_IT_READS = name_table(
    "xargs parallel source . trap watch entr ssh su chroot script strace ltrace flock"
)


class Unwrapped(Struct, kw_only=True):
    """The program that really runs, and what the words before it say."""

    words: Sequence[Word] = ()
    folder: Word | None = None  # in which it is started
    script: Word | None = None  # that `env -S` splits into words
    writes: list[Word] = field(default_factory=list)
    unknown: str = ""


def without_keywords(words: Sequence[Word]) -> Sequence[Word]:
    """The words from the first that names a program; none for `for NAME in …` and `case …`."""
    index = 0
    while index < len(words):
        word = words[index]
        if word.is_quoted or word.text not in _KEYWORDS:
            break
        index += 1
    rest = words[index:]
    if rest and not rest[0].is_quoted and rest[0].text in ("for", "select", "case"):
        return ()
    return rest


def without_wrappers(words: Sequence[Word]) -> Unwrapped:
    """Drop assignments and programs such as `env`, `sudo` and `timeout` before the program."""
    found = Unwrapped()
    rest = list(words)
    while rest:
        index = 0
        while index < len(rest) and _ASSIGNMENT.match(rest[index].text):
            index += 1
        rest = rest[index:]
        if not rest or not rest[0].is_literal:
            break
        name = rest[0].text.rpartition("/")[2]
        if name in _RUNS_WHAT_IT_READS:
            found.unknown = f"{name} runs what it is given"
        if name not in _RUNS_ANOTHER:
            break
        letters, names = _RUNS_ANOTHER[name]
        options = parse(rest[1:], letters, names, stops=True)
        _read_options(found, name, options)
        if name == "command" and options.has("v", "V"):
            rest = []
        else:
            rest = options.operands[_OPERANDS_BEFORE.get(name, 0) :]
    found.words = rest
    return found


def _read_options(found: Unwrapped, name: str, options: Arguments) -> None:
    """Note the folder that a wrapper changes to, and a file that it writes."""
    folder = options.value("C", "D", "chdir") if name in ("env", "sudo") else None
    if folder is not None:
        found.folder = folder
    if name == "env":
        found.script = options.value("S", "split-string")
    if name == "sudo" and options.has("s", "i", "shell", "login", "e", "edit"):
        found.unknown = "sudo starts a shell or an editor"
    if name == "time":
        output = options.value("o", "output")
        if output is not None:
            found.writes.append(output)
