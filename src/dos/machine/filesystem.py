"""The file system under a directory: how much room it has, and whether it is another machine's."""

import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from dos.times import Backoff

# SQLite shares memory between its processes, and locks files: two hosts that mount one directory share neither.
_NETWORK = frozenset({
    "9p", "acfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs", "gfs2", "glusterfs", "gpfs", "lustre",
    "ncpfs", "nfs", "nfs4", "ocfs2", "pvfs2", "smb2", "smb3", "smbfs", "sshfs", "fuse.ceph", "fuse.davfs2",
    "fuse.gcsfuse", "fuse.glusterfs", "fuse.juicefs", "fuse.moosefs", "fuse.rclone", "fuse.s3fs", "fuse.smbnetfs",
    "fuse.sshfs",
})  # fmt: skip


def network_type_in_mounts(path: Path, mounts: str) -> str | None:
    """The type of the network file system that a path lies on, by the lines of /proc/self/mountinfo; None if local."""
    kind, deepest = "", -1
    for line in mounts.split("\n"):
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        # Blanks in a mount point are written as octal escapes.
        place = Path(re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), fields[4]))
        # Of two mounts in one place, the later one covers the earlier.
        if path.is_relative_to(place) and len(place.parts) >= deepest:
            kind, deepest = after.split(" ")[0], len(place.parts)
    return kind if kind in _NETWORK else None


class FreeSpace(Struct, frozen=True, kw_only=True):
    free_bytes: int
    free_files: int | None  # None: the file system does not count them


def nearest_existing(path: Path) -> Path:
    """The path, or the nearest directory above it that is there."""
    return next(place for place in (path, *path.parents) if place.exists())


def free_space(path: Path) -> FreeSpace:
    """What an ordinary user may still write there."""
    found = os.statvfs(nearest_existing(path))
    return FreeSpace(
        free_bytes=found.f_bavail * found.f_frsize,
        free_files=found.f_favail if found.f_files else None,
    )


def network_filesystem(path: Path) -> str | None:
    """The type of the network file system that a path lies on; None when it is local, or where nobody can say."""
    if sys.platform != "linux":
        return None
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    return network_type_in_mounts(nearest_existing(path).resolve(), mounts)


POLLING = Backoff((0.005,))  # in seconds


def lock_file(
    file: int, *, gives_up: Callable[[], bool], pauses: Backoff = POLLING, shared: bool = False
) -> bool:
    """Lock an open file; False: somebody else had it until `gives_up` said to wait no longer.

    Tried again and again instead of waited for: a process that was stopped while it has the lock must not hold up
    everybody for ever. Raises OSError where the file system has no locks.
    """
    import fcntl

    mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    failures = 0
    while True:
        try:
            fcntl.flock(file, mode | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if gives_up():
                return False
        failures += 1
        time.sleep(pauses.delay(failures))


def gives_up_after(seconds: float) -> Callable[[], bool]:
    """Gives up once so much time has passed from now on."""
    deadline = time.monotonic() + seconds
    return lambda: time.monotonic() > deadline


def write_whole(path: Path, data: bytes) -> None:
    """Replace the content of a file, all of it or nothing; the file keeps its mode.

    A link stays a link: the file behind it is written. Raises OSError where that is not possible.
    """
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{os.urandom(6).hex()}")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            if target.exists():
                os.fchmod(file.fileno(), target.stat().st_mode & 0o7777)
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
