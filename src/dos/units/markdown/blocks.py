"""The lines of a document that can name a unit or say something about one; prose is none of them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

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


class Mistyped(NamedTuple):
    """A list item that begins with what is nearly the key of a field."""

    at: int
    word: str
    meant: str


Mark = Heading | Item | Row | Field | Mistyped


def marks(lines: list[str], *, tables: bool) -> Iterator[Mark]:
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
    if stated := fields.field(line):
        yield Field(at, indent, *stated)
    elif slip := fields.mistyped(line):
        yield Mistyped(at, *slip)
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
