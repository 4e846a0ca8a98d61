"""Standard output for what is too long to be printed as one answer."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

from dos.errors import DosError
from dos.text import escape_invisible


class _Lines:
    """Lines of JSON, none of which can act on a terminal."""

    def write(self, line: str) -> None:
        sys.stdout.write(escape_invisible(line[:-1]) + line[-1:])

    def flush(self) -> None:
        sys.stdout.flush()


@contextmanager
def long_output() -> Iterator[IO[str]]:
    """A reader that goes away ends the verb quietly, as the frame does it; a disk without room is an error."""
    try:
        yield cast(IO[str], _Lines())
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # or Python fails once more at its end
        raise DosError(
            f"the answer cannot be written: {error.strerror}", hint="Check where it is sent to."
        ) from error
