"""Reading `dos.toml` into a Config.

A key or value that is not understood is an error with its line. Nothing falls back to a default
silently, because a mistyped setting would then decide nothing without anybody noticing.
"""

import os
import re
import stat
from pathlib import Path
from shlex import quote
from typing import Any

import msgspec
from msgspec import Struct, structs

from dos.config.schema import Config
from dos.errors import ConfigInvalid
from dos.fields import Key
from dos.text import plural

FILE_NAME = "dos.toml"
LARGEST_BYTES = 1_000_000
MOST_KEY_PARTS = 200  # the time to parse a dotted key grows with the square of its parts

# Keys that hold a list and may be written as one string.
_STRING_OR_LIST = {
    "stamp": ("subject_dirs",),
    "data_class": (
        "trajectory_patterns",
        "audit_patterns",
        "baseline_patterns",
        "product_patterns",
    ),
    "marker": ("arm_on_env",),
}
# In [cooldown], each exact key with the convenient one that it overrides.
_COOLDOWN_KEYS = {"window_ms": "window_hours", "error_window_ms": "error_window_minutes"}


class Problem(Struct, frozen=True, kw_only=True):
    """One thing that is wrong with the file."""

    key: Key = ()
    message: str
    hint: str = ""
    path: str = ""
    line: int | None = None

    def __str__(self) -> str:
        if self.line is not None:
            return f"{self.path}:{self.line}: {self.message}"
        if self.path:
            return f"{self.path}: {self.message}"
        return self.message


