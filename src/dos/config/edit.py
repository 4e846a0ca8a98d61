"""Changing one key of `dos.toml` and nothing else in it.

A change that would not load is refused.
"""

import errno
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin

import msgspec
from msgspec import Struct

from dos.config.load import LoadedConfig, Problem, parse, read_text
from dos.config.schema import Config
from dos.config.toml_text import toml_string
from dos.errors import BadInput, ConfigInvalid
from dos.machine import filesystem
from dos.text import quote

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

BUSY_SECONDS = 5.0
_MARK = "the value goes here"
_BY_HAND = "Change it in an editor."

DottedKey = tuple[str, ...]
Change = Callable[["TOMLDocument"], None]
Tables = dict[str, Any]


def set_value(path: Path, dotted_key: str, value_text: str) -> LoadedConfig:
    """Write a value, given as TOML, and return the new configuration.

    A bare word is a string where the key holds one. Raises BadInput for a key or value that is not
    TOML, and ConfigInvalid when the file would not load; the file is then unchanged.
    """
    key = parse_key(dotted_key)
    value = _chosen_value(key, value_text, dotted_key)

    def change(document: "TOMLDocument") -> None:
        _put(document, key, value, path)

    return _edit_file(path, change, lambda tables: _with_value(tables, key, _parse_value(value)))


def _put(document: "TOMLDocument", key: DottedKey, value: str, path: Path) -> None:
    """Set the key in the document, creating the tables around it."""
    import tomlkit
    from tomlkit.items import InlineTable

    table: Any = document
    is_new = False
    for depth, part in enumerate(key[:-1], 1):
        if part not in table:
            is_new = not isinstance(table, InlineTable)
            if is_new:
                # A parent that only holds other tables needs no header.
                table[part] = tomlkit.table(is_super_table=depth < len(key) - 1)
            else:
                table[part] = tomlkit.inline_table()
        table = table[part]
        if not hasattr(table, "items"):
            raise BadInput(f"{path}: {'.'.join(key[:depth])} is not a table", hint=_BY_HAND)
    trailing = []
    if not is_new and key[-1] not in table:
        trailing = _detach_trailing_comments(table)
    table[key[-1]] = tomlkit.parse(f"x = {value}\n")["x"]
    if is_new:
        table.add(tomlkit.nl())  # it may stand before another table
    elif trailing:
        table.value.body.extend(trailing)


def _detach_trailing_comments(table: Any) -> list[Any]:
    """Remove and return what follows a blank line at the end of a table.

    Such a comment belongs to the next table, so a new key has to be inserted before it.
    """
    from tomlkit.items import Table, Whitespace

    if not isinstance(table, Table):
        return []
    body = table.value.body
    end = len(body)
    while end > 0 and body[end - 1][0] is None:
        end -= 1
    start = end
    while start < len(body) and not isinstance(body[start][1], Whitespace):
        start += 1
    trailing = body[start:]
    del body[start:]
    return trailing


def unset_value(path: Path, dotted_key: str, entry: str = "") -> LoadedConfig:
    """Remove a key or a whole table, or one entry of a list, and return the new configuration.

    Raises BadInput when it is not set, and ConfigInvalid when the file would not load without it.
    """
    key = parse_key(dotted_key)

    def change(document: "TOMLDocument") -> None:
        table: Any = document
        for part in key[:-1]:
            table = table.get(part, {}) if hasattr(table, "items") else {}
        if not hasattr(table, "items") or key[-1] not in table:
            raise BadInput(
                f"{path}: {dotted_key} is not set in this file",
                hint="`dos config show --origin` lists what is set where.",
            )
        if entry:
            _remove_entry(table[key[-1]], entry, path, dotted_key)
        else:
            del table[key[-1]]

    return _edit_file(path, change, lambda tables: _without_value(tables, key, entry))


