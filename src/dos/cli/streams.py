"""Text that a verb reads from a file or from stdin, and output too long to be held as one reply."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from msgspec import MsgspecError, json

from dos.errors import BadInput
from dos.text import LONGEST_PATH, escape_invisible, quote
from dos.verbs.context import Reply
from dos.verbs.output import detach_stdout, unwritable

LONGEST = 16 << 20  # bytes


def read_text(name: str, flag: str) -> str:
    """Return the whole text of a file, or of stdin where the name is `-`.

    Bytes that are not UTF-8 become replacement characters, since agents print anything. Raises
    BadInput for a file that cannot be read and for more than 16 MiB.
    """
    if name == "-":
        content = read_stdin(LONGEST)
    else:
        content = _read_file(name, flag)
    if len(content) > LONGEST:
        raise BadInput(
            f"{flag}: the input is larger than {LONGEST >> 20} MiB",
            hint="Pass only the relevant part.",
        )
    return content.decode("utf-8", "replace")


def read_stdin(longest: int) -> bytes:
    """Return stdin, and one byte more than `longest` where there is more.

    A terminal counts as empty: a verb must not wait for a person to type.
    """
    if sys.stdin is None or sys.stdin.isatty():
        return b""
    return sys.stdin.buffer.read(longest + 1)


def _read_file(name: str, flag: str) -> bytes:
    """Return the bytes of a file, and one more than is allowed where it is longer.

    Raises BadInput.
    """
    hint = f"Give {flag} a text file, or - for stdin."
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
    """Answer each JSON line of stdin by one JSON line on stdout.

    A line that cannot be decoded is answered by an error with its number; the others are still
    answered, and the exit code is 2.
    """
    decoder = json.Decoder(kind)
    encoder = json.Encoder()
    code = 0
    with long_output() as out:
        for number, line in enumerate(sys.stdin.buffer, 1):
            if not line.strip():
                continue
            try:
                result = answer(decoder.decode(line))
            except (MsgspecError, UnicodeDecodeError) as error:
                code = BadInput.exit_code
                result = {"error": str(error), "line": number}
            out.write(encoder.encode(result).decode() + "\n")
    return Reply(code=code)


class _EscapedLines:
    """Stdout for lines of JSON, with everything escaped that a terminal would act on."""

    def write(self, line: str) -> None:
        sys.stdout.write(escape_invisible(line[:-1]) + line[-1:])

    def flush(self) -> None:
        sys.stdout.flush()


@contextmanager
def long_output() -> Iterator[IO[str]]:
    """Yield stdout for output that is too long for one reply.

    A reader that closes the pipe ends the verb quietly (`main` handles BrokenPipeError). Raises
    DosError where stdout cannot be written, for example on a full disk.
    """
    try:
        yield cast(IO[str], _EscapedLines())
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        detach_stdout()
        raise unwritable(error) from error
