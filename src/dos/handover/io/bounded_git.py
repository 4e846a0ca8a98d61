"""Git on objects that nobody has checked yet: dos's own hardened git, with limits of the kernel."""

import os
import signal
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from msgspec import Struct

from dos.errors import GitUnanswered
from dos.git import drivers
from dos.git.process import SAFE_READING, reading_environment, start_failure
from dos.handover.limits import Limits
from dos.handover.refusal import Refused, Rule
from dos.machine.resource_limits import LAUNCH_FAILED, ResourceLimits, limited
from dos.text import quote

LONGEST_ERRORS = 4_000  # of what git printed last
LONGEST_QUOTE = 300  # of its last line, in a reason
# Mapped packs of the user's repository count as memory, so that only parts are mapped. Without the
# large threshold a blob that does not fit would be read to its end before it is refused.
_BOUNDED = (
    "-c", "core.packedGitWindowSize=16m", "-c", "core.packedGitLimit=128m",
    "-c", "core.deltaBaseCacheLimit=32m", "-c", "core.bigFileThreshold=1024g",
    "-c", "pack.threads=1", "-c", "pack.indexVersion=2",
    "-c", "protocol.allow=never",  # an object that is missing is not fetched
)  # fmt: skip
_LIMIT_SIGNALS = (signal.SIGXCPU, signal.SIGXFSZ, signal.SIGALRM)
_NO_MEMORY = ("out of memory", "cannot allocate memory")
_NO_DISK = ("no space left on device", "disk quota exceeded", "read-only file system")


class GitEnded(GitUnanswered):
    """A git that was still needed has ended; `refusal` says what that means for the hand-over."""

    def __init__(self, refusal: Refused) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


class Ended(Struct, frozen=True, kw_only=True):
    """How a git ended, and what it printed."""

    code: int
    output: bytes
    errors: str


class BoundedGit:
    """Starts git in the user's repository. It sees the objects of the quarantine and the user's."""

    def __init__(self, tree: Path, objects: Path, quarantine: Path, limits: Limits) -> None:
        self.limits = limits
        self._tree = tree
        self._objects = objects
        self._quarantine = quarantine
        self._deadline = time.monotonic() + limits.seconds
        # Git maps the index of every pack as a whole: of a large repository that is a lot.
        self._index_bytes = sum(path.stat().st_size for path in objects.glob("pack/*.idx"))

    def remaining_seconds(self) -> float:
        """The time that is left for the hand-over, 0 when it is over."""
        return max(0.0, self._deadline - time.monotonic())

    def start(
        self,
        *words: str,
        stdin: int | IO[bytes],
        errors: IO[bytes],
        quarantine: bool = True,
    ) -> "subprocess.Popen[bytes]":
        """Start git with limits. Without `quarantine` it sees the user's objects alone.

        Raises GitEnded when the time of the hand-over is over.
        """
        if self.remaining_seconds() == 0:
            raise GitEnded(self._refuse_limit(f"{self.limits.seconds:g} s"))
        environment = reading_environment()
        if quarantine:
            environment["GIT_OBJECT_DIRECTORY"] = str(self._quarantine)
            environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = _quoted(self._objects)
        settings = drivers.settings(self._tree, environment)
        command = ["git", *SAFE_READING, *settings, *_BOUNDED, *words]
        limits = ResourceLimits(
            memory_bytes=self.limits.memory_bytes + self._index_bytes,
            cpu_seconds=self.limits.cpu_seconds,
            file_bytes=self.limits.file_bytes,
            wall_seconds=self.remaining_seconds(),
        )
        try:
            return subprocess.Popen(
                limited(command, limits),
                cwd=self._tree,
                env=environment,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        except OSError as error:
            raise start_failure(self._tree, error) from error

    def run(
        self, *words: str, stdin: int | IO[bytes] = subprocess.DEVNULL, quarantine: bool = True
    ) -> Ended:
        """Run git to its end, or until a limit ends it."""
        with TemporaryFile() as errors:
            process = self.start(*words, stdin=stdin, errors=errors, quarantine=quarantine)
            try:
                output, _ = process.communicate()
            finally:
                process.kill()
                process.wait()
            return Ended(code=process.returncode, output=output, errors=last_errors(errors))

    def refusal(self, command: str, code: int, errors: str, rule: Rule) -> Refused:
        """Return what it means that git failed; `rule` where it has said no by itself."""
        limit = self._exceeded_limit(code, errors)
        if limit:
            return self._refuse_limit(limit)
        said = describe_exit(code)
        lines = errors.strip().splitlines()
        if lines and code >= 0:
            said = quote(lines[-1].removeprefix("fatal: "), LONGEST_QUOTE)
        is_full = any(text in errors.lower() for text in _NO_DISK)
        if code < 0 or code == LAUNCH_FAILED or is_full:
            return Refused(
                rule=Rule.UNCHECKED,
                reason=f"the work could not be checked: git {command} failed: {said}",
            )
        return Refused(rule=rule, reason=f"git {command} refuses what was sent: {said}")

    def _refuse_limit(self, limit: str) -> Refused:
        return Refused(rule=Rule.LIMIT, reason=f"what was sent needs more than {limit}")

    def _exceeded_limit(self, code: int, errors: str) -> str:
        """Name the limit by which git ended; "" when it was none."""
        limits = self.limits
        if code == -signal.SIGALRM or self.remaining_seconds() == 0:
            return f"{limits.seconds:g} s"
        if -code in _LIMIT_SIGNALS:
            return (
                f"{limits.cpu_seconds} s of processor time, or {limits.file_bytes:,} bytes of disk"
            )
        if any(text in errors.lower() for text in _NO_MEMORY):
            return f"{limits.memory_bytes:,} bytes of memory to be checked"
        if "pack exceeds maximum allowed size" in errors:
            return f"{limits.pack_bytes:,} bytes"
        return ""


def describe_exit(code: int) -> str:
    """Say how a program ended."""
    if code < 0:
        return f"ended by signal {-code}"
    return f"exit code {code}"


def last_errors(errors: IO[bytes]) -> str:
    """Return the end of what git printed to a file. A hostile pack can cause endless warnings."""
    errors.seek(max(0, errors.seek(0, os.SEEK_END) - LONGEST_ERRORS))
    return errors.read().decode("utf-8", "replace")


def _quoted(path: Path) -> str:
    """Return a path as git takes it in a list that is separated by colons."""
    text = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'
