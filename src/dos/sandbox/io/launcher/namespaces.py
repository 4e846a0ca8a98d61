"""Namespaces: a view of the machine in which only the program's own folders can be changed.

Everything is mounted read-only but the writable folders; `/run`, `/dev/shm` and hidden folders are
empty, `/tmp` is private, and other processes and their shared memory do not exist. The kernel ends
every process of the view with its first one.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat

from dos.sandbox.io.launcher.kernel import call, mount, unshare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_NEW_MOUNTS = 0x00020000
_NEW_IPC = 0x08000000
_NEW_USERS = 0x10000000
_NEW_PIDS = 0x20000000

_NOSUID = 2
_NODEV = 4
_NOEXEC = 8
_BIND = 4096
_RECURSIVE = 16384
_PRIVATE = 1 << 18

_MOUNT_SETATTR = 442  # the number of the system call, the same on every architecture
_HERE = -100
_ALL_BELOW = 0x8000
_READ_ONLY = 1

_EMPTY = ("/run",)
_TEMPORARY = ("/tmp", "/var/tmp")
_SHARED_MEMORY = "/dev/shm"


def enter(walls: dict[str, Any]) -> None:
    """Move this process into the view; its next child is the first process there.

    Raises OSError where the system does not allow it.
    """
    directory = os.getcwd()
    user = os.geteuid()
    group = os.getegid()
    unshare(_NEW_USERS | _NEW_MOUNTS | _NEW_PIDS | _NEW_IPC, "namespaces")
    # In the view this user and group keep their numbers.
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")
    mount("none", "/", "", _RECURSIVE | _PRIVATE)
    _mount_view(walls)
    os.chdir(directory)


def enter_process_table() -> None:
    """Mount the process table of the view; for its first process."""
    mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)


def _mount_view(walls: dict[str, Any]) -> None:
    """Mount everything read-only, then cover what is hidden, then open what is writable."""
    kept = _Kept()
    for path in walls["writable"]:
        kept.keep(path, is_writable=True)
    for path in (*(walls["readable"] or ()), *walls["reachable"], *os.get_exec_path()):
        kept.keep(path, is_writable=False)
    resolver = _read("/etc/resolv.conf")
    _set_read_only("/", True, _ALL_BELOW)
    private = _mount_private(kept, walls["private_tmp"])
    emptied = _mount_empty((*_EMPTY, *walls["hidden"]), private)
    kept.open_again([*private, *emptied])
    _restore_resolver(resolver)
    for path in emptied:
        _set_read_only(path, True)
    for number, path in enumerate(walls["preserved"]):
        if os.path.exists(path):
            _preserve(path, os.path.join(walls["private_tmp"], f".layer-{number}"))
    for path in ("/dev", "/dev/pts"):
        if os.path.ismount(path):
            _set_read_only(path, False)


def _mount_private(kept: _Kept, tmp: str) -> list[str]:
    """Mount folders that are writable and only the program's; the paths that they cover."""
    covered = _cover(_SHARED_MEMORY, "mode=1777")
    if tmp:
        for path in _TEMPORARY:
            covered += _bind_over(path, kept.descriptor(tmp))
    return covered


def _mount_empty(paths: Iterable[str], covered: list[str]) -> list[str]:
    """Cover folders with empty ones, unless they are covered already; the covered paths."""
    emptied: list[str] = []
    for path in paths:
        if not any(_is_below(os.path.realpath(path), cover) for cover in (*covered, *emptied)):
            emptied += _cover(path)
    return emptied


