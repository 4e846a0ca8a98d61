"""A temporary folder in which a test command runs, and of which nothing is left.

Every run has the same path, file times and environment, so that a test can tell which code it runs
on by the code alone. Its home and temporary folders are empty and are removed with it.
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

# The variable by which processes of a run are found, also those that left its process group.
MARK = "DOS_WITNESS"
PROBE_SECONDS = 30.0  # to find out whether the network can be cut off
WAIT_SECONDS = 5.0  # for killed processes to end
# What programs need to be found and to run. The user's settings and secrets stay outside.
_KEPT = ("PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "JAVA_HOME", "GOROOT", "NIX_PATH")
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_files(git: Reader, files: Mapping[str, TreeEntry], place: Path, moment: int) -> None:
    """Write the files of a tree to a new folder, all with the same time.

    No file tells by its time which side it comes from. Raises DosError where it cannot be written.
    """
    place.mkdir(mode=0o755)
    folders = {place}
    times = (moment, moment)
    try:
        with Objects(git) as objects:
            for path, file in files.items():
                target = place / _safe_path(path)
                _make_folder(target.parent, folders)
                _write_file(objects, target, file)
                os.utime(target, times, follow_symlinks=False)
        for folder in folders:
            os.utime(folder, times)
    except OSError as error:
        raise DosError(
            f"the files of a commit cannot be written to {place}: {error.strerror}",
            hint="Make room, or set TMPDIR to a place that has it.",
        ) from error


def _make_folder(folder: Path, folders: set[Path]) -> None:
    """Make a folder and its parents; a link or a file of that name is refused.

    Nothing is ever written through a folder that this process did not make.
    """
    if folder not in folders:
        _make_folder(folder.parent, folders)
        folder.mkdir(mode=0o755)
        folders.add(folder)


def _write_file(objects: Objects, path: Path, file: TreeEntry) -> None:
    """Write one entry of a tree: a file, a link, or the folder of a submodule."""
    if file.mode == SUBMODULE:
        path.mkdir(mode=0o755)  # its files belong to another repository
        return
    content = objects.blob(file.sha)
    if content is None:
        raise GitFailed(
            f"the object {file.sha} cannot be read: it is not there", hint="`git fsck` says more."
        )
    if stat.S_ISLNK(file.mode):
        path.symlink_to(os.fsdecode(content))
        return
    with os.fdopen(os.open(path, _NEW_FILE, 0o600), "wb") as target:
        target.write(content)
        os.fchmod(target.fileno(), 0o755 if file.mode & stat.S_IXUSR else 0o644)


def remove_tree(place: Path) -> None:
    """Remove a folder, also where tests took their own permissions on parts of it away."""
    try:
        if not place.exists():
            return
        place.chmod(stat.S_IRWXU)
        for folder, below, _ in os.walk(place):
            for name in below:
                path = Path(folder, name)
                if not path.is_symlink():
                    path.chmod(stat.S_IRWXU)
        shutil.rmtree(place)
    except OSError as error:
        raise DosError(
            f"{place} cannot be removed: {error.strerror}", hint=f"Remove it by hand: rm -r {place}"
        ) from error


def _safe_path(path: str) -> str:
    """Return the path, or raise GitFailed for one that git itself would not write.

    A tree that was made by hand can hold it.
    """
    names = path.split("/")
    if {"", ".", ".."}.isdisjoint(names) and all(name.lower() != ".git" for name in names):
        return path
    raise GitFailed(
        f"the commit holds a file named {quote(path, LONGEST_PATH)}, which no checkout may write",
        hint="`git fsck` says more; the tree was made by hand.",
    )


class Sandbox:
    """Runs commands on copies of files; a context that removes them, unless they are kept."""

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
                hint="Set TMPDIR to a folder that can be written.",
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        if not self._keep:
            remove_tree(self.home)

    def run(
        self, files: Mapping[str, TreeEntry], command: str, folder: str, name: str
    ) -> ProcessResult | None:
        """Run a command in a folder of a fresh copy of the files; None without such a folder."""
        place = self.home / "run"
        place.mkdir(mode=0o700)
        try:
            write_files(self._git, files, place / "tree", self._moment)
            inside = place / "tree" / folder
            if not inside.is_dir():
                return None
            return self._run(command, place, inside)
        finally:
            self._put_away(place, name)

    def _run(self, command: str, place: Path, inside: Path) -> ProcessResult:
        """Run a command in its sandbox, and kill whatever of it is left."""
        mark = secrets.token_hex(8)
        words = confined_command(["sh", "-c", command], network_off=self.network_off)
        try:
            return execute.run(
                words, cwd=inside, environment=_environment(place, mark), limits=self._limits
            )
        finally:
            kill_marked(mark)

    def _put_away(self, place: Path, name: str) -> None:
        """Remove the folder of a run, or keep it under a number and a name."""
        if not self._keep:
            remove_tree(place)
            return
        self._kept += 1
        place.rename(self.home / f"{self._kept}-{name}")


def confined_command(command: list[str], *, network_off: bool) -> list[str]:
    """Return the command that runs another one below `sandbox_child`, in a bare interpreter."""
    network = "off" if network_off else "on"
    return [sys.executable, "-I", "-S", sandbox_child.__file__, network, *command]


def kill_marked(mark: str) -> None:
    """Kill processes with the mark in their environment: what escaped `sandbox_child`."""
    import psutil

    killed = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                process.kill()
                killed.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue  # it has ended, or is another user's
    psutil.wait_procs(killed, timeout=WAIT_SECONDS)


def _environment(place: Path, mark: str) -> dict[str, str]:
    """Return the variables of a run, and make its home and temporary folders.

    They are the same in every run except for the mark, so that no test can tell the runs apart.
    """
    variables = {
        "HOME": str(place / "home"),
        "TMPDIR": str(place / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CI": "true",
        MARK: mark,
    }
    for name, value in os.environ.items():
        if name in _KEPT or name.startswith("LC_"):
            variables[name] = value
    for name in ("home", "tmp"):
        (place / name).mkdir()
    return variables


def _can_cut_network() -> bool:
    """Whether this system lets a command run without a network; tried with `true`."""
    if sys.platform != "linux":
        return False
    words = confined_command(["true"], network_off=True)
    limits = Limits(wall_seconds=PROBE_SECONDS)
    ran = execute.run(words, cwd=Path("/"), environment=dict(os.environ), limits=limits)
    return ran.exit_code == 0
