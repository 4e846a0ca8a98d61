"""A place in which a test command runs and which is as if it had never been afterwards.

Every run has the same path, the same times on its files and the same environment, so that a test can tell which code it
is tried on by the code alone. Its home and its temporary folder are empty and go away with it.
"""

import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from dos.errors import DosError, GitFailed
from dos.git.objects import SUBMODULE, Objects, TreeEntry
from dos.git.repository import Reader
from dos.machine import execute
from dos.machine.execute import Limits, ProcessResult
from dos.testwitness.io import sandbox_child
from dos.text import LONGEST_PATH, quote

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_files(git: Reader, files: Mapping[str, TreeEntry], place: Path, moment: int) -> None:
    """Every file gets the same time, so that none tells which side it comes from."""
    place.mkdir(mode=0o755)
    made, times = {place}, (moment, moment)
    try:
        with Objects(git) as objects:
            for path, file in files.items():
                target = place / _checked(path)
                _make(target.parent, made)
                _one(objects, target, file)
                os.utime(target, times, follow_symlinks=False)
        for folder in made:
            os.utime(folder, times)
    except OSError as error:
        raise DosError(
            f"the files of a commit cannot be written to {place}: {error.strerror}",
            hint="Make room, or set TMPDIR to a place that has it.",
        ) from error


def _make(folder: Path, made: set[Path]) -> None:
    """Nothing is ever written through what we did not make: a link or a file of that name is refused."""
    if folder not in made:
        _make(folder.parent, made)
        folder.mkdir(mode=0o755)
        made.add(folder)


def _one(objects: Objects, path: Path, file: TreeEntry) -> None:
    if file.mode == SUBMODULE:
        return path.mkdir(mode=0o755)  # its files are another repository's
    content = objects.blob(file.sha)
    if content is None:
        raise GitFailed(
            f"the object {file.sha} cannot be read: it is not there", hint="`git fsck` says more."
        )
    if stat.S_ISLNK(file.mode):
        return path.symlink_to(os.fsdecode(content))
    with os.fdopen(os.open(path, _NEW_FILE, 0o600), "wb") as target:
        target.write(content)
        os.fchmod(target.fileno(), 0o755 if file.mode & stat.S_IXUSR else 0o644)
    return None


def remove_tree(place: Path) -> None:
    """All of it: a folder that the tests closed to themselves is opened first."""
    try:
        if not place.exists():
            return
        place.chmod(stat.S_IRWXU)
        for folder, below, _ in os.walk(place):
            for path in (Path(folder, name) for name in below):
                if not path.is_symlink():
                    path.chmod(stat.S_IRWXU)
        shutil.rmtree(place)
    except OSError as error:
        raise DosError(
            f"{place} cannot be removed: {error.strerror}", hint=f"Remove it by hand: rm -r {place}"
        ) from error


def _checked(path: str) -> str:
    """Git itself would not write such a name; a tree that was made by hand can hold it."""
    names = path.split("/")
    if {"", ".", ".."}.isdisjoint(names) and all(name.lower() != ".git" for name in names):
        return path
    raise GitFailed(
        f"the commit holds a file named {quote(path, LONGEST_PATH)}, which no checkout may write",
        hint="`git fsck` says more; somebody made this tree by hand.",
    )


MARK = "DOS_WITNESS"
PROBE_SECONDS = 30.0
WAIT_SECONDS = 5.0
# What programs need to be found and to speak. All else, a user's settings and secrets above all, stays outside.
_KEPT = ("PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "JAVA_HOME", "GOROOT", "NIX_PATH")


class Sandbox:
    def __init__(
        self, git: Reader, *, moment: int, timeout_seconds: float, keep: bool = False
    ) -> None:
        self._git = git
        self._moment = moment
        self._limits = Limits(wall_seconds=timeout_seconds)
        self._keep = keep
        self._kept = 0
        self.network_off = _can_cut_network()
        try:
            self.home = Path(tempfile.mkdtemp(prefix="dos-witness-"))
        except OSError as error:
            raise DosError(
                f"no temporary folder can be made: {error.strerror}",
                hint="Set TMPDIR to a place that can be written.",
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        if not self._keep:
            remove_tree(self.home)

    def run(
        self, files: Mapping[str, TreeEntry], command: str, folder: str, name: str
    ) -> ProcessResult | None:
        """The command on a fresh copy of the files, in one of their folders; None when there is no such folder."""
        place = self.home / "run"
        place.mkdir(mode=0o700)
        try:
            write_files(self._git, files, place / "tree", self._moment)
            inside = place / "tree" / folder
            return self._run(command, place, inside) if inside.is_dir() else None
        finally:
            self._put_away(place, name)

    def _run(self, command: str, place: Path, inside: Path) -> ProcessResult:
        mark = secrets.token_hex(8)
        words = confined_command(["sh", "-c", command], network_off=self.network_off)
        try:
            return execute.run(
                words, cwd=inside, environment=_environment(place, mark), limits=self._limits
            )
        finally:
            kill_marked(mark)

    def _put_away(self, place: Path, name: str) -> None:
        if not self._keep:
            return remove_tree(place)
        self._kept += 1
        place.rename(self.home / f"{self._kept}-{name}")
        return None


def confined_command(command: list[str], *, network_off: bool) -> list[str]:
    return [
        sys.executable,
        "-I",
        "-S",
        sandbox_child.__file__,
        "off" if network_off else "on",
        *command,
    ]


def kill_marked(mark: str) -> None:
    """End who carries the mark: the second look, for what got away from the first."""
    import psutil

    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                process.kill()
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue  # it has ended, or is another user's
    psutil.wait_procs(found, timeout=WAIT_SECONDS)


def _environment(place: Path, mark: str) -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if name in _KEPT or name.startswith("LC_")
    }
    for name in ("home", "tmp"):
        (place / name).mkdir()
    own = {
        "HOME": str(place / "home"),
        "TMPDIR": str(place / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CI": "true",
    }
    return kept | own | {MARK: mark}


def _can_cut_network() -> bool:
    if sys.platform != "linux":
        return False
    words, limits = confined_command(["true"], network_off=True), Limits(wall_seconds=PROBE_SECONDS)
    return (
        execute.run(words, cwd=Path("/"), environment=dict(os.environ), limits=limits).exit_code
        == 0
    )
