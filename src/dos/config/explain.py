"""Why a `dos.toml` is not accepted: every problem with its key, in words.

Loading reports only that a value does not fit. This module runs after such a failure, and compares
the tables with the schema to find all problems at once.
"""

import shlex
from collections.abc import Iterable, Iterator
from datetime import date, time
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import FieldInfo

from dos.config.load import Problem
from dos.config.schema import Config
from dos.config.toml_text import key_text, toml_string, value_text
from dos.fields import BadValue, Key
from dos.text import suggest_nearest


def diagnose(raw: dict[str, Any]) -> tuple[list[Problem], dict[str, Any]]:
    """Return all problems of the tables, and the tables without a problem."""
    problems: list[Problem] = []
    valid = raw
    while True:
        found = list(_examine(Config, valid, ()))
        if not found:
            return problems, valid
        problems += found
        # Tables are checked together once each is valid alone, so the rest is examined again.
        invalid = {problem.key[0] for problem in found}
        valid = {name: value for name, value in valid.items() if name not in invalid}


def _examine(kind: Any, value: Any, key: Key) -> Iterator[Problem]:
    """The problems of a value, which the schema says is of this type."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        yield from _examine_table(kind, value, key)
    elif get_origin(kind) is dict and get_args(kind)[1] is not Any and isinstance(value, dict):
        for name, item in value.items():
            yield from _examine(get_args(kind)[1], item, (*key, name))
    elif get_origin(kind) is tuple and isinstance(value, list):
        for number, item in enumerate(value):
            yield from _examine(get_args(kind)[0], item, (*key, number))
    else:
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError:
            yield _wrong_value(kind, value, key)


def _examine_table(kind: type[Struct], value: Any, key: Key) -> Iterator[Problem]:
    """The problems of a table: of its keys, or else of the keys together."""
    if not isinstance(value, dict):
        header = f"[{key_text(key)}]" if key and isinstance(key[-1], str) else "{ ... }"
        yield Problem(
            key=key,
            message=f"{key_text(key)} must be a table, not {_describe_value(value)}",
            hint=f"Write it as {header} and its keys.",
        )
        return
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    problems: list[Problem] = []
    for name, item in value.items():
        if name not in fields:
            problems.append(_unknown_key(name, fields, key))
            continue
        field = fields[name]
        for problem in _examine(field.type, item, (*key, name)):
            problems.append(_with_hint(problem, field))
    for name, field in fields.items():
        if field.required and name not in value:
            problems.append(_missing_key(name, field, key))
    yield from problems or _examine_together(kind, value, key)


def _missing_key(name: str, field: FieldInfo, table: Key) -> Problem:
    """The problem of a required key that is not set."""
    return Problem(
        key=table,
        message=f"{key_text(table)} has no `{name}`",
        hint=f"Add `{name} = ...`: {_describe_type(field.type)}.",
    )


def _examine_together(kind: type[Struct], value: dict[str, Any], key: Key) -> Iterator[Problem]:
    """The problem of a table whose keys are each valid but do not fit together."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        cause = error.__cause__
        if isinstance(cause, BadValue):
            key = (*key, *cause.key)
            yield Problem(key=key, message=f"{key_text(key)}: {cause.message}", hint=cause.hint)
        else:
            yield Problem(key=key, message=f"{key_text(key)}: {error}")


def _with_hint(problem: Problem, field: FieldInfo) -> Problem:
    """The problem, with a hint that names the default where it has no hint yet."""
    if problem.hint:
        return problem
    hint = "Correct the value."
    if problem.key[-1] == field.encode_name and isinstance(field.default, bool | int | float | str):
        hint = f"Correct it, or remove it for the default: {value_text(field.default)}."
    return msgspec.structs.replace(problem, hint=hint)


def _unknown_key(name: str, known: Iterable[str], table: Key) -> Problem:
    """The problem of a key that is not in the schema, with the most likely correction."""
    where = f"[{key_text(table)}]" if table else "dos.toml"
    what = "key" if table else "table or key"
    owners = [f"[{owner}]" for owner in _tables_with(name) if (owner,) != table]
    # A key that another table has is misplaced rather than mistyped, unless it is very similar.
    cutoff = 0.75 if owners else 0.6
    hint = _as_sentence(suggest_nearest(name, known, cutoff=cutoff))
    if not hint and owners:
        hint = f"`{name}` belongs in {' or '.join(owners)}."
    elif not hint:
        hint = f"The keys of {where} are {', '.join(known)}."
    return Problem(
        key=(*table, name), message=f"{where} has no {what} `{key_text((name,))}`", hint=hint
    )


