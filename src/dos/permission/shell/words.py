"""Words, redirections and operators of a shell text, with what was quoted and what is expanded.

`testrunners.shell_lines` also splits shell text. It drops redirections and heredocs, and does not
say what was quoted; here these decide.
"""

import re
from typing import NoReturn

from msgspec import Struct, field

LONGEST_TEXT = 200_000  # characters
LONGEST_ARITHMETIC = 400
DEEPEST = 12  # command substitutions inside one another

_BLANK = re.compile(r"(?:[ \t]|\\\n)+")
_REDIRECT = re.compile(r"(?:\d{1,5}|\{\w+\})?(?:<<<|<<-?|<>|<&|>\||>>|>&|<|>)|&>>?")
_OPERATOR = re.compile(r"\|\||&&|;;&|;;|;&|\|&|[;&|()\n]")
_PLAIN = re.compile(r"[^ \t\n'\"\\$`;|&()<>]+")
_IN_DOUBLE = re.compile(r"[^\"\\$`]+")
_VARIABLE = re.compile(r"\$(?:\w+|[@*#?$!-])")
_ANSI_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_GLOB = re.compile(r"[*?\[]")
_TWO_WORDS = re.compile(r"\w\s+[\w./-]*[A-Za-z_]|;")  # no arithmetic, outside of `for ((…))`
_SPLIT = re.compile(r"[<>&|;(]\\\n[<>&|;(]|\$\\\n")
_SUBSTITUTES = re.compile(r"\$\(|`|\$\{[ \t\n|(]|@P\}")
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "a": "\a", "e": "\x1b"}


class NotReadable(Exception):
    """The text is too long or nests too deeply to be read."""


class Word(Struct, kw_only=True):
    """A word as a program gets it, except for what the shell would expand."""

    text: str = ""
    is_literal: bool = True  # False: holds a variable, a substitution, or arithmetic
    is_quoted: bool = False  # some of it was quoted or escaped, so it is no keyword
    has_glob: bool = False
    has_brace: bool = False
    has_tilde: bool = False


class _Draft(Struct, kw_only=True):
    """A word that is being read; its parts are joined once, at its end."""

    parts: list[str] = field(default_factory=list)
    word: Word = field(default_factory=Word)

    def finished(self) -> Word:
        self.word.text = "".join(self.parts)
        return self.word


class Redirect(Struct, kw_only=True):
    """A redirection: to or from a file, or from a heredoc."""

    operator: str  # without the number of the stream
    target: Word
    body: str | None = None  # of a heredoc
    strips_tabs: bool = False

    @property
    def body_is_data(self) -> bool:
        """Whether the shell hands the heredoc on as it stands, because it expands nothing in it."""
        if self.target.is_quoted or self.body is None:
            return True
        return not _SUBSTITUTES.search(self.body)


class Operator(Struct, kw_only=True):
    """What stands between commands: `;`, `&&`, a newline, a parenthesis, and so on."""

    text: str


Token = Word | Redirect | Operator


