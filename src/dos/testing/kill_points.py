"""Fault points between any two effects of a real process: every one is written to a file, and one of them kills.

    DOS_FAULT_LOG=FILE                         every worker and supervisor writes each point that it passes
    DOS_FAULT_POINT=worker:MoveBranch:after:1  and dies with SIGKILL at this one; after `all:`, everybody does

A point is ROLE:EFFECT:before|after, where a record is named by its kind (Record/unit_landed); the number says which of
those that the whole fleet passes, so that a worker that is started again does not die again.
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

EVERYBODY = "all:"


def with_kill_points(role: str, performers: Performers) -> Performers:
    log, point = Path(os.environ["DOS_FAULT_LOG"]), os.environ.get("DOS_FAULT_POINT", "")
    points = KillPoints(
        role, log, point.removeprefix(EVERYBODY), everybody=point.startswith(EVERYBODY)
    )
    return {kind: partial(points.perform, perform) for kind, perform in performers.items()}


class KillPoints:
    def __init__(self, role: str, log: Path, fatal: str, *, everybody: bool) -> None:
        self._role = role
        self._log = log
        self._fatal = fatal
        self._everybody = everybody

    def perform(self, perform: Callable[[Any], Any], effect: Any) -> Any:
        name = type(effect).__name__
        if isinstance(effect, Record):
            name = f"{name}/{effect.fact.kind}"
        self._pass(f"{self._role}:{name}:before")
        answer = perform(effect)
        self._pass(f"{self._role}:{name}:after")
        return answer

    def _pass(self, point: str) -> None:
        line = f"{point} {os.getpid()}"
        with self._log.open("ab", buffering=0) as file:
            file.write(
                f"{line}\n".encode()
            )  # at once, and so never among the words of another process
            end = file.tell()
        if self._fatal.rpartition(":")[0] != point:
            return
        passed = self._log.read_bytes()[:end].decode().splitlines()
        if f"{point}:{sum(each.startswith(f'{point} ') for each in passed)}" == self._fatal:
            self._die({int(each.rpartition(" ")[2]) for each in passed})

    def _die(self, pids: set[int]) -> None:
        for pid in pids - {os.getpid()} if self._everybody else ():
            try:
                process = psutil.Process(pid)
                if process.environ().get("DOS_FAULT_LOG") == str(
                    self._log
                ):  # else the pid is another's by now
                    process.kill()
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                pass  # it has ended long since
        os.kill(os.getpid(), signal.SIGKILL)
