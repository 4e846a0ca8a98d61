"""Read and write receipt files: written whole or not at all, and read up to a size limit."""

import secrets
from pathlib import Path

from dos.cli import streams as given_text
from dos.errors import BadInput
from dos.receipts import receipt as receipts
from dos.receipts.receipt import LARGEST_BYTES, SCHEMA, Receipt
from dos.text import LONGEST_PATH, quote
from dos.unknown import Unknown
from dos.witness.io import writable

EXAMPLE = "For example: dos verify-receipt --receipt receipt.json --key-file runner.pub"


def write_receipt(name: str, receipt: Receipt) -> None:
    path = Path(name)
    _check_replaceable(path)
    try:
        half = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        try:
            half.write_bytes(receipts.canonical_bytes(receipt) + b"\n")
            half.replace(path)
        finally:
            half.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no path"
        raise BadInput(
            f"{quote(name, LONGEST_PATH)} cannot be written: {why}", hint="Name another --out."
        ) from error


def _check_replaceable(path: Path) -> None:
    """Only another receipt is written over: not a device, and not whatever else is there."""
    try:
        there = path.exists() or path.is_symlink()
    except (OSError, ValueError):
        return  # what is wrong with it is said when it is written
    old = writable.read_bounded(path) if there else b""
    if there and (isinstance(old, Unknown) or SCHEMA.encode() not in old):
        raise BadInput(
            f"{quote(str(path), LONGEST_PATH)} is there, and is no receipt",
            hint="Name another --out.",
        )


def read_receipt(name: str) -> bytes:
    """What is in the file that was named, or on the input."""
    if name and name != "-":
        data = writable.read_bounded(Path(name))
        if isinstance(data, Unknown):
            raise BadInput(data.why, hint=EXAMPLE)
        return data
    said = given_text.read_stdin(LARGEST_BYTES)
    if not said.strip():
        raise BadInput("no receipt is named, and nothing is on the input", hint=EXAMPLE)
    return said
