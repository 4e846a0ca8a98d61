"""Import JSON lines into the journal.

Reads exports of `dos journal export` and the logs of dos-kernel ≤ 0.30. Events that were imported
before are skipped. Leases are not imported: their holders have to take them here again.
"""

import os
from pathlib import Path
from typing import Annotated

from msgspec import Struct, structs

from dos.errors import BadInput
from dos.journal.transfer import transfer
from dos.text import plural, quote, validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"imported": 0, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    """The file, and the name to import it under."""

    file: Annotated[str, Option(help="file of JSON lines", positional=True, metavar="FILE")]
    name: Annotated[
        str, Option(help="name of the log; two logs need two names", metavar="NAME")
    ] = ""


def run(args: Args, context: Context) -> Reply:
    path = Path(args.file)
    if not os.path.isfile(path):  # noqa: PTH113 - pathlib raises for a name that no system can have
        raise BadInput(
            f"{quote(args.file)} is not a file", hint="Give the path of a file of JSON lines."
        )
    name: str | None = None
    if args.name:
        name = validated_name(args.name, "file name")
    imported = transfer.import_lines(context.journal, path, name=name)
    text = (
        f"{plural(imported.lines, 'line')} read, {plural(imported.events, 'event')} written, "
        f"{imported.unreadable} unreadable and kept"
    )
    return Reply(text=text, data=structs.asdict(imported))
