"""Whether two texts of Python are one program: their syntax trees without docstrings are alike."""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence

LARGEST_TEXT = 400_000  # characters of a text that is parsed
# Not before these may the same program be written in other words.
_REWRITABLE = re.compile(
    r"\\|\d[_xXoObBeEjJ]|\d\.\d*+(?<=[0.])|(?<!\d)\.\d|\b(?:elif|else|pass)\b|\.\.\."
    r"|\b[a-zA-Z]{1,2}['\"]|<>"
)
_NAME = re.compile(r"(?<!\w)[^\W\d]\w*+")
_LAYOUT_WORDS = frozenset(("if", "elif", "else", "pass"))
_PREFIX = re.compile(r"(?i:[bruf]{1,2})")


def is_rewritable(code: str) -> bool:
    """Whether a piece of code has something that another spelling could stand for."""
    return _REWRITABLE.search(code) is not None


def names(code: str) -> list[str]:
    """The names of a code without its strings, in order: they are alike in all of its spellings."""
    found = []
    for name in _NAME.findall(code):
        if name not in _LAYOUT_WORDS and not _PREFIX.fullmatch(name):
            found.append(name)
    return found


def parse(text: str) -> ast.Module | None:
    """The syntax tree of a text; None if it is too long, or this version of Python has none."""
    if len(text) > LARGEST_TEXT:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in strings of the user's code
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def is_same_program(old: str, new: str) -> bool | None:
    """Whether two texts differ in layout, comments and docstrings alone; None: not parsed."""
    before = parse(old)
    after = parse(new)
    if before is None or after is None:
        return None
    try:
        old_dumps, new_dumps = _differing(before.body, after.body, old, new)
        return old_dumps == new_dumps
    except (RecursionError, ValueError):  # a number of too many digits has no text
        return None


def _differing(
    before: list[ast.stmt], after: list[ast.stmt], old: str, new: str
) -> tuple[list[str], list[str]]:
    """The statements of two modules as dumps, without those of the same text at both ends."""
    old_texts = _texts(before, old)
    new_texts = _texts(after, new)
    first = _common(old_texts, new_texts)
    last = _common(old_texts[first:][::-1], new_texts[first:][::-1])
    old_middle = before[first : len(before) - last]
    new_middle = after[first : len(after) - last]
    return list(_dumps(old_middle)), list(_dumps(new_middle))


def _texts(statements: Sequence[ast.stmt], text: str) -> list[list[str]]:
    """The lines of each statement; lines that two of them share are in both."""
    lines = text.split("\n")
    texts = []
    for statement in statements:
        first = min([statement.lineno, *(node.lineno for node in _decorators(statement))])
        margin = [str(statement.col_offset), str(statement.end_col_offset)]
        texts.append(lines[first - 1 : statement.end_lineno] + margin)
    return texts


def _decorators(statement: ast.stmt) -> list[ast.expr]:
    found: list[ast.expr] = getattr(statement, "decorator_list", [])
    return found


def _common(one: list[list[str]], other: list[list[str]]) -> int:
    """How many items two lists have in common at their beginning."""
    count = 0
    for item, other_item in zip(one, other, strict=False):
        if item != other_item:
            break
        count += 1
    return count


def _dumps(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """The statements without positions, and without those that do nothing."""
    for statement in statements:
        for node in ast.walk(statement):
            _simplify(node)
        if not is_nothing(statement):
            yield ast.dump(statement)


def _simplify(node: ast.AST) -> None:
    """Drop docstrings and the like from the blocks of a node, and the `u` from a string."""
    if isinstance(node, ast.Constant):
        node.kind = None
        return
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            setattr(node, name, [each for each in block if not is_nothing(each)])


def is_nothing(node: ast.stmt) -> bool:
    """Whether a statement is `pass`, `...`, a docstring or another constant that stands alone."""
    if isinstance(node, ast.Pass):
        return True
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
