"""Kill points between any two effects of a real worker or supervisor.

    DOS_FAULT_LOG=FILE                         each process logs every point that it passes
    DOS_FAULT_POINT=worker:MoveBranch:after:1  a process dies with SIGKILL at this point;
                                               with `all:` before it, the whole fleet does

A point is ROLE:EFFECT:before|after, where a record is named by its kind (Record/unit_landed). The
number counts the passes of the whole fleet, so that a restarted worker does not die again.
"""

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from dos.fleet.effect import Performers
from dos.fleet.effects import Record
from dos.machine.process import HIDDEN_NAME

WHOLE_FLEET = "all:"


def with_kill_points(role: str, performers: Performers) -> Performers:
    """Return the performers, each with a kill point before and after it."""
    log = Path(os.environ["DOS_FAULT_LOG"])
    point = os.environ.get("DOS_FAULT_POINT", "")
    kills_all = point.startswith(WHOLE_FLEET)
    points = KillPoints(role, log, point.removeprefix(WHOLE_FLEET), kills_all=kills_all)
    return {kind: partial(points.perform, perform) for kind, perform in performers.items()}


class KillPoints:
    """Logs the points that a process passes and kills it at the fatal one."""

    def __init__(self, role: str, log: Path, fatal: str, *, kills_all: bool) -> None:
        self._role = role
        self._log = log
        self._fatal = fatal
        self._kills_all = kills_all

    def perform(self, perform: Callable[[Any], Any], effect: Any) -> Any:
        """Perform the effect between its two points and return its answer."""
        name = type(effect).__name__
        if isinstance(effect, Record):
            name = f"{name}/{effect.fact.kind}"
        self._pass(f"{self._role}:{name}:before")
        answer = perform(effect)
        self._pass(f"{self._role}:{name}:after")
        return answer

    def _pass(self, point: str) -> None:
        """Log the point, and die if it is the fatal one and this pass has its number."""
        line = f"{point} {os.getpid()}"
        with self._log.open("ab", buffering=0) as file:
            # One unbuffered append, so that lines of two processes never mix.
            file.write(f"{line}\n".encode())
            end = file.tell()
        if self._fatal.rpartition(":")[0] != point:
            return
        lines = self._log.read_bytes()[:end].decode().splitlines()
        passes = sum(logged.startswith(f"{point} ") for logged in lines)
        if f"{point}:{passes}" == self._fatal:
            self._die({int(logged.rpartition(" ")[2]) for logged in lines})

    def _die(self, pids: set[int]) -> None:
        """Kill this process, and before it all others that have passed a point, if wanted."""
        if self._kills_all:
            for pid in pids - {os.getpid()}:
                self._kill(pid)
        os.kill(os.getpid(), signal.SIGKILL)

    def _kill(self, pid: int) -> None:
        """Kill a process of this fleet; its environment tells it from one that reuses the pid."""
        try:
            process = psutil.Process(pid)
            if self._is_of_fleet(process):
                process.kill()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            pass  # it has ended already

    def _is_of_fleet(self, process: psutil.Process) -> bool:
        """Whether a process has the log of this fleet; one that hides it has a name of dos."""
        try:
            return process.environ().get("DOS_FAULT_LOG") == str(self._log)
        except psutil.AccessDenied:
            return process.name().startswith(HIDDEN_NAME)
