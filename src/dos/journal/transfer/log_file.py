"""Reads the lines of a log file to import, within limits on lines, size and nesting."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import UNSET, json

from dos.errors import BadInput

LONGEST_LINE = 4 << 20
LARGEST_FILE = 1 << 30
DEEPEST = 100  # levels of nesting
_START_BYTES = 8192
_GIVE_A_FILE = "Give the path of a file of JSON lines."


def read_lines(path: Path) -> Iterator[tuple[int, bytes, bool]]:
    """Yield the lines that are not blank, each with its number and whether it is the last.

    Raises BadInput for a file that cannot be read, is too large, or is no text.
    """
    before: tuple[int, bytes] | None = None
    try:
        _check_file(path)
        with path.open("rb") as file:
            lines = iter(lambda: file.readline(LONGEST_LINE + 1), b"")
            for number, raw in enumerate(lines, start=1):
                if len(raw) > LONGEST_LINE:
                    raise BadInput(
                        f"{path}:{number}: the line is longer than {LONGEST_LINE} bytes",
                        hint="Is this a journal? Each of its lines is one small JSON object.",
                    )
                if not raw.strip():
                    continue
                if before:
                    yield *before, False
                before = (number, raw)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror or error}", hint=_GIVE_A_FILE) from error
    if before:
        yield *before, True


def _check_file(path: Path) -> None:
    size = path.stat().st_size
    if not path.is_file():
        raise BadInput(f"{path} is not a file", hint=_GIVE_A_FILE)
    if size > LARGEST_FILE:
        raise BadInput(
            f"{path} has {size} bytes, and at most {LARGEST_FILE} are imported",
            hint="Split it at line ends and import the parts in order.",
        )
    with path.open("rb") as file:
        start = file.read(_START_BYTES)
    if b"\0" not in start:
        return
    # Zeros alone prove nothing: a power cut leaves them at the end of a good log.
    first_line = start.split(b"\n", 1)[0].decode("utf-8", "replace")
    if not isinstance(parse_json(first_line), dict):
        raise BadInput(f"{path} is not a text file", hint=_GIVE_A_FILE)


def parse_json(text: str) -> Any:
    """Return the value of a line of JSON.

    UNSET when it is not JSON, or nested so deeply that a later reader could fail on it.
    """
    try:
        value = json.decode(text)
    except (ValueError, RecursionError):
        return UNSET
    if _is_too_deep(value):
        return UNSET
    return value


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for outer in level:
            inner += _children(outer)
        level = inner
    return bool(level)


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, list):
        return value
    return ()
