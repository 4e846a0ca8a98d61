"""One line that says what is still awaited: on a terminal, and gone when it is over."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dos.text import escape_invisible
from dos.verbs.context import Context

ShowProgress = Callable[[str], None]


@contextmanager
def progress(context: Context) -> Iterator[ShowProgress]:
    """What is said to it replaces what was said before; where nobody looks, nothing is printed."""
    if context.as_json or not sys.stdout.isatty() or os.environ.get("TERM") in (None, "", "dumb"):
        yield lambda line: None
        return
    from rich.console import Console
    from rich.status import Status
    from rich.text import Text

    def say(line: str) -> None:
        status.update(
            Text(escape_invisible(line).replace("\n", "\\n"), no_wrap=True, overflow="ellipsis")
        )

    with Status("", console=Console(stderr=True)) as status:
        yield say
