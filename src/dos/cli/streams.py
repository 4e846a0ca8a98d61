"""Text that a verb is given: in a file, or on its input where the name is `-`."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from msgspec import MsgspecError, json

from dos.errors import BadInput, DosError
from dos.text import LONGEST_PATH, escape_invisible, quote
from dos.verbs.context import Reply


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


LONGEST = 16 << 20  # bytes


def read_text(name: str, flag: str) -> str:
    """The whole text. What is not UTF-8 is shown as such, and not an error: agents print anything."""
    found = read_stdin(LONGEST) if name == "-" else _file(name, flag)
    if len(found) > LONGEST:
        raise BadInput(
            f"{flag}: there are more than {LONGEST >> 20} MiB to read",
            hint="Give the part that matters.",
        )
    return found.decode("utf-8", "replace")


def read_stdin(longest: int) -> bytes:
    """What is on the input, and one byte more than is wanted if there is more; nothing where a person would type."""
    return b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read(longest + 1)


def _file(name: str, flag: str) -> bytes:
    hint = f"Give {flag} a file of text, or - for the input."
    try:
        path = Path(name)
        if path.exists() and not path.is_file():
            raise BadInput(f"{flag} {quote(name, LONGEST_PATH)} is not a file", hint=hint)
        with path.open("rb") as file:
            return file.read(LONGEST + 1)
    except OSError as error:
        raise BadInput(
            f"{flag} {quote(name, LONGEST_PATH)}: {error.strerror}", hint=hint
        ) from error


def answer_lines(kind: type[Any], answer: Callable[[Any], Any]) -> Reply:
    """A line that cannot be read is answered by an error in its place; the others are answered all the same."""
    decoder, encoder, failed = json.Decoder(kind), json.Encoder(), False
    with long_output() as out:
        for number, line in enumerate(sys.stdin.buffer, 1):
            if not line.strip():
                continue
            try:
                said = answer(decoder.decode(line))
            except (MsgspecError, UnicodeDecodeError) as error:
                failed, said = True, {"error": str(error), "line": number}
            out.write(encoder.encode(said).decode() + "\n")
    return Reply(code=2 if failed else 0)
