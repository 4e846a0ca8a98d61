"""What the setup command made in a check tree: kept from check to check while nobody changes it.

Where walls cannot throw away what the code under test writes there, a change is noticed by the
times that the kernel keeps, and the setup runs again.
"""

import json
import os
import stat
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from dos.machine import filesystem


class Setup(Struct, frozen=True, kw_only=True):
    """The setup command of a tree, and the commit at which it runs."""

    command: str
    seconds: float
    commit: str


class SetUpRecord:
    """The record of what the setup made in a tree and its cache, in a file beside them."""

    def __init__(self, tree: Path, cache: Path, file: Path) -> None:
        self._tree = tree
        self._cache = cache
        self._file = file

    def paths(self) -> list[str] | None:
        """Return what the setup made; None if it has not passed here, or something is gone."""
        made, _ = self._read()
        if made is None or not all(os.path.lexists(self._tree / path) for path in made):
            return None
        return made

    def write(self, made: Sequence[str]) -> None:
        """Record that the setup has passed and made these paths, which are as they are now."""
        content = {"made": list(made), "stamp": self._stamp(made)}
        filesystem.write_whole(self._file, json.dumps(content).encode())

    def remove(self) -> None:
        """Let the setup run again before the next check."""
        self._file.unlink(missing_ok=True)

    def remove_if_changed(self) -> None:
        """Let the setup run again if something that it made is not as it was."""
        made, stamp = self._read()
        if made is None or stamp != self._stamp(made):
            self.remove()

    def _read(self) -> tuple[list[str] | None, str]:
        try:
            content = json.loads(self._file.read_bytes())
            return content["made"], content["stamp"]
        except (OSError, ValueError, TypeError, KeyError):
            return None, ""

    def _stamp(self, made: Sequence[str]) -> str:
        """Return a digest of the state of all files below these paths and in the cache.

        No program can set the time of a change, or write a file without it.
        """
        digest = sha256()
        for place in (*(self._tree / path for path in made), self._cache):
            for entry in _entries_below(place):
                digest.update(entry)
        return digest.hexdigest()


def _entries_below(path: Path) -> Iterator[bytes]:
    """Yield a line for a path and all that is below it."""
    waiting = [path]
    while waiting:
        current = waiting.pop()
        try:
            status = current.lstat()
            yield f"{status.st_ino} {status.st_mode} {status.st_ctime_ns}\n".encode()
            if stat.S_ISDIR(status.st_mode):
                waiting += sorted(current.iterdir())
        except OSError:
            yield b"gone\n"
