"""Disks that say no for real: one that is full, and a directory that may be read and not written.

    with full_disk() as small:
        subprocess.run(small.command([sys.executable, "-c", program, str(small.directory)]))

Root may write everywhere, so a child is started through a command that takes that power from it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from msgspec import Struct

NOBODY = "65534"
LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
os.execvp(sys.argv[2], sys.argv[2:])
"""


class Limited(Struct, frozen=True, kw_only=True):
    directory: Path
    how: str  # "tmpfs", "file size", "permissions"
    prefix: tuple[str, ...] = ()

    def command(self, argv: Sequence[str]) -> list[str]:
        """How to start a program so that it meets the limit."""
        return [*self.prefix, *argv]


def file_size_limit(directory: Path, size_bytes: int) -> Limited:
    """No file may grow past this size: a write there fails with EFBIG."""
    return Limited(
        directory=directory,
        how="file size",
        prefix=(sys.executable, "-c", LIMITED, str(size_bytes)),
    )


@contextmanager
def full_disk(size_bytes: int = 1 << 20) -> Iterator[Limited]:
    """A disk with room for so many bytes: a small tmpfs, or where none can be mounted, a limit on
    each file."""
    with tempfile.TemporaryDirectory(prefix="small-disk-") as temporary:
        directory = Path(temporary)
        mount = [
            shutil.which("mount") or "",
            "-t",
            "tmpfs",
            "-o",
            f"size={size_bytes},mode=755",
            "tmpfs",
            temporary,
        ]
        mounted = (
            mount[0] and subprocess.run(mount, capture_output=True, check=False).returncode == 0
        )
        if not mounted:
            yield file_size_limit(directory, size_bytes)
            return
        try:
            yield Limited(directory=directory, how="tmpfs")
        finally:
            # Lazily: a child that is still there must not keep it mounted for ever.
            subprocess.run(["umount", "--lazy", temporary], capture_output=True, check=True)


@contextmanager
def read_only(directory: Path) -> Iterator[Limited]:
    """The directory and all in it, as it is now, readable and not writable until the end of the
    block."""
    with ExitStack() as restore:
        for path in [directory, *directory.rglob("*")]:
            mode = path.stat().st_mode & 0o7777
            restore.callback(path.chmod, mode)
            path.chmod(mode & ~0o222)
        yield Limited(directory=directory, how="permissions", prefix=_powerless_prefix(directory))


def _powerless_prefix(directory: Path) -> tuple[str, ...]:
    """A way to start a program that can run Python, can read this directory, and cannot write into
    it."""
    setpriv = shutil.which("setpriv") or "setpriv"
    ways = [
        (),
        # Still root, so that it can enter root's own directories, but bound by permissions like
        # anybody.
        (setpriv, "--bounding-set=-dac_override,-dac_read_search", "--"),
        (setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"),
    ]
    probe = (
        "import os, sys; os.listdir(sys.argv[1]); sys.exit(3 if os.access(sys.argv[1], "
        "os.W_OK) else 0)"
    )
    for prefix in ways if os.geteuid() == 0 else ways[:1]:
        if prefix and not os.access(setpriv, os.X_OK):
            continue
        tried = subprocess.run(
            [*prefix, sys.executable, "-c", probe, str(directory)], capture_output=True, check=False
        )
        if tried.returncode == 0:
            return prefix
    pytest.skip(f"{directory}: no way to start a program that can read it and cannot write it")
