"""Sizes and contents of many objects through one `git cat-file --batch-command`."""

import subprocess
from collections.abc import Iterator, Sequence
from tempfile import TemporaryFile
from typing import Self

from msgspec import Struct

from dos.handover.io.bounded_git import BoundedGit, GitEnded, last_errors
from dos.handover.objects import Id
from dos.handover.refusal import Refused, Rule

_AT_ONCE = 400  # questions that are asked before the first answer is read


class Size(Struct, frozen=True):
    """The kind of an object (commit, tree, blob or tag) and its size, uncompressed."""

    kind: str
    size_bytes: int


class MissingObject(GitEnded):
    """An object that is needed is not there, or is not of the kind that it has to be."""


class ObjectReader:
    """Reads objects. Its process is started at the first question; close it, or use a `with`.

    Raises GitEnded when git dies or the time is over.
    """

    def __init__(self, git: BoundedGit, *, quarantine: bool = True) -> None:
        self._git = git
        self._sees_quarantine = quarantine
        self._process: subprocess.Popen[bytes] | None = None
        self._errors = TemporaryFile()  # noqa: SIM115 - closed with the process

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._process is not None:
            self._process.kill()
            with self._process:
                pass  # closes the pipes and waits
        self._errors.close()

    def sizes(self, ids: Sequence[Id]) -> Iterator[Size | None]:
        """Yield the kind and size of each object in order, None for one that is missing."""
        for begin in range(0, len(ids), _AT_ONCE):
            some = ids[begin : begin + _AT_ONCE]
            self._ask("info", some)
            for _ in some:
                yield self._header()

    def contents(self, ids: Sequence[Id], kind: str) -> Iterator[bytes]:
        """Yield the content of each object in order. Raises MissingObject for one that is none.

        The caller knows that their sizes are allowed.
        """
        for begin in range(0, len(ids), _AT_ONCE):
            some = ids[begin : begin + _AT_ONCE]
            self._ask("contents", some)
            for sha in some:
                size = self._header()
                if size is None:
                    raise missing(sha, kind)
                content = self._read(size.size_bytes + 1)[:-1]
                if size.kind != kind:
                    raise missing(sha, kind)
                yield content

    def _ask(self, command: str, ids: Sequence[Id]) -> None:
        process = self._process or self._start()
        assert process.stdin
        lines = "".join(f"{command} {sha.hex()}\n" for sha in ids)
        try:
            process.stdin.write(f"{lines}flush\n".encode())
            process.stdin.flush()
        except OSError as error:
            raise self._ended() from error

    def _header(self) -> Size | None:
        assert self._process and self._process.stdout
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise self._ended()
        words = line.split()
        if len(words) != 3 or not words[2].isdigit():
            return None
        return Size(words[1].decode(), int(words[2]))

    def _read(self, count: int) -> bytes:
        assert self._process and self._process.stdout
        content = self._process.stdout.read(count)
        if len(content) != count:
            raise self._ended()
        return content

    def _start(self) -> "subprocess.Popen[bytes]":
        self._process = self._git.start(
            "cat-file",
            "--batch-command",
            "--buffer",
            stdin=subprocess.PIPE,
            errors=self._errors,
            quarantine=self._sees_quarantine,
        )
        return self._process

    def _ended(self) -> GitEnded:
        assert self._process
        self._process.kill()  # changes nothing for one that has ended
        code = self._process.wait()
        errors = last_errors(self._errors)
        return GitEnded(self._git.refusal("cat-file", code, errors, Rule.UNCHECKED))


def missing(sha: Id, kind: str) -> MissingObject:
    """Return the error for an object that is missing, or is of another kind."""
    return MissingObject(
        Refused(rule=Rule.INCOMPLETE, reason=f"{sha.hex()} is needed and is not a {kind} here")
    )
