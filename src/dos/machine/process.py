"""Processes of this machine. A pid is an identity only together with its start time."""

import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct

from dos import workspace
from dos.errors import WorkspaceMissing
from dos.journal.clock import SystemClock
from dos.lease import Request

MOST_WALKS = 100  # up to the first ancestor of a process, while others on the way end


class Identity(Struct, frozen=True):
    pid: int
    started: float


def host() -> str:
    """The name of this machine, as people know it. Two machines may have the same one."""
    return os.environ.get("DISPATCH_HOST_ID") or os.uname().nodename


def child_environment(environment: Mapping[str, str], directory: Path) -> dict[str, str]:
    """The environment of a program that dos starts in `directory`: `PWD` names that directory, `OLDPWD` is gone.

    Python's subprocess changes the directory and leaves both variables as they were, and some programs (opencode)
    believe `PWD` instead of asking the system: they would work in the directory of the shell around us.
    """
    kept = {name: value for name, value in environment.items() if name != "OLDPWD"}
    return kept | {"PWD": str(directory.resolve())}


def system() -> str:
    """Which table of processes a pid of ours is in: the host's name, and what no other system shares.

    That is one start of one kernel, and one pid namespace in it. Only of a process of the same system can the system
    say that it is gone: a machine with the same name, or a container beside us, has other processes under our pids.
    """
    return f"{host()}-{_process_table()}"


@cache
def _process_table() -> str:
    return f"{SystemClock().boot().replace('-', '')[:12]}-{_pid_namespace()}"


def _pid_namespace() -> str:
    """Its inode; 0 where a kernel has no such thing."""
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return "0"


def identify(pid: int) -> Identity | None:
    """The process that has this pid now; None when there is none."""
    if sys.platform == "linux":
        return _identify_by_ticks(pid)
    import psutil

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return Identity(pid, process.create_time())
    except psutil.NoSuchProcess:
        return None


def _identify_by_ticks(pid: int) -> Identity | None:
    """By the clock that nobody can set: a start time reckoned from the wall clock moves whenever that is set."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - asked of every lease at every look
            fields = file.read().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, ticks = fields[0], int(fields[19])
    return None if state in (b"Z", b"X") else Identity(pid, ticks / os.sysconf("SC_CLK_TCK"))


def ancestors(pid: int) -> list[int]:
    """The processes that a process descends from, the nearest first; without the system's first one.

    A process whose first thread has ended looks like a dead one, and its children are still its own.
    """
    found: list[int] = []
    for _ in range(MOST_WALKS):
        found, parent = [], _parent(pid)
        while parent is not None and parent > 1 and parent not in found:
            found.append(parent)
            parent = _parent(parent)
        if parent is not None:
            break  # else one has ended meanwhile, and its children have another parent now
    return found


def environment_of(pid: int) -> dict[str, str]:
    """What a process was started with; nothing where the system does not say it."""
    import psutil

    try:
        return psutil.Process(pid).environ()
    except (psutil.Error, OSError):
        return {}


def command_line(pid: int) -> list[str]:
    """The words that a process was started with; none where the system does not say them."""
    import psutil

    try:
        return psutil.Process(pid).cmdline()
    except (psutil.Error, OSError):
        return []


def _parent(pid: int) -> int | None:
    """None where the process is gone."""
    import psutil

    try:
        return psutil.Process(pid).ppid()
    except psutil.Error:
        return None


def has_exited(pid: int, started: float) -> bool:
    """True only when the system says that this very process does not run any more."""
    now = identify(pid)
    # Start times come from the same clock ticks, so a tenth of a second is far more than their rounding.
    return now is None or abs(now.started - started) > 0.1


def holder_is_running(lease: Request) -> bool | None:
    """Only its own system can say it, and only of a process whose start is known; None for everything else.

    The name of a host proves nothing, as two machines may share it: a lease that names no system runs out by time.
    """
    if lease.system != system() or lease.pid is None or lease.pid_started is None:
        return None
    return not has_exited(lease.pid, lease.pid_started)


def holder_has_exited(lease: Request) -> bool:
    return holder_is_running(lease) is False


def is_local(lease: Request) -> bool:
    """Whether its logs are on this machine, as far as the lease tells: one of an older version has a name alone."""
    return lease.system == system() if lease.system else lease.host == host()


class DosProcess(Struct, frozen=True, kw_only=True):
    identity: Identity
    arguments: tuple[str, ...]  # what stands after `dos`
    stopped: bool  # by a signal: it holds what it holds and does nothing

    @property
    def verb(self) -> str:
        return verb_of(self.arguments)

    def option(self, flag: str) -> str:
        return option_of(self.arguments, flag)


def verb_of(words: Sequence[str]) -> str:
    """The verb among the words after `dos`."""
    rest = list(words)
    while rest and rest[0].startswith("-"):
        del rest[: 2 if rest[0] == "--workspace" else 1]
    return rest[0] if rest else ""


def option_of(words: Sequence[str], flag: str) -> str:
    """Its value, whether it is a word of its own or not."""
    for number, name in enumerate(words):
        value = "".join(words[number + 1 : number + 2])
        if name == flag or name.startswith(f"{flag}="):
            return value if name == flag else name.partition("=")[2]
    return ""


def dos_processes(state: Path) -> list[DosProcess]:
    """Every other `dos` process whose workspace keeps its state there."""
    import os

    import psutil

    found = []
    for process in psutil.process_iter():
        if process.pid == os.getpid():
            continue
        try:
            with process.oneshot():
                words = dos_arguments(process.cmdline())
                if (
                    words is None
                    or process.status() == psutil.STATUS_ZOMBIE
                    or not belongs_to_workspace(process.cwd(), words, state)
                ):
                    continue
                stopped = process.status() in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)
                if identity := identify(process.pid):
                    found.append(
                        DosProcess(identity=identity, arguments=tuple(words), stopped=stopped)
                    )
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue  # it ended meanwhile, or it is another user's and so none of this workspace's
    return found


def dos_arguments(command: Sequence[str]) -> list[str] | None:
    """What follows `dos` in a command line; None when it is no command line of ours."""
    if len(command) < 2 or not Path(command[0]).name.startswith(("python", "dos")):
        return None
    if Path(command[0]).name == "dos":
        return list(command[1:])
    rest = list(command[1:])
    while rest:
        word = rest.pop(0)
        if word == "-m":
            return rest[1:] if rest[:1] in (["dos"], ["dos.cli"]) else None
        if word in ("-X", "-W"):  # the interpreter's own flags that take a value
            del rest[:1]
        elif not word.startswith("-"):
            return rest if Path(word).name == "dos" else None
    return None


def belongs_to_workspace(directory: str, words: Sequence[str], state: Path) -> bool:
    """Whether a `dos` that was started there with these words is of the workspace that keeps its state there."""
    named = option_of(words, "--workspace")
    try:
        return workspace.find(Path(directory, named)).state == state
    except (WorkspaceMissing, OSError):
        return False
