"""Puts the agent programs into the tests' cache, once for all runs on this machine."""

import fcntl
import json
import os
import shutil
import subprocess
import time
from functools import cache
from pathlib import Path

from programs import ALL, Program

# Read when the tests are collected: later they have a cache folder of their own.
FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dos-tests" / "agents"
INSTALL_SECONDS = 600
START_SECONDS = 120


class Unavailable(Exception):
    """The program cannot be had on this machine; the message says why."""


@cache
def path_of(program: Program) -> Path:
    """Where it is, once it has started and said its version."""
    if why := _install():
        raise Unavailable(why)
    path = FOLDER / "node_modules" / ".bin" / program.program
    clean = {"PATH": os.environ["PATH"], "HOME": str(FOLDER)}
    try:
        done = subprocess.run([path, "--version"], env=clean, capture_output=True, text=True, timeout=START_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{program.program} does not start: {error}") from error
    if done.returncode or program.version not in done.stdout:
        raise Unavailable(f"{program.program} --version: {(done.stdout + done.stderr).strip()[-300:]}")
    return path


@cache
def _install() -> str:
    """Why they are not there; empty when they are. Tried once, since a dead network is slow to say so."""
    if not _missing():
        return ""
    npm = shutil.which("npm")
    if npm is None:
        return f"{_named(_missing())} not installed, and npm is not on the PATH"
    FOLDER.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + INSTALL_SECONDS
    with FOLDER.with_name("agents.lock").open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    return f"another run has been installing the agent programs for {INSTALL_SECONDS} s"
                time.sleep(0.5)
        if not (missing := _missing()):  # the other run did it
            return ""
        words = [
            npm,
            "install",
            "--no-fund",
            "--no-audit",
            "--save-exact",
            "--fetch-retries=1",
            "--prefix",
            str(FOLDER),
        ]
        wanted = [f"{program.package}@{program.version}" for program in missing]
        try:
            done = subprocess.run(
                [*words, *wanted], capture_output=True, text=True, timeout=max(1.0, deadline - time.monotonic())
            )
        except subprocess.TimeoutExpired:
            return f"{_named(missing)} could not be installed within {INSTALL_SECONDS} s"
        if done.returncode:
            said = [line.removeprefix("npm error ") for line in done.stderr.splitlines() if "npm error" in line]
            return f"{_named(missing)} could not be installed: {'; '.join(said[:3])}"
    return f"npm did not install {_named(_missing())}" if _missing() else ""


def _missing() -> list[Program]:
    return [program for program in ALL if _installed(program) != program.version]


def _installed(program: Program) -> str:
    try:
        return str(json.loads((FOLDER / "node_modules" / program.package / "package.json").read_text())["version"])
    except (FileNotFoundError, ValueError, KeyError):
        return ""


def _named(programs: list[Program]) -> str:
    return f"{len(programs)} of {len(ALL)} agent programs ({', '.join(program.program for program in programs)})"
