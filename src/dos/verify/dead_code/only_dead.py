"""Decide whether what a commit added is only code that cannot run.

The program is compared without its dead parts: if these alone are new, nothing was done. Tests
beside dead code are no work on it. A change that is not understood counts as work.
"""

import re
from collections import Counter
from collections.abc import Sequence

from dos.text import join_some, printable_path
from dos.verify import content, file_kinds
from dos.verify.dead_code import span
from dos.verify.dead_code.span import Span
from dos.verify.file_kinds import Kind
from dos.verify.stubs import only_stubs
from dos.verify.stubs.only_stubs import TextChange

LARGEST_TEXT = 200_000  # characters of a file that is read for dead code
_DIRECTIVES = frozenset(
    ("c", "cc", "cpp", "cs", "cu", "cxx", "h", "hh", "hpp", "ino", "m", "mm", "swift")
)
_BRACED = _DIRECTIVES | frozenset(
    ("cjs", "dart", "go", "java", "js", "jsx", "kt", "kts", "mjs", "php", "pl", "pm", "rs", "ts",
     "tsx")
)  # fmt: skip
_SHELLS = frozenset(("sh", "bash", "zsh"))
_END_MARKS = frozenset(("rb", "pl", "pm", "php"))
_LINED = {"rb": "ruby", "lua": "lua", "tcl": "tcl", **dict.fromkeys(_SHELLS, "shell")}
# Conditions that never hold, among the significant lines of a file.
_CLOSED = re.compile(
    r"^ *+(?:\} ?)?(?:else ?|el)?(?:if|unless|until|while(?! ?\(?(?:1|[Tt]rue)\b))[ (!]*+"
    r"(?:not[ (]*+)?(?:(?:False|True|None|false|true|nil|null|[01])\b|(?:\"\"|''|\[\]|\(\)|\{\}):)"
    r"|^#[ ]?if (?:[01]|false|true)\b|^__(?:END|DATA)__|^__halt_compiler"
    r"|[{};] ?(?:if|while) ?\((?:0|false)\)"
    r"|^ *+(?:False|false|0|True|true|1)(?: and| or| ?&&| ?\|\|)"
    r"|^ *+for [^\n]{1,200}? in ?(?:\(\)|\[\])",
    re.MULTILINE,
)
# Lines after which nothing runs, and lines that do nothing, among those that are new.
_ENDED = re.compile(
    r"^(?P<margin> *+)(?:return|raise|throw|break|continue|next|last|exit|quit|die|abort|panic"
    r"|sys\.exit|os\._exit|process\.exit|os\.Exit|System\.exit|std::process)\b"
    r"(?:[^\n;]*+;[ ]?[^}\n]"
    r"|[^\n]*+\n(?P=margin)(?![ }\])]|end\b|else|case\b|default\b|fi\b|done\b))"
    r"|^ *+else:\n *+(?:return|raise|continue|break)\b|^ *+[(\[][\w., '\"-]*+[)\]]$"
    r"|[{;] ?\d++;|\(void\) ?0;|^:(?=[ <]|$)|^ *+(?:[\"'][^\n]*[\"']|<<[^\n]*+);?$"
    r"|^ *+(?!pass$|return$|break$|continue$|raise$|yield$|else$|end$|begin$|do$|done$|then$|fi$)"
    r"[\w.]++;?$",
    re.MULTILINE,
)
_BEFORE = 4  # lines before the new ones in which the block may have ended


def may_be(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether the significant lines of a file have a sign that new ones cannot run."""
    if has_condition(new):
        return True
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    changed = new[max(0, first - _BEFORE) : len(new) - last + 1]
    return _ENDED.search("\n".join(changed)) is not None


def has_condition(lines: Sequence[str]) -> bool:
    """Whether the significant lines of a file have a condition that never holds, or an end."""
    return _CLOSED.search("\n".join(lines)) is not None


def live_text(path: str, text: str) -> str:
    """The text of a file without what cannot run."""
    return span.without(text, _spans(path, text))


def only_dead(changes: Sequence[TextChange]) -> str:
    """Return where dead code was added and nothing else; empty if anything else was, or none."""
    program = [change for change in changes if file_kinds.kind(change.path) is not Kind.TEST]
    places: list[str] = []
    live: list[TextChange] = []
    for change in program:
        old = _spans(change.path, change.old or "")
        new = _spans(change.path, change.new or "")
        place = _first_added(change, old, new)
        if place:
            places.append(place)
        live.append(_without_dead(change, old, new))
    if not places or _is_real(live):
        return ""
    return join_some(places)


def _is_real(live: Sequence[TextChange]) -> bool:
    """Whether more is new in the live code than stubs."""
    is_changed = False
    for change in live:
        old, new = change.old or "", change.new or ""
        is_changed |= content.differs_in_substance(change.path, old, new)
    return is_changed and not only_stubs.only_stubs(live)


def _without_dead(change: TextChange, old: Sequence[Span], new: Sequence[Span]) -> TextChange:
    """A change of a file as far as it can run."""
    return TextChange(
        path=change.path,
        old=None if change.old is None else span.without(change.old, old),
        new=None if change.new is None else span.without(change.new, new),
    )


def _first_added(change: TextChange, old: Sequence[Span], new: Sequence[Span]) -> str:
    """The file and line of the first dead part that is new; empty if none is."""
    known = Counter(_words(change.old or "", part) for part in old)
    for part in new:
        words = _words(change.new or "", part)
        if known[words]:
            known[words] -= 1
        elif words:
            line = (change.new or "").count("\n", 0, part.start) + 1
            return f"{printable_path(change.path)}:{line}"
    return ""


def _words(text: str, part: Span) -> tuple[str, ...]:
    return tuple(text[part.start : part.end].split())


def _spans(path: str, text: str) -> list[Span]:
    """The parts of a text that cannot run; none in a language that is not read for them."""
    suffix = path.rpartition(".")[2].lower()
    if len(text) > LARGEST_TEXT:
        return []
    if suffix in ("py", "pyi"):
        from dos.verify.dead_code import python_dead  # at use: each file is of one language

        return python_dead.spans(text)
    from dos.verify.dead_code import block_dead, line_dead  # at use, as above

    segments = list(content.segments(path, text))
    spans: list[Span] = []
    if suffix in _DIRECTIVES:
        spans += line_dead.directive_spans(text)
    if suffix in _END_MARKS:
        spans += line_dead.after_end_mark(text, segments)
    if suffix in _LINED:
        spans += line_dead.line_spans(_LINED[suffix], text, segments)
    if suffix == "rb" or suffix in _SHELLS:
        from dos.verify.dead_code import idle_values  # at use, as above

        spans += idle_values.spans(_LINED[suffix], segments)
    if suffix in _BRACED:
        spans += block_dead.spans(suffix, segments)
    return sorted(spans)
