"""Puts the agent programs into the tests' cache, once for all runs on this machine."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

from programs import Program

# Read when the tests are collected: later they have a cache folder of their own.
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
FOLDER = Path(os.environ.get("DOS_TESTS_PROGRAMS") or _CACHE / "dos-tests" / "agents")
INSTALL_SECONDS = 600
START_SECONDS = 120
_PROGRAMS = {"npm": "node_modules/.bin", "PyPI": "bin"}
_dead_network = ""  # why npm could not install one before


class Unavailable(Exception):
    """The program cannot be had on this machine; the message says why."""


@cache
def path_of(program: Program) -> Path:
    """Where it is, once it has started and said its version."""
    if why := _install(program):
        raise Unavailable(why)
    path = _folder(program) / _PROGRAMS[program.registry] / program.program
    if not program.prints_version:
        return path
    clean = {"PATH": os.environ["PATH"], "HOME": str(FOLDER)}
    try:
        done = subprocess.run(
            [path, "--version"], env=clean, capture_output=True, text=True, timeout=START_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{program.program} does not start: {error}") from error
    if done.returncode or program.version not in done.stdout:
        raise Unavailable(
            f"{program.program} --version: {(done.stdout + done.stderr).strip()[-300:]}"
        )
    return path


def command_of(program: Program) -> list[str]:
    """The words that start it."""
    words = [str(path_of(program))]
    if program.interpreter is None:
        return words
    return [str(path_of(program.interpreter)), *words]


def _folder(program: Program) -> Path:
    """Where it is installed."""
    if program.own_folder:
        return FOLDER.with_name("programs") / program.name
    return FOLDER


def _install(program: Program) -> str:
    """Why it is not there; empty when it is."""
    if _installed(program) == program.version:
        return ""
    npm = shutil.which("npm")
    if program.registry == "npm" and npm is None:
        return f"{program.program} is not installed, and npm is not on the PATH"
    folder = _folder(program)
    folder.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + INSTALL_SECONDS
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    return (
                        f"another run has been installing the agent programs for "
                        f"{INSTALL_SECONDS} s"
                    )
                time.sleep(0.5)
        if _installed(program) == program.version:  # the other run did it
            return ""
        seconds = max(1.0, deadline - time.monotonic())
        if npm is None or program.registry == "PyPI":
            return _fetch_from_pypi(program, seconds=seconds)
        return _fetch(npm, program, seconds=seconds)


def _fetch_from_pypi(program: Program, *, seconds: float) -> str:
    """Why it could not be installed, into an environment of its own."""
    folder = _folder(program)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet"]
    try:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True)
        words = [*pip, f"{program.package}=={program.version}", *program.also]
        done = subprocess.run(words, capture_output=True, text=True, timeout=seconds)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        return f"{program.program} could not be installed: {error}"
    if done.returncode:
        return f"{program.program} could not be installed: {done.stderr.strip()[-300:]}"
    return ""


def _fetch(npm: str, program: Program, *, seconds: float) -> str:
    """Why it could not be installed; a dead network is slow to say so, and is asked once for all
    programs."""
    global _dead_network
    if _dead_network:
        return f"{program.program} could not be installed: {_dead_network}"
    quiet = (
        "--no-fund",
        "--no-audit",
        "--save-exact",
        "--fetch-retries=1",
        "--prefix",
        str(_folder(program)),
    )
    words = [npm, "install", *quiet, f"{program.package}@{program.version}"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        _dead_network = f"npm did not end within {INSTALL_SECONDS} s"
        return f"{program.program} could not be installed: {_dead_network}"
    if done.returncode:
        said = [
            line.removeprefix("npm error ")
            for line in done.stderr.splitlines()
            if "npm error" in line
        ]
        _dead_network = "; ".join(said[:3])
        return f"{program.program} could not be installed: {_dead_network}"
    return (
        "" if _installed(program) == program.version else f"npm did not install {program.program}"
    )


def _installed(program: Program) -> str:
    if program.registry == "PyPI":
        name = program.package.replace("-", "_")
        found = _folder(program).glob(f"lib/python3*/site-packages/{name}-*.dist-info")
        return next((path.stem.rpartition("-")[2] for path in found), "")
    package = _folder(program) / "node_modules" / program.package / "package.json"
    try:
        return str(json.loads(package.read_text())["version"]).removeprefix("v")
    except (FileNotFoundError, ValueError, KeyError):
        return ""
