"""Read and write receipt files: written whole or not at all, and read up to a size limit."""

import secrets
from pathlib import Path

from dos.cli.streams import read_stdin
from dos.errors import BadInput
from dos.receipts.receipt import LARGEST_BYTES, SCHEMA, Receipt, canonical_bytes
from dos.text import LONGEST_PATH, quote
from dos.unknown import Unknown
from dos.witness.io import writable

EXAMPLE = "For example: dos verify-receipt --receipt receipt.json --key-file runner.pub"


def write_receipt(name: str, receipt: Receipt) -> None:
    """Write the receipt to a temporary file and rename it; raises BadInput if that fails."""
    path = Path(name)
    _check_replaceable(path)
    try:
        part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        try:
            part.write_bytes(canonical_bytes(receipt) + b"\n")
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not a path"
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
    old = writable.read_bounded(path)
    if isinstance(old, Unknown) or SCHEMA.encode() not in old:
        raise BadInput(
            f"{quote(str(path), LONGEST_PATH)} exists and is not a receipt",
            hint="Name another --out.",
        )


def read_receipt(name: str) -> bytes:
    """Return the bytes of the named file, or of stdin; raises BadInput if there are none."""
    if name and name != "-":
        data = writable.read_bounded(Path(name))
        if isinstance(data, Unknown):
            raise BadInput(data.why, hint=EXAMPLE)
        return data
    data = read_stdin(LARGEST_BYTES)
    if not data.strip():
        raise BadInput("no receipt is named, and stdin is empty", hint=EXAMPLE)
    return data
