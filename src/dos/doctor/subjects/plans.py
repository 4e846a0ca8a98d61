"""The plans: is there work, can each unit be offered, and is it told from every other?"""

import os
import shlex
from collections import defaultdict
from functools import lru_cache
from itertools import takewhile
from pathlib import Path

from dos.config import edit, infer
from dos.config.schema import Paths, Stamp
from dos.doctor.subjects import git
from dos.doctor.subjects.finding import Finding, error, note, warning
from dos.errors import BadInput
from dos.text import join_some, quote
from dos.units.io import documents as plan_documents
from dos.units.io import sources
from dos.units.portfolio import Portfolio
from dos.units.unit import Problem, ProblemKind, Unit
from dos.verify import mentions
from dos.world import World

FIRST_UNIT = "## FIRST1: say what should be true\n\n- lane: {lane}\n"
PROBLEM_EFFECTS = {
    ProblemKind.UNREADABLE: "What it declares is not known, and nothing is offered until it can be read.",
    ProblemKind.NOT_CLOSED: "Units below it are not found.",
    ProblemKind.RANGE: "A heading declares one unit; nothing is offered for this one.",
    ProblemKind.DUPLICATE: "Only the first of the two counts.",
    ProblemKind.UNMARKED: "It declares no unit, so nothing is offered for it.",
    ProblemKind.AGENT_UNKNOWN: "It is held until its agent is one that there is.",
    ProblemKind.CLASS_UNKNOWN: "Nobody knows whether it may be worked on.",
    ProblemKind.KEY_MISTYPED: "The unit is held until the key is corrected, or the line is no list item any more.",
    ProblemKind.PATHS_OUTSIDE_LANE: "Whatever an agent commits there is outside of the lane, and never lands.",
    ProblemKind.ACCEPTANCE_PROGRAM_MISSING: "Its work could never be accepted.",
    ProblemKind.SOAK_UNREADABLE: "A soak whose end nobody can read never ends.",
    ProblemKind.DEPENDENCY_UNKNOWN: "A unit waits until everything it depends on has landed.",
    ProblemKind.DEPENDENCY_CYCLE: "None of them is ever offered.",
}


@lru_cache(maxsize=1)
def _portfolio(world: World) -> Portfolio:
    return sources.read(world.workspace, world.config)


def all_units(world: World) -> tuple[Unit, ...]:
    return _portfolio(world).units


def _documents(world: World, glob: str) -> list[Path]:
    root = world.workspace.root
    plain = takewhile(lambda part: not set(part) & set("*?["), Path(glob).parts[:-1])
    if (folder := root.joinpath(*plain)).is_dir():
        os.scandir(folder).close()  # a search passes over what it may not look into
    return [path for path in plan_documents.plan_paths(root, glob) if path.is_file()]


def examine_plans(world: World) -> list[Finding]:
    glob, plans = world.config.paths.plans_glob, world.config.plans
    from_documents = plans.source == "documents"
    try:
        found = _portfolio(world)
        documents = _documents(world, glob) if from_documents and not found.units else []
    except BadInput as failure:
        if from_documents:
            fix = edit.unset_command(("paths", "plans_glob"))
            return [error("PLANS_GLOB_INVALID", failure.message, "No unit is found.", fix)]
        fix = edit.unset_command(("plans", "source"))
        return [error("PLANS_SOURCE_FAILED", failure.message, "No unit is found.", fix)]
    findings = [_finding(world, problem) for problem in found.problems]
    if found.units:
        return [*findings, *_without_lane(world, found.units), *_shared_ids(world, found.units)]
    if documents and not findings:
        what = f"no heading of the documents {glob!r} names a unit"
        why = "A unit is a heading with an id of letters and digits: `## AUTH1: log in`."
        return [warning("PLANS_WITHOUT_UNITS", what, why, edit.edit_command(documents[0]))]
    if documents or not from_documents:
        return findings
    # Outside of git nobody knows how much lies below, and looking everywhere may never end.
    elsewhere = infer.plans_glob(world.workspace.root) if world.workspace.common else None
    there = elsewhere and _documents(world, elsewhere)
    fix = (
        edit.set_command(("paths", "plans_glob"), elsewhere) if there else _first_plan(world, glob)
    )
    return [warning("NO_PLANS", f"no file matches {glob!r}", "There is no unit to work on.", fix)]


