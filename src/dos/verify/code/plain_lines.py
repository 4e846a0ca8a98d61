"""The lines of a text without its comments, with white space in one form."""

import re
from collections.abc import Iterable

from dos.verify.code.languages import Language
from dos.verify.code.scanner import LETTERS, Segment

INNER = "\0"  # marks a line that began inside a string, and is kept as it is
_STRING = "\1"  # stands for a string while the code around it is normalised
# Each pattern begins with the space it matches and looks back from there: five times as fast.
_SPACE_RUN = re.compile(r"[ \t\f\v](?<![\n \t\f\v]{2})(?:[ \t\f\v]++|(?<! ))")
_BESIDE_PUNCTUATION = re.compile(
    r"[ \t](?:(?<=[,;:=(){}\[\]].)[ \t]*+|(?<![\n \t]{2})[ \t]*+(?=[,;:=(){}\[\]]))"
)
_TAB_WIDTH = 8


def without_marks(text: str) -> str:
    """A text without the characters that are marks here."""
    if INNER in text or _STRING in text:
        return text.replace(INNER, "\ufffd").replace(_STRING, "\ufffd")
    return text


def without_comments(segments: Iterable[Segment], style: Language) -> str:
    """A text without its comments, with the spaces of its code normalised."""
    code: list[str] = []
    strings = [""]
    for segment in segments:
        if segment.is_docstring:
            code += (segment.code.rstrip(LETTERS), " ")
        elif segment.is_comment:
            code += (segment.code, " ")
        elif segment.literal:
            code += (segment.code, _STRING)
            strings.append(segment.literal.replace("\n", f"\n{INNER}"))
        else:
            code.append(segment.code)
    parts = normalise_spaces("".join(code), tight=style.tight).split(_STRING)
    return "".join(string + part for string, part in zip(strings, parts, strict=True))


def normalise_spaces(code: str, *, tight: bool) -> str:
    """One space for each run of them; with `tight`, none beside punctuation."""
    code = _SPACE_RUN.sub(" ", code)
    if tight:
        return _BESIDE_PUNCTUATION.sub("", code)
    return code


def split_lines(code: str, style: Language, obeyed: re.Pattern[str] | None = None) -> list[str]:
    """The lines of a text without comments; with their depth where indentation counts."""
    lines = code.split("\n")
    if style.indented:
        return _with_depths(lines, has_recipes=style.recipes)
    return _stripped(lines, style.lines, obeyed)


def _stripped(
    lines: list[str], comments: tuple[str, ...], obeyed: re.Pattern[str] | None
) -> list[str]:
    """The lines without margins, blank lines and whole-line comments."""
    stripped = []
    for line in lines:
        if line[:1] == INNER:
            stripped.append(line[1:])
            continue
        plain = line.strip()
        if not plain:
            continue
        if comments and plain.startswith(comments) and not (obeyed and obeyed.match(plain)):
            continue
        stripped.append(plain)
    return stripped


def _with_depths(lines: list[str], *, has_recipes: bool) -> list[str]:
    """Each line behind one space per block around it, however wide its author indents.

    With `has_recipes`, behind a tab if it begins with one.
    """
    levels = [0]
    indented = []
    for line in lines:
        if line[:1] == INNER:
            indented.append(line[1:])
            continue
        bare = line.strip()
        if not bare:
            continue
        if has_recipes and line[0] == "\t":
            indented.append("\t" + bare)
            continue
        margin = line[: len(line) - len(line.lstrip())]
        column = len(margin.expandtabs(_TAB_WIDTH))
        while column < levels[-1]:
            levels.pop()
        if column > levels[-1]:
            levels.append(column)
        indented.append(" " * (len(levels) - 1) + bare)
    return indented
