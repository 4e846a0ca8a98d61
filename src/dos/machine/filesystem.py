"""The file system below a directory: free space, network file systems, locks on files."""

import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from dos.times import Backoff

# SQLite needs shared memory and file locks: two hosts that mount one directory share neither.
_NETWORK = frozenset({
    "9p", "acfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs", "gfs2", "glusterfs",
    "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "pvfs2", "smb2", "smb3", "smbfs",
    "sshfs", "fuse.ceph", "fuse.davfs2", "fuse.gcsfuse", "fuse.glusterfs", "fuse.juicefs",
    "fuse.moosefs", "fuse.rclone", "fuse.s3fs", "fuse.smbnetfs", "fuse.sshfs",
})  # fmt: skip

POLLING = Backoff((0.005,))  # in seconds
_ESCAPE = re.compile(r"\\([0-7]{3})")  # how mountinfo writes blanks


def network_type_in_mounts(path: Path, mounts: str) -> str | None:
    """The type of the network file system that holds a path; None: it is local.

    `mounts` is the content of /proc/self/mountinfo.
    """
    kind = ""
    deepest = -1
    for line in mounts.split("\n"):
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        mount_point = Path(_ESCAPE.sub(_unescape, fields[4]))
        depth = len(mount_point.parts)
        # Of two mounts at one point the later one covers the earlier.
        if path.is_relative_to(mount_point) and depth >= deepest:
            kind = after.split(" ")[0]
            deepest = depth
    if kind not in _NETWORK:
        return None
    return kind


def _unescape(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 8))


class FreeSpace(Struct, frozen=True, kw_only=True):
    """What an ordinary user may still write."""

    free_bytes: int
    free_files: int | None  # None: the file system does not count them


def nearest_existing(path: Path) -> Path:
    """The path, or the nearest directory above it that exists."""
    return next(place for place in (path, *path.parents) if place.exists())


def free_space(path: Path) -> FreeSpace:
    """The free space of the file system that holds, or would hold, a path."""
    stat = os.statvfs(nearest_existing(path))
    free_files = None
    if stat.f_files:
        free_files = stat.f_favail
    return FreeSpace(free_bytes=stat.f_bavail * stat.f_frsize, free_files=free_files)


def network_filesystem(path: Path) -> str | None:
    """The type of the network file system that holds a path.

    None when it is local, and on systems without /proc.
    """
    if sys.platform != "linux":
        return None
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    return network_type_in_mounts(nearest_existing(path).resolve(), mounts)


def lock_file(
    file: int, *, gives_up: Callable[[], bool], pauses: Backoff = POLLING, shared: bool = False
) -> bool:
    """Lock an open file until it is closed; False when `gives_up` ended the wait for it.

    It polls instead of blocking: a process that was suspended while it holds the lock must not
    block all others for ever. Raises OSError where the file system has no locks.
    """
    import fcntl

    mode = fcntl.LOCK_EX
    if shared:
        mode = fcntl.LOCK_SH
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
    """A `gives_up` for `lock_file` that ends the wait so many seconds from now."""
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
