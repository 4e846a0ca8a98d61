"""The significant lines of a file: without comments, blank lines and differences in whitespace.

In doubt a line is kept: an unknown language, and a string or a comment that is never closed, stay
as they are.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from dos.verify import languages
from dos.verify.languages import CompiledLanguage

_BINARY_PROBE_BYTES = 8000
_INNER = "\0"  # marks a line that began inside a string, and is kept as it is
_STRING = "\1"  # stands for a string while the code around it is normalised
# Each pattern begins with the space it matches and looks back from there: five times as fast.
_SPACE_RUN = re.compile(r"[ \t\f\v](?<![\n \t\f\v]{2})(?:[ \t\f\v]++|(?<! ))")
_BESIDE_PUNCTUATION = re.compile(
    r"[ \t](?:(?<=[,;:=(){}\[\]].)[ \t]*+|(?<![\n \t]{2})[ \t]*+(?=[,;:=(){}\[\]]))"
)
_STATEMENT_ENDS = re.compile(r"[ \t]*+(?:[#;\n]|\Z)")
_LETTERS = "rRuUbB"  # that may stand before a Python string
_PREFIXES = frozenset(("", *_LETTERS))
_TAB_WIDTH = 8


class Segment(NamedTuple):
    """A string or a comment of a text, and the code between it and the one before."""

    code: str
    literal: str
    is_comment: bool
    is_docstring: bool  # or another comment that its opening mark does not tell


def significant_lines(path: str, text: str) -> list[str]:
    """The lines that mean something to the language of `path`.

    Strings keep every space. Where indentation counts it is kept, as depth.
    """
    language = languages.compiled_language(_suffix(path))
    if language is None:
        return [" ".join(line.split()) for line in text.split("\n") if line.strip()]
    if _INNER in text or _STRING in text:
        text = text.replace(_INNER, "\ufffd").replace(_STRING, "\ufffd")
    if language.whole is not None and "\n=" in f"\n{text}":
        text = language.whole.sub("", text)
    if language.finds:
        code = _Scanner(text, language).without_comments()
    else:
        code = _normalise_spaces(text, tight=False)
    lines = code.split("\n")
    if language.language.indented:
        return _with_depths(lines)
    return _stripped(lines, language.language.lines)


def differs_in_substance(path: str, old: str, new: str) -> bool:
    """Whether two texts of one file differ in their significant lines.

    The changed middle is compared first; most changes are decided there.
    """
    language = languages.compiled_language(_suffix(path))
    if language is not None:
        middles = _changed_middles(old, new, language)
        if middles is not None:
            before, after = middles
            if significant_lines(path, before) != significant_lines(path, after):
                return True
    return significant_lines(path, old) != significant_lines(path, new)


def segments(path: str, text: str) -> Iterator[Segment]:
    """The strings and comments of a text with the code around them; all is code if it has none.

    The last segment is the code after them, with an empty literal.
    """
    language = languages.compiled_language(_suffix(path))
    read_to = 0
    if language is not None and language.finds is not None:
        scanner = _Scanner(text, language)
        yield from scanner.segments()
        read_to = scanner.read_to
    yield Segment(text[read_to:], "", is_comment=False, is_docstring=False)


def is_binary(raw: bytes) -> bool:
    """Whether a file is no text, by git's own rule: a NUL byte near its beginning."""
    return b"\0" in raw[:_BINARY_PROBE_BYTES]


def decode(raw: bytes) -> str:
    """Text of any encoding with one kind of line end; different bytes give different text."""
    text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def _changed_middles(old: str, new: str, language: CompiledLanguage) -> tuple[str, str] | None:
    """The lines that differ, of both texts; None if they begin or end in a string or comment."""
    before = old.splitlines(keepends=True)
    after = new.splitlines(keepends=True)
    first = _common_lines(before, after)
    last = _common_lines(before[first:][::-1], after[first:][::-1])
    start = sum(map(len, before[:first]))
    old_middle = "".join(before[first : len(before) - last])
    new_middle = "".join(after[first : len(after) - last])
    if not _is_code_at(old, start, language):
        return None
    if not _is_code_at(old[start:], len(old_middle), language):
        return None
    if not _is_code_at(new[start:], len(new_middle), language):
        return None
    return old_middle, new_middle


def _common_lines(one: list[str], other: list[str]) -> int:
    """How many lines two lists have in common at their beginning."""
    count = 0
    for line, other_line in zip(one, other, strict=False):
        if line != other_line:
            break
        count += 1
    return count


def _is_code_at(text: str, place: int, language: CompiledLanguage) -> bool:
    """Whether no string or comment of a text extends across a place."""
    if language.whole is not None:
        return False
    if language.finds is None:
        return True
    scanner = _Scanner(text, language)
    at = 0
    while at < place:
        match = language.finds.match(text, at)
        if match is None:
            break
        at = match.end()
        group = match.lastgroup
        if group in ("nest", "raw"):
            at, _ = scanner.end_of(group, match)
        if group and match.start(group) < place < at:
            return False
    return True


