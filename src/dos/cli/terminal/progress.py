"""One line on a terminal that shows what a verb waits for, and disappears when it is over."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dos.text import one_line
from dos.verbs.context import Context

ShowProgress = Callable[[str], None]


@contextmanager
def progress(context: Context) -> Iterator[ShowProgress]:
    """Yield a function that replaces the line; it does nothing where no person looks."""
    is_watched = sys.stdout.isatty() and os.environ.get("TERM") not in (None, "", "dumb")
    if context.as_json or not is_watched:
        yield _ignore
        return
    from rich.console import Console
    from rich.status import Status
    from rich.text import Text

    def show(line: str) -> None:
        """Replace the line, cut to the width of the terminal."""
        text = one_line(line)
        status.update(Text(text, no_wrap=True, overflow="ellipsis"))

    with Status("", console=Console(stderr=True)) as status:
        yield show


def _ignore(_line: str) -> None:
    """Show nothing."""
