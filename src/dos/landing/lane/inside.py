"""Starts programs inside a lane: git, and the program that hands the lane's work out.

They get the environment of the lane's agents and no token of the worker's, and they see the lane's
repository alone: git is not left to look for one in the folders above.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer
from typing import IO, Any

from dos.errors import GitFailed, GitUnanswered
from dos.git.process import SAFE, TIMEOUT_SECONDS, split_command
from dos.git.repository import Writer
from dos.handover.io.receive import is_readable
from dos.landing.lane import program
from dos.machine import execute
from dos.machine.filesystem import is_real_folder
from dos.sandbox.walls import Walls

LONGEST_ANSWER = 16_000_000  # bytes in which a lane answers, before its pack
LONGEST_OUTPUT = 256_000_000  # bytes of what a git command inside prints
_ERROR_BYTES = 4_000
_LAST_WORD_SECONDS = 1.0  # between the end of its output and that of a program
_SAFE_VARIABLES = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",  # the agent may be at work
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": "/dev/null",
    "GIT_EDITOR": ":",
    "GIT_PAGER": "cat",
}


@cache
def program_text() -> str:
    """The program that runs inside lanes; read once, before an upgrade can change it."""
    return Path(program.__file__).read_text(encoding="utf-8")


class LaneFailed(GitFailed):
    """The lane's own repository could not answer, whatever its agent has done to it."""

    says_why = False  # whether the program inside has said why: it was not ended


class _Pipe:
    """What a lane sends, until a time: what it has started can hold the other end for ever."""

    def __init__(self, file: IO[bytes], seconds: float) -> None:
        self.file = file
        self._deadline = time.monotonic() + seconds

    def read(self, most: int) -> bytes:
        """Read at most so many bytes; none at the end, or when the time is over."""
        if not is_readable(self.file.fileno(), self._deadline - time.monotonic()):
            return b""
        return os.read(self.file.fileno(), most)

    def read_exactly(self, length: int) -> bytes:
        """Return so many bytes, or fewer where it ends."""
        pieces = b""
        while len(pieces) < length and (piece := self.read(length - len(pieces))):
            pieces += piece
        return pieces


class Answer:
    """What a lane answered, and the pack that follows it."""

    def __init__(
        self, claims: Mapping[str, Any], pipe: _Pipe, process: "subprocess.Popen[bytes]"
    ) -> None:
        self.claims = claims
        self._pipe = pipe
        self._process = process

    @property
    def pack(self) -> IO[bytes]:
        """The rest of what the lane sends, for a program with a time limit of its own."""
        return self._pipe.file

    def read(self, most: int) -> bytes:
        """Read at most so many bytes of the rest; none at its end, or when the time is over."""
        return self._pipe.read(most)

    def exit_status(self) -> int:
        """The exit status of the sender, once its stream has ended."""
        return self._process.wait()


