"""Find and end processes that programs of a lane left behind.

They are found by the variables they inherited, however they detached. On Linux a worker is also
the subreaper of its programs, so it finds processes that cleared their environment too; and where
programs have a cgroup, what is in one without its keeper is found although both were killed.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dos.git.process import TIMEOUT_SECONDS
from dos.lease import KEY_VARIABLE, Lease
from dos.machine.process import (
    directory_of,
    dos_processes,
    holder_has_exited,
    identify,
    system,
)

if TYPE_CHECKING:
    import psutil

WAIT_SECONDS = 5.0
ROUNDS = 5  # a process may start another one before it is killed
_PR_SET_CHILD_SUBREAPER = 36
_WORKER_GIT_OPTION = "core.hooksPath=/dev/null"  # an argument of every git that dos starts
_subreapers: set[int] = set()  # this process, once it is a subreaper


def mark_variables(workspace: str, lease: Lease, key: str = "") -> dict[str, str]:
    """The variables that mark every program of a lease, and all that it starts."""
    marks = {"DOS_WORKSPACE": workspace, "DOS_LANE": lease.lane, "DOS_FENCE": str(lease.fence)}
    if key:
        marks[KEY_VARIABLE] = key
    return marks


def become_subreaper() -> None:
    """Adopt every process that programs of this process orphan from now on.

    Only for a process all of whose descendants may be killed.
    """
    if sys.platform == "linux":
        import ctypes

        if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0:
            _subreapers.add(os.getpid())


def end_processes(workspace: str, lease: Lease) -> int:
    """Kill every process of this lane with this lease or an older one, and return how many.

    What was in cgroups without a keeper is not counted, and is of any lane.
    """
    _end_abandoned()
    return _end_all(lambda: _leftover_processes(workspace, lease))


def end_unleased_processes(workspace: str, leases: Sequence[Lease], *, newest: int) -> int:
    """Kill every process of a lease that has ended, on any lane, and return how many.

    `leases` are all that have not ended, and `newest` is a position of the journal from before
    they were read: a process with a newer fence has a lease that may not be among them.
    """
    _end_abandoned()
    fences = {lease.fence for lease in leases}

    def unleased() -> "Iterator[psutil.Process]":
        import psutil

        for process in psutil.process_iter():
            fence = _fence_of(process, workspace)
            # The fence of checks that a person runs is a time, beyond every position.
            if fence is not None and fence <= newest and fence not in fences:
                yield process

    return _end_all(unleased)


def _end_abandoned() -> None:
    if sys.platform == "linux":
        from dos.sandbox.io.launcher.cgroup import end_abandoned_cgroups

        end_abandoned_cgroups()


def _end_all(find: "Callable[[], Iterator[psutil.Process]]") -> int:
    """Kill all processes that are found until none is found, and return how many."""
    import psutil

    ended = 0
    denied: set[psutil.Process] = set()  # of another user: only that user can end them
    for _ in range(ROUNDS):
        leftovers = [process for process in find() if process not in denied]
        for process in leftovers:
            try:
                process.kill()  # psutil checks first that the pid is still this process
            except psutil.NoSuchProcess:
                pass  # it has ended by itself
            except psutil.AccessDenied:
                denied.add(process)
        killed = [process for process in leftovers if process not in denied]
        psutil.wait_procs(killed, timeout=WAIT_SECONDS)
        ended += len(killed)
        if not leftovers:
            break
    return ended


def end_previous_worker(state: Path, before: Sequence[Lease], mine: Lease) -> None:
    """Kill workers that held this lane before, by an expired or revoked lease.

    One that was suspended in the middle of a git command could wake up and clear the worktree
    that now belongs to its successor.
    """
    import psutil

    previous = set()
    for lease in before:
        if lease.fence != mine.fence and _may_be_alive(lease):
            previous.add((lease.pid, lease.pid_started))
    for worker in dos_processes(state):
        identity = worker.identity
        if worker.verb != "worker":
            continue
        is_on_lane = worker.option("--lane") == mine.lane and identity.pid != mine.pid
        if not is_on_lane and (identity.pid, identity.started) not in previous:
            continue
        try:
            process = psutil.Process(identity.pid)
            if identify(process.pid) != identity:
                continue  # another process has this pid now
            process.kill()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue  # it has ended by itself, or is another user's
        psutil.wait_procs([process], timeout=WAIT_SECONDS)


def wait_for_git(tree: Path, *, of_workers: bool = False) -> None:
    """Wait until no git process works in a tree or creates it.

    A git command that a dead worker began is allowed to finish, within git's own time limit.
    """
    import psutil

    folder = str(tree.resolve())

    def works_in_tree(process: "psutil.Process") -> bool:
        try:
            argv = process.cmdline()
            creates_tree = "worktree" in argv and str(tree) in argv
            if directory_of(process) != folder and not creates_tree:
                return False
        except psutil.Error:
            return False  # it has ended, or is another user's
        return not of_workers or _WORKER_GIT_OPTION in argv

    gits = [each for each in psutil.process_iter(["name"]) if each.info["name"] == "git"]
    working = [process for process in gits if works_in_tree(process)]
    psutil.wait_procs(working, timeout=TIMEOUT_SECONDS)


def _may_be_alive(lease: Lease) -> bool:
    """Whether the holder of a lease could run on this system and is not this process."""
    return lease.system == system() and lease.pid != os.getpid() and not holder_has_exited(lease)


def _leftover_processes(workspace: str, lease: Lease) -> "Iterator[psutil.Process]":
    """Adopted descendants, then every process with the marks of the lease."""
    import psutil

    adopted = set()
    if os.getpid() in _subreapers:
        adopted = set(psutil.Process().children(recursive=True))
    yield from adopted
    for process in psutil.process_iter():
        if process not in adopted and _is_leftover(process, workspace, lease):
            yield process


def _is_leftover(process: "psutil.Process", workspace: str, lease: Lease) -> bool:
    """Whether a process carries the marks of this lane with this fence or an older one."""
    fence = _fence_of(process, workspace, lease.lane)
    return fence is not None and fence <= lease.fence


def _fence_of(process: "psutil.Process", workspace: str, lane: str = "") -> int | None:
    """The fence that a process carries the mark of; None: it has no marks of this workspace.

    With `lane`, only marks of that lane count.
    """
    import psutil

    try:
        variables = process.environ()
    except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
        return None  # another user's, or gone
    if process.pid == os.getpid() or variables.get("DOS_WORKSPACE") != workspace:
        return None
    if lane and variables.get("DOS_LANE") != lane:
        return None
    fence = variables.get("DOS_FENCE", "")
    if not fence.isdigit():
        return None
    return int(fence)
