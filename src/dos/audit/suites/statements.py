"""Splits a source text into statements, however its author lays out the lines.

Comments are left out, strings are kept. An expression over several lines is one statement; a block
is the statements in it, one deeper than the statement that opens it.
"""

import re
from functools import lru_cache

from msgspec import Struct

from dos.verify import content

STRING = "\1"  # stands for a string literal in masked code
_LONGEST = 2000  # characters of code that patterns look at
_MOST_JOINED = 60  # lines of a statement where brackets are no sure sign
_OPEN_CALL = re.compile(r"[(\[]")
_CLOSED_CALL = re.compile(r"[)\]]")
_SPACES = re.compile(r"[ \t\f\v\n]++")
_BESIDE = re.compile(r" (?=[,;:=(){}\[\]])|(?<=[,;:=(){}\[\]]) ")
_LAST_COMMA = re.compile(r",(?=[)\]}])")
# A bracket or a line's end; or code up to the next one, with calls that have no bracket in them.
_TOKENS = re.compile(
    r"[(){}\[\];\n]"
    r"|[ \t]*+[^\s(){}\[\];][^(){}\[\];\n]*+(?:\([^(){}\[\];\n]*+\)[^(){}\[\];\n]*+)*+"
    r"|[^(){}\[\];\n]++"
)
_CONTINUES = re.compile(
    r"\.(?!\.)|&&|\|\||\?|&\.|=[^=>]|:(?!:)|(?:throws|extends|implements|where)\b"
)
_IS_CONTINUED = re.compile(r"(?:[=+&|?]|\.)$")
_OPENS_FUNCTION = re.compile(r"\bfunction ?\([^()]*+\)$")
_PUNCTUATION = frozenset("(){}[];, \t")
_INDENTED = frozenset(("py", "pyi"))
_BY_LINE = frozenset(
    (
        "rb", "tcl", "test", "sh", "bash", "zsh", "bats", "ex", "exs", "lua", "jl", "cr",
        "coffee", "pl", "pm", "t", "feature", "robot",
    )
)  # fmt: skip
_BOTH_QUOTES = frozenset(("py", "pyi", "js", "jsx", "mjs", "cjs", "ts", "tsx", "rb"))
_SPACED = frozenset(("tcl", "test", "sh", "bash", "zsh", "bats"))  # words are divided by spaces
_TRAILING_BLOCKS = frozenset(("kt", "kts", "swift", "scala", "groovy", "gradle", "dart"))
_DIVIDED_BY_COMMAS = frozenset(("rs", "kt", "kts", "scala", "swift", "dart"))  # the arms of a match
_LITERAL_BEFORE = frozenset("=(,[{:?&<+")
_BLOCK_WORDS = re.compile(
    r"[}\s]*+(?:@\w+ )*+(?:class|struct|enum|interface|if|else|for|while|do|try|finally|switch"
    r"|match|loop|impl|mod|fn|func|fun|namespace|trait|package|object|static|unsafe|async|catch"
    r"|public|private|protected|internal|final|abstract|override|pub|export|extension|type|extern"
    r"|union|select|default|case|function|record|sealed|describe|context)\b"
)
_ENDS_IN_BLOCK_WORD = re.compile(r"\b(?:else|do|try|finally|loop|unsafe|async)$")
_GO_HEADER = re.compile(r"[}\s]*+(?:else )?(?:if|for|switch)\b")
_GO_COMPOSITE = re.compile(r"(?:\][\w.*]*|\bstruct|\binterface|struct ?\{[^{}]*\}|\][\w.]*\{\})$")


class Statement(Struct, frozen=True, gc=False):
    """A statement: how deep in blocks it is, the line that it begins in, and its code."""

    depth: int
    line: int
    masked: str  # its beginning, with STRING for each string
    text: str


def suffix_of(path: str) -> str:
    """Return what tells the language of a file."""
    return path.rpartition("/")[2].rpartition(".")[2].lower()


def is_indented(suffix: str) -> bool:
    """Whether a block of the language ends where its indentation does."""
    return suffix in _INDENTED


def is_by_line(suffix: str) -> bool:
    """Whether a line of the language is a statement, and its indentation only a custom."""
    return suffix in _BY_LINE


def read(path: str, text: str) -> list[Statement]:
    """Return the statements of a text, in order."""
    suffix = suffix_of(path)
    masked, strings = _mask(path, text)
    if suffix in _INDENTED or suffix in _BY_LINE:
        return _LineReader(suffix, masked, strings).read()
    return _BraceReader(suffix, masked, strings).read()


