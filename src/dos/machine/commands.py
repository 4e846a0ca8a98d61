"""Run a command of the user within a time limit, and return its exit code and output."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from tempfile import TemporaryFile

from msgspec import Struct

from dos.errors import Refused
from dos.machine import process
from dos.text import quote
from dos.unknown import Unknown

LARGEST_BYTES = 64_000_000
_WHY_REFUSED = ContextVar("_WHY_REFUSED", default="")
LONGEST_TAIL = 4_000  # characters of its standard error
NO_VARIABLES: Mapping[str, str] = {}


class CommandRefused(Refused):
    """A command of the settings would have to be started where none is."""


@contextmanager
def refused(why: str) -> Iterator[None]:
    """Start no command in this thread: `run` raises CommandRefused, with the reason given here.

    For a process that answers others: what settings start belongs into the process that asks,
    behind the same walls.
    """
    token = _WHY_REFUSED.set(why)
    try:
        yield
    finally:
        _WHY_REFUSED.reset(token)


class CommandResult(Struct, frozen=True, kw_only=True):
    """The exit code and the output of a command."""

    code: int
    output: bytes
    error_lines: tuple[str, ...]  # the last lines of its standard error

    @property
    def last_error_line(self) -> str:
        """The last line of its standard error; empty when it printed none."""
        if not self.error_lines:
            return ""
        return self.error_lines[-1]


def run(
    argv: Sequence[str],
    cwd: Path,
    timeout_seconds: float,
    *,
    stdin_bytes: bytes = b"",
    environment: Mapping[str, str] = NO_VARIABLES,
) -> CommandResult | Unknown:
    """Run a command; Unknown when it cannot start, takes too long, or prints too much.

    Its output goes through files, so that endless output fills neither a pipe nor the memory.
    Raises CommandRefused inside of `refused`.
    """
    shown = quote(" ".join(argv))
    if refusal := _WHY_REFUSED.get():
        raise CommandRefused(
            f"{refusal}, and this needs {shown}", hint="Run the verb on the command line."
        )
    # Inside a git hook, git exports the repository of the hook: it is not the one to work on.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    with TemporaryFile() as stdin, TemporaryFile() as output, TemporaryFile() as errors:
        stdin.write(stdin_bytes)
        stdin.seek(0)
        try:
            child = subprocess.Popen(
                argv,
                cwd=cwd,
                env=process.child_environment({**inherited, **environment}, cwd),
                stdin=stdin,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            return Unknown(f"{shown} cannot be started: {why}")
        with child:
            try:
                child.wait(timeout_seconds)
            except subprocess.TimeoutExpired:
                _kill_group(child.pid)
                return Unknown(f"{shown} did not end within {timeout_seconds:g} s")
        size = output.seek(0, os.SEEK_END)
        if size > LARGEST_BYTES:
            return Unknown(f"{shown} printed {size:,} bytes; at most {LARGEST_BYTES:,} are read")
        output.seek(0)
        errors.seek(max(0, errors.seek(0, os.SEEK_END) - LONGEST_TAIL))
        error_lines = errors.read().decode("utf-8", "replace").strip().splitlines()
        return CommandResult(
            code=child.returncode, output=output.read(), error_lines=tuple(error_lines)
        )


def output_or_unknown(name: str, result: CommandResult | Unknown) -> bytes | Unknown:
    """The output of a command that succeeded; Unknown with its last error line otherwise."""
    if isinstance(result, Unknown):
        return result
    if result.code == 0:
        return result.output
    why = result.last_error_line or "it printed no error"
    return Unknown(f"{name} ended with exit code {result.code}: {why}")


TIMEOUT_SECONDS = 5.0
_VERSION = re.compile(r"\d+(?:\.\d+)+(?:[\w.+-]*\w)?")


def program_versions(
    programs: Mapping[str, str], timeout_seconds: float = TIMEOUT_SECONDS
) -> dict[str, str | Unknown]:
    """The versions of programs, by name, from their paths.

    All are asked at once: several that hang cost the time of one.
    """
    if not programs:
        return {}
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=len(programs)) as pool:
        pending = {
            name: pool.submit(program_version, path, timeout_seconds)
            for name, path in programs.items()
        }
        return {name: future.result() for name, future in pending.items()}


def program_version(
    path: str,
    timeout_seconds: float = TIMEOUT_SECONDS,
    *,
    environment: Mapping[str, str] | None = None,
) -> str | Unknown:
    """The version number that `PATH --version` prints; Unknown when it prints none.

    `environment` is the program's whole one; by default it is ours.
    """
    if environment is None:
        environment = process.child_environment(os.environ, Path.cwd())
    try:
        child = subprocess.Popen(
            [path, "--version"],
            env=environment,
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
            printed, _ = child.communicate(timeout=timeout_seconds)
        except subprocess.TimeoutExpired:
            _kill_group(child.pid)
            return Unknown(f"it printed no version within {timeout_seconds:g} s")
    if child.returncode != 0:
        return Unknown(f"`--version` ended with exit code {child.returncode}")
    number = _VERSION.search(printed)
    if number is None:
        return Unknown(f"it printed {printed.strip()[:60]!r}")
    return number.group()


def _kill_group(pid: int) -> None:
    """Kill a process and all that it started: a child could keep the pipe open for ever."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