def _remove_entry(entries: Any, entry: str, path: Path, dotted_key: str) -> None:
    """Remove all equal entries of a list. Raises BadInput if there is none."""
    numbers = []
    if isinstance(entries, list):
        numbers = [number for number, item in enumerate(entries) if item == entry]
    if not numbers:
        raise BadInput(
            f"{path}: {dotted_key} holds no entry {quote(entry)}",
            hint=f"`dos config get {dotted_key}` shows what it holds.",
        )
    for number in reversed(numbers):
        del entries[number]


# Keys and values as people type them


def parse_key(dotted_key: str) -> DottedKey:
    """Return the parts of a key, by TOML's own grammar, so that quotes work as in the file.

    Raises BadInput for a text that is not one key.
    """
    import tomllib

    table: Any = {}
    if "\n" not in dotted_key:
        try:
            table = tomllib.loads(f"{dotted_key} = {toml_string(_MARK)}")
        except ValueError:
            table = {}
    key = []
    while isinstance(table, dict) and len(table) == 1:
        ((part, table),) = table.items()
        key.append(part)
    if table != _MARK:
        raise BadInput(
            f"{dotted_key!r} is not a key",
            hint='Write it as in `supervise.target` or `lanes.trees."a b"`.',
        )
    return tuple(key)


def _parse_value(text: str) -> Any:
    """The value of a text that is one TOML value and nothing else."""
    import tomllib

    table = tomllib.loads(f"x = {text}")
    if set(table) != {"x"}:
        raise ValueError("more than one value")
    return table["x"]


def _chosen_value(key: DottedKey, text: str, dotted_key: str) -> str:
    """The TOML of what was typed: as it is if the key can hold it, else quoted as a string."""
    kind = _type_for_key(key)
    try:
        typed = _parse_value(text)
    except (ValueError, RecursionError) as error:
        # A bare word is a string whose quotes the shell removed; loading checks it.
        if text[:1] in ("[", "{", '"', "'") and not _can_hold(text, kind):
            hint = 'Strings need quotes inside lists and tables: ["a", "b"].'
            raise BadInput(f"{dotted_key}: {text!r} is not a TOML value", hint=hint) from error
        return toml_string(text)
    if not _can_hold(typed, kind) and _can_hold(text, kind):
        return toml_string(text)
    return text


