"""The lines of a markdown text, and those that can name a unit or state something about one.

Code, comments and front matter are blanked, so that every line keeps its number. The reader takes
what plan documents use of markdown, in one pass over the lines, and never fails.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

from dos.units.markdown import fields

_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+(?P<box>\[[ xX]\](?=[ \t]|$))?[ \t]*(?P<body>.*)")
_ESCAPED_BAR = re.compile(r"(?<!\\)\|")
_RULE = frozenset("|-: \t")
WIDEST = 60  # columns; a list item further right is none


class Heading(NamedTuple):
    """A heading; `at` is its line, counted from 0."""

    at: int
    level: int
    body: str


class Item(NamedTuple):
    """A list item with a box, or with something in bold at its beginning."""

    at: int
    indent: int
    boxed: bool
    body: str


class Row(NamedTuple):
    """A row of a table, with the cells of its header so that columns can be told apart."""

    at: int
    header: list[str]  # empty: the table has none
    cells: list[str]


class Field(NamedTuple):
    """A list item that states a field of a unit, such as `- lane: api`."""

    at: int
    indent: int
    name: str
    value: str


class MistypedKey(NamedTuple):
    """A list item that begins with a word that is nearly the key of a field."""

    at: int
    word: str
    meant: str


Mark = Heading | Item | Row | Field | MistypedKey


def find_marks(lines: list[str], *, tables: bool) -> Iterator[Mark]:
    """Yield the lines that can name a unit or state something about one, in their order.

    The first line of a table is a row without a header: it may be one, or name a unit itself.
    """
    header: list[str] = []
    last_row = -2  # the last line that belonged to a table
    for at, line in enumerate(lines):
        stripped = line.lstrip()
        if not stripped:
            continue
        first = stripped[0]
        if first == "#":
            if heading := _heading(at, line, stripped):
                yield heading
        elif first == "|" and tables:
            if last_row != at - 1:
                has_rule = at + 1 < len(lines) and _is_rule(lines[at + 1])
                if has_rule:
                    header = _cells(stripped)
                else:
                    header = []
                yield Row(at, [], _cells(stripped))
            elif not _is_rule(stripped):
                yield Row(at, header, _cells(stripped))
            last_row = at
        elif first in "-*+" or "0" <= first <= "9":
            yield from _item(at, len(line) - len(stripped), line, stripped)


def _heading(at: int, line: str, stripped: str) -> Heading | None:
    """The heading of a line, as CommonMark defines one; None if it is none."""
    rest = stripped.lstrip("#")
    level = len(stripped) - len(rest)
    indent = line[: len(line) - len(stripped)]
    if level > 6 or len(indent) > 3 or "\t" in indent or (rest and rest[0] not in " \t"):
        return None
    body = rest.strip()
    closing = body.rstrip("#")
    if closing != body and (not closing or closing[-1] in " \t"):
        body = closing.rstrip()
    return Heading(at, level, body)


def _item(at: int, indent: int, line: str, stripped: str) -> Iterator[Mark]:
    """The mark of a list item, if it states a field or can name a unit.

    An item of prose has neither a box nor bold at its beginning, and is passed over.
    """
    if indent > WIDEST:
        return
    if stated := fields.parse_field(line):
        yield Field(at, indent, *stated)
    elif slip := fields.find_mistyped_key(line):
        yield MistypedKey(at, *slip)
    elif (found := _ITEM.match(stripped)) and (found["box"] or found["body"].startswith("**")):
        yield Item(at, indent, bool(found["box"]), found["body"])


def _cells(row: str) -> list[str]:
    """The cells of a table row; an escaped bar is part of a cell."""
    inner = row.strip().removeprefix("|")
    if "\\" in inner:
        cells = [cell.replace("\\|", "|") for cell in _ESCAPED_BAR.split(inner)]
    else:
        cells = inner.split("|")
    if cells and not cells[-1].strip():
        cells.pop()
    return [cell.strip() for cell in cells]


def _is_rule(line: str) -> bool:
    """Whether a line is the rule below the header of a table."""
    return "-" in line and _RULE.issuperset(line)


LONGEST_FRONT_MATTER = 200
_FRONT = re.compile(r"(?P<key>[A-Za-z][\w-]*)[ \t]*:(?P<value>.*)")
_MARKER = re.compile(
    r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?=```|~~~)"
)  # a fence may begin right after a bullet
_OPEN_COMMENT, _CLOSE_COMMENT = "<!--", "-->"


class MarkdownText(Struct, frozen=True, kw_only=True):
    """A text as it is written, and as a reader of its prose sees it."""

    written: list[str]
    visible: list[str]  # as long as `written`; what is hidden is an empty line
    front: dict[str, str]
    # The line where something begins that hides the rest, and what it is.
    unclosed: tuple[int, str] | None = None


def read_text(text: str) -> MarkdownText:
    """Split a text into lines, and blank front matter, code fences and comments.

    Any line ends are accepted. A fence or a comment without an end hides the rest of the text, as
    it does for every reader of markdown; `unclosed` says where it begins.
    """
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    written = text.split("\n")
    front: dict[str, str] = {}
    begins = 0
    if text.startswith("---"):
        front, begins = _front_matter(written)
    visible = written
    unclosed = None
    if begins or "```" in text or "~~~" in text or _OPEN_COMMENT in text:
        visible, unclosed = _visible(written, begins)
    return MarkdownText(written=written, visible=visible, front=front, unclosed=unclosed)


def _front_matter(lines: list[str]) -> tuple[dict[str, str], int]:
    """The keys of the front matter, and the first line after it; a mere rule is none.

    Only flat keys are read: the whole of YAML would cost more to load than the document.
    """
    keys: dict[str, str] = {}
    if lines[0].rstrip() != "---":
        return {}, 0
    for number, line in enumerate(lines[1:LONGEST_FRONT_MATTER], 1):
        if line.rstrip() in ("---", "..."):
            if keys:
                return (keys, number + 1)
            return ({}, 0)
        if line.startswith("##"):
            break
        if match := _FRONT.match(line):
            keys[match["key"].lower()] = _scalar(match["value"])
        elif line.strip() and not line.startswith((" ", "\t", "#", "-")):
            break
    return {}, 0


def _scalar(written: str) -> str:
    """A value of the front matter, without quotes and comments."""
    value = written.strip()
    if value[:1] in ("'", '"') and value.find(value[0], 1) > 0:
        return value[1 : value.find(value[0], 1)].strip()
    if value.startswith("#"):
        return ""
    return value.partition(" #")[0].strip()


def _visible(written: list[str], begins: int) -> tuple[list[str], tuple[int, str] | None]:
    """The lines outside code and comments; and where something that hides the rest begins."""
    visible = [""] * begins
    fence = ""
    in_comment = False
    since = 0
    for number, line in enumerate(written[begins:], begins + 1):
        shown = ""
        if fence:
            if _closes(line, fence):
                fence = ""
        elif in_comment:
            in_comment = _CLOSE_COMMENT not in line
        elif fence := _opened(line):
            since = number
        elif _OPEN_COMMENT in line:
            shown = _without_comments(line)
            if shown.lstrip().startswith(_OPEN_COMMENT):
                in_comment = True
                shown = ""
                since = number
        else:
            shown = line
        visible.append(shown)
    if fence:
        return visible, (since, "the code fence")
    if in_comment:
        return visible, (since, "the comment")
    return visible, None


def _opened(line: str) -> str:
    """The characters of the code fence that begins on this line; empty if none does."""
    if "```" not in line and "~~~" not in line:
        return ""
    marker = _MARKER.match(line)
    if marker:
        rest = line[marker.end() :]
    else:
        rest = line.lstrip()
    mark = rest[:1]
    if mark not in ("`", "~"):
        return ""
    width = len(rest) - len(rest.lstrip(mark))
    is_inline_code = mark == "`" and "`" in rest[width:]
    if width < 3 or is_inline_code:
        return ""
    return mark * width


def _closes(line: str, fence: str) -> bool:
    """Whether a line closes the fence: the same character, at least as often."""
    bare = line.strip()
    return len(bare) >= len(fence) and bare == fence[0] * len(bare)


def _without_comments(line: str) -> str:
    """The line without the comments that begin and end on it."""
    kept = []
    at = 0
    while True:
        begin = line.find(_OPEN_COMMENT, at)
        end = line.find(_CLOSE_COMMENT, begin + len(_OPEN_COMMENT))
        if begin < 0 or end < 0:
            break
        kept.append(line[at:begin])
        at = end + len(_CLOSE_COMMENT)
    kept.append(line[at:])
    return "".join(kept)
