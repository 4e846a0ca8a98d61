"""Prints to stdout and stderr, also where the reader has closed the pipe.

It is loaded at every start, so it imports nothing else that is not needed.
"""

import sys


def print_stderr(lines: str) -> None:
    """Print to stderr. A closed stderr is ignored: the exit code still tells the result."""
    try:
        sys.stderr.write(_escaped(lines) + "\n")
        sys.stderr.flush()
    except OSError:
        pass


def print_answer(answer: str) -> None:
    """Print a whole answer to stdout.

    A reader that closes the pipe, as `head` does, changes no exit code. Raises DosError where
    stdout cannot be written, for example on a full disk.
    """
    try:
        sys.stdout.write(_escaped(answer))
        sys.stdout.flush()
    except BrokenPipeError:
        detach_stdout()
    except OSError as error:
        detach_stdout()
        raise unwritable(error) from error


def unwritable(error: OSError) -> Exception:
    """Return the DosError for a stdout that cannot be written."""
    from dos.errors import DosError

    return DosError(
        f"cannot write to stdout: {error.strerror}", hint="Check where the output is redirected."
    )


def detach_stdout() -> None:
    """Point stdout at /dev/null, so that Python's flush at exit does not fail a second time."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _escaped(text: str) -> str:
    """Return the text without characters that a terminal would act on."""
    # Nearly all text is printable, and that is known without importing anything.
    if text.replace("\n", "").isprintable():
        return text
    from dos.verbs.context import escape_control_characters

    return escape_control_characters(text)