class LaneShell:
    """Starts programs in one lane's folder."""

    def __init__(
        self, folder: Path, environment: Mapping[str, str], walls: Walls | None = None
    ) -> None:
        """`walls` say what the programs may touch; None: whatever the user can."""
        self.folder = folder
        self._walls = walls
        self._environment = {
            **environment,
            **_SAFE_VARIABLES,
            "GIT_DIR": str(folder / ".git"),
            "GIT_WORK_TREE": str(folder),
        }

    def start_git(
        self, tree: Path, words: Sequence[str], feed: str | None, index: str
    ) -> "subprocess.CompletedProcess[str]":
        """Run git once inside the lane, as `git.process.run_once` does elsewhere.

        A folder below the lane's own, such as a submodule's, is its own repository.
        """
        variables = dict(self._environment)
        if tree != self.folder:
            del variables["GIT_DIR"], variables["GIT_WORK_TREE"]
        if index:
            variables["GIT_INDEX_FILE"] = index
        argv = ["git", *SAFE, *split_command(words)]
        data = (feed or "").encode("utf-8", "surrogateescape")
        with TemporaryFile() as stdin, TemporaryFile() as output, TemporaryFile() as errors:
            stdin.write(data)
            stdin.seek(0)
            with self._started(argv, tree, variables, stdin, output, errors) as process:
                try:
                    code = process.wait(TIMEOUT_SECONDS)
                except subprocess.TimeoutExpired as error:
                    raise GitUnanswered(
                        f"git {words[0]} took longer than {TIMEOUT_SECONDS:g} s in {tree}"
                    ) from error
            return subprocess.CompletedProcess(
                argv, code, _text(output, LONGEST_OUTPUT), _text(errors, LONGEST_OUTPUT)
            )

    def order(self, command: str, order: Mapping[str, Any], seconds: float) -> Mapping[str, Any]:
        """Let the lane's program perform a command, and return its answer. Raises LaneFailed."""
        with self.answer(command, order, seconds) as answer:
            if answer.exit_status() != 0:
                raise LaneFailed(f"the repository of {self.folder} failed after it had answered")
            return answer.claims

    @contextmanager
    def answer(self, command: str, order: Mapping[str, Any], seconds: float) -> Iterator[Answer]:
        """Let the lane's program perform a command; its answer may be followed by a pack.

        Whatever is left of the program when the block ends, or when the time is over, is ended.
        Raises LaneFailed where there is no answer.
        """
        argv = [sys.executable, "-I", "-S", "-c", program_text(), command]
        with TemporaryFile() as stdin, TemporaryFile() as errors:
            stdin.write(json.dumps(order).encode())
            stdin.seek(0)
            with self._started(
                argv, self.folder, self._environment, stdin, subprocess.PIPE, errors
            ) as process:
                assert process.stdout
                pipe = _Pipe(process.stdout, seconds)
                timer = Timer(seconds, execute.end_at_once, [process])
                timer.daemon = True
                timer.start()
                try:
                    yield Answer(self._claims(pipe, process, errors), pipe, process)
                finally:
                    timer.cancel()

    def _claims(
        self, pipe: _Pipe, process: "subprocess.Popen[bytes]", errors: IO[bytes]
    ) -> Mapping[str, Any]:
        claims = _read_answer(pipe)
        if claims is not None:
            return claims
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LAST_WORD_SECONDS)
        execute.end_at_once(process)
        reason = _text(errors, _ERROR_BYTES).strip().splitlines() or ["it gave no answer"]
        failed = LaneFailed(f"{self.folder}: {reason[-1]}", hint=f"ls -la {self.folder}")
        failed.says_why = process.returncode == program.FAILED
        raise failed

    @contextmanager
    def _started(
        self,
        argv: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        stdin: IO[bytes],
        stdout: IO[bytes] | int,
        stderr: IO[bytes],
    ) -> "Iterator[subprocess.Popen[bytes]]":
        """Start a program in a folder of the lane, and end it with the block.

        Raises LaneFailed where the lane's own folder is a link: it could lead to the user's files.
        """
        if not is_real_folder(self.folder):
            raise LaneFailed(f"{self.folder} is no folder any more")
        try:
            process = execute.start(
                argv,
                cwd=folder,
                environment=dict(environment),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                walls=self._walls,
            )
        except OSError as error:
            raise LaneFailed(f"{folder}: {error.strerror}") from error
        try:
            yield process
        finally:
            execute.end(process)
            if process.stdout:
                process.stdout.close()


class LaneGit(Writer):
    """The git of a lane's repository, or of a submodule in it, run inside the lane."""

    def __init__(self, shell: LaneShell, tree: Path) -> None:
        super().__init__(tree, shell.start_git)
        self._shell = shell

    def submodule(self, path: str) -> Writer:
        return LaneGit(self._shell, self.tree / path)

    def _remove_stale_locks(self, ref: str) -> None:
        """Leave them: where the lane says that its refs are may be anywhere."""


def _read_answer(pipe: _Pipe) -> Mapping[str, Any] | None:
    """Return the answer at the beginning of a stream, and read no byte beyond it; None: no answer.

    The pack behind it is for a program that reads the pipe itself.
    """
    length = pipe.read_exactly(program.LENGTH_DIGITS).strip()
    if not length.isdigit() or int(length) > LONGEST_ANSWER:
        return None
    try:
        answer = json.loads(pipe.read_exactly(int(length)))
    except (ValueError, RecursionError):  # nested too deep
        return None
    return answer if isinstance(answer, dict) else None


def _text(file: IO[bytes], most: int) -> str:
    """Return the beginning of what a program wrote to a file."""
    file.seek(0)
    return file.read(most).decode("utf-8", "surrogateescape")
