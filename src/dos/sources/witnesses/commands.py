"""Runs a command of the user's within its time, and keeps how it ended and what it printed."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from msgspec import Struct

from dos.records.names import shown
from dos.records.unknown import Unknown

LARGEST_BYTES = 64_000_000
LONGEST_TAIL = 2_000  # of what it complained about
NOTHING: Mapping[str, str] = {}


class Ran(Struct, frozen=True, kw_only=True):
    code: int
    output: bytes
    complaint: str  # the last line of it


def run(
    words: Sequence[str],
    cwd: Path,
    timeout_seconds: float,
    *,
    feed: bytes = b"",
    environment: Mapping[str, str] = NOTHING,
) -> Ran | Unknown:
    """Through files, so that a program that prints without end fills neither a pipe nor our memory."""
    called = shown(" ".join(words))
    # A caller inside of a hook of git exports its own repository: it is not the one to look at.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    with TemporaryFile() as given, TemporaryFile() as output, TemporaryFile() as complaints:
        given.write(feed)
        given.seek(0)
        try:
            child = subprocess.Popen(
                words,
                cwd=cwd,
                env=kept | dict(environment),
                stdin=given,
                stdout=output,
                stderr=complaints,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return Unknown(f"{called} cannot be started: {getattr(error, 'strerror', None) or error}")
        with child:
            try:
                child.wait(timeout_seconds)
            except subprocess.TimeoutExpired:
                _end(child)
                return Unknown(f"{called} did not end within {timeout_seconds:g} s")
        return _ended(child.returncode, called, output, complaints)


def _ended(code: int, called: str, output: IO[bytes], complaints: IO[bytes]) -> Ran | Unknown:
    if (size := output.seek(0, os.SEEK_END)) > LARGEST_BYTES:
        return Unknown(f"{called} printed {size:,} bytes, and at most {LARGEST_BYTES:,} are read")
    output.seek(0)
    complaints.seek(max(0, complaints.seek(0, os.SEEK_END) - LONGEST_TAIL))
    said = complaints.read().decode("utf-8", "replace").strip().splitlines()
    return Ran(code=code, output=output.read(), complaint=said[-1] if said else "")


def _end(child: "subprocess.Popen[bytes]") -> None:
    """With everything it started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
