"""Processes of this machine, and those of `dos` among them.

A pid identifies a process only together with its start time.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from dos import workspace
from dos.errors import WorkspaceMissing
from dos.lease import Request
from dos.times import SystemClock

if TYPE_CHECKING:
    import psutil

HIDDEN_NAME = "dos-"  # begins the name of a process whose memory is hidden
MOST_WALKS = 100  # a walk to the first ancestor starts again when a process on the way ends


class Identity(Struct, frozen=True):
    """A pid with the start time of its process, in seconds."""

    pid: int
    started: float


def host() -> str:
    """The name of this machine for people. Two machines may share one."""
    return os.environ.get("DISPATCH_HOST_ID") or os.uname().nodename


def child_environment(environment: Mapping[str, str], directory: Path) -> dict[str, str]:
    """The environment of a program that dos starts in `directory`, with `PWD` set to it.

    Python's subprocess changes the directory but neither `PWD` nor `OLDPWD`. Some programs
    (opencode) trust `PWD`, and would work in the directory of the shell around dos.
    """
    kept = {name: value for name, value in environment.items() if name != "OLDPWD"}
    return kept | {"PWD": str(directory.resolve())}


def hide_memory(state: Path) -> None:
    """Close the environment and the memory of this process to other processes of its user.

    On Linux /proc offers both to every process of the same user, agents included. Afterwards its
    working directory cannot be read either, so the process gets a name by which `dos_processes`
    knows its workspace. For the main thread, whose name is that of the process.
    """
    if sys.platform == "linux":
        from dos.sandbox.io.launcher.kernel import forbid_reading_memory, name_process

        name_process(_process_name(state))
        forbid_reading_memory()


def _process_name(state: Path) -> str:
    """The name of a hidden process of a workspace; a name has at most 15 bytes."""
    from hashlib import sha256  # most verbs never look for hidden processes

    return f"{HIDDEN_NAME}{sha256(os.fsencode(state)).hexdigest()[:11]}"


def system() -> str:
    """The name of the process table that pids of this process belong to.

    It holds the host, one boot of its kernel and one pid namespace. Only a process in the same
    table can tell that another one has exited: a machine of the same name, or a container, has
    other processes under these pids.
    """
    return f"{host()}-{_process_table()}"


@cache
def _process_table() -> str:
    """The boot of the kernel and the pid namespace. Neither changes while a process lives."""
    return f"{SystemClock().boot().replace('-', '')[:12]}-{_pid_namespace()}"


def _pid_namespace() -> str:
    """The inode of the pid namespace; 0 where the kernel has none."""
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
    """Identify by kernel ticks: a start by the wall clock would move when that clock is set."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - called often
            fields = file.read().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    if fields[0] in (b"Z", b"X"):  # it has exited, and its parent has not noticed yet
        return None
    ticks = int(fields[19])
    return Identity(pid, ticks / os.sysconf("SC_CLK_TCK"))


def ancestors(pid: int) -> list[int]:
    """The processes that a process descends from, nearest first, without the system's first one.

    A process whose first thread has ended looks dead, but still has its children.
    """
    found: list[int] = []
    for _ in range(MOST_WALKS):
        found = []
        parent = _parent(pid)
        while parent is not None and parent > 1 and parent not in found:
            found.append(parent)
            parent = _parent(parent)
        if parent is not None:
            break
        # A process on the way has ended, and its children have another parent now: walk again.
    return found


def environment_of(pid: int) -> dict[str, str]:
    """The environment that a process was started with; empty where it cannot be read."""
    import psutil

    try:
        return psutil.Process(pid).environ()
    except (psutil.Error, OSError):
        return {}


def command_line(pid: int) -> list[str]:
    """The command line of a process; empty where it cannot be read."""
    import psutil

    try:
        return psutil.Process(pid).cmdline()
    except (psutil.Error, OSError):
        return []


def _parent(pid: int) -> int | None:
    """The parent of a process; None when the process is gone."""
    import psutil

    try:
        return psutil.Process(pid).ppid()
    except psutil.Error:
        return None


def has_exited(pid: int, started: float) -> bool:
    """Whether exactly this process has exited, by its pid and its start time."""
    now = identify(pid)
    # Start times come from the same clock ticks: a tenth of a second is more than rounding.
    return now is None or abs(now.started - started) > 0.1