def _can_hold(value: Any, kind: Any) -> bool:
    """Whether the type of a key accepts the value."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _type_for_key(key: DottedKey) -> Any:
    """The type of a key in the schema. Any: an unknown key, which loading reports."""
    kind: Any = Config
    for part in key:
        if isinstance(kind, type) and issubclass(kind, Struct):
            fields = msgspec.structs.fields(kind)
            kind = next((field.type for field in fields if field.encode_name == part), Any)
        elif get_origin(kind) is dict:
            kind = get_args(kind)[1]
        else:
            kind = Any
    return kind


# The tables that a change should result in


def _with_value(tables: Tables, key: DottedKey, value: Any) -> Tables:
    """The tables as they should be after a key is set."""
    if len(key) > 1:
        value = _with_value(tables.get(key[0], {}), key[1:], value)
    return {**tables, key[0]: value}


def _without_value(tables: Tables, key: DottedKey, entry: str) -> Tables:
    """The tables as they should be after a key or an entry is removed."""
    if len(key) > 1:
        return {**tables, key[0]: _without_value(tables[key[0]], key[1:], entry)}
    if entry:
        return {**tables, key[0]: [item for item in tables[key[0]] if item != entry]}
    return {name: value for name, value in tables.items() if name != key[0]}


def _without_empty_tables(tables: Tables) -> Tables:
    """The tables for comparison.

    A table that lost its last key may stay or go: both mean the same.
    """
    kept = {}
    for name, value in tables.items():
        if isinstance(value, dict):
            value = _without_empty_tables(value)
        if value != value:
            value = None  # NaN is not equal to itself; loading refuses it
        if value != {}:
            kept[name] = value
    return kept


# Writing the file


def _edit_file(path: Path, change: Change, expected: Callable[[Tables], Tables]) -> LoadedConfig:
    """Change the document, check that it loads, and replace the file.

    `expected` checks the rest.
    """
    with _locked_folder(path):
        old = read_text(path) or ""
        new = _changed_text(old, path, change, expected)
        loaded = parse(new, path, lenient=True)
        if loaded.problems:
            raise _refused(loaded.problems, parse(old, path, lenient=True).problems, path)
        _write(path, new, instead_of=old)
    return msgspec.structs.replace(loaded, replaced=old)


def _changed_text(
    old: str, path: Path, change: Change, expected: Callable[[Tables], Tables]
) -> str:
    """The text after the change. Raises ConfigInvalid if other keys would change too."""
    import tomllib

    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(old)
        change(document)
        new = tomlkit.dumps(document)
        result = _without_empty_tables(tomllib.loads(new))
        wanted = _without_empty_tables(expected(tomllib.loads(old)))
    except (TOMLKitError, ValueError, RecursionError) as error:
        parse(old, path)  # raises for a file that was broken before
        raise ConfigInvalid(
            f"{path}: this change cannot be made here: {error}", hint=_BY_HAND
        ) from error
    if result != wanted:
        raise ConfigInvalid(
            f"{path}: this change cannot be made without touching other keys", hint=_BY_HAND
        )
    if not old.endswith("\n\n"):
        new = new.rstrip("\n") + "\n"
    if "\r\n" in old and "\n" not in old.replace("\r\n", ""):
        new = new.replace("\r\n", "\n").replace("\n", "\r\n")
    return new


@contextmanager
def _locked_folder(path: Path) -> Iterator[None]:
    """Hold a lock on the folder of the file, so that two edits cannot undo each other."""
    target = path.resolve()
    try:
        folder = os.open(target.parent, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise _write_failed(path, target.parent, error) from error
    try:
        try:
            is_locked = filesystem.lock_file(
                folder, gives_up=filesystem.gives_up_after(BUSY_SECONDS)
            )
        except OSError:
            # A file system without locks; the comparison just before writing still protects.
            is_locked = True
        if not is_locked:
            raise ConfigInvalid(f"{path}: another process is changing the file", hint="Try again.")
        yield
    finally:
        os.close(folder)


def _refused(after: Sequence[Problem], before: Sequence[Problem], path: Path) -> ConfigInvalid:
    """The error for a change with problems: one that it causes, else one that was there before.

    The text with a new problem is not written, so its line numbers would mislead.
    """
    known = {problem.message for problem in before}
    for problem in after:
        if problem.message not in known:
            return ConfigInvalid(f"{problem.message}; {path} was not changed", hint=problem.hint)
    return ConfigInvalid(str(after[0]), hint=after[0].hint)


def _write(path: Path, text: str, *, instead_of: str) -> None:
    """Replace the file, unless it is no longer the text that was edited."""
    target = path.resolve()

    def check_unchanged() -> None:
        if (read_text(path) or "") != instead_of:
            raise ConfigInvalid(
                f"{path}: another process changed the file meanwhile", hint="Try again."
            )

    try:
        encoding = "utf-8"
        if target.exists() and target.read_bytes().startswith(b"\xef\xbb\xbf"):
            encoding = "utf-8-sig"  # the file begins with a byte-order mark, and keeps it
        filesystem.write_whole(
            path, text.encode(encoding), before_rename=check_unchanged, durable=True
        )
    except OSError as error:
        place = target
        if not target.exists():
            place = target.parent
        raise _write_failed(path, place, error) from error


def _write_failed(path: Path, place: Path, error: OSError) -> ConfigInvalid:
    """The error for a file that cannot be written, with a command that shows why."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        hint = f"Free some space: df -h {shlex.quote(str(path.parent))}"
    else:
        hint = f"Check the owner and mode: ls -ld {shlex.quote(str(place))}"
    return ConfigInvalid(f"{path}: cannot be written: {error.strerror}", hint=hint)
