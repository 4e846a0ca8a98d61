"""What of a file means something: its lines without comments, blank lines and the play of whitespace.

It errs towards keeping: a language that nobody knows, a string or a comment that is never closed, are kept.
"""

import re

from dos.verify import languages
from dos.verify.languages import CompiledLanguage

_LOOKED_AT_BYTES = 8000
_INNER = "\0"  # begins a line that began inside of a string, and stays as it is
_STRING = "\1"  # stands for a string while the code around it is made plain
# Each begins with the space that it is about, and looks back from there: that is five times as fast.
_RUN = re.compile(r"[ \t\f\v](?<![\n \t\f\v]{2})(?:[ \t\f\v]++|(?<! ))")
_BESIDE = re.compile(
    r"[ \t](?:(?<=[,;:=(){}\[\]].)[ \t]*+|(?<![\n \t]{2})[ \t]*+(?=[,;:=(){}\[\]]))"
)
_STATEMENT_ENDS = re.compile(r"[ \t]*+(?:[#;\n]|\Z)")
_LETTERS = "rRuUbB"  # before a string
_PREFIXES = frozenset(("", *_LETTERS))
_TAB_WIDTH = 8


def significant_lines(path: str, text: str) -> list[str]:
    """The lines that mean something; strings keep every space, and indentation is kept as depth where it counts."""
    reading = languages.compiled_language(_suffix(path))
    if reading is None:
        return [" ".join(words) for line in text.split("\n") if (words := line.split())]
    if _INNER in text or _STRING in text:
        text = text.replace(_INNER, "\ufffd").replace(_STRING, "\ufffd")
    if reading.whole is not None and "\n=" in f"\n{text}":
        text = reading.whole.sub("", text)
    lines = (_Reader(text, reading).kept() if reading.finds else _plain(text, tight=False)).split(
        "\n"
    )
    return (
        _as_depths(lines) if reading.language.indented else _stripped(lines, reading.language.lines)
    )


def differs_in_substance(path: str, old: str, new: str) -> bool:
    """Whether two texts of one file differ in substance; what is alike around the change is mostly not read."""
    reading = languages.compiled_language(_suffix(path))
    if reading is not None and (middles := _middles(old, new, reading)):
        before, after = middles
        if significant_lines(path, before) != significant_lines(path, after):
            return True
    return significant_lines(path, old) != significant_lines(path, new)


def is_binary(raw: bytes) -> bool:
    return b"\0" in raw[:_LOOKED_AT_BYTES]