class _Scanner:
    """One pass over a text, from one string or comment to the next."""

    def __init__(self, text: str, language: CompiledLanguage) -> None:
        self.text = text
        self.language = language
        self.read_to = 0  # where the code after the last segment begins
        self._unread: list[str] = []  # code whose brackets are not counted yet
        self._depth = 0

    def without_comments(self) -> str:
        """The text without its comments, with the spaces of its code normalised."""
        code: list[str] = []
        strings = [""]
        for segment in self.segments():
            if not segment.is_comment:
                code += (segment.code, _STRING)
                strings.append(segment.literal.replace("\n", f"\n{_INNER}"))
            elif segment.is_docstring:
                code += (segment.code.rstrip(_LETTERS), " ")
            else:
                code += (segment.code, " ")
        code.append(self.text[self.read_to :])
        tight = self.language.language.tight
        parts = _normalise_spaces("".join(code), tight=tight).split(_STRING)
        return "".join(string + part for string, part in zip(strings, parts, strict=True))

    def segments(self) -> Iterator[Segment]:
        """Each string and comment with the code before it; the code after `read_to` has none."""
        assert self.language.finds is not None
        text = self.text
        match_at = self.language.finds.match
        at = 0
        while at < len(text) and (match := match_at(text, at)):
            at = match.end()
            group = match.lastgroup
            if group is None:
                continue
            start = match.start(group)
            gap = text[self.read_to : start]
            at, is_comment = self._classify(group, gap, match)
            yield Segment(gap, text[start:at], is_comment, is_comment and group != "drop")
            self.read_to = at

    def _classify(self, group: str, gap: str, match: re.Match[str]) -> tuple[int, bool]:
        """Where what was matched ends, and whether it is a comment."""
        end = match.end()
        if group == "drop":
            is_unclosed = end >= len(self.text) and languages.UNCLOSED.match(
                self.text, match.start(group)
            )
            return end, not is_unclosed
        if group == "keep":
            return end, self.language.language.docstrings and self._is_docstring(gap, match)
        return self.end_of(group, match)

    def end_of(self, group: str, match: re.Match[str]) -> tuple[int, bool]:
        """Where what an opening mark began ends, and whether it is a comment."""
        if group == "nest":
            return self._end_of_nested(match.end())
        return self._end_of_raw(match)

    def _end_of_nested(self, at: int) -> tuple[int, bool]:
        """Where a comment that nests ends; one that is never closed is kept as text."""
        assert self.language.nests is not None
        depth = 1
        for mark in self.language.nests.finditer(self.text, at):
            depth += 1 if mark.group(1) else -1
            if not depth:
                return mark.end(), True
        return len(self.text), False

    def _end_of_raw(self, match: re.Match[str]) -> tuple[int, bool]:
        """Where raw text ends: at the mark that its opening names."""
        marks = match.groupdict()
        if "mark" in marks:
            closes = f'){marks["mark"]}"'
        elif "hashes" in marks:
            closes = f'"{marks["hashes"]}'
        else:
            closes = f"]{marks['equals']}]"
        at = self.text.find(closes, match.end())
        if at < 0:
            return len(self.text), False
        return at + len(closes), bool(marks.get("dashes"))

    def _is_docstring(self, gap: str, match: re.Match[str]) -> bool:
        """Whether a string is a statement: alone on its lines, outside every bracket."""
        self._unread.append(gap)
        before, line, prefix = gap.rpartition("\n")
        is_first = bool(line) or match.start("keep") == len(gap)
        if not is_first or prefix.strip() not in _PREFIXES:
            return False
        if before.endswith("\\") or match.group("keep")[0] == "#":
            return False
        if not _STATEMENT_ENDS.match(self.text, match.end()):
            return False
        code = "".join(self._unread)
        self._unread.clear()
        opened = sum(map(code.count, "([{")) - sum(map(code.count, ")]}"))
        self._depth = max(0, self._depth + opened)
        return self._depth == 0


def _normalise_spaces(code: str, *, tight: bool) -> str:
    """One space for each run of them; with `tight`, none beside punctuation."""
    code = _SPACE_RUN.sub(" ", code)
    if tight:
        return _BESIDE_PUNCTUATION.sub("", code)
    return code


def _suffix(path: str) -> str:
    """The suffix that tells the language, or the whole name of a file without one."""
    name = path.rpartition("/")[2].lower()
    stem, _, suffix = name.partition(".")
    if stem in ("dockerfile", "makefile") or not suffix:
        return stem
    return suffix.rpartition(".")[2]


def _stripped(lines: list[str], comments: tuple[str, ...]) -> list[str]:
    """The lines without margins, blank lines and whole-line comments."""
    stripped = []
    for line in lines:
        if line[:1] == _INNER:
            plain = line[1:]
        else:
            plain = line.strip()
        if not plain or plain.isspace():
            continue
        if comments and plain.startswith(comments):
            continue
        stripped.append(plain)
    return stripped


def _with_depths(lines: list[str]) -> list[str]:
    """Each line behind one space per block around it, however wide its author indents."""
    levels = [0]
    indented = []
    for line in lines:
        if line[:1] == _INNER:
            if line[1:] and not line[1:].isspace():
                indented.append(line[1:])
            continue
        bare = line.strip()
        if not bare:
            continue
        margin = line[: len(line) - len(line.lstrip())]
        column = len(margin.expandtabs(_TAB_WIDTH))
        while column < levels[-1]:
            levels.pop()
        if column > levels[-1]:
            levels.append(column)
        indented.append(" " * (len(levels) - 1) + bare)
    return indented
