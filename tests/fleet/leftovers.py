"""What a fleet that has come to rest has left behind: processes, folders, files."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil
from patience import lives

STATE = {"worktrees", "homes", "checks", "lanes"}  # of a workspace, below the user's state folder
STATE_IN_GIT = {"state.db", "state.db-wal", "state.db-shm", "state.db-gate", "history.sqlite"}
STATE_IN_GIT |= {"logs", "salvage", "handover", "server"}
SERVER = {"socket", "token", "lock"}
HOME = {"agent": {"home", "cache"}, "check": {"home", "cache"}, "git": {".gitconfig", "lane-index"}}
CHECK_TREE = {"home", "cache", "tree", "git"}


def left_processes(home: Path, mark: str) -> list[str]:
    """Every process that belongs to a fleet below `home`, however it hides.

    It has the mark in its command line, a variable that names the folder, is in the folder, or
    sees it mounted, as only programs behind walls do.
    """
    left = []
    for process in psutil.process_iter():
        if process.pid == os.getpid() or not lives(process):
            continue
        clue = next(_clues(process, str(home), mark), "")
        if clue:
            left.append(f"process {process.pid} is left, by its {clue}: {_words(process)}")
    return left


def _clues(process: psutil.Process, home: str, mark: str) -> Iterator[str]:
    if mark in " ".join(_words(process)):
        yield "words"
    for clue in ("environ", "cwd", "root", "mountinfo"):
        try:
            path = Path(f"/proc/{process.pid}/{clue}")
            text = str(path.readlink()) if path.is_symlink() else path.read_text(errors="replace")
        except OSError:
            continue  # it has ended, or is another user's
        if home in text:
            yield clue


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def left_paths(git: Path, state_home: Path, temporary: Path, lanes: Iterable[str]) -> list[str]:
    """Everything that is neither the fleet's state nor documented, with its path."""
    lanes = set(lanes)
    left = [str(path) for path in temporary.rglob("*")]
    left += _others(git / "dos", STATE_IN_GIT)
    left += _others(git / "dos" / "handover", set())
    left += _others(git / "dos" / "server", SERVER)
    left += _others(git / "worktrees", set())
    for pattern in ("*.lock", "*.keep", "tmp_pack_*", "tmp_idx_*", "*.tmp-*"):
        left += [str(path) for path in git.rglob(pattern) if git / "dos" not in path.parents]
    for state in (state_home / "dos").iterdir():
        left += _others(state, STATE)
        left += _others(state / "worktrees", lanes)
        marks = {f"{lane}.{end}" for lane in lanes for end in ("ready", "distrusted", "index")}
        left += _others(state / "lanes", marks)
        left += _others(state / "homes", lanes)
        for lane in _entries(state / "homes"):
            left += _others(lane, set(HOME))
            for place, names in HOME.items():
                left += _others(lane / place, names)
        for digest in _entries(state / "checks"):
            left += _left_in_checks(digest)
    return left


def _left_in_checks(digest: Path) -> list[str]:
    """Trees, each with its lock; in a tree no lock of a git that died."""
    left = []
    for path in _entries(digest):
        if path.suffix == ".lock":
            continue
        if not path.name.isdigit():
            left.append(str(path))
        left += _others(path, CHECK_TREE)
        left += [str(lock) for lock in (path / "git").rglob("*.lock")]
    return left


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _others(folder: Path, known: set[str]) -> list[str]:
    return [str(path) for path in _entries(folder) if path.name not in known]
