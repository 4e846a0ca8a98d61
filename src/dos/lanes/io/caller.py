"""Find out whether a person or an agent of the fleet runs a verb.

An agent carries the key of its lease in its environment, and descends from the worker that started
it and from a launcher; on Linux its orphans do too, as long as these live. A process that cleared
its environment and outlived both, or was started by a server of the user's (tmux, at, a service
manager), is not recognised.
"""

import os
from collections.abc import Mapping, Sequence

from msgspec import Struct

from dos.lease import KEY_VARIABLE, Lease, key_hash
from dos.machine import process
from dos.sandbox.io.start import is_launcher
from dos.workspace import Workspace


class Agent(Struct, frozen=True, kw_only=True):
    """An agent of a fleet, and by what it was recognised."""

    found_by: str
    lane: str = ""  # empty: unknown
    run_id: str = ""
    # Whether it belongs to the lease of the lane: by its key, or as a descendant of its worker.
    # Variables and names of processes prove that it is an agent, but not of which lane.
    is_proven: bool = False
    is_of_supervisor: bool = False  # all that is known is a supervisor that it descends from

    def __str__(self) -> str:
        of_lane = f" on lane {self.lane}" if self.lane else ""
        of_run = f" (run {self.run_id})" if self.run_id else ""
        return f"the agent{of_lane}{of_run}"


def find_calling_agent(
    workspace: Workspace | None, leases: Sequence[Lease], pid: int | None = None
) -> Agent | None:
    """The agent that a process belongs to; None for a person.

    `leases` are the live ones of the workspace. `pid` is the process that asks a server, as the
    kernel names it; None: this process. Of another process the environment that it was started
    with counts.
    """
    environment: Mapping[str, str] = os.environ
    if pid is not None:
        environment = process.environment_of(pid)
    workers = [lease for lease in leases if lease.key_hash]
    if agent := _by_key(environment, workers, f"{KEY_VARIABLE} is set"):
        return agent
    ancestors = process.ancestors(pid or os.getpid())
    if agent := _by_worker(ancestors, workers):
        return agent
    if workspace and (agent := _by_marks(environment, workspace, workers, "its environment")):
        return agent
    for ancestor in ancestors:
        if agent := _by_ancestor(ancestor, workspace, workers):
            return agent
    return _by_launcher(ancestors)


def holds(lease: Lease) -> bool:
    """Whether this process belongs to the holder of a lease that has a key: by the key, or as a
    descendant of the worker. Of a lease without a key any process may say that it is its own.
    """
    if not lease.key_hash:
        return True
    if key_hash(os.environ.get(KEY_VARIABLE, "")) == lease.key_hash:
        return True
    family = [os.getpid(), *process.ancestors(os.getpid())]
    return lease.pid in family and process.holder_is_running(lease) is True


def _by_key(carried: Mapping[str, str], workers: Sequence[Lease], found_by: str) -> Agent | None:
    """By the key of a lease in the environment."""
    key = carried.get(KEY_VARIABLE, "")
    if not key:
        return None
    for lease in workers:
        if lease.key_hash == key_hash(key):
            return _agent_of(lease, found_by, is_proven=True)
    return Agent(lane=carried.get("DOS_LANE", ""), found_by=found_by)


def _by_worker(ancestors: Sequence[int], workers: Sequence[Lease]) -> Agent | None:
    """By the worker of a live lease among the ancestors."""
    for lease in workers:
        if lease.pid in ancestors and process.holder_is_running(lease):
            found_by = f"process {lease.pid}, which it descends from, is its worker"
            return _agent_of(lease, found_by, is_proven=True)
    return None


def _by_marks(
    carried: Mapping[str, str], workspace: Workspace, workers: Sequence[Lease], whose: str
) -> Agent | None:
    """By the variables that every program of a lane carries; a person would not set all three."""
    fence = carried.get("DOS_FENCE", "")
    lane = carried.get("DOS_LANE", "")
    if carried.get("DOS_WORKSPACE") != str(workspace.root) or not lane or not fence.isdigit():
        return None
    found_by = f"{whose} holds DOS_FENCE {fence}"
    for lease in workers:
        if lease.fence == int(fence):
            return _agent_of(lease, found_by)
    return Agent(lane=lane, found_by=found_by)


def _by_ancestor(
    ancestor: int, workspace: Workspace | None, workers: Sequence[Lease]
) -> Agent | None:
    """By what an ancestor runs, or by an ancestor's environment."""
    words = process.dos_arguments(process.command_line(ancestor))
    verb = process.verb_of(words or ())
    if verb == "worker":  # one that has lost its lease, or one of another workspace
        found_by = f"process {ancestor}, which it descends from, is its worker"
        return Agent(lane=process.option_of(words or (), "--lane"), found_by=found_by)
    if verb == "up" and not _starts_another(words or ()):
        # It adopts what a killed worker leaves behind.
        found_by = f"process {ancestor}, which it descends from, is a supervisor"
        return Agent(found_by=found_by, is_of_supervisor=True)
    if workspace is None:
        return None
    carried = process.environment_of(ancestor)
    return _by_marks(carried, workspace, workers, f"process {ancestor}, which it descends from,")


def _by_launcher(ancestors: Sequence[int]) -> Agent | None:
    """By the launcher of an agent. In a pid namespace it is the first process, and all there is."""
    for pid in (*ancestors, 1):
        if is_launcher(process.command_line(pid)):
            return Agent(found_by=f"process {pid}, which it descends from, starts agents")
    return None


def _starts_another(words: Sequence[str]) -> bool:
    """Whether a `dos up` only starts the supervisor in the background, as a person does."""
    return any(word == "-d" or word.startswith("--det") for word in words)


def _agent_of(lease: Lease, found_by: str, *, is_proven: bool = False) -> Agent:
    return Agent(lane=lease.lane, run_id=lease.run_id, found_by=found_by, is_proven=is_proven)
