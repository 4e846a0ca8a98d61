"""Print the version of dos and of Python."""

import platform

from msgspec import Struct

from dos.verbs.context import Context, Reply
from dos.version import VERSION

EXITS = {"shown": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """No arguments."""


def run(_args: Args, _context: Context) -> Reply:
    """Return both versions. Nothing of the workspace is read."""
    python = platform.python_version()
    return Reply(
        text=f"dos {VERSION} (Python {python})", data={"dos_version": VERSION, "python": python}
    )
