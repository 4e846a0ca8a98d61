"""Words, redirections and operators of a shell text, with what was quoted and what is expanded.

`testrunners.shell_lines` also splits shell text. It drops redirections and heredocs, and does not
say what was quoted; here these decide.
"""

import re
from typing import NoReturn

from msgspec import Struct, field

from dos.permission.shell.syntax.ansi import unescape
from dos.permission.shell.syntax.evaluation import without_substitutions
from dos.permission.shell.syntax.tokens import (
    Arithmetic,
    NotReadable,
    Operator,
    Redirect,
    Script,
    Token,
    Word,
)

LONGEST_TEXT = 200_000  # characters
LONGEST_ARITHMETIC = 400
DEEPEST = 12  # command substitutions inside one another

_BLANK = re.compile(r"(?:[ \t]|\\\n)+")
# Digits and letters are those of ASCII: to a shell any other is a plain part of a word.
_REDIRECT = re.compile(r"(?:[0-9]{1,5}|\{(\w+)\})?(<<<|<<-?|<>|<&|>\||>>|>&|<|>)|(&>>?)", re.ASCII)
_OPERATOR = re.compile(r"\|\||&&|;;&|;;|;&|\|&|[;&|()\n]")
_PLAIN = re.compile(r"[^ \t\n'\"\\$`;|&()<>]+")
_IN_DOUBLE = re.compile(r"[^\"\\$`]+")
_VARIABLE = re.compile(r"\$([A-Za-z_]\w*|[0-9@*#?$!-])", re.ASCII)
_GLOB = re.compile(r"[*?\[]")
_TWO_WORDS = re.compile(r"\w\s+[\w./-]*[A-Za-z_]|[;/]")  # no arithmetic, but for `for ((…))`
_SPLIT = re.compile(r"[<>&|;(]\\\n[<>&|;(]|\$\{?\w*\\\n")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_LENGTH = re.compile(r"#(?:[A-Za-z_]\w*(?:\[[@*]\])?|[@*])?", re.ASCII)
_NUMBERS = "#?$!"  # parameters that are never text


class _Draft(Struct, kw_only=True):
    """A word that is being read; its parts are joined once, at its end."""

    parts: list[str] = field(default_factory=list)
    word: Word = field(default_factory=Word)
    variables: list[str] = field(default_factory=list)

    def finished(self) -> Word:
        self.word.text = "".join(self.parts)
        self.word.variables = tuple(self.variables)
        return self.word

    def add_expansion(self, variable: str | None, *, is_quoted: bool) -> None:
        """Note that a part is made by the shell; None: it is a number."""
        self.word.is_literal = False
        self.word.is_split = self.word.is_split or not is_quoted
        if variable is not None:
            self.variables.append(variable)


def read_script(text: str) -> Script:
    """Return the tokens of a shell text. Raises NotReadable where it is too long or too deep."""
    if _SPLIT.search(text):
        raise NotReadable("an operator is split over two lines")
    if len(text) > LONGEST_TEXT:
        raise NotReadable(f"the command is longer than {LONGEST_TEXT} characters")
    return _Scanner(text, 0).script(inside=False)


