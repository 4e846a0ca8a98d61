"""The file system below a directory: free space, network file systems, locks, writing files whole.

`write_whole` and `whole_file` are how dos writes every file that a person or another process may
read at any moment.
"""

import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from dos.text import LONGEST_PATH, quote
from dos.times import Backoff
from dos.unknown import Unknown

# SQLite needs shared memory and file locks: two hosts that mount one directory share neither.
_NETWORK = frozenset({
    "9p", "acfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs", "gfs2", "glusterfs",
    "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "pvfs2", "smb2", "smb3", "smbfs",
    "sshfs", "fuse.ceph", "fuse.davfs2", "fuse.gcsfuse", "fuse.glusterfs", "fuse.juicefs",
    "fuse.moosefs", "fuse.rclone", "fuse.s3fs", "fuse.smbnetfs", "fuse.sshfs",
})  # fmt: skip

MOST_ARGUMENTS = 1_000  # paths for one `rm`
POLLING = Backoff((0.005,))  # in seconds
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
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
    status = os.statvfs(nearest_existing(path))
    free_files = None
    if status.f_files:
        free_files = status.f_favail
    return FreeSpace(free_bytes=status.f_bavail * status.f_frsize, free_files=free_files)


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


def is_real_folder(path: Path) -> bool:
    """Whether a path is a folder and no link to one; False where that cannot be seen."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


def is_reached_by_folders(folder: Path, path: str) -> bool:
    """Whether all that is between a folder and a path below it are folders, and none is a link."""
    place = folder
    for part in Path(path).parts[:-1]:
        place = place / part
        if not is_real_folder(place):
            return False
    return True


def move(folder: Path, path: str, target: Path) -> None:
    """Move what is at a path below a folder as it is, also to another file system; raises OSError.

    No link is followed on the way to it: a program that may write there can put one in place of a
    parent at any moment. Between file systems `mv` copies: it follows no link either, opens no
    pipe, and takes any depth.
    """
    import errno
    import subprocess

    *parents, name = Path(path).parts
    opened = os.open(folder, _FOLDER)
    try:
        for part in parents:
            above = opened
            opened = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=above)
            os.close(above)
        try:
            os.rename(name, target, src_dir_fd=opened)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            source = str(folder / name)
            if parents:
                source = f"/proc/self/fd/{opened}/{name}"
            command = ["mv", "--", source, str(target)]
            done = subprocess.run(command, capture_output=True, pass_fds=[opened])
            if done.returncode != 0:
                why = done.stderr.decode("utf-8", "replace").strip()
                raise OSError(error.errno, why) from error
    finally:
        os.close(opened)


def remove_tree(path: Path) -> None:
    """Remove a file, a link or a folder with all that is in it; see `remove_trees`."""
    remove_trees([path])


def remove_trees(paths: Iterable[Path]) -> None:
    """Remove files, links and folders with all that is in them; those that are not there are fine.

    By `rm`, because a program can nest folders deeper than Python can recurse. What a program made
    unreadable is made readable first. Raises OSError if something cannot be removed, such as a
    file that was made immutable.
    """
    import subprocess

    remaining = list(paths)
    while remaining:
        some = remaining[:MOST_ARGUMENTS]
        done = subprocess.run(["rm", "-rf", "--", *some], stderr=subprocess.PIPE)
        if done.returncode != 0:
            folders = [path for path in some if not path.is_symlink()]
            subprocess.run(["chmod", "-R", "u+rwX", "--", *folders], stderr=subprocess.DEVNULL)
            done = subprocess.run(["rm", "-rf", "--", *some], stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise OSError(done.stderr.decode("utf-8", "replace").strip().split("\n")[-1])
        remaining = remaining[MOST_ARGUMENTS:]


def gives_up_after(seconds: float) -> Callable[[], bool]:
    """A `gives_up` for `lock_file` that ends the wait so many seconds from now."""
    deadline = time.monotonic() + seconds
    return lambda: time.monotonic() > deadline


def no_check() -> None:
    """The `before_rename` of a file that is written without a last check."""


def sync_directory(directory: Path) -> None:
    """Make the entries of a directory survive a power cut; syncing a new file alone does not."""
    handle = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_whole(
    path: Path,
    data: bytes,
    *,
    follow_link: bool = True,
    must_be_new: bool = False,
    mode: int = 0o666,
    before_rename: Callable[[], None] = no_check,
    durable: bool = False,
) -> None:
    """Write a file: afterwards it has all of the data, or it is as it was. See `whole_file`."""
    with whole_file(
        path,
        follow_link=follow_link,
        must_be_new=must_be_new,
        mode=mode,
        before_rename=before_rename,
        durable=durable,
    ) as file:
        file.write(data)


@contextmanager
def whole_file(
    path: Path,
    *,
    follow_link: bool = True,
    must_be_new: bool = False,
    mode: int = 0o666,
    before_rename: Callable[[], None] = no_check,
    durable: bool = False,
) -> Iterator[BinaryIO]:
    """Yield a new file beside `path` that takes its place when the block ends.

    If the block, `before_rename` or the system raises, `path` is as it was and the new file is
    removed. A process that is killed may leave the new file, as `.NAME.` and random digits.

    - The data is synced before the rename: otherwise a power cut could leave an empty file under
      the name. With `durable` the folder is synced as well, so that the rename itself survives one.
    - A file that is replaced passes its mode on. A new one gets `mode`, less the umask.
    - With `follow_link` a symbolic link stays, and the file that it leads to is written. Without,
      the link is replaced: for files that a caller names and that must not lead elsewhere.
    - With `must_be_new` FileExistsError is raised where there is anything, even a dangling link,
      and of several processes that write the file at once one succeeds.
    - `before_rename` is called when all is written; it raises to leave the file as it was.

    Raises OSError where the file cannot be written, and ValueError where `path` cannot be a path.
    """
    target = path
    if follow_link and not must_be_new:
        target = Path(os.path.realpath(path))
    kept_mode = _mode_of_file(target)
    temporary = target.with_name(f".{target.name}.{os.urandom(6).hex()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            if kept_mode is not None:
                os.fchmod(file.fileno(), kept_mode)
            os.fsync(file.fileno())
        before_rename()
        if must_be_new:
            target.hardlink_to(temporary)  # a rename would replace what another process wrote
        else:
            temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    if durable:
        sync_directory(target.parent)


def read_bounded(path: Path, most: int) -> bytes | Unknown:
    """Return the whole content of a regular file of at most `most` bytes, or why it is unknown.

    Opening a pipe does not block, and an endless file does not fill the memory.
    """
    shown = quote(str(path), LONGEST_PATH)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return Unknown(f"{shown} is not a file")
            data = file.read(most + 1)
    except (OSError, ValueError) as error:
        return Unknown(f"{shown} cannot be read: {getattr(error, 'strerror', None) or error}")
    if len(data) > most:
        return Unknown(f"{shown} is larger than {most:,} bytes")
    return data


def _mode_of_file(path: Path) -> int | None:
    """The permissions of a regular file. None: there is none, or the path is a link."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return stat.S_IMODE(status.st_mode)
