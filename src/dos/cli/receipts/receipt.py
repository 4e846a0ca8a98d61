"""Print the receipt of a landed unit.

Give it to others: they check it with `dos verify-receipt`.
"""

from pathlib import Path
from typing import Annotated

from msgspec import Struct

from dos.cli.streams import read_stdin
from dos.errors import BadInput
from dos.machine import filesystem
from dos.receipts.io import find
from dos.receipts.receipt import (
    LARGEST_BYTES,
    SCHEMAS,
    Receipt,
    canonical_bytes,
    receipt_fields,
)
from dos.text import LONGEST_PATH, quote, validated_name
from dos.unknown import Unknown
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.witness.io import files

# The hint of `dos verify-receipt` if no receipt is given.
EXAMPLE = "For example: dos verify-receipt --receipt receipt.json --key-file runner.pub"
EXITS = {"found": 0, "none": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    """The unit, and where to write its receipt."""

    plan: Annotated[str, Option(help="plan of the unit", metavar="PLAN", positional=True)]
    unit: Annotated[
        str, Option(help="unit; or PLAN/UNIT as one word", metavar="UNIT", positional=True)
    ] = ""
    out: Annotated[str, Option(help="write it to a file", metavar="FILE")] = ""


def run(args: Args, context: Context) -> Reply:
    """Print the newest receipt of the unit in its canonical bytes, as they were signed.

    The exit code is 1 if neither the journal nor git's notes have one. The receipt is not checked.
    """
    if not args.unit and "/" not in args.plan:
        raise BadInput(
            f"{quote(args.plan)} is a plan; its unit is missing",
            hint=f"dos receipt {args.plan} UNIT",
        )
    if args.unit:
        name = f"{validated_name(args.plan, 'plan')}/{validated_name(args.unit, 'unit')}"
    else:
        name = validated_name(args.plan, "unit")
    issued = find.issued_receipts(context.journal_world, name)
    if not issued:
        why = "neither the journal nor git's notes have one"
        text = f"there is no receipt of {name}: {why}"
        return Reply(
            code=EXITS["none"], text=text, data={"unit": name, "receipt": None, "reason": why}
        )
    newest = issued[-1]
    text = canonical_bytes(newest).decode()
    if args.out:
        write_receipt(args.out, newest)
        text = f"{newest.verdict}  {name} at {newest.commit[:9]}, written to {args.out}"
    return Reply(text=text, data=receipt_fields(newest))


def write_receipt(name: str, receipt: Receipt) -> None:
    """Write the receipt whole or not at all; raises BadInput if that fails."""
    path = Path(name)
    _check_replaceable(path)
    try:
        filesystem.write_whole(path, canonical_bytes(receipt) + b"\n", follow_link=False)
    except (OSError, ValueError) as error:
        why = "it is not a path"
        if isinstance(error, OSError):
            why = error.strerror or str(error)
        raise BadInput(
            f"{quote(name, LONGEST_PATH)} cannot be written: {why}", hint="Name another --out."
        ) from error


def _check_replaceable(path: Path) -> None:
    """Raise BadInput if the path exists and is not a receipt: nothing else is overwritten."""
    try:
        exists = path.exists() or path.is_symlink()
    except (OSError, ValueError):
        return  # writing to it reports what is wrong
    if not exists:
        return
    old = files.read_bounded(path)
    if isinstance(old, Unknown) or not any(schema.encode() in old for schema in SCHEMAS):
        raise BadInput(
            f"{quote(str(path), LONGEST_PATH)} exists and is not a receipt",
            hint="Name another --out.",
        )


def read_receipt(name: str) -> bytes:
    """Return the bytes of the named file, or of stdin; raises BadInput if there are none."""
    if name and name != "-":
        data = files.read_bounded(Path(name))
        if isinstance(data, Unknown):
            raise BadInput(data.why, hint=EXAMPLE)
        return data
    data = read_stdin(LARGEST_BYTES)
    if not data.strip():
        raise BadInput("no receipt is named, and stdin is empty", hint=EXAMPLE)
    return data
