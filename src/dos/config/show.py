"""Every key of the configuration with its value and where that value comes from."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from dos.config.load import LoadedConfig
from dos.config.toml_text import key_text, line_of, mask_password, value_text
from dos.fields import Key

DEFAULT = "default"


class Setting(Struct, frozen=True, kw_only=True):
    key: str  # as it is typed: supervise.target
    value: Any  # plain data; None is a key that is not set
    origin: str  # dos.toml:12, or default

    @property
    def text(self) -> str:
        """The value as the file would have it."""
        return value_text(self.value)


def list_settings(loaded: LoadedConfig) -> list[Setting]:
    """One row a key, in the order of the tables; an entry of a table of names is a row of its own."""
    lines = loaded.origins
    name = loaded.path.name if loaded.path else ""
    found = []
    for key, value in _leaves((), msgspec.to_builtins(loaded.config)):
        line = lines.get(key)
        if key == ("morphology",) and line is None:
            line = lines.get(("reasons", *key))
        # The table [lanes] replaces the default as a whole: what it leaves out is empty because it is there.
        if key[0] == "lanes" and line is None:
            line = line_of(lines, ("lanes",)) if _says_anything(lines, "lanes") else None
        if key == ("store", "url"):
            value = mask_password(value)
        found.append(
            Setting(
                key=key_text(key), value=value, origin=DEFAULT if line is None else f"{name}:{line}"
            )
        )
    return found


def as_json(shown: list[Setting]) -> list[dict[str, Any]]:
    return [{"key": row.key, "value": row.value, "origin": row.origin} for row in shown]


def _leaves(key: Key, value: Any) -> Iterator[tuple[Key, Any]]:
    if isinstance(value, Mapping) and (value or not key):
        for name, item in value.items():
            yield from _leaves((*key, str(name)), item)
    else:
        yield key, value


def _says_anything(lines: Mapping[Key, int], table: str) -> bool:
    return any(key[0] == table and len(key) > 1 for key in lines)
