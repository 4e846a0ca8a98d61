"""A fleet as a person runs it: the real command, real workers, and ways to look at them."""

import subprocess
import sys
from contextlib import suppress

import psutil
from commanding import in_process
from patience import PATIENCE, wait_for
from sample_repository import Repository

from dos.machine.process import directory_of
from dos.workspace import find
from dos.world import World


class Fleet:
    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.started: list[subprocess.Popen[str]] = []

    def dos(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dos", *words]
        return subprocess.run(
            command, cwd=self.repository.root, capture_output=True, text=True, timeout=PATIENCE
        )

    def up(self, *words: str) -> subprocess.Popen[str]:
        return self.begin("up", "--tick", "0.3", *words)

    def begin(self, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "dos", *words]
        process = subprocess.Popen(
            command,
            cwd=self.repository.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.started.append(process)
        return process

    def status(self) -> dict[str, list[dict[str, str]]]:
        return in_process("--workspace", str(self.repository.root), "status", "--json").json

    def worker_at(self, lane: str, *, unit: bool = True) -> int:
        """The pid of the worker that is at a unit of this lane."""

        def found() -> int | None:
            if not any(
                row["lane"] == lane and (row["unit"] or not unit)
                for row in self.status()["workers"]
            ):
                return None
            with World(self.repository.root) as world:
                return next(
                    (lease.pid for lease in world.journal.leases() if lease.lane == lane), None
                )

        return wait_for(found)

    def stray_processes(self) -> list[str]:
        return [" ".join(process.info["cmdline"] or []) for process in self._processes()]

    def end(self) -> None:
        """Whatever was started, the agents in their worktrees too: until nobody is left who could
        start another."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.communicate()
        while left := self._processes():
            for each in left:
                with suppress(psutil.NoSuchProcess):
                    each.kill()
            psutil.wait_procs(left, timeout=PATIENCE)

    def _processes(self) -> list[psutil.Process]:
        """Those that work in the repository or in one of its worktrees."""
        mine = (str(self.repository.root), str(find(self.repository.root).worktrees))
        found = []
        for process in psutil.process_iter(["cmdline"]):
            with suppress(psutil.Error):
                if directory_of(process).startswith(mine):
                    found.append(process)
        return found


def landed(fleet: Fleet) -> list[str]:
    return sorted(row["unit"] for row in fleet.status()["units"] if row["state"] == "landed")


def history(fleet: Fleet) -> list[dict[str, object]]:
    with World(fleet.repository.root) as world:
        return [
            {"kind": event.kind, "stream": event.stream, "body": event.body}
            for event in world.journal.events()
        ]
