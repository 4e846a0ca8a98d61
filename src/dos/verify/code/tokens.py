"""The tokens of a text without its comments, so that two layouts of one program read alike.

Only what a formatter does is undone here: line ends and spaces that mean nothing, the comma after
the last of several, braces around one statement, and which quotes a string has. The order of
tokens stays, and what is in doubt is kept.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from dos.verify.code.languages import Breaks, Language
from dos.verify.code.scanner import Segment

# Signs that belong together only without a space between them. `>>` is none: it closes two types.
_TOKEN = re.compile(
    r"(?P<space>[ \t\f\v]++)|(?P<end>\\?\n)|[\w$@]++"
    r"|<<=|>>=|\*\*=|===|!==|&&=|\|\|=|\?\?=|\.\.\.|\.\.=|<=>|->|=>|<-|::|\+\+|--|&&|\|\||\?\?|\?\."
    r"|==|!=|<=|>=|\+=|-=|\*=|/=|%=|&=|\|=|\^=|<<|:=|\.\.|\*\*|[^\w\s]|\s"
)
_BRACKETS = frozenset("([{")
_OPENS = {")": "(", "]": "[", "}": "{"}
_HEADERS = frozenset(("if", "for", "foreach", "while"))
_CONTROL = frozenset(("if", "for", "foreach", "while", "do", "switch", "try", "else", "case"))
_CALLED = re.compile(r"[\w$)\]>!]")
# After the first, and before the others, a line end ends no statement.
_OPEN_ENDED = frozenset(
    ("(", "[", "{", ",", ";", ".", "?.", ":", "&&", "||", "??", "=", "==", "=>", "->", "+", "-",
     "+=", "-=", "*=", "/=", "|", "&", "else")
)  # fmt: skip
_CONTINUES = frozenset(
    (")", "]", "}", ",", ";", ".", "?.", ":", "?", "&&", "||", "??", "=", "==", "=>", "{", "else",
     "catch", "finally")
)  # fmt: skip

# Before a semicolon the first are names; without one they would go on in the next line, as the
# line before does with the others.
_MODIFIERS = frozenset(
    ("abstract", "accessor", "async", "declare", "get", "let", "module", "namespace", "set",
     "static", "type")
)  # fmt: skip
_NO_BEGINNING = frozenset("([`/+-*%<>&|^!,.?:=")
_INFIX = frozenset(("in", "instanceof", "of", "as", "satisfies", "is"))


def tokens(segments: Iterable[Segment], language: Language) -> list[str]:
    """The tokens of a text in a tight language; none at all if no word is among them."""
    reader = _Reader(language)
    has_markup = False  # in whose texts a semicolon is a character
    for segment in segments:
        has_markup |= "</" in segment.code or "/>" in segment.code
        for match in _TOKEN.finditer(segment.code):
            reader.take(match)
        if segment.is_comment:
            reader.is_broken |= "\n" in segment.literal
        elif segment.literal:
            reader.add(_plain_quotes(segment.literal) if language.like_quotes else segment.literal)
    if not any(any(map(str.isalnum, token)) for token in reader.tokens):
        return []
    if language.loose_semicolons and not has_markup:
        return list(_with_line_ends(reader.tokens))
    return reader.tokens


class _Bracket:
    """A bracket that is open, and what stands directly in it."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.commas = 0
        self.semicolons = 0
        self.is_plain = True  # no blocks and no conditions are in it


