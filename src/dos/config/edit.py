"""Changes one key of `dos.toml` and nothing else in it. A change that would not load is refused."""

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


_MARK = "the value goes here"
BUSY_SECONDS = 5.0
_BY_HAND = "Change it in an editor."


def set_value(path: Path, dotted_key: str, value_text: str) -> LoadedConfig:
    """Writes a value, given as TOML; a bare word is a string where the key holds one. Gives the new configuration."""
    key = parse_key(dotted_key)
    value = _chosen_value(key, value_text, dotted_key)

    def put(document: "TOMLDocument") -> None:
        import tomlkit
        from tomlkit.items import InlineTable

        table: Any = document
        is_new = False
        for place, part in enumerate(key[:-1]):
            if part not in table:
                inline = isinstance(table, InlineTable)
                is_new = not inline
                # A parent that only holds other tables needs no header of its own.
                table[part] = (
                    tomlkit.inline_table()
                    if inline
                    else tomlkit.table(is_super_table=place < len(key) - 2)
                )
            table = table[part]
            if not hasattr(table, "items"):
                raise BadInput(
                    f"{path}: {'.'.join(key[: place + 1])} is not a table", hint=_BY_HAND
                )
        below = [] if is_new or key[-1] in table else _detach_trailing_comments(table)
        table[key[-1]] = tomlkit.parse(f"x = {value}\n")["x"]
        if is_new:
            table.add(tomlkit.nl())  # it may stand before another table
        elif below:
            table.value.body.extend(below)

    return _edit_file(path, put, lambda tables: _with_value(tables, key, _parse_value(value)))


def _detach_trailing_comments(table: Any) -> list[Any]:
    """What stands after a blank line at the end of a table: it speaks of the next one, and a new key goes before it."""
    from tomlkit.items import Table, Whitespace

    if not isinstance(table, Table):
        return []
    body = table.value.body
    end = next((place for place in range(len(body), 0, -1) if body[place - 1][0] is not None), 0)
    start = next(
        (place for place in range(end, len(body)) if isinstance(body[place][1], Whitespace)),
        len(body),
    )
    below = body[start:]
    del body[start:]
    return below


def unset_value(path: Path, dotted_key: str, entry: str = "") -> LoadedConfig:
    """Takes a key or a whole table out, or one entry out of the list that a key holds. Gives the new configuration."""
    key = parse_key(dotted_key)

    def take(document: "TOMLDocument") -> None:
        table: Any = document
        for part in key[:-1]:
            table = table.get(part, {}) if hasattr(table, "items") else {}
        if not hasattr(table, "items") or key[-1] not in table:
            raise BadInput(
                f"{path}: {dotted_key} is not set in this file",
                hint="`dos config show --origin` lists what is set where.",
            )
        if not entry:
            del table[key[-1]]
            return
        listed = table[key[-1]]
        places = (
            [place for place, item in enumerate(listed) if item == entry]
            if isinstance(listed, list)
            else []
        )
        if not places:
            raise BadInput(
                f"{path}: {dotted_key} holds no entry {quote(entry)}",
                hint=f"`dos config get {dotted_key}` shows what it holds.",
            )
        for place in reversed(places):
            del listed[place]

    return _edit_file(path, take, lambda tables: _without_value(tables, key, entry))


def parse_key(dotted_key: str) -> tuple[str, ...]:
    """The parts of a key; TOML's own grammar decides, so quotes work as in the file."""
    import tomllib

    try:
        table: Any = (
            {} if "\n" in dotted_key else tomllib.loads(f"{dotted_key} = {toml_string(_MARK)}")
        )
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
    """What a text says in TOML; the text is one value and nothing else."""
    import tomllib

    table = tomllib.loads(f"x = {text}")
    if set(table) != {"x"}:
        raise ValueError("more than one value")
    return table["x"]


def _chosen_value(key: tuple[str, ...], text: str, dotted_key: str) -> str:
    """The TOML for what was typed: as it stands if the key can hold that, else as a string if it can hold one."""
    kind = _type_for_key(key)
    try:
        typed = _parse_value(text)
    except (ValueError, RecursionError) as error:
        # A word is a string that lost its quotes to the shell; whether the key can hold one, the loader says.
        if text[:1] in ("[", "{", '"', "'") and not _can_hold(text, kind):
            hint = 'Strings need quotes inside lists and tables: ["a", "b"].'
            raise BadInput(f"{dotted_key}: {text!r} is not a TOML value", hint=hint) from error
        return toml_string(text)
    return toml_string(text) if not _can_hold(typed, kind) and _can_hold(text, kind) else text


def _can_hold(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _type_for_key(key: tuple[str, ...]) -> Any:
    """The type that the records have for a key; anything for a key that they do not know: the loader will say so."""
    kind: Any = Config
    for part in key:
        if isinstance(kind, type) and issubclass(kind, Struct):
            kind = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}.get(
                part, Any
            )
        else:
            kind = get_args(kind)[1] if get_origin(kind) is dict else Any
    return kind


