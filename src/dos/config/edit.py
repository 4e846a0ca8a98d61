"""Changes one key of `dos.toml` and nothing else in it. A change that would not load is refused."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin

import msgspec
from msgspec import Struct

from dos.config.load import Loaded, parse, read_text
from dos.config.notation import quoted
from dos.config.tables import Config
from dos.errors import BadInput, ConfigInvalid

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

_MARK = "the value goes here"
_BY_HAND = "Change it in an editor."


def set_value(path: Path, dotted_key: str, value_text: str) -> Loaded:
    """Writes a value, given as TOML; a bare word is a string where the key holds one. Gives the new configuration."""
    key = _parsed_key(dotted_key)
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
                table[part] = tomlkit.inline_table() if inline else tomlkit.table(is_super_table=place < len(key) - 2)
            table = table[part]
            if not hasattr(table, "items"):
                raise BadInput(f"{path}: {'.'.join(key[: place + 1])} is not a table", hint=_BY_HAND)
        table[key[-1]] = tomlkit.parse(f"x = {value}\n")["x"]
        if is_new:
            table.add(tomlkit.nl())  # it may stand before another table

    return _edited(path, put, lambda tables: _with(tables, key, _value(value)))


def unset_value(path: Path, dotted_key: str) -> Loaded:
    """Takes a key or a whole table out, so that it has its default again. Gives the new configuration."""
    key = _parsed_key(dotted_key)

    def take(document: "TOMLDocument") -> None:
        table: Any = document
        for part in key[:-1]:
            table = table.get(part, {}) if hasattr(table, "items") else {}
        if not hasattr(table, "items") or key[-1] not in table:
            raise BadInput(
                f"{path}: {dotted_key} is not set in this file",
                hint="`dos config show --origin` lists what is set where.",
            )
        del table[key[-1]]

    return _edited(path, take, lambda tables: _without(tables, key))


def _parsed_key(dotted_key: str) -> tuple[str, ...]:
    """The parts of a key; TOML's own grammar decides, so quotes work as in the file."""
    import tomllib

    try:
        table: Any = {} if "\n" in dotted_key else tomllib.loads(f"{dotted_key} = {quoted(_MARK)}")
    except ValueError:
        table = {}
    key = []
    while isinstance(table, dict) and len(table) == 1:
        ((part, table),) = table.items()
        key.append(part)
    if table != _MARK:
        raise BadInput(f"{dotted_key!r} is not a key", hint='Write it as in `supervise.target` or `lanes.trees."a b"`.')
    return tuple(key)


def _value(text: str) -> Any:
    """What a text says in TOML; the text is one value and nothing else."""
    import tomllib

    table = tomllib.loads(f"x = {text}")
    if set(table) != {"x"}:
        raise ValueError("more than one value")
    return table["x"]


def _chosen_value(key: tuple[str, ...], text: str, dotted_key: str) -> str:
    """The TOML for what was typed: as it stands if the key can hold that, else as a string if it can hold one."""
    kind = _kind_of(key)
    try:
        typed = _value(text)
    except (ValueError, RecursionError) as error:
        # A word is a string that lost its quotes to the shell; whether the key can hold one, the loader says.
        if text[:1] in ("[", "{", '"', "'") and not _fits(text, kind):
            hint = 'Strings need quotes inside lists and tables: ["a", "b"].'
            raise BadInput(f"{dotted_key}: {text!r} is not a TOML value", hint=hint) from error
        return quoted(text)
    return quoted(text) if not _fits(typed, kind) and _fits(text, kind) else text


def _fits(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _kind_of(key: tuple[str, ...]) -> Any:
    """The type that the records have for a key; anything for a key that they do not know: the loader will say so."""
    kind: Any = Config
    for part in key:
        if isinstance(kind, type) and issubclass(kind, Struct):
            kind = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}.get(part, Any)
        else:
            kind = get_args(kind)[1] if get_origin(kind) is dict else Any
    return kind


def _with(tables: dict[str, Any], key: tuple[str, ...], value: Any) -> dict[str, Any]:
    inner = value if len(key) == 1 else _with(tables.get(key[0], {}), key[1:], value)
    return {**tables, key[0]: inner}


def _without(tables: dict[str, Any], key: tuple[str, ...]) -> dict[str, Any]:
    if len(key) == 1:
        return {name: value for name, value in tables.items() if name != key[0]}
    return {**tables, key[0]: _without(tables[key[0]], key[1:])}


def _filled(tables: dict[str, Any]) -> dict[str, Any]:
    """Without its empty tables: one that lost its last key may go, and says the same."""
    inner = {name: _filled(value) if isinstance(value, dict) else value for name, value in tables.items()}
    return {name: value for name, value in inner.items() if value != {}}


def _edited(
    path: Path, change: "Callable[[TOMLDocument], None]", expected: Callable[[dict[str, Any]], dict[str, Any]]
) -> Loaded:
    import tomllib

    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    old = read_text(path) or ""
    try:
        document = tomlkit.parse(old)
        change(document)
        new = tomlkit.dumps(document)
        kept = _filled(tomllib.loads(new)) == _filled(expected(tomllib.loads(old)))
    except (TOMLKitError, ValueError, RecursionError) as error:
        parse(old, path)  # a file that was broken before is reported as what it is
        raise ConfigInvalid(f"{path}: this change cannot be made here: {error}", hint=_BY_HAND) from error
    if not kept:
        raise ConfigInvalid(f"{path}: this change cannot be made without touching other keys", hint=_BY_HAND)
    if not old.endswith("\n\n"):
        new = new.rstrip("\n") + "\n"
    if "\r\n" in old and "\n" not in old.replace("\r\n", ""):
        new = new.replace("\r\n", "\n").replace("\n", "\r\n")
    loaded = parse(new, path)
    _write(path, new, instead_of=old)
    return loaded


def _write(path: Path, text: str, *, instead_of: str) -> None:
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
                raise ConfigInvalid(f"{path}: somebody else changed the file meanwhile", hint="Try again.")
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
        _settle(target.parent)
    except OSError as error:
        raise ConfigInvalid(
            f"{path}: cannot be written: {error.strerror}", hint="Check its folder's rights."
        ) from error


def _settle(folder: Path) -> None:
    """A rename is durable once its folder is."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
