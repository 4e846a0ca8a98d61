"""Runs an agent program once: its own process group, every line kept, two clocks."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty, SimpleQueue

from dos.agents.adapter import Adapter, Launch
from dos.runtime.effects import Ended

KILL_AFTER_SECONDS = 5.0
LINES_KEPT = 20_000

# The agent must not outlive its worker. Set by a process that then becomes the agent: a function run between fork and
# exec of a process with threads could hang.
_LEASH = (
    "import ctypes,os,sys;"
    "ctypes.CDLL(None).prctl(1,9) if sys.platform=='linux' else None;"
    "os.getppid()==int(sys.argv[1]) or sys.exit(1);"
    "os.execvp(sys.argv[2],sys.argv[2:])"
)


class AgentProcess:
    def __init__(self, *, silence_seconds: float, wall_seconds: float) -> None:
        self._silence_seconds = silence_seconds
        self._wall_seconds = wall_seconds
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Called from another thread when the lease is lost: the agent must not go on."""
        self._stopped.set()

    def run(self, adapter: Adapter, launch: Launch, *, cwd: Path, environment: dict[str, str], log: Path) -> Ended:
        began = time.monotonic()
        try:
            process = self._start(launch, cwd, environment)
        except OSError as error:
            return Ended(outcome="launch_failed", exit_code=None, claim=str(error), seconds=0.0)
        lines: list[str] = []
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w", encoding="utf-8", errors="replace") as kept:
            hung = self._listen(process, lines, kept.write)
        exit_code = process.wait()
        end = adapter.outcome(lines, exit_code, hung=hung)
        kind = "killed" if self._stopped.is_set() else end.kind
        return Ended(outcome=kind, exit_code=exit_code, claim=end.claim, seconds=time.monotonic() - began)

    def _start(self, launch: Launch, cwd: Path, environment: dict[str, str]) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _LEASH, str(os.getpid()), *launch.argv],
            cwd=cwd,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        assert process.stdin is not None
        try:
            process.stdin.write(launch.stdin)
            process.stdin.close()
        except BrokenPipeError:
            pass  # it did not want to be told; how it ends will say more
        return process

    def _listen(self, process: "subprocess.Popen[str]", lines: list[str], keep: Callable[[str], object]) -> bool:
        """Gather lines until the end; True when a clock ran out and the agent had to be ended."""
        heard: SimpleQueue[str | None] = SimpleQueue()
        threading.Thread(target=_pump, args=(process, heard), daemon=True).start()
        deadline = time.monotonic() + self._wall_seconds
        last = time.monotonic()
        while True:
            try:
                line = heard.get(timeout=0.1)
            except Empty:
                now = time.monotonic()
                if self._stopped.is_set() or now > deadline or now - last > self._silence_seconds:
                    _end(process)
                    return not self._stopped.is_set()
                if process.poll() is not None and now - last > 1.0:
                    _end(process)  # it has ended and a child of its own still holds the pipe
                    return False
                continue
            if line is None:
                _end(process)
                return False
            last = time.monotonic()
            if len(lines) < LINES_KEPT:
                lines.append(line)
            keep(line)


def _pump(process: "subprocess.Popen[str]", heard: "SimpleQueue[str | None]") -> None:
    assert process.stdout is not None
    for line in process.stdout:
        heard.put(line)
    heard.put(None)


def _end(process: "subprocess.Popen[str]") -> None:
    """End the agent and everything it started."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
        except ProcessLookupError:
            return
        try:
            process.wait(timeout=KILL_AFTER_SECONDS)
        except subprocess.TimeoutExpired:
            continue
