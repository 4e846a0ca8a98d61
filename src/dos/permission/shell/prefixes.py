"""What stands before a program: keywords, assignments, and programs that start another one."""

import re
from collections.abc import Sequence

from msgspec import Struct, field

from dos.permission.shell.name_table import name_table
from dos.permission.shell.options import Arguments, parse
from dos.permission.shell.syntax.tokens import Word

_SYSTEM = re.compile(r"/(?:usr/)?(?:local/)?s?bin/[^/]+|/opt/homebrew/bin/[^/]+")
_WITH_WORDS = ("for", "select", "case")  # what follows them is no program
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?=")
_ASSIGNS = name_table("export declare typeset readonly local")
_RUNS_ANOTHER = {
    # Each with its options that take a value.
    "env": ("uCS", ("unset", "chdir", "split-string")),
    "sudo": ("ugCDhpRrTtU", ("user", "group", "chdir", "prompt", "host")),
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
_IN_THIS_SHELL = name_table("command builtin exec time noglob")
MOST_WRAPPERS = 20
_OPERANDS_BEFORE = {"timeout": 1}
_RUNS_WHAT_IT_READS = name_table(
    "xargs parallel source . trap watch entr ssh su chroot script strace ltrace flock"
)


class Unwrapped(Struct, kw_only=True):
    """The program that really runs, and what the words before it say."""

    words: Sequence[Word] = ()
    folder: Word | None = None  # in which it is started
    is_child: bool = False  # a process of its own, which changes no folder of the shell
    script: Word | None = None  # that `env -S` splits into words
    writes: list[Word] = field(default_factory=list)
    assigned: list[Word] = field(default_factory=list)  # `NAME=VALUE`
    unknown: str = ""


def is_of_system(program: str) -> bool:
    """Whether a program lies where those of the system do."""
    return bool(_SYSTEM.fullmatch(program))


def without_keywords(words: Sequence[Word]) -> Sequence[Word]:
    """The words from the first that names a program; none for `for NAME in …` and `case …`."""
    keywords = leading_keywords(words)
    if any(word.text in _WITH_WORDS for word in keywords):
        return ()
    return words[len(keywords) :]


def leading_keywords(words: Sequence[Word]) -> Sequence[Word]:
    """The keywords that a command begins with."""
    index = 0
    while index < len(words) and words[index].is_keyword:
        index += 2 if words[index].text == "function" else 1
    return words[:index]


def without_wrappers(words: Sequence[Word]) -> Unwrapped:
    """Drop assignments and programs such as `env`, `sudo` and `timeout` before the program."""
    found = Unwrapped()
    rest = list(words)
    for _ in range(MOST_WRAPPERS):
        index = 0
        while index < len(rest) and _ASSIGNMENT.match(rest[index].text):
            index += 1
        found.assigned += rest[:index]
        rest = rest[index:]
        if not rest or not rest[0].is_literal:
            break
        name = rest[0].text.rpartition("/")[2]
        if name in _ASSIGNS:
            found.assigned += rest[1:]
        if name in _RUNS_WHAT_IT_READS:
            found.unknown = f"{name} runs what it is given"
        if name not in _RUNS_ANOTHER:
            break
        found.is_child = found.is_child or name not in _IN_THIS_SHELL
        letters, names = _RUNS_ANOTHER[name]
        options = parse(rest[1:], letters, names, stops=True)
        _read_options(found, name, options)
        if name == "command" and options.has("v", "V"):
            rest = []
        else:
            rest = options.operands[_OPERANDS_BEFORE.get(name, 0) :]
    else:
        found.unknown = "too many programs start one another"
    found.words = rest
    return found


def _read_options(found: Unwrapped, name: str, options: Arguments) -> None:
    """Note the folder that a wrapper changes to, and a file that it writes."""
    folder = options.value("C", "D", "chdir") if name in ("env", "sudo") else None
    if folder is not None:
        found.folder = folder
    if name == "env" and options.has("S", "split-string"):
        found.unknown = "env splits a text into words"
        found.script = options.value("S", "split-string")
    if name == "sudo" and options.has("s", "i", "shell", "login", "e", "edit"):
        found.unknown = "sudo starts a shell or an editor"
    if name == "time":
        output = options.value("o", "output")
        if output is not None:
            found.writes.append(output)