def holder_is_running(lease: Request) -> bool | None:
    """Whether the process that holds a lease runs; None when that cannot be known here.

    Only its own system can tell, and only of a process whose start is known. A host's name proves
    nothing, so a lease without a system ends only by time.
    """
    if lease.system != system() or lease.pid is None or lease.pid_started is None:
        return None
    return not has_exited(lease.pid, lease.pid_started)


def holder_has_exited(lease: Request) -> bool:
    """Whether the process that holds a lease is known to have exited."""
    return holder_is_running(lease) is False


def is_local(lease: Request) -> bool:
    """Whether the holder's logs are on this machine. Older leases name only a host."""
    if lease.system:
        return lease.system == system()
    return lease.host == host()


class DosProcess(Struct, frozen=True, kw_only=True):
    """A running `dos` process."""

    identity: Identity
    arguments: tuple[str, ...]  # the words after `dos`
    stopped: bool  # suspended by a signal: it keeps its leases and does nothing

    @property
    def verb(self) -> str:
        return verb_of(self.arguments)

    def option(self, flag: str) -> str:
        return option_of(self.arguments, flag)


def verb_of(words: Sequence[str]) -> str:
    """The verb among the words after `dos`; empty when there is none."""
    rest = list(words)
    while rest and rest[0].startswith("-"):
        if rest[0] == "--workspace":
            del rest[0]
        del rest[:1]
    if not rest:
        return ""
    return rest[0]


def option_of(words: Sequence[str], flag: str) -> str:
    """The value of an option, in the form `--flag value` or `--flag=value`; else empty."""
    for number, word in enumerate(words):
        if word == flag:
            return "".join(words[number + 1 : number + 2])
        if word.startswith(f"{flag}="):
            return word.partition("=")[2]
    return ""


def dos_processes(state: Path) -> list[DosProcess]:
    """Every other `dos` process of the workspace with this state directory."""
    import psutil

    found = []
    for process in psutil.process_iter():
        if process.pid == os.getpid():
            continue
        try:
            dos_process = _dos_process(process, state)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue  # it has ended, or it is another user's and so not of this workspace
        if dos_process:
            found.append(dos_process)
    return found


def _dos_process(process: "psutil.Process", state: Path) -> DosProcess | None:
    """The process if it is a live `dos` of this workspace, else None."""
    import psutil

    with process.oneshot():
        words = dos_arguments(process.cmdline())
        if words is None or process.status() == psutil.STATUS_ZOMBIE:
            return None
        if not _is_of_workspace(process, words, state):
            return None
        identity = identify(process.pid)
        if identity is None:
            return None
        stopped = process.status() in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)
        return DosProcess(identity=identity, arguments=tuple(words), stopped=stopped)


def directory_of(process: "psutil.Process") -> str:
    """The working directory of a process; empty where its path is too long to be named.

    Raises the errors of psutil for one that has ended or is another user's.
    """
    try:
        return process.cwd()
    except OSError:
        return ""


def _is_of_workspace(process: "psutil.Process", words: Sequence[str], state: Path) -> bool:
    """Whether a process works for the workspace, by its directory; a hidden one by its name."""
    import psutil

    try:
        return belongs_to_workspace(directory_of(process), words, state)
    except psutil.AccessDenied:
        return process.name() == _process_name(state)


def dos_arguments(command: Sequence[str]) -> list[str] | None:
    """The words after `dos` in a command line; None when it does not run dos."""
    if len(command) < 2:
        return None
    program = Path(command[0]).name
    rest = list(command[1:])
    if program == "dos":
        return rest
    if not program.startswith(("python", "dos")):
        return None
    while rest:
        word = rest.pop(0)
        if word == "-m":
            if rest[:1] in (["dos"], ["dos.cli"]):
                return rest[1:]
            return None
        if word in ("-X", "-W"):  # options of Python that take a value
            del rest[:1]
        elif not word.startswith("-"):
            if Path(word).name == "dos":
                return rest
            return None
    return None


def belongs_to_workspace(directory: str, words: Sequence[str], state: Path) -> bool:
    """Whether a `dos` started in a directory with these words uses this state directory."""
    named = option_of(words, "--workspace")
    if not directory and not named.startswith("/"):
        return False
    try:
        return workspace.find(Path(directory, named)).state == state
    except (WorkspaceMissing, OSError):
        return False
