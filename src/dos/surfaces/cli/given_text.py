"""Text that a verb is given: in a file, or on its input where the name is `-`."""

import sys
from pathlib import Path

from dos.errors import BadInput
from dos.records.names import LONGEST_PATH, shown

LONGEST = 16 << 20  # bytes


def read(name: str, flag: str) -> str:
    """The whole text. What is not UTF-8 is shown as such, and not an error: agents print anything."""
    found = piped(LONGEST) if name == "-" else _file(name, flag)
    if len(found) > LONGEST:
        raise BadInput(f"{flag}: there are more than {LONGEST >> 20} MiB to read", hint="Give the part that matters.")
    return found.decode("utf-8", "replace")


def piped(longest: int) -> bytes:
    """What is on the input, and one byte more than is wanted if there is more; nothing where a person would type."""
    return b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read(longest + 1)


def _file(name: str, flag: str) -> bytes:
    hint = f"Give {flag} a file of text, or - for the input."
    try:
        path = Path(name)
        if path.exists() and not path.is_file():
            raise BadInput(f"{flag} {shown(name, LONGEST_PATH)} is not a file", hint=hint)
        with path.open("rb") as file:
            return file.read(LONGEST + 1)
    except OSError as error:
        raise BadInput(f"{flag} {shown(name, LONGEST_PATH)}: {error.strerror}", hint=hint) from error
