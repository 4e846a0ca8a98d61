"""Units that cannot be done as they stand: paths outside of their lane, an acceptance that starts nothing."""

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from dos import regions
from dos.config.schema import Config
from dos.errors import BadInput, RegionInvalid
from dos.units.unit import Claim, Problem, Trouble, Unit

# Built into the shell, or part of its grammar: nothing that could be missing.
_BUILT_IN = frozenset(
    (
        *(
            ".",
            ":",
            "!",
            "[",
            "[[",
            "(",
            "{",
            "alias",
            "bg",
            "case",
            "cd",
            "command",
            "echo",
            "eval",
            "exec",
            "exit",
        ),
        *(
            "export",
            "false",
            "fi",
            "for",
            "function",
            "if",
            "printf",
            "pwd",
            "read",
            "set",
            "shift",
            "source",
            "test",
        ),
        *("time", "trap", "true", "type", "ulimit", "umask", "unset", "until", "wait", "while"),
    )
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_MOVES = ("cd", "pushd")
_BREAKS = frozenset(("&&", "||", ";", "|", "&"))


def problems(root: Path, units: Sequence[Unit], config: Config) -> Iterator[Problem]:
    """Of units that are not claimed to be done: each with what can never be so."""
    for unit in units:
        if unit.claimed == Claim.SHIPPED:
            continue
        if outside := _outside(unit, config):
            lane = _lane(unit, config)
            what = f"unit {unit.name} names {', '.join(outside)}, which can never lie in its lane {lane!r}"
            yield _problem(Trouble.PATHS_OUTSIDE_LANE, unit, what)
        if missing := _missing(root, unit.acceptance, config):
            what = (
                f"unit {unit.name}: its acceptance starts {missing!r}, and there is no such program"
            )
            yield _problem(Trouble.ACCEPTANCE_PROGRAM_MISSING, unit, what)


def _lane(unit: Unit, config: Config) -> str:
    if unit.lane:
        return config.canonical_lane(unit.lane) or ""
    return config.lanes.autopick[0] if config.lanes.autopick else ""


def _outside(unit: Unit, config: Config) -> list[str]:
    """The globs that share no file with the lane; none where nobody knows what the lane holds."""
    lane = _lane(unit, config)
    held = config.lane_region(lane) if lane else None
    if held is None or not held.is_known:
        return []
    return [glob for glob in unit.paths if _is_apart(glob, held)]


def _is_apart(glob: str, held: regions.Region) -> bool:
    try:
        return regions.disjoint(regions.region([glob]), held)
    except (RegionInvalid, BadInput):
        return False  # what it means is said where regions are read


def _missing(root: Path, command: str, config: Config) -> str:
    """The program that the command starts first, when it is not there; empty where nobody can tell."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        return ""  # the shell's own grammar, beyond words
    if any(word in _MOVES for word in words[:1]):
        return ""  # elsewhere, and perhaps only once the work is done
    program = next((word for word in words if not _ASSIGNMENT.match(word)), "")
    if (
        not program
        or program in _BUILT_IN
        or program in _BREAKS
        or set(program) & set("$`*?(){}<>;|&")
    ):
        return ""
    if "/" not in program:
        return "" if shutil.which(program) else program
    place = Path(os.path.expanduser(program))  # noqa: PTH111 - there may be no home
    by_setup = place.parts[0] in (".venv", "node_modules")
    if not place.is_absolute() and (config.workers.setup or not by_setup):
        return ""  # the setup may make it, or the work itself
    return "" if (place if place.is_absolute() else root / place).exists() else program


def _problem(kind: Trouble, unit: Unit, what: str) -> Problem:
    return Problem(kind=kind, what=what, document=unit.document, line=unit.line)
