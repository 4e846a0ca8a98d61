"""Reads the functions, classes and statements of a Python file, and which of them are stubs."""

import ast
import re
from collections.abc import Iterator, Sequence

from dos.verify import content
from dos.verify.code import python_code
from dos.verify.code.python_code import is_nothing
from dos.verify.stubs.bodies import (
    ABSTRACT_BY_NAME,
    ERROR_CLASS,
    NOTHING_BY_NAME,
    UNFINISHED,
    Kind,
    Part,
    is_deliberate,
)

Function = ast.FunctionDef | ast.AsyncFunctionDef
Condition = ast.If | ast.Try | ast.With
# A function with one of these is a declaration, or gets its work from the decorator.
_DECLARING = frozenset(
    (
        "abstractmethod", "abstractproperty", "abstractclassmethod", "abstractstaticmethod",
        "overload", "singledispatch", "singledispatchmethod", "group", "callback", "hookspec",
        "type_check_only",
    )
)  # fmt: skip
# Classes without a body of their own, by a base.
_BODILESS = frozenset(
    (
        "ABC", "Enum", "Flag", "IntEnum", "IntFlag", "NamedTuple", "Protocol", "StrEnum",
        "TypedDict",
    )
)  # fmt: skip
# Calls whose value is a name, and no work.
_NAMING_CALLS = frozenset(
    ("getLogger", "get_logger", "TypeVar", "ParamSpec", "TypeVarTuple", "NewType")
)
_CONSTRUCTORS = frozenset(("__init__", "__post_init__", "__new__"))
_NOT_IMPLEMENTED = frozenset(("NotImplementedError", "NotImplemented"))
_MAIN_GUARD = re.compile(r"__name__ == ['\"]__main__['\"]")


def parts(text: str) -> list[Part] | None:
    """Return the parts of a file; None if this version of Python cannot parse it."""
    module = python_code.parse(text)
    if module is None:
        return None
    try:
        return list(_Reader(text).block(module.body))
    except (ValueError, RecursionError):
        return None


class _Reader:
    """One pass over a module; the lines are read for the comments, which no syntax tree has."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")

    def block(
        self, statements: Sequence[ast.stmt], owner: ast.ClassDef | None = None, prefix: str = ""
    ) -> Iterator[Part]:
        """Yield the parts of a module, of a class, or of a condition around some of them."""
        for statement in statements:
            if isinstance(statement, Function):
                yield self.function(statement, owner, prefix)
            elif isinstance(statement, ast.ClassDef):
                yield from self.class_parts(statement, prefix)
            elif isinstance(statement, Condition):
                yield from self.condition(statement, owner, prefix)
            else:
                yield Part(self.statement_kind(statement), "", ast.dump(statement))

    def condition(
        self, statement: Condition, owner: ast.ClassDef | None, prefix: str
    ) -> Iterator[Part]:
        """Yield the parts below a condition; a script that calls its main function is no work."""
        if isinstance(statement, ast.If) and _MAIN_GUARD.search(ast.unparse(statement.test)):
            return
        for name in ("body", "orelse", "finalbody"):
            yield from self.block(getattr(statement, name, ()), owner, prefix)
        for handler in getattr(statement, "handlers", ()):
            yield from self.block(handler.body, owner, prefix)

    def class_parts(self, node: ast.ClassDef, prefix: str) -> Iterator[Part]:
        """Yield a class and the parts of its body."""
        name = f"{prefix}{node.name}"
        header = ", ".join(map(ast.unparse, [*node.bases, *node.decorator_list]))
        body = _without_docstring(node.body)
        kind = Kind.DECLARATION
        if all(map(is_nothing, body)) and not self._is_complete(node):
            kind = Kind.STUB
        yield Part(kind, name, header)
        yield from self.block(body, node, f"{name}.")

    def _is_complete(self, node: ast.ClassDef) -> bool:
        """Whether an empty class lacks nothing: an exception, a marker, a narrowed generic."""
        if node.keywords or any(isinstance(base, ast.Subscript) for base in node.bases):
            return True
        for base in map(_last_name, node.bases):
            if base in _BODILESS or ERROR_CLASS.fullmatch(base):
                return True
        return is_deliberate(node.name, self.prose(node))

    def function(self, node: Function, owner: ast.ClassDef | None, prefix: str) -> Part:
        """Return a function as a part: its arguments, decorators and body."""
        body = _without_docstring(node.body)
        nodes = [node.args, *node.decorator_list, *body]
        return Part(
            self.function_kind(node, body, owner),
            f"{prefix}{node.name}",
            "".join(map(ast.dump, nodes)),
        )

    def function_kind(
        self, node: Function, body: Sequence[ast.stmt], owner: ast.ClassDef | None
    ) -> Kind:
        """Return whether a body is real, a stub, or empty for a reason."""
        prose = self.prose(node)
        is_unfinished = UNFINISHED.search(prose) is not None
        if not all(_is_idle(statement, is_unfinished=is_unfinished) for statement in body):
            if node.name in _CONSTRUCTORS and all(map(_is_plumbing, body)):
                return Kind.DECLARATION
            return Kind.REAL
        if _is_declared(node, owner) or is_deliberate(node.name, prose):
            return Kind.DECLARATION
        if is_unfinished:
            return Kind.STUB
        if body and all(isinstance(statement, ast.Return) for statement in body):
            return Kind.DECLARATION
        if owner and (NOTHING_BY_NAME.search(owner.name) or ABSTRACT_BY_NAME.search(owner.name)):
            return Kind.DECLARATION
        return Kind.STUB

    def statement_kind(self, node: ast.stmt) -> Kind:
        """Return what a statement outside of functions is; a plain value is a declaration."""
        if isinstance(node, ast.Import | ast.ImportFrom) or is_nothing(node):
            return Kind.DECLARATION
        if isinstance(node, ast.Assign | ast.AnnAssign):
            is_unfinished = UNFINISHED.search(self.prose(node)) is not None
            return _value_kind(node.value, is_unfinished=is_unfinished)
        if isinstance(node, ast.Expr) and _says_unfinished(node.value):
            return Kind.STUB
        return Kind.REAL

    def prose(self, node: ast.stmt) -> str:
        """Return the comments and docstrings in the lines of a node."""
        text = "\n".join(self.lines[node.lineno - 1 : node.end_lineno])
        segments = content.segments("a.py", text)
        return "\n".join(segment.literal for segment in segments if segment.is_comment)


def _value_kind(value: ast.expr | None, *, is_unfinished: bool) -> Kind:
    """Return what an assigned value is."""
    if isinstance(value, ast.Lambda):
        is_empty = isinstance(value.body, ast.Constant) and value.body.value in (None, ...)
        return Kind.STUB if is_empty else Kind.REAL
    if value is None or isinstance(value, ast.Constant | ast.Name | ast.Attribute):
        return Kind.STUB if is_unfinished else Kind.DECLARATION
    if isinstance(value, ast.List | ast.Tuple) and all(map(_is_text, value.elts)):
        return Kind.DECLARATION  # such as __all__ and __slots__
    if isinstance(value, ast.Call) and _last_name(value.func) in _NAMING_CALLS:
        return Kind.DECLARATION
    return Kind.REAL


def _is_declared(node: Function, owner: ast.ClassDef | None) -> bool:
    """Whether a function needs no body: an abstract method, an overload, a protocol's method."""
    if any(_last_name(decorator) in _DECLARING for decorator in node.decorator_list):
        return True
    return owner is not None and any(_last_name(base) == "Protocol" for base in owner.bases)