def _as_sentence(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def _tables_with(key: str) -> list[str]:
    """The names of the tables that have such a key."""
    names = []
    for table in msgspec.structs.fields(Config):
        if not _is_table(table.type):
            continue
        if any(field.encode_name == key for field in msgspec.structs.fields(table.type)):
            names.append(table.name)
    return names


def _wrong_value(kind: Any, value: Any, key: Key) -> Problem:
    """The problem of a value that is not of the key's type."""
    message = f"{key_text(key)} must be {_describe_type(kind)}, not {_describe_value(value)}"
    return Problem(key=key, message=message, hint=_value_hint(kind, value, key))


def _value_hint(kind: Any, value: Any, key: Key) -> str:
    """How to write the value instead. Empty: the message says all."""
    is_list = get_origin(kind) is tuple
    if is_list and _is_of(value, get_args(kind)[0]):
        return f"Write it as a list: {value_text(_as_list(value, key))}."
    if is_list and _is_table(get_args(kind)[0]) and isinstance(value, dict):
        return f"Write the header as [[{key_text(key)}]]."
    if isinstance(value, str):
        choices: list[str] = []
        for part in _parts(kind):
            choices += _choices(part)
        return _as_sentence(suggest_nearest(value, choices, form='"{}"'))
    return ""


def _is_of(value: Any, kind: Any) -> bool:
    """Whether the value is one that a list of this type may hold."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return kind in (int, str) and type(value) is kind


def _as_list(value: Any, key: Key) -> list[Any]:
    """The list that somebody meant who wrote a single value; of a command its words."""
    if key[-1] not in _COMMANDS:
        return [value]
    try:
        return shlex.split(value)
    except ValueError:  # an open quote
        return [value]


_COMMANDS = ("command", "arguments", "program")  # keys whose list is the words of a command


def _parts(kind: Any) -> list[Any]:
    """The types that a value may have. None is left out: it means that the key is not set."""
    if get_origin(kind) not in (Union, UnionType):
        return [kind]
    return [part for part in get_args(kind) if part is not NoneType]


def _choices(kind: Any) -> tuple[str, ...]:
    """The words that a key may hold, where it is limited to some."""
    if get_origin(kind) is not Literal:
        return ()
    return get_args(kind)


def _describe_type(kind: Any) -> str:
    """What a key may hold, in words."""
    return " or ".join(_describe_type_part(part) for part in _parts(kind))


_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}


def _describe_type_part(kind: Any) -> str:
    """One type of the schema in words."""
    if get_origin(kind) is Annotated:
        plain, *notes = get_args(kind)
        limits = "".join(_limits(note) for note in notes if isinstance(note, Meta))
        return _describe_type_part(plain) + limits
    if get_origin(kind) is Literal:
        return " or ".join(toml_string(choice) for choice in get_args(kind))
    if get_origin(kind) is tuple:
        item = get_args(kind)[0]
        if _is_table(item):
            return "a list of tables"
        return f"a list of {_describe_items(item)}"
    if get_origin(kind) is dict or _is_table(kind):
        return "a table"
    return _NAMES.get(kind, str(kind))


def _is_table(kind: Any) -> bool:
    """Whether a type of the schema is a table."""
    return isinstance(kind, type) and issubclass(kind, Struct)


def _describe_items(kind: Any) -> str:
    """What a list may hold, in the plural."""
    if get_origin(kind) is Annotated:
        plain, *notes = get_args(kind)
        limits = "".join(_limits(note) for note in notes if isinstance(note, Meta))
        return _describe_items(plain) + limits
    return f"{_describe_type(kind).removeprefix('a ')}s"


def _limits(meta: Meta) -> str:
    """The range of a number, or that a text may not be empty, in words."""
    if meta.min_length:
        return " that is not empty"
    if meta.gt is not None:
        return f" above {meta.gt:g} to {meta.le}"
    return f" from {meta.ge:g} to {meta.le}"


def _describe_value(value: Any) -> str:
    """The value as an error names it, cut where it is long."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            short = value if len(value) <= 40 else value[:39] + "…"
            return f"the string {toml_string(short)}"
        case int() if abs(value) >= 10**20:
            return "a very large number"
        case int() | float():
            return f"the number {value!r}"
        case date() | time():
            return "a date or time"
        case dict():
            return "a table"
    return "a list"
