"""Which settings are read, by the syntax of the source: a field counts where it is taken from a
value of its table.

A name stands for a table in a module when it is the table's key in `Config` (`config.quota`), when
it is annotated with the table's class, or when it is bound to something that was taken from one of
these. What a method of the table reads counts once the method is read in the same way.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

from msgspec import Struct, structs

from dos.config import schema
from dos.config.schema import Config

SOURCE = Path(__file__).parents[1] / "src" / "dos"
Table = type[Struct]
Key = tuple[str, ...]
# They show settings, edit them or make them up: none of them goes by one.
SHOWN_ONLY = ("config/show.py", "config/edit.py", "config/explain.py", "doctor/view.py", "testing/")


def table_of(kind: object) -> Table | None:
    """The table that a key holds, or holds many of."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        return kind
    return next((found for part in get_args(kind) if (found := table_of(part))), None)


def leaves(table: Table = Config, around: Key = ()) -> Iterator[tuple[Key, Table, str]]:
    """Every key of dos.toml that holds a value: its path, its table, and the attribute that reads
    it."""
    for field in structs.fields(table):
        path = (*around, field.encode_name)
        inner = table_of(field.type)
        if inner:
            yield from leaves(inner, path)
        else:
            yield path, table, field.name


@cache
def holders() -> dict[Table, set[str]]:
    """Each table with the names of the fields that hold it, in Config and in other tables."""
    found: dict[Table, set[str]] = {Config: {"config", "_config", "policy"}}
    waiting = [Config]
    while waiting:
        for field in structs.fields(waiting.pop()):
            inner = table_of(field.type)
            if inner:
                if inner not in found:
                    waiting.append(inner)
                found.setdefault(inner, set()).add(field.name)
    return found


BINDINGS = (ast.arg, ast.AnnAssign, ast.Assign, ast.NamedExpr, ast.For, ast.comprehension)


class Module:
    """A module that may read a setting. The checks of a table's `__post_init__` do not count."""

    def __init__(self, path: Path, text: str) -> None:
        self.dotted = f"dos.{str(path.relative_to(SOURCE)).removesuffix('.py').replace('/', '.')}"
        self.words = frozenset(re.findall(r"\w+", text))
        nodes = list(ast.walk(ast.parse(text)))
        checks = [
            node
            for node in nodes
            if isinstance(node, ast.FunctionDef) and node.name == "__post_init__"
        ]
        checking = {id(node) for check in checks for node in ast.walk(check)}
        self.imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
        self.classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
        self.bindings = [node for node in nodes if isinstance(node, BINDINGS)]
        self.uses = [
            node
            for node in nodes
            if isinstance(node, ast.Attribute | ast.Call) and id(node) not in checking
        ]


@cache
def modules() -> list[Module]:
    """Those in which a configuration or the class of a table is named at all."""
    words = ["config", "_config", "policy", *(table.__name__ for table in holders())]
    named = re.compile(rf"\b({'|'.join(words)})\b")
    paths = [path for path in sorted(SOURCE.rglob("*.py")) if path.name != "__init__.py"]
    read = [
        (path, path.read_text())
        for path in paths
        if not str(path.relative_to(SOURCE)).startswith(SHOWN_ONLY)
    ]
    return [Module(path, text) for path, text in read if named.search(text)]


def readers(path: Key, table: Table, attribute: str) -> set[str]:
    """The packages of dos that go by a setting."""
    if path[0] not in read_fields(Config):
        return set()
    meant = _ways_to_read(table, attribute)
    names = {path[0], table.__name__}
    found = set()
    for module in modules():
        if module.words & names and meant & set(_taken(table, module)):
            found.add(module.dotted.split(".")[1])
    return found


def _ways_to_read(table: Table, attribute: str) -> set[str]:
    """The attribute, and the methods that read it, also through one another."""
    meant = {attribute}
    size = 0
    while size != len(meant):
        size = len(meant)
        meant |= {name for name, fields in _methods(table).items() if fields & meant}
    return meant


def is_read(path: Key, table: Table, attribute: str) -> bool:
    """Somebody takes the table from a configuration, and somebody takes the field from such a
    table."""
    return path[0] in read_fields(Config) and attribute in read_fields(table)


@cache
def read_fields(table: Table) -> frozenset[str]:
    """The fields of a table that somebody outside of its class reads, also through its methods."""
    taken = set(_taken_anywhere(table))
    fields = {field.name for field in structs.fields(table)}
    grown = taken
    while grown:  # what a method reads, once the method is read
        grown = {each for method in grown for each in _methods(table).get(method, ())} - taken
        taken |= grown
    return frozenset(taken & fields)


@cache
def _taken_anywhere(table: Table) -> frozenset[str]:
    words = _words(table)
    return frozenset(
        each for module in modules() if module.words & words for each in _taken(table, module)
    )