class _Reader:
    """Takes the tokens of a text one by one, and leaves out those that are only layout."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.tokens: list[str] = []
        self.is_broken = True  # a line has ended since the last token
        self._opened = [_Bracket(-1)]  # the first is the text itself
        self._is_directive = False  # of a preprocessor: it ends with its line
        self._is_after_header = False

    def take(self, match: re.Match[str]) -> None:
        """Take what the pattern of tokens has matched."""
        if match.lastgroup == "end":
            self._end_line(match[0])
        elif match.lastgroup is None:
            self._open_directive(match)
            self.add(match[0])

    def add(self, token: str) -> None:
        """Add a token, with the line end before it if that means something."""
        if self.is_broken and self._ends_statement(token):
            self.tokens.append("\n")
        self.is_broken = False
        self._is_after_header = False
        if token in _OPENS:
            self._close(token)
            return
        if token == ";" and self._is_empty_statement():
            return
        if token == "=>":
            self._strip_lone_parameter()
        self._count(token)
        self.tokens.append(token)

    def _count(self, token: str) -> None:
        """Note what a token is to the bracket around it."""
        around = self._opened[-1]
        if token in _BRACKETS:
            around.is_plain &= token != "{"
            self._opened.append(_Bracket(len(self.tokens)))
        elif token == ",":
            around.commas += 1
        elif token == ";":
            around.semicolons += 1
        elif token in _CONTROL:
            around.is_plain = False

    def _end_line(self, end: str) -> None:
        """Note the end of a line; a directive goes on after a backslash."""
        if self._is_directive and end == "\n":
            self._is_directive = False
            self.tokens.append("\n")
        self.is_broken = True

    def _open_directive(self, match: re.Match[str]) -> None:
        """Note a line such as `#define`: where it ends means something in every language."""
        is_mark = match[0] == "#" and match.string[match.end() : match.end() + 1] != "["
        if is_mark and self.is_broken and self.language.breaks is Breaks.NOTHING:
            self._is_directive = True

    def _ends_statement(self, token: str) -> bool:
        """Whether the line end before a token ends a statement."""
        if self.language.breaks is Breaks.NOTHING or not self.tokens:
            return False
        if self._around() not in ("", "{"):
            return False
        if self._is_after_header or self.tokens[-1] in _OPEN_ENDED:
            return False
        return token not in _CONTINUES

    def _around(self) -> str:
        """The bracket that is open; empty outside of all."""
        at = self._opened[-1].at
        return self.tokens[at] if at >= 0 else ""

    def _is_empty_statement(self) -> bool:
        """Whether a semicolon here ends nothing."""
        return self._around() != "(" and self.tokens[-1:] in ([";"], ["{"], [])

    def _close(self, token: str) -> None:
        """Add a closing bracket, without what only a formatter put before it."""
        if self._around() != _OPENS[token]:
            self.tokens.append(token)
            return
        bracket = self._opened.pop()
        before = self.tokens[bracket.at - 1] if bracket.at else ""
        self._drop_last_comma(token, bracket, before)
        if token == "}" and self._is_loose(bracket, before):
            del self.tokens[bracket.at]
            return
        self._is_after_header = token == ")" and before in _HEADERS
        self.tokens.append(token)

    def _drop_last_comma(self, token: str, bracket: _Bracket, before: str) -> None:
        """Drop a comma before a closing bracket, unless it makes a list of one or a hole."""
        if token not in self.language.commas or self.tokens[-1] != ",":
            return
        if self.tokens[-2] in (",", "(", "[", "{"):
            return
        if token != ")" or _CALLED.match(before[-1:]) or bracket.commas > 1:
            self.tokens.pop()

    def _is_loose(self, bracket: _Bracket, before: str) -> bool:
        """Whether braces stand around one plain statement, or around nothing after a statement."""
        if bracket.at == len(self.tokens) - 1:
            is_in_markup = self.language.like_quotes and before == ">"  # `<p>{/* hi */}</p>`
            return before == ";" or is_in_markup
        if not self.language.loose_braces or before not in (")", "else"):
            return False
        is_one = bracket.semicolons == 1 and self.tokens[-1] == ";"
        return is_one and bracket.is_plain

    def _strip_lone_parameter(self) -> None:
        """Write `(x) =>` as `x =>`."""
        if self.language.like_quotes and len(self.tokens) > 2:
            opens, name, closes = self.tokens[-3:]
            if opens == "(" and closes == ")" and name.isidentifier():
                self.tokens[-3:] = [name]


def _with_line_ends(tokens: Sequence[str]) -> Iterator[str]:
    """The tokens, with a line end for each semicolon for which one could stand."""
    opened: list[int] = []
    header_end = -1  # the bracket that closed the last header of a condition or a loop
    for at, token in enumerate(tokens):
        if token in _BRACKETS:
            opened.append(at)
        elif token in _OPENS and opened:
            begins = opened.pop()
            if begins and tokens[begins - 1] in _HEADERS:
                header_end = at
        is_block = not opened or tokens[opened[-1]] == "{"
        if token != ";" or not is_block or header_end == at - 1:
            yield token
            continue
        before, after = tokens[max(at - 1, 0)], tokens[at + 1] if at + 1 < len(tokens) else "}"
        if before in _OPEN_ENDED or before in _MODIFIERS or after[:1] in _NO_BEGINNING:
            yield token
        elif after != "}" and after not in _CONTINUES and after not in _INFIX:
            yield "\n"
        elif after != "}":
            yield token


def _plain_quotes(literal: str) -> str:
    """A string in double quotes, if these mean the same."""
    inside = literal[1:-1]
    if literal[:1] != "'" or literal[-1:] != "'" or "\\" in inside or '"' in inside:
        return literal
    return f'"{inside}"'