def _mask(path: str, text: str) -> tuple[str, list[str]]:
    """Return the text without comments and with STRING for its strings, and the strings."""
    parts: list[str] = []
    strings: list[str] = []
    has_both_quotes = suffix_of(path) in _BOTH_QUOTES
    if STRING in text:
        text = text.replace(STRING, "\ufffd")
    for code, literal, is_comment, _ in content.segments(path, text):
        parts.append(code)
        if not literal:
            continue
        if is_comment:
            parts.append("\n" * literal.count("\n") or " ")
        elif literal.startswith("//"):  # a directive that a compiler reads
            parts.append(literal)
        else:
            parts.append(STRING)
            strings.append(_plain(literal) if has_both_quotes else literal)
    return "".join(parts), strings


def _plain(literal: str) -> str:
    """Return a string in double quotes where these mean the same as its own."""
    inner = literal[1:-1]
    if literal[0] != "'" or literal[-1] != "'" or not inner.isprintable():
        return literal
    if '"' in inner or "\\" in inner or "'" in inner or "#{" in inner:
        return literal
    return f'"{inner}"'


class _Reader:
    """What readers share: the strings that are left, and the statements so far."""

    def __init__(self, suffix: str, masked: str, strings: list[str]) -> None:
        self.suffix = suffix
        self.masked = masked
        self.strings = strings
        self.next_string = 0
        self.statements: list[Statement] = []

    def add(self, depth: int, line: int, code: str, strings: list[str]) -> None:
        """Add a statement, unless it is only punctuation."""
        masked = _normal(code, self.suffix in _SPACED)
        if not masked:
            return
        text = masked
        if strings:
            pieces = masked.split(STRING)
            joined = [pieces[0]]
            for string, piece in zip(strings, pieces[1:], strict=False):
                joined += (string, piece)
            text = "".join(joined)
        self.statements.append(Statement(depth, line, masked[:_LONGEST], text))

    def take_strings(self, code: str) -> list[str]:
        """Return the next strings, as many as the code has places for."""
        count = code.count(STRING)
        if not count:
            return []
        taken = self.strings[self.next_string : self.next_string + count]
        self.next_string += count
        return taken


@lru_cache(maxsize=1 << 14)
def _normal(code: str, is_spaced: bool) -> str:
    """Return code with its spaces normalised; empty if it is only punctuation."""
    code = _SPACES.sub(" ", code).strip()
    if is_spaced:
        return "" if code in ("}", "{", "") else code
    if _PUNCTUATION.issuperset(code):
        return ""
    return _LAST_COMMA.sub("", _BESIDE.sub("", code)).rstrip(";,")


class _Line(Struct, frozen=True, gc=False):
    """What one line says about where its statement ends."""

    indent: int
    calls: int  # round and square brackets that it leaves open
    braces: int
    opens_literal: bool  # it ends in a brace that opens no block
    is_chained: bool  # it goes on with a call of what the line before returned
    is_continued: bool
    opens_function: bool  # it ends in the head of a function that is an argument


class _LineReader(_Reader):
    """Reads languages in which a line is a statement unless a bracket is left open."""

    def read(self) -> list[Statement]:
        """Return the statements."""
        is_whole = self.suffix in _INDENTED
        number = 1
        buffer: list[str] = []
        strings: list[str] = []
        depth = begun = balance = 0
        goes_on = counts_braces = False
        for line in self.masked.split("\n"):
            here = number
            number += 1
            taken: list[str] = []
            if STRING in line:
                taken = self.take_strings(line)
                number += sum(string.count("\n") for string in taken)
            facts = _line_facts(line)
            if facts is None:
                continue
            if not is_whole:
                goes_on = (goes_on and len(buffer) < _MOST_JOINED) or facts.is_chained
            if buffer and not goes_on:
                self.add(depth, begun, " ".join(buffer), strings)
                buffer, strings = [], []
            if not buffer:
                depth, begun, balance = facts.indent, here, 0
                counts_braces = is_whole
            buffer.append(line.rstrip("\\") if facts.is_continued else line)
            strings += taken
            counts_braces = counts_braces or facts.opens_literal
            balance = max(0, balance + facts.calls + (facts.braces if counts_braces else 0))
            if facts.opens_function and not is_whole:
                balance = 0  # its statements are in the lines that follow
            goes_on = balance > 0 or facts.is_continued
        if buffer:
            self.add(depth, begun, " ".join(buffer), strings)
        return self.statements


