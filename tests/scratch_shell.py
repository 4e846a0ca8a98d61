"""A folder in which real shells run commands, beside what the reader of commands says of them."""

import os
import select
import shutil
import signal
import subprocess
from pathlib import Path

from dos.permission.ask import Footprint
from dos.permission.footprint import read_footprint
from dos.permission.io.resolve import resolve

FILES = {
    "api/a.txt": "one\ntwo\n",
    "api/b.txt": "two\none\n",
    "api/sub/c.txt": "c\n",
    "docs/x.md": "x\n",
    "docs/y.md": "y\n",
    "docs/sub/z.md": "z\n",
    "docs/p.patch": "--- a/docs/x.md\n+++ b/docs/x.md\n@@ -1 +1 @@\n-x\n+changed\n",
    "s p": "space\n",
    "top": "top\n",
}
LINKS = {"api/out": "../docs", "api/in": "sub", "api/deep": "../docs/sub"}
LONGEST_SECONDS = 10


class Scratch:
    """A folder with files, made anew after each command that changed it."""

    def __init__(self, home):
        self.home = home
        self.root = home / "root"
        self.before = {}
        self.make()

    def make(self):
        shutil.rmtree(self.root, ignore_errors=True)
        for name, text in FILES.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for name, target in LINKS.items():
            (self.root / name).symlink_to(target)
        self.before = self.state()

    def state(self):
        """What is in each file and link, and its mode."""
        found = {}
        for folder, folders, files in os.walk(self.root):
            for name in [*files, *(one for one in folders if (Path(folder) / one).is_symlink())]:
                path = Path(folder) / name
                status = path.lstat()
                data = os.readlink(path) if path.is_symlink() else None
                if data is None and path.is_file():
                    data = path.read_bytes() if os.access(path, os.R_OK) else b"?"
                found[str(path.relative_to(self.root))] = (data, status.st_mode)
        return found

    def run(self, shell, command):
        """The paths that a command changed."""
        environment = {
            "PATH": "/usr/bin:/bin", "HOME": str(self.home / "user"), "FUNCNEST": "3",
            "TMPDIR": str(self.home / "tmp"), "LC_ALL": "C.UTF-8",
        }  # fmt: skip
        ended, alive = os.pipe()  # its end is seen when the last process has ended
        process = subprocess.Popen(
            [shell, "-c", command], cwd=self.root, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, pass_fds=[alive],
        )  # fmt: skip
        os.close(alive)
        try:
            select.select([ended], [], [], LONGEST_SECONDS)
        finally:
            os.close(ended)
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        after = self.state() if self.root.exists() else {}
        changed = {
            name
            for name in self.before.keys() | after.keys()
            if self.before.get(name) != after.get(name)
        }
        if changed:
            self.make()
        return changed

    def footprint(self, command):
        """What the reader says, with links followed: before the command has run."""
        read = read_footprint("Bash", {"command": command}, cwd=str(self.root), root=str(self.root))
        led = resolve(read, self.root)
        # A link that is removed or replaced is written itself.
        paths = {os.path.normpath(path) for path in (*read.paths, *led.paths)}
        return Footprint(paths=tuple(paths), unknown=read.unknown)


def scratch_in(home):
    for folder in ("user", "tmp"):
        (home / folder).mkdir()
    return Scratch(home)


def is_covered(path, footprint):
    return any(path == one or path.startswith(f"{one}/") or one == "." for one in footprint.paths)


def check(scratch, shell, command):
    footprint = scratch.footprint(command)
    if footprint.unknown:
        return False
    changed = scratch.run(shell, command)
    missed = [path for path in sorted(changed) if not is_covered(path, footprint)]
    assert not missed, (shell, command, footprint.paths)
    return True
