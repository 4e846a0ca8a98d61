"""Read the units of a workspace from plan documents, an issue tracker's files, or a program.

The order of the units is the order in which they are offered. Units that can never be done, for
their paths or their acceptance command, are reported here, before an agent is paid for trying.
"""

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dos import regions
from dos.agents import registry
from dos.config.schema import Config
from dos.errors import BadInput, RegionInvalid
from dos.text import did_you_mean, quote
from dos.units.io import documents
from dos.units.policy import settings_of
from dos.units.portfolio import Portfolio, assemble
from dos.units.unit import PlanClaim, Problem, ProblemKind, Unit
from dos.workspace import Workspace
from dos.world import World

# Built into the shell, or part of its grammar: these cannot be missing.
_SHELL_WORDS = (
    ". : ! [ [[ ( { alias bg case cd command echo eval exec exit export false fi for function if"
    " printf pwd read set shift source test time trap true type ulimit umask unset until wait"
    " while"
)
_BUILT_IN = frozenset(_SHELL_WORDS.split())
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_CHANGES_FOLDER = ("cd", "pushd")
_OPERATORS = frozenset(("&&", "||", ";", "|", "&"))
_SHELL_CHARACTERS = frozenset("$`*?(){}<>;|&")
_MADE_BY_SETUP = (".venv", "node_modules")


def read(
    workspace: Workspace,
    config: Config,
    *,
    include_counted: bool = False,
    texts: Mapping[str, str | None] | None = None,
) -> Portfolio:
    """Every unit of the workspace in the order to offer them, and the problems of the plans.

    With `include_counted`, also the headings of documents in which nothing has an id: to be
    shown, not to be worked on. `texts` are the documents that count, by name, whatever is on
    disk; one whose text is None does not count. Raises BadInput if [plans] cannot be read.
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
    if config.units:
        units = [_with_settings(unit, config) for unit in units]
    problems += infeasible_units(workspace.root, units, config)
    return assemble(
        units,
        problems,
        knows_lane=lambda lane: config.canonical_lane(lane) is not None,
        why_no_agent=lambda agent: agent_trouble(agent, config),
        classes=config.lifecycle.classes,
    )


def resolve_unit_name(world: World, word: str) -> str:
    """The name of the unit that a word means; the word itself if no plan has it.

    Callers may have units of their own. Raises BadInput if several plans have the id.
    """
    if "/" in word:
        return word
    unit = find_unit(read(world.workspace, world.config).units, word)
    if unit:
        return unit.name
    return word


def find_unit(declared: Sequence[Unit], word: str) -> Unit | None:
    """The unit with this name, or with this id if only one plan has it; None if no plan has it.

    Raises BadInput if several plans have the id.
    """
    matches = []
    for unit in declared:
        if unit.name == word:
            return unit
        if unit.id == word:
            matches.append(unit)
    if len(matches) > 1:
        names = ", ".join(unit.name for unit in matches)
        raise BadInput(
            f"{quote(word)} is in several plans: {names}", hint="Give one of these names."
        )
    if matches:
        return matches[0]
    return None


def infeasible_units(root: Path, units: Sequence[Unit], config: Config) -> Iterator[Problem]:
    """The problems of units that can never be done as they are; not of those claimed as done."""
    for unit in units:
        if unit.claimed == PlanClaim.SHIPPED:
            continue
        if outside := _paths_outside_lane(unit, config):
            what = (
                f"unit {unit.name} names {', '.join(outside)},"
                f" which can never lie in its lane {_lane(unit, config)!r}"
            )
            yield _problem(ProblemKind.PATHS_OUTSIDE_LANE, unit, what)
        if missing := _missing_program(root, unit.acceptance, config):
            what = (
                f"unit {unit.name}: its acceptance starts {missing!r}, and there is no such program"
            )
            yield _problem(ProblemKind.ACCEPTANCE_PROGRAM_MISSING, unit, what)


def _lane(unit: Unit, config: Config) -> str:
    """The lane of a unit: its own, else the first of autopick."""
    if unit.lane:
        return config.canonical_lane(unit.lane) or ""
    if config.lanes.autopick:
        return config.lanes.autopick[0]
    return ""


def _paths_outside_lane(unit: Unit, config: Config) -> list[str]:
    """The unit's globs that share no file with its lane; none if the lane's region is unknown."""
    lane = _lane(unit, config)
    region = config.lane_region(lane) if lane else None
    if region is None or not region.is_known:
        return []
    return [glob for glob in unit.paths if _is_disjoint(glob, region)]


def _is_disjoint(glob: str, region: regions.Region) -> bool:
    """Whether a glob shares no file with the region."""
    try:
        return regions.disjoint(regions.region([glob]), region)
    except (RegionInvalid, BadInput):
        return False  # an invalid glob is reported where regions are read


def _missing_program(root: Path, command: str, config: Config) -> str:
    """The first program of a command if it does not exist; empty if it does or is unknown."""
    program = _first_program(command)
    if not program or program in _BUILT_IN or program in _OPERATORS:
        return ""
    if not _SHELL_CHARACTERS.isdisjoint(program) or _may_exist(root, program, config):
        return ""
    return program


def _may_exist(root: Path, program: str, config: Config) -> bool:
    """Whether a program exists, or can be there when its command runs.

    A path into the tree may be made by the setup or by the work itself, so only what neither can
    make is called missing.
    """
    if "/" not in program:
        return shutil.which(program) is not None
    path = Path(os.path.expanduser(program))  # noqa: PTH111 - there may be no home
    if path.is_absolute():
        return path.exists()
    if config.workers.setup or path.parts[0] not in _MADE_BY_SETUP:
        return True
    return (root / path).exists()


def _first_program(command: str) -> str:
    """The first word of a command that is a program; empty if that is unclear."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        return ""  # shell grammar beyond words
    if words and words[0] in _CHANGES_FOLDER:
        return ""  # it runs elsewhere, in a folder that the work may have to make
    for word in words:
        if not _ASSIGNMENT.match(word):
            return word
    return ""


def _problem(kind: ProblemKind, unit: Unit, what: str) -> Problem:
    return Problem(kind=kind, what=what, document=unit.document, line=unit.line)


def agent_trouble(agent: str, config: Config) -> str:
    """Why no agent of this name can be started; empty if it is known.

    Agents of [agents] and those that dos or a plugin brings are known.
    """
    if agent in config.agents or registry.is_known(agent):
        return ""
    known = list(dict.fromkeys((*config.agents, *registry.names())))
    return f"there is no such agent; {did_you_mean(agent, known, 'agents')}"


def _with_settings(unit: Unit, config: Config) -> Unit:
    """The unit with what [units] adds to what its plan states."""
    settings = settings_of(config.units, (unit.name, unit.id))
    if settings is None:
        return unit
    return settings.complete(unit)


def _documents(
    workspace: Workspace, config: Config, *, counted: bool, texts: Mapping[str, str | None] | None
) -> tuple[list[Unit], list[Problem]]:
    """The units of the plan documents, and what is wrong with them."""
    units: list[Unit] = []
    problems: list[Problem] = []
    paths = config.paths
    found = documents.read_documents(
        workspace.root,
        paths.plans_glob,
        config.enumerate,
        paths.next_packets,  # packets show units too, and are no plans
        texts=texts,
    )
    for document in found:
        if isinstance(document, tuple):
            name, unread = document
            problems.append(Problem(kind=ProblemKind.UNREADABLE, what=unread.why, document=name))
            continue
        if counted:
            units += [declaration.unit for declaration in document.declared]
        else:
            units += document.units
        problems += document.problems
    return units, problems
