"""How TOML writes keys and values, and on which line of a text each key stands."""

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
    """A TOML basic string. JSON's escapes are TOML's, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def key_text(key: Key) -> str:
    """A key as people write it: `lanes.trees."sp ace"[0]`."""
    written = ""
    for part in key:
        if isinstance(part, int):
            written += f"[{part}]"
        else:
            written += ("." if written else "") + (
                part if _BARE.fullmatch(part) else toml_string(part)
            )
    return written


def value_text(value: Any) -> str:
    """A plain value as TOML would write it; nothing for a key that has none."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    # Loops, not generators: one frame a level, so that whatever could be parsed can be written.
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
    """The line of every key, table header and array element of a text that is known to be TOML."""
    return _Scanner(text).scan()


def line_of(lines: dict[Key, int], key: Key) -> int | None:
    """The line of the key, or of the nearest table around it that was written."""
    for end in range(len(key), 0, -1):
        if key[:end] in lines:
            return lines[key[:end]]
    return None


class _Scanner:
    """Walks a valid text once. It only has to find keys; what is wrong with the text was found before."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.counted = 0  # newlines are counted up to here
        self.line = 1
        self.lines: dict[Key, int] = {}
        self.arrays: dict[Key, int] = {}  # the index of the last element of each array of tables

    def scan(self) -> dict[Key, int]:
        table: Key = ()
        while self._skip(_GAP) and self.at < len(self.text):
            if self.text.startswith("[", self.at):
                table = self._header()
            else:
                self._pair(table)
        return self.lines

    def _header(self) -> Key:
        in_array = self.text.startswith("[[", self.at)
        self.at += 2 if in_array else 1
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
        self.at += 2 if in_array else 1
        return table

    def _pair(self, table: Key) -> None:
        line = self._line()
        key = table
        for part in self._dotted():
            key = (*key, part)
            self.lines.setdefault(key, line)
        self.at += 1  # the equals sign
        self._skip(_SPACE)
        self._value(key)

    def _value(self, key: Key) -> None:
        opening = self.text[self.at : self.at + 1]
        if opening not in ("[", "{"):
            self._take(_STRINGS if opening in ("'", '"') else _PLAIN_VALUE)
            return
        self.at += 1
        place = 0
        while self._skip(_GAP) and self.text[self.at : self.at + 1] not in ("]", "}", ""):
            if self.text[self.at] == ",":
                self.at += 1
            elif opening == "{":
                self._pair(key)
            else:
                self.lines.setdefault((*key, place), self._line())
                self._value((*key, place))
                place += 1
        self.at += 1

    def _dotted(self) -> list[str]:
        parts = []
        while True:
            self._skip(_SPACE)
            parts.append(self._part())
            self._skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return parts
            self.at += 1

    def _part(self) -> str:
        if self.text[self.at : self.at + 1] not in ("'", '"'):
            return self._take(_BARE)
        written = self._take(_STRINGS)
        return written[1:-1] if written.startswith("'") else _unescaped(written)

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        # A text that is not TOML after all must not hold the scanner in one place.
        self.at = found.end() if found else self.at + 1
        return found.group() if found else ""

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return True

    def _line(self) -> int:
        self.line += self.text.count("\n", self.counted, self.at)
        self.counted = self.at
        return self.line


def _unescaped(written: str) -> str:
    import tomllib

    key: str = tomllib.loads(f"k = {written}")["k"]
    return key


def mask_password(url: str) -> str:
    """A store's URL as it may be shown."""
    return re.sub(r"(?<=password=)[^&]*", "***", _with_password(url, ":***@"))


def strip_password(url: str) -> str:
    """A store's URL with which a program asks for the password itself."""
    place, mark, query = _with_password(url, "@").partition("?")
    kept = [part for part in query.split("&") if part and "password" not in part.partition("=")[0]]
    return place + (mark + "&".join(kept) if kept else "")


def _with_password(url: str, instead: str) -> str:
    # To the last @: what has to be written as %40, %2F or %3F in a password often is not.
    place, mark, query = url.partition("?") if "@" in url.partition("?")[0] else (url, "", "")
    return re.sub(r"(//[^/@:?]*):.*@", rf"\1{instead}", place, count=1) + mark + query
