#!/usr/bin/env python3
"""Print docs/configuration.md: every setting of dos.toml, from the classes that hold them.

    make_configuration.py > docs/configuration.md      (`make docs` does it)

The meaning of a setting is the string below its field.
"""

import inspect
import re
import sys
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import NODEFAULT, Meta, Struct, json, structs
from settings_readers import readers, table_of

from dos.config.lint import is_unread
from dos.config.schema import Config
from dos.config.show import descriptions

HEAD = """# Configuration

Every setting of `dos.toml`, with its default, its meaning, and the packages of dos that read it.
This page is generated: `make docs` writes it. `dos config show --origin` lists the settings of
your workspace, `dos config set KEY VALUE` changes one, and `dos lint` checks the file.
"""
UNREAD = "*not read by this version; `dos lint` reports it*"
KINDS = {str: "text", bool: "true or false", int: "whole number", float: "number"}


def main() -> int:
    sys.stdout.write(page())
    return 0


def page() -> str:
    parts = [HEAD]
    own = []
    for field in structs.fields(Config):
        if table_of(field.type):
            parts.append(section(field.type, (field.encode_name,)))
        else:
            own.append(row(Config, field, ()))
    if own:
        parts.insert(1, rows("At the top of the file", "", own))
    return "\n".join(parts).rstrip("\n") + "\n"


def section(kind: Any, key: tuple[str, ...]) -> str:
    """The settings of a table, and of the tables in it."""
    table = table_of(kind)
    assert table is not None
    inner = []
    own = []
    for field in structs.fields(table):
        if table_of(field.type):
            inner.append(section(field.type, (*key, field.encode_name)))
        else:
            own.append(row(table, field, key))
    return "\n".join([rows(heading(kind, key), introduction(table), own), *inner])


def introduction(table: type[Struct]) -> str:
    """The docstring of a table without its own name, which is the heading."""
    text = re.sub(r"^\[[^\]]*\]+: ", "", inspect.getdoc(table) or "")
    return text[:1].upper() + text[1:]


def heading(kind: Any, key: tuple[str, ...]) -> str:
    name = ".".join(key)
    if get_origin(kind) is dict:
        return f"`[{name}.NAME]`"
    if get_origin(kind) is tuple:
        return f"`[[{name}]]`"
    return f"`[{name}]`"


def rows(title: str, text: str, own: list[str]) -> str:
    lines = [f"## {title}", ""]
    if text:
        lines += [text, ""]
    if own:
        lines += [
            "| key | values | default | meaning | read by |",
            "|---|---|---|---|---|",
            *own,
            "",
        ]
    return "\n".join(lines)


def row(table: type[Struct], field: structs.FieldInfo, key: tuple[str, ...]) -> str:
    path = (*key, field.encode_name)
    who = ", ".join(sorted(readers(path, table, field.name)))
    meaning = descriptions(table).get(field.name, "")
    if is_unread(path):
        who = "nobody"
        meaning = UNREAD
    cells = (f"`{field.encode_name}`", values(field.type), default(field), meaning, who)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def default(field: structs.FieldInfo) -> str:
    value = field.default
    if value is NODEFAULT:
        value = field.default_factory
        value = "" if value is NODEFAULT else value()
    if value is None:
        return "none"
    if field.required:
        return "required"
    return f"`{json.encode(value).decode()}`"


def values(kind: Any) -> str:
    """The values that a setting takes, in words."""
    origin = get_origin(kind)
    if kind in KINDS:
        return KINDS[kind]
    if origin is Annotated:
        inner, *notes = get_args(kind)
        return values(inner) + "".join(bounds(note) for note in notes if isinstance(note, Meta))
    if origin is Literal:
        return ", ".join(f"`{value}`" if value else "empty" for value in get_args(kind))
    if origin in (Union, UnionType):
        return " or ".join(values(part) for part in get_args(kind) if part is not NoneType)
    if origin is tuple:
        return f"list of {values(get_args(kind)[0])}"
    if origin is dict:
        return f"table of {values(get_args(kind)[1])}"
    return getattr(kind, "__name__", "any")


def bounds(note: Meta) -> str:
    found = []
    for word, limit in (("over", note.gt), ("from", note.ge), ("below", note.lt), ("to", note.le)):
        if limit is not None:
            found.append(f"{word} {limit:,}")
    return f" ({' '.join(found)})" if found else ""


if __name__ == "__main__":
    sys.exit(main())