class LoadedConfig(Struct, frozen=True, kw_only=True):
    """A configuration and where it came from."""

    config: Config
    path: Path | None  # None: there is no file, everything is a default
    text: str = ""
    without_effect: dict[Key, str] = {}  # the keys that are set in vain, with the reason
    replaced: str = ""  # only of an edit: the text that was there before
    # Only of a lenient load: the tables with these problems were left at their defaults.
    problems: tuple[Problem, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to tell the user: the problems, and the keys without effect."""
        return (*map(str, self.problems), *self.without_effect.values())

    @property
    def origins(self) -> dict[Key, int]:
        """The line of every key that the file sets. A key that is not here has its default."""
        if not self.text:
            return {}
        from dos.config.toml_text import key_lines

        return key_lines(self.text)


def load(root: Path, *, lenient: bool = False) -> LoadedConfig:
    """Return the configuration of the workspace at `root`; without a file, the defaults.

    Raises ConfigInvalid for the first problem. With `lenient`, for verbs that only show things, a
    table with a problem is left at its defaults and the problem is listed in the result.
    """
    path = root / FILE_NAME
    try:
        text = read_text(path)
    except ConfigInvalid as error:
        if not lenient:
            raise
        return _defaults_with_problem(path, error)
    if text is None:
        return LoadedConfig(config=Config(), path=None)
    return parse(text, path, lenient=lenient)


def parse(text: str, path: Path, *, lenient: bool = False) -> LoadedConfig:
    """Return the configuration in a text. `path` is only used in messages.

    Raises ConfigInvalid with the first problem, unless `lenient`.
    """
    try:
        raw = _parse_toml(text, path)
    except ConfigInvalid as error:
        if not lenient:
            raise
        return _defaults_with_problem(path, error)
    tables = _normalised(raw)
    problems: list[Problem] = []
    try:
        config = msgspec.convert(tables, Config)
        valid = raw
    except msgspec.ValidationError as error:
        problems, valid = _find_problems(tables, raw, text, path)
        if not lenient:
            raise _invalid(problems) from error
        config = msgspec.convert(valid, Config)
    config = _with_handles(config, valid)
    return LoadedConfig(
        config=config,
        path=path,
        text=text,
        without_effect=_without_effect(valid, config, path),
        problems=tuple(problems),
    )


def _invalid(problems: list[Problem]) -> ConfigInvalid:
    """The error for the first problem, with the number of the others and who lists them."""
    message = str(problems[0])
    hint = problems[0].hint
    others = len(problems) - 1
    if others:
        message += f" (and {plural(others, 'more error')})"
        hint = f"{hint} `dos lint` lists all errors.".strip()
    return ConfigInvalid(message, hint=hint)


def _defaults_with_problem(path: Path, error: ConfigInvalid) -> LoadedConfig:
    """The defaults, for a file that cannot be read at all."""
    problem = Problem(message=error.message, hint=error.hint)
    return LoadedConfig(config=Config(), path=path, problems=(problem,))


# Reading the file


def read_text(path: Path) -> str | None:
    """Return the text of the file without its byte-order mark. None: there is no file.

    Raises ConfigInvalid when it cannot be read, is too large or is not UTF-8.
    """
    data = _read_bytes(path)
    if data is None:
        return None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ConfigInvalid(f"{path}:1: the file is UTF-16, not UTF-8", hint="Save it as UTF-8.")
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise ConfigInvalid(
            f"{path}:{line}: there is a NUL byte in the file",
            hint="Remove it: TOML is plain text.",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start]
        raise ConfigInvalid(
            f"{path}:{line}: found the byte 0x{byte:02x}, which is not UTF-8",
            hint="Save the file as UTF-8.",
        ) from error


def _read_bytes(path: Path) -> bytes | None:
    """The content of the file. None: there is no file."""
    try:
        # Non-blocking, so that a pipe in the file's place cannot block every verb.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        if not path.is_symlink():
            return None
        raise ConfigInvalid(
            f"{path}: the link points nowhere", hint=f"Remove the link: rm {quote(str(path))}"
        ) from None
    except OSError as error:
        raise ConfigInvalid(
            f"{path}: cannot be read: {error.strerror}",
            hint=f"Check its owner and mode: ls -l {quote(str(path))}",
        ) from error
    try:
        status = os.fstat(handle)
        _check_regular(status, path)
        data = _read_handle(handle)
    except OSError as error:
        raise ConfigInvalid(
            f"{path}: cannot be read: {error.strerror}", hint="Check the disk."
        ) from error
    finally:
        os.close(handle)
    if len(data) > LARGEST_BYTES:
        size = max(status.st_size, len(data))
        raise ConfigInvalid(
            f"{path}: the file is {size:,} bytes, and at most {LARGEST_BYTES:,} are read",
            hint="Check that it is the right file.",
        )
    return data


def _check_regular(status: os.stat_result, path: Path) -> None:
    """Raise ConfigInvalid for a directory, a pipe or a device."""
    if stat.S_ISREG(status.st_mode):
        return
    kind = "a directory" if stat.S_ISDIR(status.st_mode) else "not a file"
    raise ConfigInvalid(
        f"{path}: this is {kind}", hint="Put a file in its place, or run `dos init`."
    )


def _read_handle(handle: int) -> bytes:
    """Read the file, but at most one byte more than is accepted."""
    data = b""
    while len(data) <= LARGEST_BYTES:
        more = os.read(handle, LARGEST_BYTES + 1 - len(data))
        if not more:
            break
        data += more
    return data


# TOML


def _parse_toml(text: str, path: Path) -> dict[str, Any]:
    """The tables of a text. Raises ConfigInvalid with the place of the first mistake."""
    import tomllib

    if text.count(".") > MOST_KEY_PARTS:
        _check_key_parts(text, path)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigInvalid(
            f"{path}: values are nested too deeply to read", hint="Nest them less."
        ) from None
    except ValueError as error:  # also a number of thousands of digits, which is no TOMLDecodeError
        raise _not_toml(text, path, str(error)) from error


def _not_toml(text: str, path: Path, message: str) -> ConfigInvalid:
    """The parser's message, with the place in front as all other messages have it."""
    place = ""
    column = ""
    found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)", message)
    if found is not None:
        message = message[: found.start()]
        last_line = max(1, len(text.splitlines()))
        place = f":{found[1] or last_line}"
        column = f" at column {found[2]}" if found[2] else " at the end of the file"
    # The parser prints a key as a tuple: ('lanes', 'trees').
    message = re.sub(r"\((?:'[^']*',? ?)+\)", _dotted_key, message)
    return ConfigInvalid(
        f"{path}{place}: not TOML{column}: {message[:1].lower()}{message[1:]}",
        hint="Correct that line: strings need quotes, and a key can be set only once.",
    )


def _dotted_key(found: re.Match[str]) -> str:
    """The key `lanes.trees` for the parser's `('lanes', 'trees')`."""
    return ".".join(re.findall(r"'([^']*)'", found[0]))


