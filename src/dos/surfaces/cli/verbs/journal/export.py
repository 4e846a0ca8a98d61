"""Write the journal as JSON lines.

In the shape `dos` every event is one line, and `dos journal import` reads them. In the shape `lane-journal` the leases
are written as released versions did.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Annotated

from msgspec import Struct

from dos.errors import BadInput
from dos.journal import transfer
from dos.journal.transfer import Shape
from dos.records.names import checked, shown
from dos.surfaces.cli.desk import Desk, Reply
from dos.surfaces.cli.options import Option
from dos.surfaces.cli.verbs.journal.long_output import long_output

EXITS = {"exported": 0, "contract_error": 2}
LONGEST_STREAM = 500


class Args(Struct, kw_only=True):
    shape: Annotated[str, Option(help=f"the form of a line: {' or '.join(Shape)}", metavar="SHAPE")] = Shape.DOS.value
    after: Annotated[int, Option(help="only what comes after this position", metavar="POS")] = 0
    stream: Annotated[str, Option(help="only of this stream, as lane/api", metavar="STREAM")] = ""
    to: Annotated[str, Option(help="the file; standard output when not given", metavar="FILE")] = ""


def run(args: Args, desk: Desk) -> Reply:
    stream = checked(args.stream, "stream", longest=LONGEST_STREAM) if args.stream else None

    def write(file: IO[str]) -> int:
        return transfer.export(desk.world.journal, file, after=args.after, stream=stream, shape=args.shape)

    if not args.to:
        with long_output() as out:
            write(out)
        return Reply()
    try:
        target = Path(os.path.realpath(args.to))
        count = _write_through(target, write) if _is_device(target) else _write_whole(target, write)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"{shown(args.to)} cannot be written: {error}", hint="Give a path in a directory of yours."
        ) from error
    return Reply(text=f"{count} lines written to {target}", data={"lines": count, "path": str(target)})


def _is_device(target: Path) -> bool:
    return target.exists() and not target.is_file() and not target.is_dir()


def _write_through(target: Path, write: Callable[[IO[str]], int]) -> int:
    with target.open("w", encoding="utf-8") as file:
        return write(file)


def _write_whole(target: Path, write: Callable[[IO[str]], int]) -> int:
    """Under another name first: a half-written export never stands where a whole one is expected."""
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
