"""Why a file was not accepted: every problem of its own, with its key, in words. Runs only after a failure."""

import difflib
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


def diagnose(raw: dict[str, Any]) -> tuple[list[Problem], dict[str, Any]]:
    """Everything that is wrong with the tables of a file, and the tables that nothing is wrong with."""
    problems: list[Problem] = []
    left = raw
    # Tables are right together only when each is right by itself, so what is left is looked at again.
    while found := list(_examine(Config, left, ())):
        problems += found
        left = {
            name: value
            for name, value in left.items()
            if name not in {problem.key[0] for problem in found}
        }
    return problems, left


def _examine(kind: Any, value: Any, key: Key) -> Iterator[Problem]:
    if isinstance(kind, type) and issubclass(kind, Struct):
        yield from _examine_table(kind, value, key)
    elif get_origin(kind) is dict and get_args(kind)[1] is not Any and isinstance(value, dict):
        for name, item in value.items():
            yield from _examine(get_args(kind)[1], item, (*key, name))
    elif get_origin(kind) is tuple and isinstance(value, list):
        for place, item in enumerate(value):
            yield from _examine(get_args(kind)[0], item, (*key, place))
    else:
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError:
            yield _wrong_value(kind, value, key)


def _examine_table(kind: type[Struct], value: Any, key: Key) -> Iterator[Problem]:
    if not isinstance(value, dict):
        header = f"[{key_text(key)}]" if key and isinstance(key[-1], str) else "{ ... }"
        yield Problem(
            key=key,
            message=f"{key_text(key)} must be a table, not {_describe_value(value)}",
            hint=f"Write it as {header} and its keys.",
        )
        return
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    sound = True
    for name, item in value.items():
        found = [_unknown(name, fields, key)]
        if name in fields:
            found = [
                _hinted(it, fields[name]) for it in _examine(fields[name].type, item, (*key, name))
            ]
        sound = sound and not found
        yield from found
    for name, field in fields.items():
        if field.required and name not in value:
            sound = False
            yield Problem(
                key=key,
                message=f"{key_text(key)} has no `{name}`",
                hint=f"Add `{name} = ...`: {_describe_type(field.type)}.",
            )
    if sound:
        yield from _examine_together(kind, value, key)


def _examine_together(kind: type[Struct], value: dict[str, Any], key: Key) -> Iterator[Problem]:
    """The keys are each right; are they right together?"""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        cause = error.__cause__
        if isinstance(cause, BadValue):
            key = (*key, *cause.key)
            yield Problem(key=key, message=f"{key_text(key)}: {cause.message}", hint=cause.hint)
        else:
            yield Problem(key=key, message=f"{key_text(key)}: {error}")


def _hinted(problem: Problem, field: FieldInfo) -> Problem:
    if problem.hint:
        return problem
    hint = "Correct the value."
    if problem.key[-1] == field.encode_name and isinstance(field.default, bool | int | float | str):
        hint = f"Correct it; where it is not written it is {value_text(field.default)}."
    return msgspec.structs.replace(problem, hint=hint)


def _unknown(name: str, known: Iterable[str], table: Key) -> Problem:
    where = f"[{key_text(table)}]" if table else "dos.toml"
    owners = [
        owner for owner, keys in _keys_by_table().items() if name in keys and (owner,) != table
    ]
    near = nearest_name(
        name, known, cutoff=0.75 if owners else 0.6
    )  # one that exists elsewhere is hardly mistyped
    if near:
        hint = f"Did you mean `{near}`?"
    elif owners:
        hint = f"`{name}` belongs in {' or '.join(f'[{owner}]' for owner in owners)}."
    else:
        hint = f"{where} knows {', '.join(known)}."
    what = "table or key" if not table else "key"
    return Problem(
        key=(*table, name), message=f"{where} has no {what} `{key_text((name,))}`", hint=hint
    )


def nearest_name(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=cutoff)
    return folded[close[0]] if close else None


def _keys_by_table() -> dict[str, set[str]]:
    tables = {field.name: field.type for field in msgspec.structs.fields(Config)}
    return {
        name: {field.encode_name for field in msgspec.structs.fields(kind)}
        for name, kind in tables.items()
        if isinstance(kind, type) and issubclass(kind, Struct)
    }


def _wrong_value(kind: Any, value: Any, key: Key) -> Problem:
    choices = [choice for part in _parts(kind) for choice in _choices(part)]
    near = nearest_name(value, choices) if isinstance(value, str) and choices else None
    hint = f'Did you mean "{near}"?' if near else ""
    if get_origin(kind) is tuple and isinstance(value, str):
        hint = f"Write it as a list: [{toml_string(value)}]."
    elif get_origin(kind) is tuple and _is_table(get_args(kind)[0]) and isinstance(value, dict):
        hint = f"Write the header as [[{key_text(key)}]]."
    return Problem(
        key=key,
        message=f"{key_text(key)} must be {_describe_type(kind)}, not {_describe_value(value)}",
        hint=hint,
    )


def _parts(kind: Any) -> list[Any]:
    """The types that a value may have; None only stands for a key that is left out."""
    whole = get_origin(kind) in (Union, UnionType)
    return [part for part in get_args(kind) if part is not NoneType] if whole else [kind]


def _choices(kind: Any) -> tuple[str, ...]:
    return get_args(kind) if get_origin(kind) is Literal else ()


def _describe_type(kind: Any) -> str:
    return " or ".join(_describe_type_part(part) for part in _parts(kind))


_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}


def _describe_type_part(kind: Any) -> str:
    if get_origin(kind) is Annotated:
        plain, *notes = get_args(kind)
        limits = "".join(_limits(note) for note in notes if isinstance(note, Meta))
        return _describe_type_part(plain) + limits
    if get_origin(kind) is Literal:
        return " or ".join(toml_string(choice) for choice in get_args(kind))
    if get_origin(kind) is tuple:
        inside = get_args(kind)[0]
        return (
            "a list of tables"
            if _is_table(inside)
            else f"a list of {_describe_type(inside).removeprefix('a ')}s"
        )
    if get_origin(kind) is dict or _is_table(kind):
        return "a table"
    return _NAMES.get(kind, str(kind))


def _is_table(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def _limits(meta: Meta) -> str:
    if meta.min_length:
        return " that is not empty"
    low = f"above {meta.gt:g}" if meta.gt is not None else f"from {meta.ge:g}"
    return f" {low} to {meta.le}"


def _describe_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the string {toml_string(value if len(value) <= 40 else value[:39] + '…')}"
    if isinstance(value, int):
        return f"the number {value}" if abs(value) < 10**20 else "a very large number"
    if isinstance(value, float):
        return f"the number {value!r}"
    if isinstance(value, date | time):
        return "a date or time"
    return "a table" if isinstance(value, dict) else "a list"