def examine_naming(world: World) -> list[Finding]:
    """A grammar that understands nobody here would call everything not shipped."""
    stamp, commits = world.config.stamp, git.repository(world).commits
    shaped = mentions.ship_shaped_commits(commits)
    units = {(unit.plan, unit.id) for unit in all_units(world)}
    if stamp == Stamp() or not shaped or mentions.commits_naming(commits, units, stamp):
        return []
    if mentions.grammar_recognises_some(shaped, stamp):
        return []
    return [
        warning(
            "STAMP_RECOGNISES_NOTHING",
            f"[stamp] understands none of {len(shaped)} subjects that name units, such as {quote(shaped[0][0])}",
            "`dos verify` finds nothing that was shipped.",
            "dos config show stamp",
        )
    ]


def _first_plan(world: World, glob: str) -> str:
    """Writes a document where the glob finds it, or where the default does."""
    usual = Paths().plans_glob
    simple = (
        not set(glob) & set("?[]\\")
        and not glob.endswith(("/", "**"))
        and ".." not in Path(glob).parts
    )
    inside = (glob if simple else usual).replace("**/", "").replace("*", "first")
    place = world.workspace.root / inside
    lanes = world.config.lanes.autopick or tuple(world.config.roster()) or ("main",)
    text = (
        FIRST_UNIT.format(lane=lanes[0])
        .replace("\\", "\\\\")
        .replace("%", "%%")
        .replace("\n", "\\n")
    )
    begin = "" if simple else f"{edit.unset_command(('paths', 'plans_glob'))} && "
    return f"{begin}mkdir -p {shlex.quote(str(place.parent))} && printf {shlex.quote(text)} > {shlex.quote(str(place))}"


def _finding(world: World, problem: Problem) -> Finding:
    why = (
        PROBLEM_EFFECTS.get(problem.kind)
        or f"It is never offered. The lanes are: {join_some(world.config.roster())}."
    )
    place = world.workspace.root / problem.document
    unread = problem.kind is ProblemKind.UNREADABLE and not os.access(place, os.R_OK)
    fix = (
        edit.make_readable_command(place)
        if unread
        else _edit_unit_command(world, problem.document, problem.line)
    )
    return warning(problem.kind, str(problem), why, fix)


def _without_lane(world: World, units: tuple[Unit, ...]) -> list[Finding]:
    if world.config.lanes.autopick:
        return []
    return [
        warning(
            "UNIT_WITHOUT_LANE",
            f"{_unit_place(unit)}: unit {unit.name} names no lane, and [lanes] autopick is empty",
            "It is never offered.",
            _edit_unit_command(world, unit.document, unit.line),
        )
        for unit in units
        if not unit.lane
    ]


def _shared_ids(world: World, units: tuple[Unit, ...]) -> list[Finding]:
    by_id: defaultdict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        by_id[unit.id].append(unit)
    return [
        note(
            "UNIT_ID_SHARED",
            f"{len(same)} units have the id {unit_id}: {join_some([_unit_place(unit) for unit in same])}",
            "A commit that names only the id says nothing of which.",
            _edit_unit_command(world, same[-1].document, same[-1].line),
        )
        for unit_id, same in by_id.items()
        if len(same) > 1
    ]


def _unit_place(unit: Unit) -> str:
    return f"{unit.document}:{unit.line}"


def _edit_unit_command(world: World, document: str, line: int) -> str:
    if world.config.plans.source == "command":
        return "dos config get plans.command"
    return edit.edit_command(world.workspace.root / document, line or None)
