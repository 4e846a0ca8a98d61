"""Finds code that cannot run in languages with braces, by its tokens.

What is in doubt can run: a condition that is no literal, a label, a function that is known before
the line that defines it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from dos.verify.code.scanner import Segment
from dos.verify.dead_code.span import Span

_PIECE = re.compile(r"\n|[\w$]++|[^\w\s]")
_PAIRS = {")": "(", "]": "[", "}": "{"}
_FALSE = frozenset(("false", "0", "nil", "null"))
_TRUE = frozenset(("true", "1"))
_CONSTANTS = _FALSE | _TRUE
_ENDS = frozenset(("return", "throw", "break", "continue"))
_PERL_ENDS = frozenset(("return", "die", "last", "next", "exit"))
# Calls that never return, by the suffix of a file; elsewhere such a name is anybody's.
_CALLS = {
    "exit(": "c cc cpp cxx h hh hpp m mm php",
    "_exit(": "c cc cpp cxx h hh hpp",
    "abort(": "c cc cpp cxx h hh hpp",
    "die(": "php",
    "panic(": "go",
    "os.Exit(": "go",
    "panic!": "rs",
    "std::process::exit(": "rs",
    "process.exit(": "cjs js jsx mjs ts tsx",
    "System.exit(": "java kt kts",
}
_LONGEST_CALL = 8  # tokens of the names above
# Behind these a line that never runs may still matter: labels, and what is known beforehand.
_REVIVE = frozenset(
    ("case", "default", "function", "async", "class", "fn", "struct", "enum", "impl", "use", "mod",
     "sub", "#")
)  # fmt: skip
_REVIVE_IN_RUST = frozenset(("const", "static"))
_OPEN_ENDED = frozenset("([{,.=+-*/%&|<?:!")
_CONTINUES = frozenset(")]},.=+*/%&|>?:")
_SEMICOLONS = frozenset(("c", "cc", "cpp", "cs", "cu", "cxx", "dart", "h", "hh", "hpp", "ino",
                         "java", "m", "mm", "php", "pl", "pm", "rs"))  # fmt: skip
_HEADED = frozenset(("go", "swift"))  # whose conditions always have braces

_PLAIN_STRING, _STRING = '""', '"$"'
_STRINGED = frozenset(("cjs", "js", "jsx", "mjs", "php", "pl", "pm", "ts", "tsx"))
_LAST_VALUES = frozenset(("pl", "pm", "rs"))  # in which a block has the value of its last statement


class _Token(NamedTuple):
    text: str
    start: int
    end: int
    is_broken: bool  # it begins a line


def spans(suffix: str, segments: Sequence[Segment]) -> list[Span]:
    """The parts of a text that cannot run, from its code without comments."""
    reader = _Reader(suffix, list(_tokens(segments)))
    return list(reader.spans())


def _tokens(segments: Sequence[Segment]) -> Iterator[_Token]:
    """The tokens of a text with their places; a string is one token."""
    at = 0
    is_broken = True
    for segment in segments:
        for piece in _PIECE.finditer(segment.code):
            if piece[0] == "\n":
                is_broken = True
                continue
            yield _Token(piece[0], at + piece.start(), at + piece.end(), is_broken)
            is_broken = False
        at += len(segment.code)
        if segment.is_comment:
            is_broken |= "\n" in segment.literal
        elif segment.literal:
            end = at + len(segment.literal)
            yield _Token(_string(segment.literal), at, end, is_broken)
            is_broken = False
            if segment.literal[:2] == "<<" and segment.literal.partition("\n")[0].endswith(";"):
                yield _Token(";", end, end, is_broken)  # a here document of Perl
        at += len(segment.literal)


def _string(literal: str) -> str:
    """What stands for a string: `""` if no code is in it, and it is no text around the code."""
    opening = literal.partition("\n")[0]
    if literal[:1] == "'" or (opening[:2] == "<<" and "'" in opening):
        return _PLAIN_STRING
    if literal[:1] not in ('"', "<") or "$" in literal or "@" in literal:
        return _STRING
    return _PLAIN_STRING if literal[:1] == '"' or opening[:2] == "<<" else _STRING


class _Reader:
    """One pass over the tokens of a text."""

    def __init__(self, suffix: str, tokens: list[_Token]) -> None:
        self._suffix = suffix
        self._tokens = tokens
        self._ends = _PERL_ENDS if suffix in ("pl", "pm") else _ENDS
        self._calls = tuple(call for call, suffixes in _CALLS.items() if suffix in suffixes.split())
        self._closes = _closing(tokens)  # of each opening bracket
        self._around = _enclosing(tokens)  # the end of the block around each token

    def spans(self) -> Iterator[Span]:
        """Yield the parts that cannot run, in order; parts inside of parts are skipped."""
        at = 0
        while at < len(self._tokens):
            end = at
            if self._begins_statement(at):
                end = self._dead_condition(at) or self._dead_expression(at)
            if end > at:
                yield self._span(at, end)
                at = end
                continue
            after = self._dead_after(at)
            if after is not None:
                yield self._span(*after)
                at = after[1]
                continue
            skipped = self._dead_else(at)
            if skipped is not None:
                yield self._span(*skipped)
            at += 1

    def _span(self, first: int, end: int) -> Span:
        return Span(self._tokens[first].start, self._tokens[end - 1].end)

    def _text(self, at: int) -> str:
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def _condition(self, at: int) -> tuple[bool, int] | None:
        """Whether the literal after `if` or `while` holds, and where it ends; None: no literal."""
        at += 1
        has_bracket = self._text(at) == "("
        at += has_bracket
        is_negated = self._text(at) == "!"
        at += is_negated
        word = self._text(at)
        if word not in _CONSTANTS or (has_bracket and self._text(at + 1) != ")"):
            return None
        if not has_bracket and self._text(at + 1) != "{":
            return None
        return (word in _TRUE) is not is_negated, at + 1 + has_bracket

    def _body_end(self, at: int) -> int:
        """Where the block or the statement ends that begins at a token; 0 if that is not known."""
        if self._text(at) == "{":
            return self._closes.get(at, -1) + 1
        while at < len(self._tokens) and self._text(at) not in ("{", "}"):
            if self._text(at) == ";":
                return at + 1
            at = self._closes.get(at, at) + 1
        return 0

    def _dead_condition(self, at: int) -> int:
        """Where `if (false) {…}` ends, with the `else` behind it; 0 if there is none here."""
        if self._text(at) not in ("if", "while"):
            return 0
        condition = self._condition(at)
        if condition is None or condition[0]:
            return 0
        end = self._body_end(condition[1])
        if self._text(at) == "while" and self._text(condition[1]) != "{":
            return 0  # the end of `do {…} while (0)`
        is_followed = end and self._text(at) == "if" and self._text(end) == "else"
        return end + 1 if is_followed else end

    def _dead_else(self, at: int) -> tuple[int, int] | None:
        """The `else {…}` behind `if (true) {…}`, or `else if (false) {…}` by itself."""
        if self._text(at) == "else" and self._text(at + 1) == "if":
            condition = self._condition(at + 1)
            if condition is not None and not condition[0]:
                end = self._body_end(condition[1])
                return (at, end) if end else None
        if self._text(at) != "if":
            return None
        condition = self._condition(at)
        if condition is None or not condition[0]:
            return None
        end = self._body_end(condition[1])
        if not end or self._text(end) != "else" or self._text(end + 1) != "{":
            return None
        is_empty = self._text(condition[1]) == "{" and end == condition[1] + 2
        closed = self._body_end(end + 1)
        if not closed:
            return None
        return (at, closed) if is_empty else (end, closed)

    def _dead_expression(self, at: int) -> int:
        """Where `false && f();` ends, or a number or a string alone; 0 if there is none here."""
        word = self._text(at)
        joined = self._text(at + 1) + self._text(at + 2)
        if (word in _FALSE and joined == "&&") or (word in _TRUE and joined == "||"):
            return self._body_end(at)
        if self._text(at + 1) != ";" or self._is_last_value(at + 2):
            return self._dead_cast(at)
        before = self._text(at - 1)
        is_number = word.isdigit() and before in (";", "{")
        return at + 2 if is_number or self._is_idle_string(at) else 0

    def _dead_cast(self, at: int) -> int:
        """Where `(void)0;` ends; 0 if there is none here."""
        words = [token.text for token in self._tokens[at : at + 5]]
        return at + 5 if words == ["(", "void", ")", "0", ";"] else 0

    def _is_last_value(self, after: int) -> bool:
        """Whether the statement before a token may be what its block returns."""
        return self._suffix in _LAST_VALUES and self._text(after) in ("", "}", "__END__")

    def _is_idle_string(self, at: int) -> bool:
        """Whether a string is a statement, and no directive such as `'use strict'`."""
        if self._text(at) != _PLAIN_STRING or self._suffix not in _STRINGED:
            return False
        is_first = self._text(at - 1) in ("", ";", "{", "}") or self._suffix == "php"
        return is_first and at not in self._directives

    @cached_property
    def _directives(self) -> set[int]:
        """The strings with which a text or a function begins."""
        found: set[int] = set()
        for at, token in enumerate(self._tokens):
            before = self._text(at - 1)
            follows = before == ";" and at - 2 in found
            if token.text == _PLAIN_STRING and (before in ("", "{") or follows):
                found.add(at)
        return set() if self._suffix in _LAST_VALUES or self._suffix == "php" else found

    def _dead_after(self, at: int) -> tuple[int, int] | None:
        """The tokens between the end of a `return` or the like and the end of its block."""
        if not self._is_end(at) or not self._begins_statement(at):
            return None
        block = self._around[at]
        if block is None:
            return None
        first = self._statement_end(at)
        if first is None or first >= block:
            return None
        end = first
        while end < block and not self._revives(end):
            end = self._closes.get(end, end) + 1
        return (first, end) if end > first else None

    def _is_end(self, at: int) -> bool:
        """Whether a statement that ends its block begins here."""
        if self._text(at) in self._ends:
            return self._text(at + 1) not in ("=", ":", ".")
        if not self._text(at).isidentifier():
            return False
        words = "".join(token.text for token in self._tokens[at : at + _LONGEST_CALL])
        return words.startswith(self._calls)

    def _begins_statement(self, at: int) -> bool:
        """Whether a statement begins here that no condition governs; False in doubt."""
        before = self._text(at - 1)
        if before in ("", ";", "{", "}") or (before == "php" and self._text(at - 2) == "?"):
            return True
        if self._suffix in _SEMICOLONS or not self._tokens[at].is_broken:
            return False
        if before == ")":
            return self._suffix in _HEADED
        return before not in _OPEN_ENDED and before not in ("else", ">")

    def _statement_end(self, at: int) -> int | None:
        """The token after a statement; None if it has a condition, or its end is in doubt."""
        first = at
        while at < len(self._tokens):
            text = self._text(at)
            if text in ("if", "unless", "when"):
                return None
            if text == ";":
                return at + 1
            if text in _PAIRS:
                return at
            if at > first and self._is_broken_off(at):
                return at
            at = self._closes.get(at, at) + 1
        return None

    def _is_broken_off(self, at: int) -> bool:
        """Whether the line end before a token ends the statement."""
        if self._suffix in _SEMICOLONS or not self._tokens[at].is_broken:
            return False
        return self._text(at - 1) not in _OPEN_ENDED and self._text(at) not in _CONTINUES

    def _revives(self, at: int) -> bool:
        """Whether code from here on may run, or matter, after all."""
        if self._text(at) in _REVIVE:
            return True
        if self._suffix == "rs" and self._text(at) in _REVIVE_IN_RUST:
            return True
        is_label = self._text(at + 1) == ":" and self._text(at + 2) != ":"
        return is_label and self._begins_statement(at)


def _closing(tokens: Sequence[_Token]) -> dict[int, int]:
    """The closing bracket of each opening one."""
    closes: dict[int, int] = {}
    opened: list[int] = []
    for at, token in enumerate(tokens):
        if token.text in ("(", "[", "{"):
            opened.append(at)
        elif opened and tokens[opened[-1]].text == _PAIRS.get(token.text):
            closes[opened.pop()] = at
    return closes


def _enclosing(tokens: Sequence[_Token]) -> list[int | None]:
    """The closing brace of the block around each token; None outside, or in other brackets."""
    closes = _closing(tokens)
    around: list[int | None] = []
    opened: list[int] = []
    for at in range(len(tokens)):
        if opened and closes[opened[-1]] == at:
            opened.pop()
        is_block = opened and tokens[opened[-1]].text == "{"
        around.append(closes[opened[-1]] if is_block else None)
        if at in closes:
            opened.append(at)
    return around
