"""What a shell evaluates as arithmetic, where the text of a variable can run a command.

`x='a[$(make)]'; echo $((x))` runs `make`: a subscript is expanded again. Here is said which
variables are evaluated so; what cannot be read surely is None.
"""

import re
from collections.abc import Iterable

from dos.permission.shell.syntax.tokens import Word

# They hold text that nobody has to assign.
ALWAYS_TEXT = frozenset(
    ("BASH_REMATCH", "REPLY", "OPTARG", "MAPFILE", "_", "PWD", "OLDPWD", "DIRSTACK", "BASH_COMMAND")
)
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PIECE = re.compile(
    r"\s+|0[xX][0-9a-fA-F]+|[0-9]+(?:#\w+)?|\$?([A-Za-z_]\w*)"
    r"|\$\{([A-Za-z_]\w*)(?::?-[0-9]+)?\}|\$\{#\w+(?:\[[@*]\])?\}|\$[#?]"
    r"|[-+*/%<>=!&|^~?:,;()\[\]]",
    re.ASCII,
)
_PARAMETER = re.compile(r"#?(?:([A-Za-z_]\w*)|[0-9]+|[@*#?$!-])", re.ASCII)
_INDIRECT = re.compile(r"![A-Za-z_]\w*(?:\[[@*]\]|[@*])", re.ASCII)
_CHANGE = re.compile(r":?[-?+]|[#%/^,]|@[QUuLEAaKk]\Z|\Z")
_ASSIGNMENT = re.compile(r":?=")
_COMMAND = re.compile(r"\$\(|`")

Names = frozenset[str]


def arithmetic_names(text: str) -> Names | None:
    """Return the variables that arithmetic evaluates."""
    names: set[str] = set()
    position = 0
    while position < len(text):
        piece = _PIECE.match(text, position)
        if piece is None:
            return None
        names.update(name for name in piece.groups() if name)
        position = piece.end()
    return frozenset(names)


def word_names(word: Word) -> Names | None:
    """Return the variables that are evaluated where a word is taken for arithmetic."""
    names = arithmetic_names(word.text)
    if names is None or "" in word.variables:
        return None
    return names.union(word.variables)


def parameter_names(text: str) -> tuple[Names, str] | None:
    """Return what `${…}` evaluates, and the variable that it assigns a text to, or ""."""
    if _INDIRECT.fullmatch(text):
        return frozenset(), ""
    found = _PARAMETER.match(text)
    if found is None or _COMMAND.search(text):
        return None
    rest = text[found.end() :]
    names: Names | None = frozenset()
    if rest.startswith("["):
        subscript, rest = _subscript(rest)
        names = frozenset() if subscript in ("@", "*") else arithmetic_names(subscript)
    if _ASSIGNMENT.match(rest):
        assigned = found[1]
    elif _CHANGE.match(rest):
        assigned = ""
    elif rest.startswith(":"):
        offsets = arithmetic_names(rest[1:])
        names = None if names is None or offsets is None else names | offsets
        assigned = ""
    else:
        return None
    return None if names is None or assigned is None else (names, assigned)


def assigned_name(word: Word) -> tuple[str, Names | None] | None:
    """Return the variable of `NAME=…` or `NAME[…]=…`, and what its subscript evaluates."""
    found = NAME.match(word.text)
    if found is None:
        return None
    rest = word.text[found.end() :]
    names: Names | None = frozenset()
    if rest.startswith("["):
        subscript, rest = _subscript(rest)
        names = arithmetic_names(subscript)
        if names is not None and not word.is_literal:
            names = None if "" in word.variables else names.union(word.variables)
    if not rest.startswith(("=", "+=")):
        return None
    return found[0], names


def is_number(word: Word) -> bool:
    """Whether the text after the `=` of an assignment can only be a number."""
    value = word.text.partition("=")[2]
    return not word.variables and (not value or (value.isascii() and value.isdigit()))


def is_plain_name(word: Word) -> bool:
    """Whether a word names a variable, and nothing that would be evaluated."""
    return word.is_literal and bool(NAME.fullmatch(word.text))


def all_names(words: Iterable[Word]) -> Names | None:
    """Return the variables whose text is part of these words."""
    names = {name for word in words for name in word.variables}
    return None if "" in names else frozenset(names)


def without_substitutions(text: str) -> str:
    """A text with a number for each `$(…)` and for what backticks enclose."""
    kept: list[str] = []
    depth = 0
    is_quoted = False
    for place, letter in enumerate(text):
        if letter == "`":
            is_quoted = not is_quoted
            kept.append("0")
        elif depth:
            depth += (letter == "(") - (letter == ")")
        elif text.startswith("$(", place):
            kept.append("0")
        elif letter == "(" and text[max(0, place - 1) : place] == "$":
            depth = 1
        elif not is_quoted:
            kept.append(letter)
    return "".join(kept)


def _subscript(text: str) -> tuple[str, str]:
    """Split a text that begins with `[` into what is in the brackets and what follows them."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if not depth:
            return text[1:place], text[place + 1 :]
    return text, ""
