"""Write the journal as JSON lines.

In the shape `dos` every event is one line, and `dos journal import` reads them. In the shape `lane-journal` the leases
are written as released versions did.
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import Annotated

from msgspec import Struct

from dos.errors import BadInput
from dos.journal import transfer
from dos.journal.transfer import Shape
from dos.records.names import checked, shown
from dos.surfaces.cli.desk import Desk, Reply
from dos.surfaces.cli.options import Option

EXITS = {"exported": 0, "contract_error": 2}
LONGEST_STREAM = 500


class Args(Struct, kw_only=True):
    shape: Annotated[str, Option(help=f"the form of a line: {' or '.join(Shape)}", metavar="SHAPE")] = Shape.DOS.value
    after: Annotated[int, Option(help="only what comes after this position", metavar="POS")] = 0
    stream: Annotated[str, Option(help="only of this stream, as lane/api", metavar="STREAM")] = ""
    to: Annotated[str, Option(help="the file; standard output when not given", metavar="FILE")] = ""


def run(args: Args, desk: Desk) -> Reply:
    stream = checked(args.stream, "stream", longest=LONGEST_STREAM) if args.stream else None
    journal = desk.world.journal
    if not args.to:
        transfer.export(journal, sys.stdout, after=args.after, stream=stream, shape=args.shape)
        return Reply()
    target = Path(args.to)
    try:
        # Under another name first: a half-written export never stands where a whole one is expected.
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=target.parent, delete=False) as part:
            count = transfer.export(journal, part, after=args.after, stream=stream, shape=args.shape)
            part.flush()
            os.fsync(part.fileno())
        Path(part.name).replace(target)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"{shown(args.to)} cannot be written: {error}", hint="Give a path in a directory of yours."
        ) from error
    return Reply(text=f"{count} lines written to {target}", data={"lines": count, "path": str(target)})