def decode(raw: bytes) -> str:
    """Text of whatever encoding, another one for every other row of bytes, with one kind of line end."""
    text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _middles(old: str, new: str, reading: CompiledLanguage) -> list[str] | None:
    """The lines that differ, of both texts; None where they begin or end inside of a string or a comment."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    shortest = min(len(before), len(after))
    first = next((at for at in range(shortest) if before[at] != after[at]), shortest)
    last = next(
        (at for at in range(shortest - first) if before[-1 - at] != after[-1 - at]),
        shortest - first,
    )
    start = sum(map(len, before[:first]))
    middles = ["".join(lines[first : len(lines) - last]) for lines in (before, after)]
    ends = (
        _is_code_at(text[start:], len(middle), reading)
        for text, middle in zip((old, new), middles, strict=True)
    )
    return middles if _is_code_at(old, start, reading) and all(ends) else None


def _is_code_at(text: str, place: int, reading: CompiledLanguage) -> bool:
    """Whether no string or comment of a text goes on beyond a place."""
    if reading.whole is not None:
        return False
    if reading.finds is None:
        return True
    reader, at = _Reader(text, reading), 0
    while at < place and (found := reading.finds.match(text, at)):
        at = found.end()
        if found.lastgroup in ("nest", "raw"):
            at, _ = reader.end_of(found.lastgroup, found)
        if found.lastgroup and found.start(found.lastgroup) < place < at:
            return False
    return True


class _Reader:
    """One pass over a text, from one string or comment to the next."""

    def __init__(self, text: str, reading: CompiledLanguage) -> None:
        self.text, self.reading = text, reading
        self._unread: list[str] = []  # code whose brackets are not counted yet
        self._depth = 0

    def kept(self) -> str:
        assert self.reading.finds is not None
        text, match = self.text, self.reading.finds.match
        code, strings = list[str](), [""]
        begun = at = 0
        while at < len(text) and (found := match(text, at)):
            at = found.end()
            name = found.lastgroup
            if name is None:
                continue
            start = found.start(name)
            gap = text[begun:start]
            at, is_comment = self._found(name, gap, found)
            if is_comment:
                code += (gap if name == "drop" else gap.rstrip(_LETTERS), " ")
            else:
                code += (gap, _STRING)
                strings.append(text[start:at].replace("\n", f"\n{_INNER}"))
            begun = at
        code.append(text[begun:])
        plain = _plain("".join(code), tight=self.reading.language.tight).split(_STRING)
        return "".join(part for pair in zip(strings, plain, strict=True) for part in pair)

    def _found(self, name: str, gap: str, found: re.Match[str]) -> tuple[int, bool]:
        """Where it ends, and whether it is a comment."""
        end = found.end()
        match name:
            case "drop":
                return end, end < len(self.text) or not languages.UNCLOSED.match(
                    self.text, found.start(name)
                )
            case "keep":
                return end, self.reading.language.docstrings and self._is_docstring(gap, found)
            case _:
                return self.end_of(name, found)

    def end_of(self, name: str, found: re.Match[str]) -> tuple[int, bool]:
        """Where what a mark opened ends, and whether it is a comment."""
        return self._nested(found.end()) if name == "nest" else self._marked(found)

    def _nested(self, at: int) -> tuple[int, bool]:
        assert self.reading.nests is not None
        depth = 1
        for mark in self.reading.nests.finditer(self.text, at):
            depth += 1 if mark.group(1) else -1
            if not depth:
                return mark.end(), True
        return len(self.text), False

    def _marked(self, found: re.Match[str]) -> tuple[int, bool]:
        marks = found.groupdict()
        if "mark" in marks:
            closes = f'){marks["mark"]}"'
        elif "hashes" in marks:
            closes = f'"{marks["hashes"]}'
        else:
            closes = f"]{marks['equals']}]"
        at = self.text.find(closes, found.end())
        return (len(self.text), False) if at < 0 else (at + len(closes), bool(marks.get("dashes")))

    def _is_docstring(self, gap: str, found: re.Match[str]) -> bool:
        """Whether a string is a statement of its own: alone on its lines, outside of every bracket."""
        self._unread.append(gap)
        before, line, prefix = gap.rpartition("\n")
        begins = (line or found.start("keep") == len(gap)) and prefix.strip() in _PREFIXES
        if not begins or before.endswith("\\") or found.group("keep")[0] == "#":
            return False
        if not _STATEMENT_ENDS.match(self.text, found.end()):
            return False
        code = "".join(self._unread)
        self._unread.clear()
        opened = sum(map(code.count, "([{")) - sum(map(code.count, ")]}"))
        self._depth = max(0, self._depth + opened)
        return self._depth == 0


def _plain(code: str, *, tight: bool) -> str:
    code = _RUN.sub(" ", code)
    return _BESIDE.sub("", code) if tight else code


def _suffix(path: str) -> str:
    name = path.rpartition("/")[2].lower()
    stem, _, suffix = name.partition(".")
    return (
        stem
        if stem in ("dockerfile", "makefile")
        else suffix.rpartition(".")[2]
        if suffix
        else stem
    )


def _stripped(lines: list[str], comments: tuple[str, ...]) -> list[str]:
    plain = [line[1:] if line[:1] == _INNER else line.strip() for line in lines]
    return [
        line
        for line in plain
        if line and not line.isspace() and not (comments and line.startswith(comments))
    ]


def _as_depths(lines: list[str]) -> list[str]:
    """Each line behind as many spaces as blocks stand around it, however wide its author indents."""
    levels, found = [0], []
    for line in lines:
        if line[:1] == _INNER:
            if not line[1:].isspace() and line[1:]:
                found.append(line[1:])
            continue
        bare = line.strip()
        if not bare:
            continue
        margin = line[: len(line) - len(line.lstrip())]
        column = len(margin.expandtabs(_TAB_WIDTH)) if "\t" in margin else len(margin)
        while column < levels[-1]:
            levels.pop()
        if column > levels[-1]:
            levels.append(column)
        found.append(" " * (len(levels) - 1) + bare)
    return found
