"""The settings of a workspace, each with its value and where the value comes from."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import Struct

from dos.config.load import LoadedConfig
from dos.config.toml_text import key_text, line_of, mask_password, value_text
from dos.fields import Key

DEFAULT = "default"


class Setting(Struct, frozen=True, kw_only=True):
    """One key of the configuration."""

    key: str  # as it is typed: supervise.target
    value: Any  # plain data; None is a key that is not set
    origin: str  # dos.toml:12, or default

    @property
    def text(self) -> str:
        """The value as TOML."""
        return value_text(self.value)


def list_settings(loaded: LoadedConfig) -> list[Setting]:
    """Return every setting in the order of the tables; an entry of a table of names is one too."""
    lines = loaded.origins
    name = loaded.path.name if loaded.path else ""
    found = []
    for key, value in _leaves((), msgspec.to_builtins(loaded.config)):
        if key == ("store", "url"):
            value = mask_password(value)
        line = _line_of_setting(key, lines)
        origin = DEFAULT if line is None else f"{name}:{line}"
        found.append(Setting(key=key_text(key), value=value, origin=origin))
    return found


def _line_of_setting(key: Key, lines: dict[Key, int]) -> int | None:
    """The line that sets the key. None: it has its default."""
    if key in lines:
        return lines[key]
    if key == ("morphology",):
        return lines.get(("reasons", *key))
    # The table [lanes] replaces the default as a whole, so it also sets what it leaves out.
    if key[0] == "lanes" and _has_keys(lines, "lanes"):
        return line_of(lines, ("lanes",))
    return None


def descriptions(table: type[Struct]) -> dict[str, str]:
    """Return what each setting of a table means, by its field.

    The text is the string below the field, where the table is declared. It is read from the source,
    so that starting a verb costs nothing for it.
    """
    import ast
    import inspect
    import textwrap

    (node,) = ast.parse(textwrap.dedent(inspect.getsource(table))).body
    assert isinstance(node, ast.ClassDef)
    found: dict[str, str] = {}
    for statement, below in pairwise(node.body):
        match statement, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                value=ast.Constant(value=str(text))
            ):
                found[name] = text
    return found


def as_json(settings: list[Setting]) -> list[dict[str, Any]]:
    """Return the settings as `dos config show --json` prints them."""
    return [
        {"key": setting.key, "value": setting.value, "origin": setting.origin}
        for setting in settings
    ]


def _leaves(key: Key, value: Any) -> Iterator[tuple[Key, Any]]:
    """Every value of the configuration with its key; an empty table is a value too."""
    if isinstance(value, Mapping) and (value or not key):
        for name, item in value.items():
            yield from _leaves((*key, str(name)), item)
    else:
        yield key, value


def _has_keys(lines: Mapping[Key, int], table: str) -> bool:
    """Whether the file sets any key of the table."""
    return any(key[0] == table and len(key) > 1 for key in lines)