class _Scanner:
    """Reads one text from the left to the right, each character once."""

    def __init__(self, text: str, depth: int) -> None:
        self._text = text
        self._position = 0
        self._depth = depth
        self._heredocs: list[Redirect] = []  # whose bodies begin after this line
        self._found = Script()  # in which substitutions are noted

    def script(self, *, inside: bool) -> Script:
        """Read to the end, or `inside` a substitution to the parenthesis that closes it."""
        outer = self._found
        self._found = script = Script()
        opened = 0
        while self._position < len(self._text):
            token = self._token()
            if token is None:
                continue
            if isinstance(token, Operator):
                if token.text == "(":
                    opened += 1
                elif token.text == ")" and inside and not opened:
                    break
                elif token.text == ")":
                    opened = max(0, opened - 1)
            script.tokens.append(token)
        self._found = outer
        return script

    def _token(self) -> Token | None:
        """The next token; None after blanks and comments."""
        text = self._text
        if blank := _BLANK.match(text, self._position):
            self._position = blank.end()
            return None
        here = text[self._position]
        if here == "#":
            end = text.find("\n", self._position)
            self._position = len(text) if end < 0 else end
            return None
        if text.startswith(("<(", ">("), self._position):
            return self._word()
        if redirect := _REDIRECT.match(text, self._position):
            return self._redirect(redirect)
        if here == "(" and (skipped := self._arithmetic()):
            return skipped
        if operator := _OPERATOR.match(text, self._position):
            self._position = operator.end()
            if operator[0] == "\n":
                self._read_heredocs()
            return Operator(text=operator[0])
        return self._word()

    def _arithmetic(self) -> Arithmetic | None:
        """`((…))`, whose `<` and `>` compare; None where it may be two subshells.

        Shells without it take it for two subshells, so that it is certain only in a `for`.
        """
        start = self._position
        end = self._arithmetic_end(start)
        if end is None:
            return None
        tokens = self._found.tokens
        is_loop = bool(tokens) and isinstance(tokens[-1], Word) and tokens[-1].text == "for"
        if not is_loop:
            self._found.unknown = "not every shell has (("
            if _TWO_WORDS.search(without_substitutions(self._text[start + 2 : end - 2])):
                return None
        self._evaluated(start + 2, end)
        return Arithmetic()

    def _evaluated(self, start: int, end: int) -> None:
        """Go to the end of arithmetic, and read what is expanded in it."""
        self._found.arithmetic.append(self._text[start : end - 2])
        draft = _Draft()
        self._position = start
        while self._position < end - 2:
            if self._text[self._position] in "$`":
                self._expansion(draft, is_quoted=True)
            else:
                self._position += 1
        if self._position != end - 2:
            raise NotReadable("the end of arithmetic is not known")
        self._position = end

    def _arithmetic_end(self, start: int) -> int | None:
        """Where the `((` at this place is closed by `))`; None where it is not, or far away."""
        if not self._text.startswith("((", start):
            return None
        depth = 0
        for place, letter in enumerate(self._text[start : start + LONGEST_ARITHMETIC], start):
            depth += (letter == "(") - (letter == ")")
            if letter == "\n":
                return None
            if depth == 1 and letter == ")":
                return place + 2 if self._text.startswith("))", place) else None
        return None

    def _redirect(self, found: re.Match[str]) -> Redirect:
        self._position = found.end()
        operator = found[2] or found[3]
        while blank := _BLANK.match(self._text, self._position):
            self._position = blank.end()
        start = self._position
        redirect = Redirect(operator=operator, target=self._word(), variable=found[1] or "")
        if operator in ("<<", "<<-"):
            named = self._text[start : self._position]
            if "$" in named or "`" in named or not named:
                raise NotReadable("the end of a heredoc is not known")
            redirect.strips_tabs = operator == "<<-"
            self._heredocs.append(redirect)
        return redirect

    def _read_heredocs(self) -> None:
        """Take the bodies of the heredocs that were announced on the line that has ended."""
        for redirect in self._heredocs:
            lines: list[str] = []
            joined: list[str] = []  # the lines that a backslash joins to this one
            while self._position < len(self._text):
                end = self._text.find("\n", self._position)
                end = len(self._text) if end < 0 else end
                line = self._text[self._position : end]
                self._position = min(end + 1, len(self._text))
                if redirect.strips_tabs:
                    line = line.lstrip("\t")
                if line == redirect.target.text and not joined:
                    break
                lines.append(line)
                slashes = len(line) - len(line.rstrip("\\"))
                if slashes % 2 == 1 and not redirect.target.is_quoted:
                    joined.append(line[:-1])
                elif joined:
                    if "".join((*joined, line)) == redirect.target.text:
                        raise NotReadable("the end of a heredoc is split over two lines")
                    joined = []
            redirect.body = "\n".join(lines)
        self._heredocs = []

    def _word(self) -> Word:
        """Read one word; an empty one where an operator or the end stands."""
        draft = _Draft()
        word = draft.word
        start = self._position
        text = self._text
        while self._position < len(text):
            here = text[self._position]
            if plain := _PLAIN.match(text, self._position):
                self._position = plain.end()
                _add_plain(draft, plain[0], is_first=plain.start() == start)
            elif here == "\\":
                letter = text[self._position + 1 : self._position + 2] or here
                self._position += 2
                draft.parts.append("" if letter == "\n" else letter)
                word.is_quoted = word.is_quoted or letter != "\n"
            elif here == "'":
                self._single(draft)
            elif here == '"':
                self._double(draft)
            elif here in "$`":
                self._expansion(draft)
            elif text.startswith(("<(", ">("), self._position):
                self._position += 2
                self._nested(draft)
            elif here == "(" and draft.parts and draft.parts[-1].endswith("="):
                self._position += 1  # the elements of an array
                self._nested(draft)
            else:
                break
        return draft.finished()

    def _single(self, draft: _Draft) -> None:
        end = self._text.find("'", self._position + 1)
        end = len(self._text) if end < 0 else end
        draft.parts.append(self._text[self._position + 1 : end])
        draft.word.is_quoted = True
        self._position = end + 1

    def _double(self, draft: _Draft) -> None:
        draft.word.is_quoted = True
        self._position += 1
        text = self._text
        while self._position < len(text):
            here = text[self._position]
            if here == '"':
                self._position += 1
                return
            if run := _IN_DOUBLE.match(text, self._position):
                self._position = run.end()
                draft.parts.append(run[0])
            elif here == "\\":
                letter = text[self._position + 1 : self._position + 2]
                if letter not in ("$", "`", '"', "\\", "\n"):
                    letter = "\\" + letter
                draft.parts.append("" if letter == "\n" else letter)
                self._position += 2
            else:
                self._expansion(draft, is_quoted=True)

    def _expansion(self, draft: _Draft, *, is_quoted: bool = False) -> None:
        """Read what begins with `$` or a backtick; `is_quoted`: inside double quotes."""
        text = self._text
        start = self._position
        if text[start] == "`":
            self._backticks(draft, is_quoted=is_quoted)
        elif text.startswith("$((", start) and (end := self._arithmetic_end(start + 1)):
            self._check_depth()
            self._depth += 1
            self._evaluated(start + 3, end)
            self._depth -= 1
            draft.add_expansion(None, is_quoted=is_quoted)
        elif text.startswith("$(", start):
            self._position += 2
            self._nested(draft, is_quoted=is_quoted)
        elif text.startswith("${", start):
            self._parameter(draft, is_quoted=is_quoted)
        elif text.startswith("$[", start):
            self._position += 2
            self._found.unknown = "not every shell has $["
            draft.add_expansion("", is_quoted=is_quoted)
        elif text.startswith("$'", start) and not is_quoted:
            self._ansi(draft)
        elif text.startswith('$"', start) and not is_quoted:
            self._position += 1
            self._double(draft)
        elif variable := _VARIABLE.match(text, start):
            self._position = variable.end()
            name = None if variable[1] in _NUMBERS else variable[1]
            draft.add_expansion(name, is_quoted=is_quoted)
        else:
            self._position += 1
            draft.parts.append("$")

    def _parameter(self, draft: _Draft, *, is_quoted: bool) -> None:
        """Read `${…}`, in which quotes hide a brace, and in which commands may stand."""
        self._check_depth()
        self._depth += 1
        text = self._text
        start = self._position
        self._position += 2
        inner = _Draft()
        while self._position < len(text) and text[self._position] != "}":
            here = text[self._position]
            if here == "\\":
                self._position += 2
            elif here == "'" and not is_quoted:
                self._single(inner)
            elif here == '"':
                self._double(inner)
            elif here in "$`":
                self._expansion(inner, is_quoted=is_quoted)
            else:
                self._position += 1
        self._found.parameters.append(text[start + 2 : self._position])
        self._position += 1
        self._depth -= 1
        if _LENGTH.fullmatch(text, start + 2, self._position - 1):
            draft.add_expansion(None, is_quoted=is_quoted)
        else:
            name = _NAME.match(text, start + 2)
            draft.add_expansion(name[0] if name else "", is_quoted=is_quoted)
        draft.variables += inner.variables

    def _ansi(self, draft: _Draft) -> None:
        """`$'…'`, in which escapes stand for characters."""
        end = self._position + 2
        while end < len(self._text) and self._text[end] != "'":
            end += 2 if self._text[end] == "\\" else 1
        body = unescape(self._text[self._position + 2 : end])
        draft.word.is_quoted = True
        if body is None:
            draft.add_expansion("", is_quoted=True)
        else:
            draft.parts.append(body)
        self._position = end + 1

    def _backticks(self, draft: _Draft, *, is_quoted: bool) -> None:
        end = self._position + 1
        while end < len(self._text) and self._text[end] != "`":
            end += 2 if self._text[end] == "\\" else 1
        body = re.sub(r"\\([\\`$])", r"\1", self._text[self._position + 1 : end])
        self._check_depth()
        self._found.substitutions.append(_Scanner(body, self._depth + 1).script(inside=False))
        draft.add_expansion("", is_quoted=is_quoted)
        self._position = end + 1

    def _nested(self, draft: _Draft, *, is_quoted: bool = False) -> None:
        """Read the commands up to the closing parenthesis."""
        self._check_depth()
        self._depth += 1
        waiting = self._heredocs
        self._heredocs = []
        self._found.substitutions.append(self.script(inside=True))
        self._heredocs = waiting
        self._depth -= 1
        draft.add_expansion("", is_quoted=is_quoted)

    def _check_depth(self) -> None:
        if self._depth >= DEEPEST:
            _too_deep()


def _too_deep() -> NoReturn:
    raise NotReadable(f"more than {DEEPEST} substitutions are inside one another")


def _add_plain(draft: _Draft, text: str, *, is_first: bool) -> None:
    word = draft.word
    draft.parts.append(text)
    word.has_glob = word.has_glob or bool(_GLOB.search(text))
    word.has_brace = word.has_brace or "{" in text
    word.has_tilde = word.has_tilde or (is_first and text.startswith("~"))
