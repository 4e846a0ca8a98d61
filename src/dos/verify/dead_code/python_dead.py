"""Finds the statements of a Python file that cannot run."""

import ast
from collections.abc import Iterator, Sequence

from dos.verify.code import python_code
from dos.verify.code.python_code import is_nothing
from dos.verify.dead_code.span import Span

_EXITS = frozenset(("exit", "quit", "sys.exit", "os._exit", "os.abort"))
_BLOCKS = ("body", "orelse", "finalbody")


def spans(text: str) -> list[Span]:
    """The parts of a text that cannot run; none if this version of Python cannot parse it."""
    module = python_code.parse(text)
    if module is None:
        return []
    offsets = _Offsets(text)
    try:
        return [offsets.span(statement) for statement in _dead(module.body, is_tried=False)]
    except RecursionError:
        return []


def _dead(block: Sequence[ast.stmt], *, is_tried: bool) -> Iterator[ast.stmt]:
    """Yield the statements of a block, and of the blocks in it, that cannot run or do nothing.

    A name that stands alone in a `try` asks whether the name exists.
    """
    is_ended = False
    for statement in block:
        is_idle = _is_idle(statement, is_tried=is_tried) or _is_never_entered(statement)
        if is_idle or (is_ended and not _yields(statement)):
            yield statement
        else:
            yield from _dead_inside(statement, is_tried=is_tried)
            is_ended = is_ended or _ends(statement)


def _dead_inside(statement: ast.stmt, *, is_tried: bool) -> Iterator[ast.stmt]:
    """Yield what cannot run in the blocks of a statement that can."""
    is_chosen = _truth(statement.test) if isinstance(statement, ast.If | ast.While) else None
    for name in _BLOCKS:
        inner: list[ast.stmt] = getattr(statement, name, [])
        is_skipped = (name == "body" and is_chosen is False) or (
            name == "orelse" and is_chosen is True and isinstance(statement, ast.If)
        )
        if is_skipped:
            yield from inner
        else:
            tried = isinstance(statement, ast.Try) or is_tried
            yield from _dead(inner, is_tried=tried)
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield from _dead(part.body, is_tried=is_tried)


def _is_never_entered(statement: ast.stmt) -> bool:
    """Whether no block of a statement does anything: `if False:` without an `else`."""
    if isinstance(statement, ast.For | ast.AsyncFor):
        return _truth(statement.iter) is False and not statement.orelse
    if not isinstance(statement, ast.If | ast.While):
        return False
    is_chosen = _truth(statement.test)
    if is_chosen is None or (is_chosen and isinstance(statement, ast.While)):
        return False
    if _only_imports(statement.body):  # for tools that read imports and run nothing
        return False
    entered = statement.body if is_chosen else statement.orelse
    skipped = statement.orelse if is_chosen else statement.body
    return all(map(is_nothing, entered)) and bool(skipped)


def _only_imports(block: Sequence[ast.stmt]) -> bool:
    return all(isinstance(each, ast.Import | ast.ImportFrom) for each in block)


def _is_idle(statement: ast.stmt, *, is_tried: bool) -> bool:
    """Whether a statement is a value that nothing takes; strings and `...` have other uses."""
    if not isinstance(statement, ast.Expr) or _is_said(statement):
        return False
    value = statement.value
    if isinstance(value, ast.BoolOp):
        return _is_cut_short(value)
    return not is_tried and _is_plain(value)


def _is_said(statement: ast.Expr) -> bool:
    """Whether a statement is `...` or a string: the likes of comments."""
    if not isinstance(statement.value, ast.Constant):
        return False
    return isinstance(statement.value.value, str | bytes) or statement.value.value is ...


def _is_plain(value: ast.expr) -> bool:
    """Whether a value is a number, a name, or a collection of them."""
    match value:
        case ast.Constant() | ast.Name():
            return True
        case ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return all(map(_is_plain, elements))
    return False


def _is_cut_short(value: ast.BoolOp) -> bool:
    """Whether the first operand of `and` or `or` decides, so that the others never run."""
    first = _truth(value.values[0])
    return first is not None and first is isinstance(value.op, ast.Or)


def _truth(value: ast.expr) -> bool | None:
    """Whether a condition of literals holds; None if it has anything else in it."""
    match value:
        case ast.Constant(value=constant):
            return bool(constant)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return None if elements else False
        case ast.Dict(keys=keys):
            return None if keys else False
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            is_true = _truth(operand)
            return None if is_true is None else not is_true
        case ast.BoolOp(op=op, values=values):
            return _joint_truth([_truth(each) for each in values], decides=isinstance(op, ast.Or))
        case ast.Compare(left=ast.Constant(value=left), ops=[ast.Eq()], comparators=[right]):
            return left == right.value if isinstance(right, ast.Constant) else None
    return None


def _joint_truth(truths: list[bool | None], *, decides: bool) -> bool | None:
    """Whether `and` or `or` of these holds: one value decides, whatever the others are."""
    if decides in truths:
        return decides
    return None if None in truths else not decides


def _ends(statement: ast.stmt) -> bool:
    """Whether nothing after a statement in its block can run."""
    match statement:
        case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
            return True
        case ast.Expr(value=ast.Call(func=function)):
            return ast.unparse(function) in _EXITS
        case ast.If(test=test, body=body, orelse=orelse):
            if _truth(test) is True:
                return any(map(_ends, body))
            return bool(orelse) and any(map(_ends, body)) and any(map(_ends, orelse))
        case ast.While(test=test, body=body):
            return _truth(test) is True and not _has(body, ast.Break)
    return False


def _yields(statement: ast.stmt) -> bool:
    """Whether a statement makes its function a generator, also where it never runs."""
    return _has([statement], ast.Yield) or _has([statement], ast.YieldFrom)


def _has(block: Sequence[ast.stmt], kind: type[ast.AST]) -> bool:
    return any(isinstance(node, kind) for each in block for node in ast.walk(each))


class _Offsets:
    """Where the statements of a text are, in characters; a syntax tree counts lines and bytes."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._text = text

    def span(self, statement: ast.stmt) -> Span:
        """The characters of a statement with its decorators; `pass` stands for it."""
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        start = self._offset(statement.lineno, statement.col_offset)
        for decorator in decorators:
            start = min(start, self._offset(decorator.lineno, decorator.col_offset) - 1)
        end_column = statement.end_col_offset or 0
        end = self._offset(statement.end_lineno or statement.lineno, end_column)
        if self._text.startswith("elif", start):
            return Span(start, end)
        return Span(start, end, "pass")

    def _offset(self, line: int, column: int) -> int:
        text = self._lines[line - 1]
        if not text.isascii():
            column = len(text.encode()[:column].decode())
        return self._starts[line - 1] + column
