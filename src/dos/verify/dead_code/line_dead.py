"""Finds code that cannot run by its lines: directives, Ruby, shells, Lua, Tcl, and what follows
`__END__`."""

import re
from collections.abc import Iterator, Sequence

from dos.verify.code.scanner import Segment
from dos.verify.dead_code.span import Span

_DIRECTIVE = re.compile(
    r"^[ \t]*+#[ \t]*+(?P<word>if|ifdef|ifndef|elif|else|endif)\b(?P<rest>[^\n]*+)\n?", re.MULTILINE
)
_END_MARK = re.compile(
    r"^__(?:END|DATA)__[ \t]*+\n|^[ \t]*+__halt_compiler[ \t]*+\([ \t]*+\)[ \t]*+;", re.MULTILINE
)
_READ_MARKS = ("DATA", "__COMPILER_HALT_OFFSET__")  # by which a program reads what follows
_NOWHERE = re.compile(r"(?!)")
_ENDS = {
    "ruby": re.compile(r"(?:return|raise|next|break|exit!?|abort)\b(?!.*\b(?:if|unless|rescue)\b)"),
    "shell": re.compile(r"(?:exit|return|break|continue)(?:[ \t]+[\w$?\"]+)?;?[ \t]*$"),
    "lua": _NOWHERE,  # where a block ends with these anyway
    "tcl": _NOWHERE,
}
_NEVER = {
    "ruby": re.compile(r"(?:if|while) (?:false|nil)$|(?:unless|until) true$"),
    "shell": re.compile(r"(?:if|while) (?:false|! ?true|\[ 1 = 0 \])(?:;? ?(?:then|do))?$"),
    "lua": re.compile(r"(?:if|while) (?:false|nil|not true) (?:then|do)$"),
    "tcl": re.compile(r"(?:if|while) (?:0|false|\{ ?(?:0|false) ?\}) (?:then )?\{$"),
}
_GOES_ON = re.compile(r"(?:[,.+\-*/&|=({\[\\]|\bdo|\|)$")
# At the margin of a block they end it.
_BLOCK_ENDS = re.compile(
    r"(?:end|else|elsif|elif|when|in|rescue|ensure|fi|done|esac|then|do|;;|[)}\]])(?!\w)|[^\s(]*+\)$"
)
_OWN_TEXT = re.compile(r"\$\{?0\b|BASH_SOURCE")  # a script that reads what follows its end


def directive_spans(text: str) -> list[Span]:
    """The parts between `#if 0` and `#endif`, or before and after the `#else` between them."""
    spans: list[Span] = []
    opened: list[list[re.Match[str]]] = []
    for directive in _DIRECTIVE.finditer(text):
        word = directive["word"]
        if word.startswith("if"):
            opened.append([directive])
        elif opened:
            opened[-1].append(directive)
            if word == "endif":
                spans += _skipped(opened.pop())
    return spans


def _skipped(parts: Sequence[re.Match[str]]) -> Iterator[Span]:
    """The dead part of one `#if` with the directives around it; none with a real condition."""
    first, last = parts[0], parts[-1]
    condition = first["rest"].split("//")[0].split("/*")[0].strip()
    if first["word"] != "if" or condition not in ("0", "1", "false", "true"):
        return
    is_taken = condition in ("1", "true")
    if len(parts) == 2 and not is_taken:
        yield Span(first.start(), last.end())
    elif len(parts) == 3 and parts[1]["word"] == "else":
        dead = parts[1:] if is_taken else parts[:2]
        rest = first if is_taken else last
        yield Span(rest.start(), rest.end())
        yield Span(dead[0].start(), dead[1].end())


def after_end_mark(text: str, segments: Sequence[Segment]) -> list[Span]:
    """What follows `__END__` or the like, unless the program reads it as its data."""
    if not _END_MARK.search(text):
        return []
    mark = _END_MARK.search(masked(segments))
    if mark is None or any(word in text[: mark.start()] for word in _READ_MARKS):
        return []
    return [Span(mark.start(), len(text))]


def line_spans(kind: str, text: str, segments: Sequence[Segment]) -> list[Span]:
    """The lines of Ruby or of a shell that cannot run, by their indentation."""
    if kind == "shell" and _OWN_TEXT.search(text):
        return []
    lines = _Lines(masked(segments))
    return list(lines.spans(_ENDS[kind], _NEVER[kind]))


def masked(segments: Sequence[Segment]) -> str:
    """A text of the same length in which comments are spaces and strings are one word."""
    masked: list[str] = []
    for segment in segments:
        masked.append(segment.code)
        filler = " " if segment.is_comment else "x"
        masked.append(re.sub(r"[^\n]", filler, segment.literal))
    return "".join(masked)


class _Lines:
    """The lines of a text with their margins."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def spans(self, ends: re.Pattern[str], never: re.Pattern[str]) -> Iterator[Span]:
        """Yield the lines after a statement that ends its block, and those of `if false`."""
        at = 0
        while at < len(self._lines):
            line = self._lines[at].strip()
            after = at + 1
            if never.match(line):
                after = self._closed(at)
                if after > at + 1:
                    yield self._span(at, after)
            elif ends.match(line) and not _GOES_ON.search(line) and _is_balanced(line):
                after = self._block_end(at)
                if any(each.strip() for each in self._lines[at + 1 : after]):
                    yield self._span(at + 1, after)
            at = max(after, at + 1)

    def _span(self, first: int, end: int) -> Span:
        return Span(self._starts[first], min(self._starts[end], self._starts[-1] - 1))

    def _margin(self, at: int) -> int:
        line = self._lines[at].expandtabs()
        return len(line) - len(line.lstrip())

    def _block_end(self, at: int) -> int:
        """The line at which the block around a line ends, or the text."""
        margin = self._margin(at)
        for after in range(at + 1, len(self._lines)):
            line = self._lines[after].strip()
            if not line:
                continue
            if self._margin(after) < margin:
                return after
            if self._margin(after) == margin and _BLOCK_ENDS.match(line):
                return after
        return len(self._lines)

    def _closed(self, at: int) -> int:
        """The line after the one that closes a condition; the next line if it has an `else`."""
        margin = self._margin(at)
        for after in range(at + 1, len(self._lines)):
            line = self._lines[after].strip()
            if not line or self._margin(after) > margin or line in ("then", "do"):
                continue
            return after + 1 if line in ("end", "fi", "done", "}") else at + 1
        return at + 1


def _is_balanced(line: str) -> bool:
    """Whether every bracket of a line is closed in it."""
    return all(line.count(opens) == line.count(closes) for opens, closes in ("()", "[]", "{}"))
