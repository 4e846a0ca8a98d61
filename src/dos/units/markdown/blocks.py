"""The lines of a document that can name a unit or say something about one; prose is none of them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

from dos.units.markdown import fields

_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+(?P<box>\[[ xX]\](?=[ \t]|$))?[ \t]*(?P<body>.*)")
_ESCAPED_BAR = re.compile(r"(?<!\\)\|")
_RULE = frozenset("|-: \t")
WIDEST = 60  # columns: a list item further right is none, however often it is nested


class Heading(NamedTuple):
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
    at: int
    header: list[str]  # empty: the table has none
    cells: list[str]


class Field(NamedTuple):
    at: int
    indent: int
    name: str
    value: str


class MistypedKey(NamedTuple):
    """A list item that begins with what is nearly the key of a field."""

    at: int
    word: str
    meant: str


Mark = Heading | Item | Row | Field | MistypedKey


def find_marks(lines: list[str], *, tables: bool) -> Iterator[Mark]:
    header: list[str] = []
    table_since = -2  # the last line that belonged to a table
    for at, line in enumerate(lines):
        stripped = line.lstrip()
        if not stripped:
            continue
        first = stripped[0]
        if first == "#":
            if found := _heading(at, line, stripped):
                yield found
        elif first == "|" and tables:
            if table_since != at - 1:
                header = _cells(stripped) if at + 1 < len(lines) and _is_rule(lines[at + 1]) else []
                yield Row(at, [], _cells(stripped))
            elif not _is_rule(stripped):
                yield Row(at, header, _cells(stripped))
            table_since = at
        elif first in "-*+" or "0" <= first <= "9":
            yield from _item(at, len(line) - len(stripped), line, stripped)


def _heading(at: int, line: str, stripped: str) -> Heading | None:
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
    if indent > WIDEST:
        return
    if stated := fields.parse_field(line):
        yield Field(at, indent, *stated)
    elif slip := fields.find_mistyped_key(line):
        yield MistypedKey(at, *slip)
    elif (found := _ITEM.match(stripped)) and (found["box"] or found["body"].startswith("**")):
        yield Item(at, indent, bool(found["box"]), found["body"])


def _cells(row: str) -> list[str]:
    inner = row.strip().removeprefix("|")
    if "\\" in inner:
        cells = [cell.replace("\\|", "|") for cell in _ESCAPED_BAR.split(inner)]
    else:
        cells = inner.split("|")
    if cells and not cells[-1].strip():
        cells.pop()
    return [cell.strip() for cell in cells]


def _is_rule(line: str) -> bool:
    return "-" in line and _RULE.issuperset(line)


LONGEST_FRONT_MATTER = 200
_FRONT = re.compile(r"(?P<key>[A-Za-z][\w-]*)[ \t]*:(?P<value>.*)")
_MARKER = re.compile(
    r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?=```|~~~)"
)  # a fence may begin right after a bullet
_OPEN_COMMENT, _CLOSE_COMMENT = "<!--", "-->"


class MarkdownText(Struct, frozen=True, kw_only=True):
    written: list[str]
    visible: list[str]  # as long as `written`; what is hidden is an empty line
    front: dict[str, str]
    unclosed: tuple[int, str] | None = (
        None  # the line where something hides the rest, and what it is
    )


def read_text(text: str) -> MarkdownText:
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    written = text.split("\n")
    front, begins = _front_matter(written) if text.startswith("---") else ({}, 0)
    visible, unclosed = written, None
    if begins or "```" in text or "~~~" in text or _OPEN_COMMENT in text:
        visible, unclosed = _visible(written, begins)
    return MarkdownText(written=written, visible=visible, front=front, unclosed=unclosed)


def _front_matter(lines: list[str]) -> tuple[dict[str, str], int]:
    """Its keys and the first line after it. A rule at the top of a text is no front matter."""
    found: dict[str, str] = {}
    if lines[0].rstrip() != "---":
        return {}, 0
    for number, line in enumerate(lines[1:LONGEST_FRONT_MATTER], 1):
        if line.rstrip() in ("---", "..."):
            return (found, number + 1) if found else ({}, 0)
        if line.startswith("##"):
            break
        if match := _FRONT.match(line):
            found[match["key"].lower()] = _scalar(match["value"])
        elif line.strip() and not line.startswith((" ", "\t", "#", "-")):
            break
    return {}, 0


def _scalar(written: str) -> str:
    value = written.strip()
    if value[:1] in ("'", '"') and value.find(value[0], 1) > 0:
        return value[1 : value.find(value[0], 1)].strip()
    return "" if value.startswith("#") else value.partition(" #")[0].strip()


def _visible(written: list[str], begins: int) -> tuple[list[str], tuple[int, str] | None]:
    visible = [""] * begins
    fence, commented, since = "", False, 0
    for number, line in enumerate(written[begins:], begins + 1):
        shown = ""
        if fence:
            fence = "" if _closes(line, fence) else fence
        elif commented:
            commented = _CLOSE_COMMENT not in line
        elif fence := _opened(line):
            since = number
        elif _OPEN_COMMENT in line:
            shown = _without_comments(line)
            commented = shown.lstrip().startswith(_OPEN_COMMENT)
            shown, since = ("", number) if commented else (shown, since)
        else:
            shown = line
        visible.append(shown)
    if fence or commented:
        return visible, (since, "the code fence" if fence else "the comment")
    return visible, None


def _opened(line: str) -> str:
    """The characters of the fence that begins on this line; empty when none does."""
    if "```" not in line and "~~~" not in line:
        return ""
    marker = _MARKER.match(line)
    rest = line[marker.end() :] if marker else line.lstrip()
    mark = rest[:1]
    if mark not in ("`", "~"):
        return ""
    width = len(rest) - len(rest.lstrip(mark))
    return mark * width if width >= 3 and not (mark == "`" and "`" in rest[width:]) else ""


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(fence) and bare == fence[0] * len(bare)


def _without_comments(line: str) -> str:
    kept, at = [], 0
    while (begin := line.find(_OPEN_COMMENT, at)) >= 0 and (
        end := line.find(_CLOSE_COMMENT, begin + 4)
    ) >= 0:
        kept.append(line[at:begin])
        at = end + len(_CLOSE_COMMENT)
    return "".join([*kept, line[at:]])