def _with_value(tables: dict[str, Any], key: tuple[str, ...], value: Any) -> dict[str, Any]:
    inner = value if len(key) == 1 else _with_value(tables.get(key[0], {}), key[1:], value)
    return {**tables, key[0]: inner}


def _without_value(tables: dict[str, Any], key: tuple[str, ...], entry: str) -> dict[str, Any]:
    if len(key) > 1:
        return {**tables, key[0]: _without_value(tables[key[0]], key[1:], entry)}
    if entry:
        return {**tables, key[0]: [item for item in tables[key[0]] if item != entry]}
    return {name: value for name, value in tables.items() if name != key[0]}


def _without_empty_tables(tables: dict[str, Any]) -> dict[str, Any]:
    """Without its empty tables: one that lost its last key may go, and says the same."""
    # What is not a number is not even itself; that it cannot be used is said in a moment.
    inner = {
        name: _without_empty_tables(value) if isinstance(value, dict) else value
        for name, value in tables.items()
    }
    inner = {name: value if value == value else None for name, value in inner.items()}
    return {name: value for name, value in inner.items() if value != {}}


def _edit_file(
    path: Path,
    change: "Callable[[TOMLDocument], None]",
    expected: Callable[[dict[str, Any]], dict[str, Any]],
) -> LoadedConfig:
    with _locked_folder(path) as folder:
        old = read_text(path) or ""
        new = _changed_text(old, path, change, expected)
        loaded = parse(new, path, lenient=True)
        if loaded.problems:
            raise _refused(loaded.problems, parse(old, path, lenient=True).problems, path)
        _write(path, new, folder, instead_of=old)
    return msgspec.structs.replace(loaded, replaced=old)


def _changed_text(
    old: str,
    path: Path,
    change: "Callable[[TOMLDocument], None]",
    expected: Callable[[dict[str, Any]], dict[str, Any]],
) -> str:
    import tomllib

    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(old)
        change(document)
        new = tomlkit.dumps(document)
        kept = _without_empty_tables(tomllib.loads(new)) == _without_empty_tables(
            expected(tomllib.loads(old))
        )
    except (TOMLKitError, ValueError, RecursionError) as error:
        parse(old, path)  # a file that was broken before is reported as what it is
        raise ConfigInvalid(
            f"{path}: this change cannot be made here: {error}", hint=_BY_HAND
        ) from error
    if not kept:
        raise ConfigInvalid(
            f"{path}: this change cannot be made without touching other keys", hint=_BY_HAND
        )
    if not old.endswith("\n\n"):
        new = new.rstrip("\n") + "\n"
    if "\r\n" in old and "\n" not in old.replace("\r\n", ""):
        new = new.replace("\r\n", "\n").replace("\n", "\r\n")
    return new


@contextmanager
def _locked_folder(path: Path) -> Iterator[int]:
    """Gives the opened folder, locked: two that read the same text would each write away what the other wrote."""
    target = path.resolve()
    try:
        folder = os.open(target.parent, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise _write_failed(path, target.parent, error) from error
    try:
        try:
            is_ours = filesystem.lock_file(folder, gives_up=filesystem.gives_up_after(BUSY_SECONDS))
        except OSError:
            is_ours = (
                True  # a file system without locks: there the look just before writing has to do
            )
        if not is_ours:
            raise ConfigInvalid(f"{path}: somebody else is changing the file", hint="Try again.")
        yield folder
    finally:
        os.close(folder)


def _refused(found: Sequence[Problem], before: Sequence[Problem], path: Path) -> ConfigInvalid:
    """What the change would have brought stands on no line of the file; what was there before does."""
    known = {problem.message for problem in before}
    brought = next((problem for problem in found if problem.message not in known), None)
    if brought:
        return ConfigInvalid(f"{brought.message}; {path} was left as it is", hint=brought.hint)
    return ConfigInvalid(str(found[0]), hint=found[0].hint)


def _write(path: Path, text: str, folder: int, *, instead_of: str) -> None:
    """All of it or nothing, with the mode it had. A link stays a link: the file behind it is written."""
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{os.urandom(6).hex()}")
    try:
        marked = target.exists() and target.read_bytes().startswith(b"\xef\xbb\xbf")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8-sig" if marked else "utf-8"))
                file.flush()
                if target.exists():
                    os.fchmod(file.fileno(), target.stat().st_mode & 0o7777)
                os.fsync(file.fileno())
            if (read_text(path) or "") != instead_of:
                raise ConfigInvalid(
                    f"{path}: somebody else changed the file meanwhile", hint="Try again."
                )
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
        os.fsync(folder)  # a rename is durable once its folder is
    except OSError as error:
        raise _write_failed(path, target if target.exists() else target.parent, error) from error


def _write_failed(path: Path, place: Path, error: OSError) -> ConfigInvalid:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    hint = (
        f"Free some room: df -h {shlex.quote(str(path.parent))}"
        if full
        else f"Look: ls -ld {shlex.quote(str(place))}"
    )
    return ConfigInvalid(f"{path}: cannot be written: {error.strerror}", hint=hint)
