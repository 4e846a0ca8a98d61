"""Programs on the path, and what they say their versions are."""

import os
import re
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from dos.records.unknown import Unknown
from dos.sources import processes

TIMEOUT_SECONDS = 5.0
_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")


def versions(found: Mapping[str, str], timeout_seconds: float = TIMEOUT_SECONDS) -> dict[str, str | Unknown]:
    """Ask every program at once; one that hangs costs the time of one."""
    if not found:
        return {}
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=len(found)) as pool:
        asked = {name: pool.submit(version, path, timeout_seconds) for name, path in found.items()}
        return {name: answer.result() for name, answer in asked.items()}


def version(path: str, timeout_seconds: float = TIMEOUT_SECONDS) -> str | Unknown:
    try:
        child = subprocess.Popen(
            [path, "--version"],
            env=processes.child_environment(os.environ, Path.cwd()),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return Unknown(f"it cannot be started: {error.strerror}")
    with child:
        try:
            said, _ = child.communicate(timeout=timeout_seconds)
        except subprocess.TimeoutExpired:
            _end(child)
            return Unknown(f"it printed no version within {timeout_seconds:g} s")
    number = _VERSION.search(said)
    if child.returncode != 0:
        return Unknown(f"`--version` ended with exit code {child.returncode}")
    return number.group() if number else Unknown(f"it said {said.strip()[:60]!r}")


def _end(child: "subprocess.Popen[str]") -> None:
    """With everything it started: a child of its own could hold the pipe open for ever."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
