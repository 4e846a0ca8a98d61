"""Edit a JSON text: what stays keeps its bytes, and only what is new is written."""

import json
import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

_BLANK = re.compile(r"[ \t\n\r]*")
_HALF = re.compile("[\ud800-\udfff]")  # half of a character
_decode = json.JSONDecoder().raw_decode


class _Element(Struct, frozen=True, kw_only=True):
    """An element of a list, or a member of an object with its key."""

    start: int
    value_start: int
    end: int


def rewrite(text: str, old: Any, new: Any) -> str:
    """Return the text of `old` as that of `new`.

    Values that both share, as the same Python objects, keep their text, with what is around them.
    An empty text becomes that of `new`.
    """
    if not text.strip("\ufeff \t\n\r"):
        return _fresh(new, "", _indent(text), "\n") + "\n"
    start = _blank_after(text, 1 if text.startswith("\ufeff") else 0)
    end = _decode(text, start)[1]
    newline = "\r\n" if "\r\n" in text else "\n"
    return text[:start] + _Editor(text, newline).edited(start, old, new) + text[end:]


class _Editor:
    """Edits one text. Positions are those of the text as it was."""

    def __init__(self, text: str, newline: str) -> None:
        self._text = text
        self._newline = newline
        self._unit = _indent(text)

    def edited(self, start: int, old: Any, new: Any) -> str:
        """The text of a value that begins at `start`, with the changes that lead to the new one."""
        is_alike = isinstance(old, dict) and isinstance(new, dict)
        is_alike = is_alike or (isinstance(old, list) and isinstance(new, list))
        end = _decode(self._text, start)[1]
        if old is new:
            return self._text[start:end]
        elements = self._elements(start) if is_alike else []
        if not elements or not new:
            return self._new(new, start)
        names, before, after = _contents(old, new)
        pieces: list[tuple[int | None, str]] = []
        kept = _kept(names, before, after)
        for place, at in enumerate(kept):
            if at is None:
                pieces.append((None, self._new_element(new, after, place, elements[0].start)))
                continue
            element = elements[at]
            value = self.edited(element.value_start, before[at][1], after[place][1])
            pieces.append((at, self._text[element.start : element.value_start] + value))
        return self._joined(start, end, elements, pieces)

    def _joined(
        self,
        start: int,
        end: int,
        elements: Sequence[_Element],
        pieces: Sequence[tuple[int | None, str]],
    ) -> str:
        """The elements with what stood between them; a new one is set off like the others."""
        head = self._text[start : elements[0].start]
        tail = self._text[elements[-1].end : end]
        usual = f",{head[1:] or ' '}"
        if len(elements) > 1:
            usual = self._text[elements[-2].end : elements[-1].start]
        made = head
        for place, (at, piece) in enumerate(pieces):
            if place and at:
                made += self._text[elements[at - 1].end : elements[at].start]
            elif place:
                made += usual
            made += piece
        return made + tail

    def _elements(self, start: int) -> list[_Element]:
        """The elements of the list or object that begins at a position."""
        text = self._text
        is_object = text[start] == "{"
        found = []
        at = _blank_after(text, start + 1)
        while text[at] not in "]}":
            begin = at
            if is_object:
                at = _blank_after(text, _decode(text, at)[1])
                at = _blank_after(text, at + 1)  # behind the colon
            end = _decode(text, at)[1]
            found.append(_Element(start=begin, value_start=at, end=end))
            at = _blank_after(text, end)
            if text[at] == ",":
                at = _blank_after(text, at + 1)
        return found

    def _new_element(
        self, new: Any, after: Sequence[tuple[str, Any]], place: int, near: int
    ) -> str:
        """An element that was not there, written where another one begins at `near`."""
        key, value = after[place]
        written = self._new(value, near)
        return f"{json.dumps(key)}: {written}" if isinstance(new, dict) else written

    def _new(self, value: Any, near: int) -> str:
        """A new value, indented like the line of a position."""
        line = self._text[self._text.rfind("\n", 0, near) + 1 : near]
        lead = line[: len(line) - len(line.lstrip(" \t"))]
        return _fresh(value, lead, self._unit, self._newline)


def _contents(
    old: Any, new: Any
) -> tuple[bool, Sequence[tuple[str, Any]], Sequence[tuple[str, Any]]]:
    """The elements of two lists, or of two objects: then they have names, else empty ones."""
    if isinstance(old, dict):
        return True, list(old.items()), list(new.items())
    return False, [("", each) for each in old], [("", each) for each in new]


def _kept(
    names: bool,
    before: Sequence[tuple[str, Any]],
    after: Sequence[tuple[str, Any]],
) -> list[int | None]:
    """Which element each of the new ones was; None: it is new. Their order stays."""
    found: list[int | None] = []
    begin = 0
    for key, value in after:
        places = range(begin, len(before))
        if names:
            at = next((place for place in places if before[place][0] == key), None)
        else:
            same = (place for place in places if before[place][1] is value)
            alike = (place for place in places if _is_changed(before[place][1], value))
            at = next(same, None)
            at = next(alike, None) if at is None else at
        found.append(at)
        if at is not None:
            begin = at + 1
    return found


def _is_changed(old: Any, new: Any) -> bool:
    """Whether an object of a list is an earlier one with a change."""
    if not isinstance(old, dict) or not isinstance(new, dict) or list(old) != list(new):
        return False
    return any(old[key] is new[key] for key in old if isinstance(old[key], (dict, list, str)))


def _fresh(value: Any, lead: str, unit: int | str, newline: str) -> str:
    """A value as JSON, its lines after the first with a lead."""
    made = json.dumps(value, indent=unit, ensure_ascii=False)
    if not made.isprintable() and _HALF.search(made):  # it can only be written as an escape
        made = json.dumps(value, indent=unit)
    return made.replace("\n", f"{newline}{lead}")


def _indent(text: str) -> int | str:
    """The indent of the first line that has one; 2 where none has."""
    for line in text.split("\n")[1:]:
        blank = line[: len(line) - len(line.lstrip(" \t"))]
        if blank.startswith("\t"):
            return "\t"
        if blank and line.strip():
            return len(blank)
    return 2


def _blank_after(text: str, at: int) -> int:
    """The position of the next character that is not blank."""
    found = _BLANK.match(text, at)
    return found.end() if found else at
