"""Write the journal as JSON lines.

In the shape `dos` every event is one line, and `dos journal import` reads them. In the shape
`lane-journal` the leases are written as dos-kernel ≤ 0.30 wrote them.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Annotated

from msgspec import DecodeError, Struct, json

from dos.cli.streams import long_output
from dos.errors import BadInput
from dos.journal.transfer import transfer
from dos.journal.transfer.transfer import LONGEST_LINE, Shape
from dos.text import LONGEST_PATH, plural, quote, validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"exported": 0, "contract_error": 2}
LONGEST_STREAM = 500


class Args(Struct, kw_only=True):
    shape: Annotated[
        str, Option(help=f"the form of a line: {' or '.join(Shape)}", metavar="SHAPE")
    ] = Shape.DOS.value
    after: Annotated[int, Option(help="only what comes after this position", metavar="POS")] = 0
    stream: Annotated[str, Option(help="only of this stream, as lane/api", metavar="STREAM")] = ""
    to: Annotated[str, Option(help="the file; standard output when not given", metavar="FILE")] = ""


def run(args: Args, context: Context) -> Reply:
    stream = validated_name(args.stream, "stream", longest=LONGEST_STREAM) if args.stream else None
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
    named = Path(args.to)  # not resolved where it is a pipe or a device: /dev/fd/3 leads to no path
    try:
        is_file = named.is_file() or not named.exists()
        target = Path(os.path.realpath(named)) if is_file else named
        count = _write_whole(target, write) if is_file else _write_through(target, write)
    except OSError as error:
        raise _unwritable(args.to, error.strerror) from error
    text = f"{plural(count, 'line')} written to {target}"
    return Reply(text=text, data={"lines": count, "path": str(target)})


def _unwritable(name: str, why: str | None) -> BadInput:
    return BadInput(
        f"{quote(name, LONGEST_PATH)} cannot be written: {why}", hint="Give the path of a new file."
    )


def _may_be_replaced(target: Path) -> bool:
    """An older export, or nothing: its first line is an object of JSON. Whatever else it is, somebody needs it."""
    with target.open("rb") as file:
        line = file.readline(LONGEST_LINE)
    try:
        return not line or isinstance(json.decode(line), dict)
    except DecodeError:
        return False


def _is_stdout(name: str) -> bool:
    """By another name, as /dev/stdout: then nothing else may be said there, and nothing may be put in its place."""
    try:
        return os.path.samestat(Path(name).stat(), os.fstat(sys.stdout.fileno()))
    except OSError:
        return False


def _write_through(target: Path, write: Callable[[IO[str]], int]) -> int:
    with target.open("w", encoding="utf-8") as file:
        return write(file)


def _write_whole(target: Path, write: Callable[[IO[str]], int]) -> int:
    """Under another name first: a half-written export never stands where a whole one is expected."""
    if target.is_file() and not _may_be_replaced(target):
        raise _unwritable(str(target), "it is there already, and is no export")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("x", encoding="utf-8", newline="\n") as file:
            count = write(file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return count
