"""Secrets of notifiers: from the environment, or from a file that a variable or an option names.

dos.toml never holds one or names its file: agents can write dos.toml, and what it names would be
sent to the URL beside it.
"""

import os
import stat
from pathlib import Path

from dos.errors import BadInput
from dos.text import LONGEST_PATH, quote

LARGEST = 4096


def read_secret(variable: str, *, file: str = "") -> str:
    """Return the secret of a variable, or of the file in `file` or in the variable VARIABLE_FILE.

    Empty where there is none. Raises BadInput for a file that cannot be read or that others can
    read, and for a secret that no header can hold; no message has any part of it.
    """
    named = file or os.environ.get(f"{variable}_FILE", "")
    if named:
        secret = _read(named)
    else:
        secret = os.environ.get(variable, "").strip()
    if not secret.isascii() or not secret.isprintable():
        raise BadInput(
            f"${variable} holds characters that no header can have",
            hint="A secret is one line of ASCII.",
        )
    return secret


def _read(named: str) -> str:
    path = Path(named)
    shown = quote(named, LONGEST_PATH)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            content = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not a path"
        raise BadInput(f"the secret in {shown} cannot be read: {why}") from error
    if stat.S_ISREG(status.st_mode) and status.st_mode & 0o077:
        raise BadInput(f"others can read the secret in {shown}", hint=f"chmod 600 {shown}")
    if len(content) > LARGEST:
        raise BadInput(f"{shown} is longer than {LARGEST} bytes; a secret is one line")
    return content.decode("utf-8", "replace").strip()