def _check_key_parts(text: str, path: Path) -> None:
    """Raise ConfigInvalid for a key with so many parts that parsing it would take minutes."""
    position = 0
    for part in re.split(r"([={,\n])", text):
        # No key has two dots in a row, so that is text or a comment.
        if part.count(".") > MOST_KEY_PARTS and ".." not in part:
            line = text.count("\n", 0, position) + 1
            raise ConfigInvalid(
                f"{path}:{line}: a key has more than {MOST_KEY_PARTS} parts", hint="Shorten it."
            )
        position += len(part)


# From tables to records


def _normalised(raw: dict[str, Any]) -> dict[str, Any]:
    """The tables in the one form that the records have, where the file may use several."""
    tables = dict(raw)
    if tables.get("lanes") == {}:
        del tables["lanes"]  # an empty [lanes] declares nothing, so the default stays
    for name, keys in _STRING_OR_LIST.items():
        if name in tables:
            tables[name] = _strings_as_lists(tables[name], keys)
    for name in ("reasons", "intervention"):
        if isinstance(tables.get(name), dict):
            tables[name] = {
                token: _strings_as_lists(body, ("see_also",))
                for token, body in tables[name].items()
            }
    reasons = tables.get("reasons")
    if isinstance(reasons, dict) and "morphology" in reasons and "morphology" not in raw:
        # Also written as [[reasons.morphology]].
        reasons = dict(reasons)
        tables["morphology"] = _morphology_rules(reasons.pop("morphology"))
        tables["reasons"] = reasons
    return tables


def _with_handles(config: Config, valid: dict[str, Any]) -> Config:
    """The settings of a file that says `concurrent = []`. One without the key says nothing."""
    if "concurrent" not in valid.get("lanes", {}):
        return config
    lanes = config.lanes.with_autopick_repeatable()
    return config if lanes is config.lanes else structs.replace(config, lanes=lanes)


def _strings_as_lists(table: Any, keys: tuple[str, ...]) -> Any:
    """The table, with a list for each of the keys that holds one string."""
    if not isinstance(table, dict):
        return table
    table = dict(table)
    for key in keys:
        if isinstance(table.get(key), str):
            table[key] = [table[key]]
    return table


def _morphology_rules(written: Any) -> Any:
    """Morphology rules are tables, pairs, or one table of substring = category."""
    if isinstance(written, dict):
        written = [list(pair) for pair in written.items()]
    if not isinstance(written, list):
        return written
    return [_morphology_rule(rule) for rule in written]


def _morphology_rule(rule: Any) -> Any:
    """A rule that is written as a pair, as a table."""
    if isinstance(rule, list) and len(rule) == 2:
        return {"substring": rule[0], "category": rule[1]}
    return rule


def _find_problems(
    tables: dict[str, Any], raw: dict[str, Any], text: str, path: Path
) -> tuple[list[Problem], dict[str, Any]]:
    """What is wrong, in the order of the file's lines, and the tables that can be used."""
    from dos.config.explain import diagnose
    from dos.config.toml_text import key_lines, line_of

    lines = key_lines(text)
    problems, valid = diagnose(tables)
    located = []
    for problem in problems:
        key = problem.key
        if key[0] == "morphology" and "morphology" not in raw:
            key = ("reasons", *key)
        located.append(
            msgspec.structs.replace(problem, key=key, path=str(path), line=line_of(lines, key))
        )
    return sorted(located, key=lambda problem: problem.line or 0), valid


def _without_effect(raw: dict[str, Any], config: Config, path: Path) -> dict[Key, str]:
    """The keys that another key overrides, each with the reason."""
    found: dict[Key, str] = {}
    cooldown = raw.get("cooldown", {})
    for exact, convenient in _COOLDOWN_KEYS.items():
        if exact in cooldown and convenient in cooldown:
            found["cooldown", convenient] = (
                f"{path}: [cooldown] {convenient} has no effect beside {exact}"
            )
    for word, lane in config.lanes.aliases.items():
        if config.lanes.canonical(word) not in (None, config.lanes.canonical(lane)):
            found["lanes", "aliases", word] = (
                f"{path}: [lanes.aliases] {word} has no effect: a lane has that name"
            )
    return found
