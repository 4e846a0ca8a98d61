"""The plan documents: is there work, does each unit go to a lane that exists, and is it told from every other?"""

import os
from collections import defaultdict
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from shlex import quote

from dos.config import commands
from dos.config.tables import Paths
from dos.evidence.health.finding import Finding, error, note, warning
from dos.records.names import listed
from dos.records.units import Unit
from dos.sources import plan_documents, surroundings
from dos.sources.world import World

FIRST_UNIT = "## FIRST1: say what should be true\n\n- lane: {lane}\n"


@lru_cache(maxsize=1)
def every(world: World) -> list[Unit]:
    return list(plan_documents.every(world.workspace.root, world.config.paths.plans_glob))


def _documents(world: World, glob: str) -> list[Path]:
    root = world.workspace.root
    plain = takewhile(lambda part: not set(part) & set("*?["), Path(glob).parts[:-1])
    if (folder := root.joinpath(*plain)).is_dir():
        os.scandir(folder).close()  # a search passes over what it may not look into
    found = sorted(path for path in root.glob(glob) if path.is_file())
    return [path for path in found if not {".git", ".dos"} & set(path.relative_to(root).parts)]


def examine(world: World) -> list[Finding]:
    glob = world.config.paths.plans_glob
    try:
        units = every(world)
        documents = _documents(world, glob) if not units else []
    except (ValueError, NotImplementedError) as failure:
        what = f"[paths] plans_glob is {glob!r}, which is no pattern for files here: {failure}"
        fix = commands.drop(("paths", "plans_glob"))
        return [error("PLANS_GLOB_INVALID", what, "No plan document is found.", fix)]
    if units:
        return [*_lanes(world, units), *_twice(world, units)]
    if documents:
        what = f"no heading of the documents {glob!r} names a unit"
        why = "A unit is a heading with an id of letters and digits: `## AUTH1: log in`."
        return [warning("PLANS_WITHOUT_UNITS", what, why, commands.edit(documents[0]))]
    # Outside of git nobody knows how much lies below, and looking everywhere may never end.
    elsewhere = surroundings.plans_glob(world.workspace.root) if world.workspace.common else None
    found = elsewhere and _documents(world, elsewhere)
    fix = commands.put(("paths", "plans_glob"), elsewhere) if found else _first_plan(world, glob)
    return [warning("NO_PLANS", f"no file matches {glob!r}", "There is no unit to work on.", fix)]


def _first_plan(world: World, glob: str) -> str:
    """Writes a document where the glob finds it, or where the default does."""
    usual = Paths().plans_glob
    simple = not set(glob) & set("?[]\\") and not glob.endswith(("/", "**")) and ".." not in Path(glob).parts
    inside = (glob if simple else usual).replace("**/", "").replace("*", "first")
    place = world.workspace.root / inside
    lanes = world.config.lanes.autopick or tuple(world.config.roster()) or ("main",)
    text = FIRST_UNIT.format(lane=lanes[0]).replace("\\", "\\\\").replace("%", "%%").replace("\n", "\\n")
    begin = "" if simple else f"{commands.drop(('paths', 'plans_glob'))} && "
    return f"{begin}mkdir -p {quote(str(place.parent))} && printf {quote(text)} > {quote(str(place))}"


def _lanes(world: World, units: list[Unit]) -> list[Finding]:
    found = []
    for unit in units:
        if unit.lane and world.config.canonical_lane(unit.lane) is None:
            what = f"{_place(unit)}: unit {unit.name} names the lane {unit.lane!r}, which is not declared"
            why = f"It is never offered. The lanes are: {listed(world.config.roster())}."
            found.append(warning("UNIT_LANE_UNKNOWN", what, why, _edit(world, unit)))
        elif not unit.lane and not world.config.lanes.autopick:
            what = f"{_place(unit)}: unit {unit.name} names no lane, and [lanes] autopick is empty"
            found.append(warning("UNIT_WITHOUT_LANE", what, "It is never offered.", _edit(world, unit)))
    return found


def _twice(world: World, units: list[Unit]) -> list[Finding]:
    """Units that cannot be told apart: by their whole name, which hides one, or by the id that a commit says."""
    by_name: defaultdict[str, list[Unit]] = defaultdict(list)
    by_id: defaultdict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        by_name[unit.name].append(unit)
        by_id[unit.id].append(unit)
    found = []
    for name, (first, *others) in by_name.items():
        for other in others:
            what = f"{_place(other)}: unit {name} is at {_place(first)} already"
            found.append(warning("UNIT_TWICE", what, "Only the first of them is read.", _edit(world, other)))
    for unit_id, same in by_id.items():
        if len({unit.name for unit in same}) > 1:
            what = f"{len(same)} units have the id {unit_id}: {listed([_place(unit) for unit in same])}"
            why = "A commit that names only the id says nothing of which."
            found.append(note("UNIT_ID_SHARED", what, why, _edit(world, same[-1])))
    return found


def _place(unit: Unit) -> str:
    return f"{unit.document}:{unit.line}"


def _edit(world: World, unit: Unit) -> str:
    return commands.edit(world.workspace.root / unit.document, unit.line)
