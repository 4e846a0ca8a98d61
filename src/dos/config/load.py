"""Reads `dos.toml`. What it does not understand is an error with a place; nothing falls back to a default unsaid."""

import os
import re
import stat
from pathlib import Path
from shlex import quote
from typing import Any

import msgspec
from msgspec import Struct

from dos.config.schema import Config
from dos.errors import ConfigInvalid
from dos.fields import Key


class Problem(Struct, frozen=True, kw_only=True):
    """One thing that is wrong with the file."""

    key: Key = ()
    message: str
    hint: str = ""
    path: str = ""
    line: int | None = None

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.message}" if place else self.message


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


class LoadedConfig(Struct, frozen=True, kw_only=True):
    """A configuration and where it came from."""

    config: Config
    path: Path | None  # None: there is no file, everything is a default
    text: str = ""
    without_effect: dict[Key, str] = {}  # what is written and changes nothing, and why
    replaced: str = ""  # only of an edit: the text that was there before
    problems: tuple[
        Problem, ...
    ] = ()  # only of a lenient load: the tables with these were left out

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*map(str, self.problems), *self.without_effect.values())

    @property
    def origins(self) -> dict[Key, int]:
        """The line of every key that the file sets. A key that is not here has its default."""
        from dos.config.toml_text import key_lines

        return key_lines(self.text) if self.text else {}


def load(root: Path, *, lenient: bool = False) -> LoadedConfig:
    """The configuration of the workspace at `root`.

    With `lenient`, for verbs that only show things, a table with a problem is left at its defaults and the
    problem is listed; without it the first problem is raised.
    """
    path = root / FILE_NAME
    try:
        text = read_text(path)
    except ConfigInvalid as error:
        if not lenient:
            raise
        return _defaults_with_problem(path, Problem(message=error.message, hint=error.hint))
    return (
        LoadedConfig(config=Config(), path=None)
        if text is None
        else parse(text, path, lenient=lenient)
    )


def parse(text: str, path: Path, *, lenient: bool = False) -> LoadedConfig:
    """The configuration in a text; `path` is only what errors call it."""
    try:
        raw = _tables(text, path)
    except ConfigInvalid as error:
        if not lenient:
            raise
        return _defaults_with_problem(path, Problem(message=error.message, hint=error.hint))
    shaped = _normalised(raw)
    try:
        config = msgspec.convert(shaped, Config)
    except msgspec.ValidationError as error:
        problems, left = _problems(shaped, raw, text, path)
        if not lenient:
            raise ConfigInvalid(str(problems[0]), hint=problems[0].hint) from error
        config = msgspec.convert(left, Config)
        idle = _without_effect(left, config, path)
        return LoadedConfig(
            config=config, path=path, text=text, without_effect=idle, problems=tuple(problems)
        )
    return LoadedConfig(
        config=config, path=path, text=text, without_effect=_without_effect(raw, config, path)
    )


def read_text(path: Path) -> str | None:
    """The text of the file without its byte-order mark; None when there is no file."""
    data = _read_bytes(path)
    if data is None:
        return None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ConfigInvalid(f"{path}:1: the file is UTF-16, not UTF-8", hint="Save it as UTF-8.")
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise ConfigInvalid(
            f"{path}:{line}: there is a NUL byte in the file",
            hint="Take it out: TOML is plain text.",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"the byte 0x{data[error.start]:02x}, which is not UTF-8"
        raise ConfigInvalid(
            f"{path}:{line}: found {found}", hint="Save the file as UTF-8."
        ) from error


def _read_bytes(path: Path) -> bytes | None:
    try:
        # Not blocking, so that a pipe in the file's place cannot hold every verb up.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        if path.is_symlink():
            raise ConfigInvalid(
                f"{path}: the link points nowhere", hint=f"Remove the link: rm {quote(str(path))}"
            ) from None
        return None
    except OSError as error:
        raise ConfigInvalid(
            f"{path}: cannot be read: {error.strerror}",
            hint=f"Look at it: ls -l {quote(str(path))}",
        ) from error
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            what = "a directory" if stat.S_ISDIR(status.st_mode) else "not a file"
            raise ConfigInvalid(
                f"{path}: this is {what}", hint="Put a file in its place, or run `dos init`."
            )
        data = b""
        while len(data) <= LARGEST_BYTES and (
            more := os.read(handle, LARGEST_BYTES + 1 - len(data))
        ):
            data += more
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


def _tables(text: str, path: Path) -> dict[str, Any]:
    import tomllib

    if text.count(".") > MOST_KEY_PARTS:
        _check_key_parts(text, path)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigInvalid(
            f"{path}: values are nested too deeply to read", hint="Nest them less."
        ) from None
    except (
        ValueError
    ) as error:  # TOMLDecodeError, and plain ValueError for a number of thousands of digits
        found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)", str(error))
        message = str(error) if found is None else str(error)[: found.start()]
        place, column = "", ""
        if found is not None:
            place = f":{found[1] or max(1, len(text.splitlines()))}"
            column = f" at column {found[2]}" if found[2] else " at the end of the file"
        message = re.sub(
            r"\((?:'[^']*',? ?)+\)", lambda key: ".".join(re.findall(r"'([^']*)'", key[0])), message
        )
        raise ConfigInvalid(
            f"{path}{place}: not TOML{column}: {message[:1].lower()}{message[1:]}",
            hint="Correct that line: strings need quotes, and a key can be set only once.",
        ) from error