class _Kept:
    """Paths that stay reachable inside, held open while what is above them is covered."""

    def __init__(self) -> None:
        self._paths: list[tuple[str, int, bool]] = []

    def keep(self, path: str, *, is_writable: bool) -> None:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return  # it does not exist, or this user cannot reach it
        self._paths.append((os.path.realpath(path), descriptor, is_writable))

    def descriptor(self, wanted: str) -> int:
        """The descriptor of a path that was kept. Raises OSError for one that does not exist."""
        for path, descriptor, _ in self._paths:
            if path == os.path.realpath(wanted):
                return descriptor
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), wanted)

    def open_again(self, covered: list[str]) -> None:
        """Mount every writable path on itself, and others that a cover hides; parents first.

        A path below another one comes with it. The two are then one mount, between whose folders
        files can be renamed and linked.
        """
        opened: list[str] = []
        for path, descriptor, is_writable in sorted(self._paths):
            covers = [cover for cover in covered if _is_below(path, cover)]
            if any(_comes_with(path, folder, covers) for folder in opened):
                continue
            is_covered = bool(covers)
            if path in covered or not (is_writable or is_covered) or _is_device(path):
                continue
            if is_covered:
                _make(path, is_folder=stat.S_ISDIR(os.fstat(descriptor).st_mode))
            mount(f"/proc/self/fd/{descriptor}", path, "", _BIND | _RECURSIVE)
            _set_read_only(path, not is_writable)
            if is_writable:
                opened.append(path)
        for _, descriptor, _ in self._paths:
            os.close(descriptor)


def _preserve(path: str, layer: str) -> None:
    """Let what is written below a path go into a layer above it; without layers, refuse it."""
    if os.path.isdir(path) and not os.path.islink(path) and _mount_layer(path, layer):
        return
    mount(path, path, "", _BIND)
    _set_read_only(path, True)


def _mount_layer(path: str, layer: str) -> bool:
    """Mount an overlay on a folder; whether this kernel and the file system of `layer` can."""
    parts = {}
    for name, folder in (
        ("lowerdir", path),
        ("upperdir", f"{layer}/up"),
        ("workdir", f"{layer}/work"),
    ):
        os.makedirs(folder, exist_ok=True)
        parts[name] = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    # By descriptor: a path with a comma or a colon would end the option.
    options = ",".join(f"{name}=/proc/self/fd/{descriptor}" for name, descriptor in parts.items())
    try:
        mount("overlay", path, "overlay", _NOSUID | _NODEV, f"{options},userxattr")
    except OSError:
        return False
    finally:
        for descriptor in parts.values():
            os.close(descriptor)
    return True


def _cover(path: str, options: str = "mode=755") -> list[str]:
    """Mount an empty folder over another; the covered path, or nothing where there is none."""
    path = os.path.realpath(path)
    if not os.path.isdir(path):
        return []
    mount("tmpfs", path, "tmpfs", _NOSUID | _NODEV, options)
    return [path]


def _bind_over(path: str, descriptor: int) -> list[str]:
    """Mount an open folder over another one, writable."""
    path = os.path.realpath(path)
    if not os.path.isdir(path):
        return []
    mount(f"/proc/self/fd/{descriptor}", path, "", _BIND)
    _set_read_only(path, False)
    return [path]


def _set_read_only(path: str, read_only: bool, flags: int = 0) -> None:
    """Make a mount read-only, or writable again."""
    to_set = _READ_ONLY if read_only else 0
    to_clear = 0 if read_only else _READ_ONLY
    attributes = (ctypes.c_uint64 * 4)(to_set, to_clear, 0, 0)
    call(_MOUNT_SETATTR, _HERE, os.fsencode(path), flags, attributes, 32, about=f"mount {path}")


def _restore_resolver(content: bytes) -> None:
    """Write the resolver's settings again where a cover hides them, as below /run of systemd."""
    path = os.path.realpath("/etc/resolv.conf")
    if content and not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        _write(path, content.decode("utf-8", "replace"))


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _comes_with(path: str, folder: str, covers: list[str]) -> bool:
    """Whether a path is opened with a folder above it: not if a cover is between the two."""
    return _is_below(path, folder) and not any(_is_below(cover, folder) for cover in covers)


def _is_device(path: str) -> bool:
    """Whether a path is of /dev, which stays as it is."""
    return _is_below(path, "/dev") and not _is_below(path, _SHARED_MEMORY)


def _make(path: str, *, is_folder: bool) -> None:
    """Make a place to mount a path on."""
    if is_folder:
        os.makedirs(path, exist_ok=True)
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.exists(path):
        _write(path, "")


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
