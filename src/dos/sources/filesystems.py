"""The file system under a directory: how much room it has, and whether it is another machine's."""

import os
import sys
from pathlib import Path

from msgspec import Struct

from dos.journal.opening import network_filesystem


class Room(Struct, frozen=True, kw_only=True):
    free_bytes: int
    free_files: int | None  # None: the file system does not count them


def existing(path: Path) -> Path:
    """The path, or the nearest directory above it that is there."""
    return next(place for place in (path, *path.parents) if place.exists())


def room(path: Path) -> Room:
    """What an ordinary user may still write there."""
    found = os.statvfs(existing(path))
    return Room(free_bytes=found.f_bavail * found.f_frsize, free_files=found.f_favail if found.f_files else None)


def network(path: Path) -> str | None:
    """The type of the network file system that a path lies on; None when it is local, or where nobody can say."""
    if sys.platform != "linux":
        return None
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    return network_filesystem(existing(path).resolve(), mounts)
