"""Reads the strings and comments of a text, in one pass from one to the next."""

import bisect
import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from dos.verify.code.languages import UNCLOSED, CompiledLanguage

_STATEMENT_ENDS = re.compile(r"[ \t]*+(?:[#;\n]|\Z)")
LETTERS = "rRuUbB"  # that may stand before a Python string
_PREFIXES = frozenset(("", *LETTERS))


class Segment(NamedTuple):
    """A string or a comment of a text, and the code between it and the one before."""

    code: str
    literal: str
    is_comment: bool
    is_docstring: bool  # or another comment that its opening mark does not tell


class Scanner:
    """One pass over a text. `depth` is how many brackets are open where the text begins."""

    def __init__(self, text: str, language: CompiledLanguage, depth: int = 0) -> None:
        self.text = text
        self.language = language
        self.read_to = 0  # where the code after the last segment begins
        self._unread: list[str] = []  # code whose brackets are not counted yet
        self._depth = depth

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

    def is_code_at(self, place: int) -> bool:
        """Whether no string or comment extends across a place."""
        assert self.language.finds is not None
        text = self.text
        match_at = self.language.finds.match
        at = 0
        while at < place and (match := match_at(text, at)):
            at = match.end()
            group = match.lastgroup
            if group in ("nest", "raw"):
                at, _ = self._end_of(group, match)
            if group and match.start(group) < place < at:
                return False
        return True

    def depth_at(self, place: int) -> int:
        """How many brackets are open at a place outside of strings and comments."""
        code: list[str] = []
        at = 0
        for segment in self.segments():
            start = at + len(segment.code)
            if place <= start:
                break
            code.append(segment.code)
            at = start + len(segment.literal)
        code.append(self.text[at:place])
        before = "".join(code)
        return max(0, sum(map(before.count, "([{")) - sum(map(before.count, ")]}")))

    def _classify(self, group: str, gap: str, match: re.Match[str]) -> tuple[int, bool]:
        """Where what was matched ends, and whether it is a comment."""
        if self.language.language.docstrings:
            self._unread.append(gap)
        end = match.end()
        if group == "drop":
            return end, self._is_comment(match.start(group), end)
        if group == "keep":
            return end, self.language.language.docstrings and self._is_docstring(gap, match)
        return self._end_of(group, match)

    def _end_of(self, group: str, match: re.Match[str]) -> tuple[int, bool]:
        """Where what an opening mark began ends, and whether it is a comment."""
        if group == "nest":
            return self._end_of_nested(match.end())
        return self._end_of_raw(match)

    def _is_comment(self, start: int, end: int) -> bool:
        """Whether what looks like a comment is closed, and no compiler or runner obeys it."""
        if end >= len(self.text) and UNCLOSED.match(self.text, start):
            return False
        if self._is_in_preamble(start):
            return False
        obeyed = self.language.obeyed
        if obeyed is None or not obeyed.match(self.text, start):
            return True
        # Most of them are obeyed in the first lines only, and those that are not are rare.
        return self.language.language.obeyed_first and self.text.count("\n", 0, start) > 1

    def _is_in_preamble(self, place: int) -> bool:
        """Whether the line after a comment makes it code."""
        if self.language.preamble is None:
            return False
        at = bisect.bisect(self._preambles, (place, len(self.text))) - 1
        return at >= 0 and place < self._preambles[at][1]

    @cached_property
    def _preambles(self) -> list[tuple[int, int]]:
        """Where comments begin and end that are code."""
        assert self.language.preamble is not None
        return [found.span("code") for found in self.language.preamble.finditer(self.text)]

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
        if "here" in marks:
            return self._end_of_here_document(match), False
        if "scalar" in marks:
            return self._end_of_block_scalar(match), False
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

    def _end_of_here_document(self, match: re.Match[str]) -> int:
        """Where the first line ends that its word begins; a shift or an append has no such line."""
        ends = self._here_ends.get(match["here"], ())
        at = bisect.bisect(ends, match.end())
        return ends[at] if at < len(ends) else match.end()

    @cached_property
    def _here_ends(self) -> dict[str, list[int]]:
        """Where each line ends that may close a document, by its word."""
        assert self.language.closes_here is not None
        ends: dict[str, list[int]] = {}
        for line in self.language.closes_here.finditer(self.text):
            ends.setdefault(line["word"], []).append(line.end())
        return ends

    def _end_of_block_scalar(self, match: re.Match[str]) -> int:
        """Where the lines end that are indented more than the key of a scalar of YAML."""
        text = self.text
        begins = text.rfind("\n", 0, match.start("raw")) + 1
        margin = len(text[begins : match.start()]) - len(text[begins : match.start()].lstrip(" "))
        at = text.find("\n", match.end())
        while at >= 0:
            ends = text.find("\n", at + 1)
            line = text[at + 1 : ends if ends >= 0 else len(text)]
            if line.strip() and len(line) - len(line.lstrip(" ")) <= margin:
                return at
            at = ends
        return len(text)

    def _is_docstring(self, gap: str, match: re.Match[str]) -> bool:
        """Whether a string is a statement: alone on its lines, outside every bracket."""
        before, line, prefix = gap.rpartition("\n")
        is_first = bool(line) or match.start("keep") == len(gap)
        if not is_first or prefix.strip() not in _PREFIXES:
            return False
        if before.endswith("\\") or match.group("keep")[0] == "#":
            return False
        if not _STATEMENT_ENDS.match(self.text, match.end()):
            return False
        return self._count_brackets() == 0

    def _count_brackets(self) -> int:
        """How many brackets are open after the code that was read so far."""
        code = "".join(self._unread)
        self._unread.clear()
        opened = sum(map(code.count, "([{")) - sum(map(code.count, ")]}"))
        self._depth = max(0, self._depth + opened)
        return self._depth