class Script(Struct, kw_only=True):
    """The tokens of a shell text, and those of the substitutions in its words."""

    tokens: list[Token] = field(default_factory=list)
    substitutions: list["Script"] = field(default_factory=list)


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
        self._substitutions: list[Script] = []

    def script(self, *, inside: bool) -> Script:
        """Read to the end, or `inside` a substitution to the parenthesis that closes it."""
        outer = self._substitutions
        self._substitutions = []
        script = Script()
        opened = 0
        while self._position < len(self._text):
            token = self._token(script)
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
        script.substitutions = self._substitutions
        self._substitutions = outer
        return script

    def _token(self, script: Script) -> Token | None:
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
        if here == "(" and (skipped := self._arithmetic(script)):
            return skipped
        if operator := _OPERATOR.match(text, self._position):
            self._position = operator.end()
            if operator[0] == "\n":
                self._read_heredocs()
            return Operator(text=operator[0])
        return self._word()

    def _arithmetic(self, script: Script) -> Word | None:
        """`((…))`, whose `<` and `>` compare; None where it is two subshells.

        Shells without it take it for two subshells, so that `>` writes: then it is not certain.
        """
        end = self._arithmetic_end(self._position)
        if end is None:
            return None
        body = self._text[self._position + 2 : end - 2]
        before = script.tokens[-1] if script.tokens else None
        is_loop = isinstance(before, Word) and before.text == "for"
        if "$(" in body or (_TWO_WORDS.search(body) and not is_loop):
            return None
        if ">" in body and not is_loop:
            self._substitutions.append(Script())
        self._position = end
        return Word(text="true", is_quoted=True)

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
        operator = found[0].lstrip("0123456789")
        operator = operator[operator.index("}") + 1 :] if operator.startswith("{") else operator
        while blank := _BLANK.match(self._text, self._position):
            self._position = blank.end()
        start = self._position
        redirect = Redirect(operator=operator, target=self._word())
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
            is_joined = False  # to the line before, so that it cannot be the end
            while self._position < len(self._text):
                end = self._text.find("\n", self._position)
                end = len(self._text) if end < 0 else end
                line = self._text[self._position : end]
                self._position = min(end + 1, len(self._text))
                if redirect.strips_tabs:
                    line = line.lstrip("\t")
                if line == redirect.target.text and not is_joined:
                    break
                slashes = len(line) - len(line.rstrip("\\"))
                is_joined = slashes % 2 == 1 and not redirect.target.is_quoted
                lines.append(line)
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
                word.is_quoted = True
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
            self._backticks(draft)
        elif text.startswith("$((", start) and (end := self._arithmetic_end(start + 1)):
            if _SUBSTITUTES.search(text, start + 3, end):
                self._substitutions.append(Script())
            draft.word.is_literal = False
            self._position = end
        elif text.startswith("$(", start):
            self._position += 2
            self._nested(draft)
        elif text.startswith("${", start):
            self._parameter(draft, is_quoted=is_quoted)
        elif text.startswith("$'", start) and not is_quoted:
            self._ansi(draft)
        elif text.startswith('$"', start) and not is_quoted:
            self._position += 1
            self._double(draft)
        elif variable := _VARIABLE.match(text, start):
            self._position = variable.end()
            draft.word.is_literal = False
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
        self._position += 1
        if _SUBSTITUTES.search(text, start, self._position):
            self._substitutions.append(Script())
        self._depth -= 1
        draft.word.is_literal = False

    def _ansi(self, draft: _Draft) -> None:
        """`$'…'`, in which escapes stand for characters."""
        end = self._position + 2
        while end < len(self._text) and self._text[end] != "'":
            end += 2 if self._text[end] == "\\" else 1
        body = self._text[self._position + 2 : end]
        draft.parts.append(_ANSI_ESCAPE.sub(_ansi_character, body))
        draft.word.is_quoted = True
        self._position = end + 1

    def _backticks(self, draft: _Draft) -> None:
        end = self._position + 1
        while end < len(self._text) and self._text[end] != "`":
            end += 2 if self._text[end] == "\\" else 1
        body = re.sub(r"\\([\\`$])", r"\1", self._text[self._position + 1 : end])
        self._check_depth()
        self._substitutions.append(_Scanner(body, self._depth + 1).script(inside=False))
        draft.word.is_literal = False
        self._position = end + 1

    def _nested(self, draft: _Draft) -> None:
        """Read the commands up to the closing parenthesis."""
        self._check_depth()
        self._depth += 1
        waiting = self._heredocs
        self._heredocs = []
        self._substitutions.append(self.script(inside=True))
        self._heredocs = waiting
        self._depth -= 1
        draft.word.is_literal = False

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


def _ansi_character(found: re.Match[str]) -> str:
    code = found[0][1:]
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    return _ANSI.get(code, found[0])