def _is_idle(node: ast.stmt, *, is_unfinished: bool) -> bool:
    """Whether a statement does nothing; a value is nothing where a comment says what is missing."""
    if is_nothing(node) or isinstance(node, ast.Delete):
        return True
    match node:
        case ast.Return(value=None | ast.Constant(value=None)):
            return True
        case ast.Return(value=value):
            return is_unfinished and value is not None and _is_empty_value(value)
        case ast.Raise(exc=raised):
            name = _last_name(raised) if raised else ""
            return name in _NOT_IMPLEMENTED or _says_unfinished(raised)
        case ast.Expr(value=value):
            return _says_unfinished(value)
        case ast.Assert(msg=message):
            return message is not None and _is_unfinished_text(message)
    return False


def _is_empty_value(value: ast.expr) -> bool:
    """Whether a value is a constant or an empty collection."""
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return not value.elts
    if isinstance(value, ast.Dict):
        return not value.keys
    return isinstance(value, ast.Constant) or _last_name(value) in _NOT_IMPLEMENTED


def _says_unfinished(value: ast.expr | None) -> bool:
    """Whether a value is a call with a text that says that something is not implemented."""
    if not isinstance(value, ast.Call):
        return False
    return any(map(_is_unfinished_text, value.args)) and all(map(_is_text, value.args))


def _is_unfinished_text(node: ast.expr) -> bool:
    return _is_text(node) and UNFINISHED.search(ast.unparse(node)) is not None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _is_plumbing(node: ast.stmt) -> bool:
    """Whether a statement of a constructor only stores an argument, or calls the parent's."""
    if is_nothing(node):
        return True
    match node:
        case ast.Assign(targets=[ast.Attribute()], value=value):
            return isinstance(value, ast.Name | ast.Constant) or _is_empty_value(value)
        case ast.AnnAssign(target=ast.Attribute(), value=value):
            return value is None or isinstance(value, ast.Name) or _is_empty_value(value)
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super"))))
        ):
            return True
    return False


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    if isinstance(first, ast.Expr) and _is_text(first.value):
        return body[1:]
    return body


def _last_name(node: ast.expr) -> str:
    """Return the last name of `a.b.Name`, `Name(...)` or `Name[...]`."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=inner) | ast.Subscript(value=inner):
            return _last_name(inner)
    return ""