@lru_cache(maxsize=1 << 14)
def _line_facts(line: str) -> _Line | None:
    """Return what a line says; None of a blank one."""
    bare = line.strip()
    if not bare:
        return None
    margin = line[: len(line) - len(line.lstrip())]
    return _Line(
        indent=len(margin.expandtabs(8)),
        calls=len(_OPEN_CALL.findall(bare)) - len(_CLOSED_CALL.findall(bare)),
        braces=bare.count("{") - bare.count("}"),
        opens_literal=bare[-1] == "{" and bare[:-1].rstrip()[-1:] in tuple("=(,[:>"),
        is_chained=bare[0] == "." and bare[:2] != "..",
        is_continued=bare[-1] == "\\",
        opens_function=_OPENS_FUNCTION.search(bare, max(0, len(bare) - 200)) is not None,
    )


class _BraceReader(_Reader):
    """Reads languages whose blocks are in braces."""

    def read(self) -> list[Statement]:
        """Return the statements."""
        self.stack: list[str] = []  # `(`, `[`, `{` of a literal, or `b` for a block
        self.buffer: list[str] = []
        self.begun = self.line = 1
        self.depth = 0
        self.has_ended = False  # at a line's end, unless the next one goes on
        for token in _TOKENS.findall(self.masked):
            if token == "\n":
                self._end_line()
            elif token in "(){}[];":
                self._take_bracket(token)
            else:
                self._take(token)
        self._flush()
        return self.statements

    def _in_block(self) -> bool:
        return not self.stack or self.stack[-1] == "b"

    def _end_line(self) -> None:
        self.line += 1
        if not self.buffer:
            return
        if self._in_block():
            self.has_ended = True
        else:
            self.buffer.append(" ")

    def _take(self, code: str) -> None:
        """Take code without brackets."""
        bare = code.strip()
        if not bare:
            if self.buffer:
                self.buffer.append(" ")
            return
        if self.has_ended:
            if _CONTINUES.match(bare) or self._is_continued():
                self.buffer.append(" ")
                self.has_ended = False
            else:
                self._flush()
        if not self.buffer:
            self.begun = self.line
            self.depth = self.stack.count("b")
        self.buffer.append(code)

    def _is_continued(self) -> bool:
        """Whether a line ends in the midst of a statement."""
        before = "".join(self.buffer[-2:]).rstrip()
        if before.endswith(","):
            return self.suffix not in _DIVIDED_BY_COMMAS
        return _IS_CONTINUED.search(before) is not None

    def _take_bracket(self, token: str) -> None:
        if self.has_ended and not (token in "{)]" or self._only_closes()):
            self._flush()
        if token == ";" and self._in_block() and not self._is_go_header():
            self._flush()
            return
        if token == "}" and self._in_block():
            self._flush()
            if self.stack:
                self.stack.pop()
        is_block = token == "{" and self._opens_block()
        if not self.buffer:
            self.begun = self.line
            self.depth = self.stack.count("b")
        self.buffer.append(token)
        self.has_ended = False
        if token in "([":
            self.stack.append(token)
        elif is_block:
            self._flush()
            self.stack.append("b")
        elif token == "{":
            self.stack.append("{")
        elif token in ")]}" and self.stack and not self._in_block():
            self.stack.pop()

    def _is_go_header(self) -> bool:
        """Whether a semicolon divides the parts of `if x := f(); x != nil {`."""
        if self.suffix != "go":
            return False
        return _GO_HEADER.match("".join(self.buffer)) is not None

    def _only_closes(self) -> bool:
        return _PUNCTUATION.issuperset("".join(self.buffer))

    def _opens_block(self) -> bool:
        """Whether an opening brace begins a block, and not a value."""
        before = "".join(self.buffer[-40:]).rstrip()
        if self.suffix == "r" or not before or before.endswith((")", "=>", "->", "|")):
            return True
        last = before[-1]
        if last in _LITERAL_BEFORE:
            return False
        if self.suffix == "go" and _GO_COMPOSITE.search(before[-400:]):
            return False
        is_header = self._in_block() and _BLOCK_WORDS.match("".join(self.buffer[:4]))
        if is_header or _ENDS_IN_BLOCK_WORD.search(before[-12:]):
            return True
        if self.suffix in _TRAILING_BLOCKS:
            return True
        if last in "}]" or not self._in_block():
            return False
        return "=" not in before and not before.startswith("return")

    def _flush(self) -> None:
        """End the statement."""
        self.has_ended = False
        if not self.buffer:
            return
        code = "".join(self.buffer)
        self.buffer = []
        strings: list[str] = []
        if STRING in code:
            strings = self.take_strings(code)
            self.line += sum(string.count("\n") for string in strings)
        self.add(self.depth, self.begun, code, strings)
