"""Runs a command of the user's within its time, and keeps how it ended and what it printed."""

import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from msgspec import Struct

from dos.machine import process
from dos.text import quote
from dos.unknown import Unknown

LARGEST_BYTES = 64_000_000
LONGEST_TAIL = 4_000  # of what it complained about
NO_VARIABLES: Mapping[str, str] = {}


class CommandResult(Struct, frozen=True, kw_only=True):
    code: int
    output: bytes
    error_lines: tuple[str, ...]  # the last lines of them

    @property
    def last_error_line(self) -> str:
        return self.error_lines[-1] if self.error_lines else ""


def run(
    argv: Sequence[str],
    cwd: Path,
    timeout_seconds: float,
    *,
    stdin_bytes: bytes = b"",
    environment: Mapping[str, str] = NO_VARIABLES,
) -> CommandResult | Unknown:
    """Through files, so that a program that prints without end fills neither a pipe nor our memory."""
    called = quote(" ".join(argv))
    # A caller inside of a hook of git exports its own repository: it is not the one to look at.
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_")
    } | dict(environment)
    with TemporaryFile() as given, TemporaryFile() as output, TemporaryFile() as complaints:
        given.write(stdin_bytes)
        given.seek(0)
        try:
            child = subprocess.Popen(
                argv,
                cwd=cwd,
                env=process.child_environment(kept, cwd),
                stdin=given,
                stdout=output,
                stderr=complaints,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return Unknown(
                f"{called} cannot be started: {getattr(error, 'strerror', None) or error}"
            )
        with child:
            try:
                child.wait(timeout_seconds)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)  # with everything it started
                return Unknown(f"{called} did not end within {timeout_seconds:g} s")
        if (size := output.seek(0, os.SEEK_END)) > LARGEST_BYTES:
            return Unknown(
                f"{called} printed {size:,} bytes, and at most {LARGEST_BYTES:,} are read"
            )
        output.seek(0)
        complaints.seek(max(0, complaints.seek(0, os.SEEK_END) - LONGEST_TAIL))
        said = complaints.read().decode("utf-8", "replace").strip().splitlines()
        return CommandResult(code=child.returncode, output=output.read(), error_lines=tuple(said))


def output_or_unknown(called: str, ran: CommandResult | Unknown) -> bytes | Unknown:
    """What a command printed, if it ended well."""
    if isinstance(ran, Unknown):
        return ran
    if ran.code == 0:
        return ran.output
    return Unknown(f"{called} ended with {ran.code}: {ran.last_error_line or 'and said nothing'}")


TIMEOUT_SECONDS = 5.0
_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")


def program_versions(
    found: Mapping[str, str], timeout_seconds: float = TIMEOUT_SECONDS
) -> dict[str, str | Unknown]:
    """Ask every program at once; one that hangs costs the time of one."""
    if not found:
        return {}
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=len(found)) as pool:
        asked = {
            name: pool.submit(program_version, path, timeout_seconds)
            for name, path in found.items()
        }
        return {name: answer.result() for name, answer in asked.items()}


def program_version(path: str, timeout_seconds: float = TIMEOUT_SECONDS) -> str | Unknown:
    try:
        child = subprocess.Popen(
            [path, "--version"],
            env=process.child_environment(os.environ, Path.cwd()),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return Unknown(f"it cannot be started: {error.strerror}")
    with child:
        try:
            said, _ = child.communicate(timeout=timeout_seconds)
        except subprocess.TimeoutExpired:
            _end(child)
            return Unknown(f"it printed no version within {timeout_seconds:g} s")
    number = _VERSION.search(said)
    if child.returncode != 0:
        return Unknown(f"`--version` ended with exit code {child.returncode}")
    return number.group() if number else Unknown(f"it said {said.strip()[:60]!r}")


def _end(child: "subprocess.Popen[str]") -> None:
    """With everything it started: a child of its own could hold the pipe open for ever."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