def _check_key_parts(text: str, path: Path) -> None:
    # Two dots in a row cannot stand in a key, so a row of dots in a comment or a text is no key.
    at = 0
    for part in re.split(r"([={,\n])", text):
        if part.count(".") > MOST_KEY_PARTS and ".." not in part:
            line = text.count("\n", 0, at) + 1
            raise ConfigInvalid(
                f"{path}:{line}: a key has more than {MOST_KEY_PARTS} parts", hint="Shorten it."
            )
        at += len(part)


def _normalised(raw: dict[str, Any]) -> dict[str, Any]:
    """The tables in the one form that the records have, where the file may use several."""
    # An empty [lanes] declares nothing, so it does not replace anything.
    shaped = {name: value for name, value in raw.items() if not (name == "lanes" and value == {})}
    for table, keys in _STRING_OR_LIST.items():
        if table in shaped:
            shaped[table] = _strings_as_lists(shaped[table], keys)
    for table in ("reasons", "intervention"):
        if isinstance(shaped.get(table), dict):
            shaped[table] = {
                token: _strings_as_lists(body, ("see_also",))
                for token, body in shaped[table].items()
            }
    reasons = shaped.get("reasons")
    if isinstance(reasons, dict) and "morphology" in reasons and "morphology" not in raw:
        shaped["reasons"] = {
            token: body for token, body in reasons.items() if token != "morphology"
        }
        shaped["morphology"] = _morphology_rules(reasons["morphology"])
    return shaped


def _strings_as_lists(table: Any, keys: tuple[str, ...]) -> Any:
    if not isinstance(table, dict):
        return table
    return {
        key: [value] if key in keys and isinstance(value, str) else value
        for key, value in table.items()
    }


def _morphology_rules(written: Any) -> Any:
    """Morphology rules are tables, pairs, or one table of substring = category."""
    if isinstance(written, dict):
        return [
            {"substring": substring, "category": category}
            for substring, category in written.items()
        ]
    if not isinstance(written, list):
        return written
    return [
        {"substring": rule[0], "category": rule[1]}
        if isinstance(rule, list) and len(rule) == 2
        else rule
        for rule in written
    ]


def _problems(
    shaped: dict[str, Any], raw: dict[str, Any], text: str, path: Path
) -> tuple[list[Problem], dict[str, Any]]:
    """What is wrong, in the order of the file's lines, and the tables that can be used."""
    from dos.config.explain import diagnose
    from dos.config.toml_text import key_lines, line_of

    lines = key_lines(text)
    problems, left = diagnose(shaped)
    located = []
    for problem in problems:
        key = problem.key
        if key[0] == "morphology" and "morphology" not in raw:
            key = ("reasons", *key)
        located.append(
            msgspec.structs.replace(problem, key=key, path=str(path), line=line_of(lines, key))
        )
    return sorted(located, key=lambda problem: problem.line or 0), left


def _without_effect(raw: dict[str, Any], config: Config, path: Path) -> dict[Key, str]:
    found: dict[Key, str] = {}
    cooldown = raw.get("cooldown", {})
    for exact, convenient in (
        ("window_ms", "window_hours"),
        ("error_window_ms", "error_window_minutes"),
    ):
        if exact in cooldown and convenient in cooldown:
            found["cooldown", convenient] = (
                f"{path}: [cooldown] {convenient} has no effect beside {exact}"
            )
    for word, lane in config.lanes.aliases.items():
        if config.lanes.canonical(word) not in (None, config.lanes.canonical(lane)):
            text = f"{path}: [lanes.aliases] {word} has no effect: there is a lane of that name"
            found["lanes", "aliases", word] = text
    return found


def _defaults_with_problem(path: Path, problem: Problem) -> LoadedConfig:
    return LoadedConfig(config=Config(), path=path, problems=(problem,))
