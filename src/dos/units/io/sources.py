"""The one place that says where units come from: plan documents, an issue tracker's files, or a program."""

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import structs

from dos import regions
from dos.agents import registry
from dos.config.schema import Config
from dos.errors import BadInput, RegionInvalid
from dos.text import did_you_mean, quote
from dos.units.io import documents
from dos.units.portfolio import Portfolio, assemble
from dos.units.unit import PlanClaim, Problem, ProblemKind, Unit
from dos.workspace import Workspace
from dos.world import World


def resolve_unit_name(world: World, word: str) -> str:
    """The unit's name; the word itself where no plan has it: callers may have units of their own."""
    if "/" in word:
        return word
    found = find_unit(read(world.workspace, world.config).units, word)
    return found.name if found else word


def find_unit(declared: Sequence[Unit], word: str) -> Unit | None:
    by_name = next((unit for unit in declared if unit.name == word), None)
    fits = [unit for unit in declared if unit.id == word]
    if by_name is None and len(fits) > 1:
        names = ", ".join(unit.name for unit in fits)
        raise BadInput(
            f"{quote(word)} is in several plans: {names}", hint="Give one of these names."
        )
    return by_name or next(iter(fits), None)


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


def infeasible_units(root: Path, units: Sequence[Unit], config: Config) -> Iterator[Problem]:
    """Of units that are not claimed to be done: each with what can never be so."""
    for unit in units:
        if unit.claimed == PlanClaim.SHIPPED:
            continue
        if outside := _outside(unit, config):
            lane = _lane(unit, config)
            what = f"unit {unit.name} names {', '.join(outside)}, which can never lie in its lane {lane!r}"
            yield _problem(ProblemKind.PATHS_OUTSIDE_LANE, unit, what)
        if missing := _missing(root, unit.acceptance, config):
            what = (
                f"unit {unit.name}: its acceptance starts {missing!r}, and there is no such program"
            )
            yield _problem(ProblemKind.ACCEPTANCE_PROGRAM_MISSING, unit, what)


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


def _problem(kind: ProblemKind, unit: Unit, what: str) -> Problem:
    return Problem(kind=kind, what=what, document=unit.document, line=unit.line)


def read(
    workspace: Workspace,
    config: Config,
    *,
    include_counted: bool = False,
    texts: Mapping[str, str | None] | None = None,
) -> Portfolio:
    """Every unit of the workspace, in the order in which they should be offered, and what is wrong with them.

    With `counted`, also the headings of documents in which nothing has an id: to be shown, not to be worked on.
    `texts` are the documents that count, by their names, whatever is on disk; a document whose text is None does not.
    """
    plans = config.plans
    if plans.source == "beads":
        from dos.units.io import beads

        units, problems = beads.read(workspace.root, plans.beads)
    elif plans.source == "command":
        from dos.units.io import command

        units, problems = command.read(workspace.root, plans.command, plans.timeout_seconds)
    else:
        units, problems = _documents(workspace, config, counted=include_counted, texts=texts)
    complete = [_completed(unit, config) for unit in units] if config.units else units
    return assemble(
        complete,
        [*problems, *infeasible_units(workspace.root, complete, config)],
        knows_lane=lambda lane: config.canonical_lane(lane) is not None,
        why_no_agent=lambda agent: agent_trouble(agent, config),
        classes=config.lifecycle.classes,
    )


def agent_trouble(agent: str, config: Config) -> str:
    """Why nobody can start an agent of this name; empty where it is known."""
    if agent in config.agents or registry.is_known(agent):
        return ""
    known = [*config.agents, *(name for name in registry.names() if name not in config.agents)]
    return f"there is no such agent; {did_you_mean(agent, known, 'agents')}"


def _completed(unit: Unit, config: Config) -> Unit:
    """With what [units] says of it where its own plan is silent."""
    found = config.units.get(unit.name) or config.units.get(unit.id)
    if found is None:
        return unit
    return structs.replace(
        unit, paths=unit.paths or found.paths, acceptance=unit.acceptance or found.accept
    )


def _documents(
    workspace: Workspace, config: Config, *, counted: bool, texts: Mapping[str, str | None] | None
) -> tuple[list[Unit], list[Problem]]:
    units: list[Unit] = []
    problems: list[Problem] = []
    paths = config.paths  # packets show units too, and are no plans
    grammar = config.enumerate
    for found in documents.read_documents(
        workspace.root, paths.plans_glob, grammar, paths.next_packets, texts=texts
    ):
        if isinstance(found, tuple):
            name, unread = found
            problems.append(Problem(kind=ProblemKind.UNREADABLE, what=unread.why, document=name))
        else:
            units += [each.unit for each in found.declared] if counted else found.units
            problems += found.problems
    return units, problems
