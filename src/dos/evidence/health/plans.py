"""The plan documents: is there work, and does each unit go to a lane that exists?"""

from shlex import quote

from dos.evidence.health.finding import Finding, error, warning
from dos.records.units import Unit
from dos.sources import plan_documents, surroundings
from dos.sources.world import World

FIRST_PLAN = (
    r"""mkdir -p docs && printf '## FIRST1: say what should be true\n\n- lane: {lane}\n' > docs/first-plan.md"""
)


def examine(world: World) -> list[Finding]:
    glob = world.config.paths.plans_glob
    try:
        units = plan_documents.read(world.workspace.root, glob)
        documents = any(path.is_file() for path in world.workspace.root.glob(glob))
    except (ValueError, NotImplementedError) as failure:
        what = f"[paths] plans_glob is {glob!r}, which is no pattern for files here: {failure}"
        return [error("PLANS_GLOB_INVALID", what, "No plan document is found.", "dos config unset paths.plans_glob")]
    if not documents:
        return [_nothing(world, glob)]
    if not units:
        what = f"no heading of the documents {glob!r} names a unit"
        why = "A unit is a heading with an id of letters and digits: `## AUTH1: log in`."
        return [warning("PLANS_WITHOUT_UNITS", what, why, f"grep -n '^##' {glob}")]
    return _lanes(world, units)


def _nothing(world: World, glob: str) -> Finding:
    # Outside of git nobody knows how much lies below, and looking everywhere may never end.
    elsewhere = surroundings.plans_glob(world.workspace.root) if world.workspace.common else None
    lanes = world.config.lanes.autopick or tuple(world.config.roster()) or ("main",)
    fix = FIRST_PLAN.format(lane=lanes[0])
    if elsewhere:
        fix = f"dos config set paths.plans_glob {quote(elsewhere)}"
    return warning("NO_PLANS", f"no file matches {glob!r}", "There is no unit to work on.", fix)


def _lanes(world: World, units: list[Unit]) -> list[Finding]:
    found = []
    for unit in units:
        place = f"{unit.document}:{unit.line}"
        fix = f"${{EDITOR:-vi}} +{unit.line} {quote(str(world.workspace.root / unit.document))}"
        if unit.lane and world.config.canonical_lane(unit.lane) is None:
            what = f"{place}: unit {unit.name} names the lane {unit.lane!r}, which is not declared"
            why = f"It is never offered. The lanes are: {', '.join(world.config.roster())}."
            found.append(warning("UNIT_LANE_UNKNOWN", what, why, fix))
        elif not unit.lane and not world.config.lanes.autopick:
            what = f"{place}: unit {unit.name} names no lane, and [lanes] autopick is empty"
            found.append(warning("UNIT_WITHOUT_LANE", what, "It is never offered.", fix))
    return found
