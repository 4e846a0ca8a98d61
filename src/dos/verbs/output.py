"""Prints an answer or a complaint, whatever becomes of whoever reads it."""

import sys


def print_stderr(lines: str) -> None:
    try:
        sys.stderr.write(_escape_control_characters(lines) + "\n")
        sys.stderr.flush()
    except OSError:
        pass  # nobody is left to read it; the exit code still says it


def print_answer(answer: str) -> None:
    """Print a whole answer. A reader that goes away, as `head` does, is in its right and changes no exit code."""
    try:
        sys.stdout.write(_escape_control_characters(answer))
        sys.stdout.flush()
    except BrokenPipeError:
        detach_stdout()
    except OSError as error:
        from dos.errors import DosError

        detach_stdout()
        raise DosError(
            f"the answer cannot be written: {error.strerror}", hint="Check where it is sent to."
        ) from error


def _escape_control_characters(text: str) -> str:
    if text.replace("\n", "").isprintable():  # nearly always, and known without loading anything
        return text
    from dos.verbs.context import escape_control_characters

    return escape_control_characters(text)


def detach_stdout() -> None:
    """Nobody reads it any more: without this, Python would complain once more when it flushes at exit."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