def _words(table: Table) -> set[str]:
    """What a module has to contain that reads the table."""
    return holders()[table] | {table.__module__.rpartition(".")[2], table.__name__}


def _aliases(table: Table, module: Module) -> set[str]:
    """What the table's class is called in a module."""
    found = {table.__name__} if module.dotted == table.__module__ else set()
    for node in module.imports:
        for name in node.names:
            if node.module == table.__module__ and name.name == table.__name__:
                found.add(name.asname or name.name)
            elif f"{node.module}.{name.name}" == table.__module__:
                found.add(f"{name.asname or name.name}.{table.__name__}")
            elif node.module == "dos.config.schema" and getattr(schema, name.name, None) is table:
                found.add(name.asname or name.name)
    return found


def _taken(table: Table, module: Module) -> Iterator[str]:
    """The attributes that a module takes from values of the table; all of its fields where one is
    named at run time."""
    aliases = _aliases(table, module)
    names = _names(table, module, aliases)
    defined = [
        each for each in module.classes if each.name == table.__name__ and each.name in aliases
    ]
    own = {id(node) for each in defined if table is not Config for node in ast.walk(each)}
    for node in module.uses:
        if id(node) in own:
            continue
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and _last(node.value) in names
        ):
            yield node.attr
        if isinstance(node, ast.Call):
            if (
                _last(node.func) in ("getattr", "asdict")
                and node.args
                and _last(node.args[0]) in names
            ):
                yield from (field.name for field in structs.fields(table))
            elif isinstance(node.func, ast.Attribute) and _last(node.func.value) in names:
                yield from (
                    arg.value for arg in node.args if isinstance(arg, ast.Constant)
                )  # as in limit("a_key")


def _names(table: Table, module: Module, aliases: set[str]) -> set[str]:
    names = set(holders()[table])
    size = 0
    while size != len(names):
        size = len(names)
        for node in module.bindings:
            match node:
                case ast.arg(arg=name, annotation=kind) if kind and _mentions(kind, aliases):
                    names.add(name)
                case ast.AnnAssign(target=target, annotation=kind) if _mentions(kind, aliases):
                    names.add(_last(target))
                case ast.Assign(targets=[target], value=value):
                    names |= {
                        _last(left) for left, right in _pairs(target, value) if _from(right, names)
                    }
                case ast.NamedExpr(target=target, value=value) if _from(value, names):
                    names.add(_last(target))
                case (
                    ast.For(target=target, iter=value)
                    | ast.comprehension(target=target, iter=value)
                ):
                    if _from(value, names):
                        names |= {
                            each.id for each in ast.walk(target) if isinstance(each, ast.Name)
                        }
    return names


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=False))
    return [(target, value)]


def _from(value: ast.expr, names: set[str]) -> bool:
    """Whether an expression is a value of the table, or one out of many of them."""
    match value:
        case ast.Name() | ast.Attribute():
            return _last(value) in names
        case ast.Subscript(value=inside) | ast.Call(func=ast.Attribute(value=inside)):
            return _from(inside, names)
        case ast.Call(func=ast.Name(id="getattr" | "replace"), args=[inside, *_]):
            return _from(inside, names)
        case ast.Call(func=ast.Name(id="next"), args=[inside, *_]):
            return _from(inside, names)
        case ast.DictComp(generators=[first, *_]) | ast.ListComp(generators=[first, *_]):
            return _from(first.iter, names)
        case ast.GeneratorExp(elt=each, generators=[first, *_]):
            return _from(each, names) or _from(first.iter, names)
        case ast.BoolOp(values=parts):
            return any(_from(part, names) for part in parts)
        case ast.IfExp(body=body, orelse=other):
            return _from(body, names) or _from(other, names)
    return False


def _mentions(kind: ast.expr, aliases: set[str]) -> bool:
    text = (
        kind.value
        if isinstance(kind, ast.Constant) and isinstance(kind.value, str)
        else ast.unparse(kind)
    )
    return any(re.search(rf"(?<![\w.]){re.escape(alias)}\b", text) for alias in aliases)


def _last(value: ast.expr) -> str:
    match value:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


@cache
def _methods(table: Table) -> dict[str, set[str]]:
    """Each method of a table with what it takes from itself."""
    path = SOURCE.parent / (table.__module__.replace(".", "/") + ".py")
    tree = ast.parse(path.read_text())
    (body,) = [
        node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == table.__name__
    ]
    return {
        method.name: {
            node.attr
            for node in ast.walk(method)
            if isinstance(node, ast.Attribute) and _last(node.value) == "self"
        }
        for method in body.body
        if isinstance(method, ast.FunctionDef) and not method.name.startswith("__")
    }
