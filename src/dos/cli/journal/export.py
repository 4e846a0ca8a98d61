"""Write the journal as JSON lines.

In the shape `dos` every event is one line, and `dos journal import` reads them. In the shape
`lane-journal` the leases are written as dos-kernel ≤ 0.30 wrote them.
"""

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Annotated

from msgspec import DecodeError, Struct, json

from dos.cli.streams import long_output
from dos.errors import BadInput
from dos.journal.lines import LONGEST_LINE
from dos.journal.transfer import transfer
from dos.journal.transfer.transfer import Shape
from dos.machine import filesystem
from dos.text import LONGEST_PATH, plural, quote, validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"exported": 0, "contract_error": 2}
LONGEST_STREAM = 500

Write = Callable[[IO[str]], int]
"""Writes the lines to an open file and returns how many there were."""


class Args(Struct, kw_only=True):
    """Which events to write, and where."""

    shape: Annotated[
        str, Option(help=f"shape of a line: {' or '.join(Shape)}", metavar="SHAPE")
    ] = Shape.DOS.value
    after: Annotated[int, Option(help="only events after this position", metavar="POS")] = 0
    stream: Annotated[
        str, Option(help="only events of this stream, such as lane/api", metavar="STREAM")
    ] = ""
    to: Annotated[str, Option(help="output file (default: stdout)", metavar="FILE")] = ""


def run(args: Args, context: Context) -> Reply:
    """Write the events to stdout or to a file. Raises BadInput where it cannot be written."""
    stream: str | None = None
    if args.stream:
        stream = validated_name(args.stream, "stream", longest=LONGEST_STREAM)
    if args.after < 0:
        raise BadInput(
            "--after cannot be below 0", hint="Positions start at 1; leave it out for all of them."
        )

    def write(file: IO[str]) -> int:
        return transfer.export(
            context.journal_world.journal, file, after=args.after, stream=stream, shape=args.shape
        )

    if not args.to or _is_stdout(args.to):
        with long_output() as out:
            write(out)
        return Reply()
    try:
        target, count = _write_to(Path(args.to), write)
    except OSError as error:
        raise _unwritable(args.to, error.strerror) from error
    text = f"{plural(count, 'line')} written to {target}"
    return Reply(text=text, data={"lines": count, "path": str(target)})


def _write_to(named: Path, write: Write) -> tuple[Path, int]:
    """Write the lines and return the path and their number.

    The path of a pipe or a device is not resolved: /dev/fd/3 leads to no path that can be opened.
    """
    if named.exists() and not named.is_file():
        return named, _write_through(named, write)
    target = Path(os.path.realpath(named))
    return target, _write_whole(target, write)


def _unwritable(name: str, why: str | None) -> BadInput:
    return BadInput(
        f"{quote(name, LONGEST_PATH)} cannot be written: {why}", hint="Give the path of a new file."
    )


def _is_export(target: Path) -> bool:
    """Whether the file is empty or begins with a JSON object, as an older export does.

    Any other file is not replaced: it may be needed.
    """
    with target.open("rb") as file:
        line = file.readline(LONGEST_LINE)
    try:
        return not line or isinstance(json.decode(line), dict)
    except DecodeError:
        return False


def _is_stdout(name: str) -> bool:
    """Whether the path names stdout, as /dev/stdout does.

    Then nothing but the lines may be printed, and the path cannot be replaced.
    """
    try:
        return os.path.samestat(Path(name).stat(), os.fstat(sys.stdout.fileno()))
    except OSError:
        return False


def _write_through(target: Path, write: Write) -> int:
    """Write to a pipe or a device, which nothing can replace."""
    with target.open("w", encoding="utf-8") as file:
        return write(file)


def _write_whole(target: Path, write: Write) -> int:
    """Write the lines to a file that replaces the target, so that it is never half an export."""
    if target.is_file() and not _is_export(target):
        raise _unwritable(str(target), "it exists and is not an export")
    with filesystem.whole_file(target) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
        count = write(text)
        text.detach()  # it writes what it holds back, and leaves the file open
    return count
