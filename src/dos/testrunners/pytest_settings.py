"""Reads the settings of pytest, from whichever file of a repository holds them."""

import tomllib
from collections.abc import Mapping
from configparser import ConfigParser
from configparser import Error as ConfigError
from typing import Any

_SECTIONS = {
    "pytest.ini": "pytest",
    ".pytest.ini": "pytest",
    "tox.ini": "pytest",
    "setup.cfg": "tool:pytest",
}
FILES = (*_SECTIONS, "pyproject.toml", "pytest.toml", ".pytest.toml")


def read(path: str, text: str) -> Mapping[str, Any]:
    """Return pytest's table of a file; empty if it has none, or cannot be read.

    Values of INI files are text, those of TOML are as they are written there.
    """
    name = path.rpartition("/")[2].lower()
    if name in _SECTIONS:
        return ini_sections(text).get(_SECTIONS[name], {})
    if name not in FILES:
        return {}
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}
    if name == "pyproject.toml":
        table = _table(_table(table, "tool"), "pytest")
        return _table(table, "ini_options") or table
    return _table(table, "pytest")


def listed(value: object) -> tuple[str, ...]:
    """Return the words of a setting that is a list, in either kind of file."""
    if isinstance(value, list):
        return tuple(map(str, value))
    return tuple(str(value or "").split())


def ini_sections(text: str) -> Mapping[str, Mapping[str, str]]:
    """Return the sections of an INI file; none if it cannot be read."""
    parser = ConfigParser(strict=False, interpolation=None, allow_no_value=True)
    try:
        parser.read_string(text)
    except ConfigError:
        return {}
    return {section: dict(parser[section]) for section in parser.sections()}


def _table(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key)
    return value if isinstance(value, dict) else {}
