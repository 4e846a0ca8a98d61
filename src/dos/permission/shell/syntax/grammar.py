"""Which words of a shell text are keywords, and where the commands between them begin.

What is not surely understood is said to be so, and still read as far as it goes: then every word
that looks like a keyword is taken for one.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct, field, structs

from dos.permission.shell.syntax.conditions import condition_names, is_plain
from dos.permission.shell.syntax.evaluation import NAME
from dos.permission.shell.syntax.tokens import Arithmetic, Operator, Redirect, Token, Word

_NOT_UNDERSTOOD = "the grammar of the command is not understood"
_CASE = "case"
# For each keyword that continues or ends something: after which others it may stand, and what may
# follow then ("": nothing, it has ended).
_GOES_ON = {
    "then": (("if", "elif"), "then"),
    "elif": (("then",), "elif"),
    "else": (("then",), "else"),
    "fi": (("then", "else"), ""),
    "do": (("while", "until"), "do"),
    "done": (("do",), ""),
    "}": (("{",), ""),
    "esac": ((_CASE,), ""),
}
_OPENS = frozenset(("if", "while", "until", "{"))
_BEFORE_COMMAND = frozenset(("!", "time"))
_ENDS_ITEM = frozenset((";;", ";&", ";;&"))
_SEPARATES = frozenset((";", "&", "&&", "||", "|", "|&", "\n"))


class Parsed(Struct, kw_only=True):
    """Tokens whose keywords are marked, with an operator after each header of a loop."""

    tokens: list[Token] = field(default_factory=list)
    unknown: str = ""
    evaluated: set[str] = field(default_factory=set)  # variables, as arithmetic


def parse_commands(tokens: Sequence[Token]) -> Parsed:
    """Return the tokens with their keywords marked. Patterns and conditions are left out."""
    return _Parser(tokens).parse()


class _Parser:
    """Goes through the tokens once, with a stack of what is open."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._index = 0
        self._parsed = Parsed()
        self._open: list[str] = []
        self._ends: list[int | None] | None = None
        self._step: Callable[[Token], None] = self._start

    def parse(self) -> Parsed:
        while self._index < len(self._tokens):
            token = self._tokens[self._index]
            self._index += 1
            self._step(token)
        if self._open:
            self._doubt()
        return self._parsed

    def _doubt(self, why: str = _NOT_UNDERSTOOD) -> None:
        self._parsed.unknown = self._parsed.unknown or why

    def _emit(self, token: Token) -> None:
        self._parsed.tokens.append(token)

    def _end_header(self) -> None:
        self._emit(Operator(text=";"))

    def _next(self) -> Token | None:
        """The token that comes, which stays."""
        return self._tokens[self._index] if self._index < len(self._tokens) else None

    def _skip_newlines(self) -> None:
        while _is_operator(self._next(), "\n"):
            self._index += 1

    def _start(self, token: Token) -> None:
        """Read a token where a command begins, so that keywords are recognised."""
        self._step = self._start
        if isinstance(token, Arithmetic):
            self._evaluates()
        elif isinstance(token, Redirect):
            self._emit(token)
            self._step = self._simple
        elif isinstance(token, Operator):
            self._operator_at_start(token)
        elif _is_word(token, "[[") and (end := self._condition_end()) is not None:
            self._condition(end)
        elif not (self._opens(token) or self._goes_on(token)):
            self._emit(token)
            self._step = self._simple

    def _operator_at_start(self, operator: Operator) -> None:
        text = operator.text
        if text == "\n":
            self._emit(operator)
        elif text == "(":
            self._emit(operator)
            self._open.append("(")
        elif text in _ENDS_ITEM:
            self._end_item(operator)
        else:
            if text != ")":
                self._doubt()
            self._operator(operator)

    def _evaluates(self) -> None:
        """Note a command that runs nothing."""
        self._emit(Word(text="true", is_quoted=True))
        self._step = self._after

    def _condition_end(self) -> int | None:
        """The place of the `]]` that comes next."""
        if self._ends is None:
            self._ends = _places(self._tokens, "]]")
        return self._ends[self._index] if self._index < len(self._tokens) else None

    def _condition(self, end: int) -> None:
        inner = self._tokens[self._index : end]
        if not is_plain(inner):
            self._doubt("not every shell has [[")
        names = condition_names(inner)
        if names is None:
            self._doubt("what a condition evaluates is not known")
        self._parsed.evaluated |= names or frozenset()
        self._index = end + 1
        self._evaluates()

    def _opens(self, word: Word) -> bool:
        """Read a keyword after which commands follow."""
        if word.is_quoted or not word.is_literal:
            return False
        text = word.text
        if text in _BEFORE_COMMAND or text in _OPENS:
            self._keyword(word)
            if text in _OPENS:
                self._open.append(text)
        elif text in ("for", "select"):
            self._loop(word)
        elif text == "case":
            self._case(word)
        elif text == "function":
            self._function(word)
        else:
            return False
        return True

    def _keyword(self, word: Word) -> None:
        self._emit(structs.replace(word, is_keyword=True))

    def _goes_on(self, word: Word) -> bool:
        """Read a keyword that continues or ends what is open."""
        if word.is_quoted or not word.is_literal or word.text not in _GOES_ON:
            return False
        before, then = _GOES_ON[word.text]
        is_expected = bool(self._open) and self._open[-1] in before
        if is_expected:
            self._open.pop()
        else:
            self._doubt()
        if then:
            self._open.append(then)
        self._keyword(word)
        self._step = self._start if then else self._after
        return True

    def _loop(self, word: Word) -> None:
        """Read the header of `for` and `select`, up to the `do` or the brace."""
        self._keyword(word)
        token = self._next()
        self._index += 1
        if isinstance(token, Arithmetic) and word.text == "for":
            self._emit(Word(text="0"))
        elif isinstance(token, Word) and token.is_literal and NAME.fullmatch(token.text):
            self._emit(token)
            self._skip_newlines()
            if _is_word(self._next(), "in"):
                self._loop_words()
        else:
            self._index -= 1
            self._doubt()
        self._end_header()
        if _is_operator(self._next(), ";"):
            self._index += 1
        self._skip_newlines()
        self._body()

    def _loop_words(self) -> None:
        """Take the words of a loop, up to the end of the line or the semicolon."""
        while isinstance(token := self._next(), Word):
            self._emit(token)
            self._index += 1
        if not (_is_operator(token, ";") or _is_operator(token, "\n")):
            self._doubt()

    def _body(self) -> None:
        token = self._next()
        if isinstance(token, Word) and (_is_word(token, "do") or _is_word(token, "{")):
            self._index += 1
            self._keyword(token)
            self._open.append(token.text)
        else:
            self._doubt()
        self._step = self._start

    def _case(self, word: Word) -> None:
        self._keyword(word)
        token = self._next()
        if isinstance(token, Word):
            self._index += 1
            self._emit(token)
        else:
            self._doubt()
        self._emit(Operator(text="&&"))  # a folder stays as certain as it was
        self._skip_newlines()
        if _is_word(self._next(), "in"):
            self._index += 1
        else:
            self._doubt()
        self._open.append(_CASE)
        self._patterns()

    def _patterns(self) -> None:
        """Skip the patterns of an item, up to the parenthesis after them."""
        self._skip_newlines()
        self._step = self._start
        if _is_word(self._next(), "esac"):
            return
        if _is_operator(self._next(), "("):
            self._index += 1
        while True:
            if isinstance(self._next(), Word):
                self._index += 1
            else:
                self._doubt()
            token = self._next()
            if not _is_operator(token, "|"):
                break
            self._index += 1
        if _is_operator(token, ")"):
            self._index += 1
        else:
            self._doubt()

    def _end_item(self, operator: Operator) -> None:
        self._emit(operator)
        if self._open and self._open[-1] == _CASE:
            self._patterns()
        else:
            self._doubt()
            self._step = self._start

    def _function(self, word: Word) -> None:
        self._keyword(word)
        token = self._next()
        if isinstance(token, Word):
            self._index += 1
            self._emit(token)
        if _is_operator(self._next(), "("):
            self._index += 1
            if _is_operator(self._next(), ")"):
                self._index += 1
        self._end_header()
        self._doubt("a function is defined")

    def _simple(self, token: Token) -> None:
        """Read a token of a command, in which no keywords are."""
        if isinstance(token, Operator):
            self._operator(token)
            return
        if isinstance(token, Arithmetic):
            self._doubt()
            return
        self._emit(token)

    def _after(self, token: Token) -> None:
        """Read a token after the end of a loop, a condition or a group."""
        if isinstance(token, Operator):
            self._operator(token)
        elif isinstance(token, Redirect):
            self._emit(token)
        else:
            self._end_header()
            if not (isinstance(token, Word) and self._goes_on(token)):
                self._doubt()
                self._start(token)

    def _operator(self, operator: Operator) -> None:
        """Read an operator that ends a command."""
        text = operator.text
        if text in _ENDS_ITEM:
            self._end_item(operator)
            return
        self._emit(operator)
        self._step = self._start
        if text == ")":
            self._step = self._after
            if self._open and self._open[-1] == "(":
                self._open.pop()
            else:
                self._doubt()
        elif text == "(":
            self._doubt("a function is defined")
            self._open.append("(")
        elif text not in _SEPARATES:
            self._doubt()


def _places(tokens: Sequence[Token], text: str) -> list[int | None]:
    """For each token the place of the next word with this text."""
    found: list[int | None] = [None] * len(tokens)
    place: int | None = None
    for index in range(len(tokens) - 1, -1, -1):
        if _is_word(tokens[index], text):
            place = index
        found[index] = place
    return found


def _is_word(token: Token | None, text: str) -> bool:
    if not isinstance(token, Word) or token.is_quoted or not token.is_literal:
        return False
    return token.text == text


def _is_operator(token: Token | None, text: str) -> bool:
    return isinstance(token, Operator) and token.text == text
