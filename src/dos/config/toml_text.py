"""Keys and values as TOML text, the line of each key, and URLs without their passwords."""

import json
import re
from typing import Any

from dos.fields import Key

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRINGS = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!"")|""(?!"))*"{3,5}'
    r"|'''(?:[^']|'(?!'')|''(?!'))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_PLAIN_VALUE = re.compile(r"[^,\]}#\n]+")
_SPACE = re.compile(r"[ \t\r]+")
_GAP = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)+")


def toml_string(text: str) -> str:
    """Return a TOML basic string. TOML has the escapes of JSON, except for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def key_text(key: Key) -> str:
    """Return a key as people write it: `lanes.trees."sp ace"[0]`."""
    text = ""
    for part in key:
        if isinstance(part, int):
            text += f"[{part}]"
            continue
        if text:
            text += "."
        text += part if _BARE.fullmatch(part) else toml_string(part)
    return text


def value_text(value: Any) -> str:
    """Return a plain value as TOML; empty for a key without a value."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    # Loops, not generators: with one frame a level, any value that could be parsed can be written.
    parts = []
    if isinstance(value, list | tuple):
        for item in value:
            parts.append(value_text(item))
        return f"[{', '.join(parts)}]"
    if isinstance(value, dict):
        for key, item in value.items():
            parts.append(f"{key_text((key,))} = {value_text(item)}")
        return f"{{ {', '.join(parts)} }}" if parts else "{}"
    return str(value)


def key_lines(text: str) -> dict[Key, int]:
    """Return the line of every key, table header and array element of a valid TOML text."""
    return _Scanner(text).scan()


def line_of(lines: dict[Key, int], key: Key) -> int | None:
    """Return the line of the key, or of the nearest table around it that is in the text."""
    for end in range(len(key), 0, -1):
        if key[:end] in lines:
            return lines[key[:end]]
    return None


class _Scanner:
    """Walks a text once and notes the lines of its keys.

    The text is valid: the parser has read it before. The parser itself does not report lines.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.counted_to = 0  # the newlines before this position are counted in `line`
        self.line = 1
        self.lines: dict[Key, int] = {}
        self.arrays: dict[Key, int] = {}  # the last index of each array of tables

    def scan(self) -> dict[Key, int]:
        """Return the line of every key."""
        table: Key = ()
        while self._skip(_GAP) and self.position < len(self.text):
            if self.text.startswith("[", self.position):
                table = self._header()
            else:
                self._pair(table)
        return self.lines

    def _header(self) -> Key:
        """Read a table header and return its key."""
        in_array = self.text.startswith("[[", self.position)
        self.position += 2 if in_array else 1
        line = self._line()
        table: Key = ()
        parts = self._dotted()
        for place, part in enumerate(parts):
            table = (*table, part)
            if in_array and place == len(parts) - 1:
                self.arrays[table] = self.arrays.get(table, -1) + 1
            self.lines.setdefault(table, line)
            if table in self.arrays:
                table = (*table, self.arrays[table])
                self.lines.setdefault(table, line)
        self._skip(_SPACE)
        self.position += 2 if in_array else 1
        return table

    def _pair(self, table: Key) -> None:
        """Read `key = value` in a table."""
        line = self._line()
        key = table
        for part in self._dotted():
            key = (*key, part)
            self.lines.setdefault(key, line)
        self.position += 1  # the equals sign
        self._skip(_SPACE)
        self._value(key)

    def _value(self, key: Key) -> None:
        """Read a value; of a list or an inline table, also what is in it."""
        opening = self.text[self.position : self.position + 1]
        if opening not in ("[", "{"):
            self._take(_STRINGS if opening in ("'", '"') else _PLAIN_VALUE)
            return
        self.position += 1
        place = 0
        while self._skip(_GAP) and self.text[self.position : self.position + 1] not in (
            "]",
            "}",
            "",
        ):
            if self.text[self.position] == ",":
                self.position += 1
            elif opening == "{":
                self._pair(key)
            else:
                self.lines.setdefault((*key, place), self._line())
                self._value((*key, place))
                place += 1
        self.position += 1

    def _dotted(self) -> list[str]:
        """Read a dotted key and return its parts."""
        parts = []
        while True:
            self._skip(_SPACE)
            parts.append(self._part())
            self._skip(_SPACE)
            if not self.text.startswith(".", self.position):
                return parts
            self.position += 1

    def _part(self) -> str:
        """Read one part of a key."""
        if self.text[self.position : self.position + 1] not in ("'", '"'):
            return self._take(_BARE)
        literal = self._take(_STRINGS)
        if literal.startswith("'"):
            return literal[1:-1]
        return _unescaped(literal)

    def _take(self, pattern: re.Pattern[str]) -> str:
        """Read what the pattern matches and return it."""
        found = pattern.match(self.text, self.position)
        if not found:
            self.position += 1  # always advance, so that an invalid text cannot block the scan
            return ""
        self.position = found.end()
        return found.group()

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        """Skip what the pattern matches. Always true, for use in conditions."""
        found = pattern.match(self.text, self.position)
        if found:
            self.position = found.end()
        return True

    def _line(self) -> int:
        """The line of the current position, counting from 1."""
        self.line += self.text.count("\n", self.counted_to, self.position)
        self.counted_to = self.position
        return self.line


def _unescaped(written: str) -> str:
    import tomllib

    key: str = tomllib.loads(f"k = {written}")["k"]
    return key


def mask_password(url: str) -> str:
    """Return a store's URL as it may be shown: with stars for the password."""
    return re.sub(r"(?<=password=)[^&]*", "***", _with_password(url, ":***@"))


def strip_password(url: str) -> str:
    """Return a store's URL without the password, so that a program asks for it."""
    place, _, query = _with_password(url, "@").partition("?")
    kept = [part for part in query.split("&") if part and "password" not in part.partition("=")[0]]
    if not kept:
        return place
    return f"{place}?{'&'.join(kept)}"


def _with_password(url: str, instead: str) -> str:
    """The URL with another text for `:password@`."""
    place, mark, query = url.partition("?")
    if "@" not in place:  # the question mark is part of the password
        place, mark, query = url, "", ""
    # Up to the last @: in a password it should be written as %40, but often is not.
    return re.sub(r"(//[^/@:?]*):.*@", rf"\1{instead}", place, count=1) + mark + query
