"""How the settings of agent programs call this dos, and which calls there lead to it.

A settings file is part of the repository, so whoever lands work can write a path into it. A path
that stands there is used again only where it leads to the dos that reads it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from dos.agenthooks.wiring import NAME, shim_caller, verb_caller

PROBE_SECONDS = 20.0


def dos_command() -> str:
    """Return how a hook calls this dos: by name where the PATH leads to it, else by its path."""
    beside = _beside()
    named = shutil.which(NAME)
    if named and (not beside.exists() or os.path.realpath(named) == os.path.realpath(beside)):
        return NAME
    if beside.exists():
        return str(beside)
    return NAME


def local_caller(dos: str) -> str:
    """Return how hooks of this machine call dos: by the fast command, where its Python runs dos."""
    if not _runs_dos(sys.executable):
        return verb_caller(dos)
    return own_shim_caller()


def own_shim_caller() -> str:
    """Return how hooks call the fast command of this dos, by its paths."""
    return shim_caller(sys.executable, str(Path(__file__).with_name("shim.py")))


def leads_here(used: str) -> bool:
    """Whether a name or a path that stands in a file calls this dos, or the one on the PATH."""
    named = shutil.which(NAME)
    if used == NAME:
        return named is not None
    known = [str(_beside())]
    if named:
        known.append(named)
    real = os.path.realpath(used)
    return os.access(used, os.X_OK) and real in map(os.path.realpath, known)


def works_outside_of(root: Path, used: str) -> bool:
    """Whether a name or a path leads to a program, and not into a repository: work lands there."""
    found = shutil.which(used)
    return found is not None and not Path(os.path.realpath(found)).is_relative_to(
        os.path.realpath(root)
    )


def _beside() -> Path:
    """The command of dos beside the interpreter that runs it."""
    return Path(sys.executable).with_name(NAME)


def _runs_dos(python: str) -> bool:
    """Whether an interpreter finds dos by itself, without the variables and folders of this one."""
    if not python:
        return False
    words = [python, "-I", "-c", "import dos.agenthooks"]
    try:
        done = subprocess.run(words, capture_output=True, timeout=PROBE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
