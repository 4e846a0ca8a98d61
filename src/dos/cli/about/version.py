"""Print the version of dos, and of the Python it runs on."""

import platform

from msgspec import Struct

from dos.verbs.context import Desk, Reply
from dos.version import VERSION

EXITS = {"shown": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    pass


def run(args: Args, desk: Desk) -> Reply:
    python = platform.python_version()
    return Reply(
        text=f"dos {VERSION} (Python {python})", data={"dos_version": VERSION, "python": python}
    )
