"""The files of a commit, byte for byte as git keeps them: no filter, attribute, hook or checkout has a say in them."""

import hashlib
import subprocess
from collections.abc import Callable
from typing import Self

from msgspec import Struct

from dos.errors import GitFailed
from dos.sources.git import SAFE_READING, Git, reading_environment

EXECUTABLE, LINK, SUBMODULE = "100755", "120000", "160000"
_PIECE = 1 << 20
_SHA1_LENGTH = 40


class File(Struct, frozen=True):
    mode: str
    blob: str


def listed(git: Git, commit: str) -> dict[str, File]:
    """Every file, by its path from the top."""
    with _git(git, "ls-tree", "-r", "-z", "--full-tree", commit) as process:
        said, complaint = process.communicate()
    if process.returncode != 0:
        why = (complaint.decode("utf-8", "replace").splitlines() or [f"exit {process.returncode}"])[-1]
        raise GitFailed(f"the files of {commit} cannot be listed in {git.tree}: {why}", hint=f"git -C {git.tree} fsck")
    found = {}
    for record in filter(None, said.split(b"\0")):  # as bytes: a name can hold a carriage return, too
        head, _, path = record.partition(b"\t")
        mode, _, blob = head.decode().split(" ")
        found[path.decode("utf-8", "surrogateescape")] = File(mode, blob)
    return found


class Blobs:
    """Contents by their hash, in pieces, so that no file has to fit into memory. Each is checked against its hash."""

    def __init__(self, git: Git) -> None:
        self._place = git.tree
        self._process = _git(git, "cat-file", "--batch")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        self._process.kill()  # in the middle of a blob it would wait for somebody to read on
        self._process.communicate()

    def copy(self, name: str, write: Callable[[bytes], object]) -> None:
        """Hand over the content, piece by piece."""
        asked, answered = self._process.stdin, self._process.stdout
        assert asked and answered
        try:
            asked.write(name.encode() + b"\n")
            asked.flush()
        except OSError as error:
            raise self._failed(name, error.strerror or "git ended") from error
        head = answered.readline().split()
        if len(head) != 3 or head[1] != b"blob":
            raise self._failed(name, "it is not there")
        left = int(head[2])
        digest = hashlib.sha1 if len(name) == _SHA1_LENGTH else hashlib.sha256
        seen = digest(b"blob %d\0" % left, usedforsecurity=False)
        while left:
            piece = answered.read(min(left, _PIECE))
            if not piece:
                raise self._failed(name, "git broke off")
            seen.update(piece)
            write(piece)
            left -= len(piece)
        answered.read(1)
        if seen.hexdigest() != name:
            raise self._failed(name, "its content is not what its name says")

    def _failed(self, name: str, why: str) -> GitFailed:
        return GitFailed(f"the object {name} cannot be read in {self._place}: {why}", hint=f"git -C {self._place} fsck")


def _git(git: Git, *words: str) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            ["git", *SAFE_READING, *words],
            cwd=git.tree,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if words[0] == "ls-tree" else subprocess.DEVNULL,
            env=reading_environment(),
        )
    except OSError as error:
        raise GitFailed(f"git cannot be run in {git.tree}: {error.strerror}", hint="Install git 2.38+.") from error
