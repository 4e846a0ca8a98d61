"""What a lane still has to do: the units of the plan documents, less what has landed."""

from collections.abc import Collection, Sequence

from dos.config.tables import Config
from dos.errors import BadInput
from dos.journal.states.fleet import Fleet
from dos.records.units import Unit
from dos.runtime.effects import Backlog, Landing
from dos.sources import plan_documents
from dos.sources.workspace import Workspace

MOST_DEATHS = 2  # of runs at one unit, in a row: then a person has to look


def survey(
    units: Sequence[Unit], config: Config, fleet: Fleet, lane: str, others: Collection[str] = frozenset()
) -> Backlog:
    """`others` are the runs that live on other lanes: what one is at is not ours, whatever the plan says now."""
    theirs = {name for name, unit in fleet.units.items() if unit.claimed_by in others}
    mine = [unit for unit in units if lane_of(unit, config) == lane and unit.name not in theirs]
    landed = [unit.name for unit in mine if (seen := fleet.units.get(unit.name)) and seen.landed]
    known = {unit.name: fleet.units[unit.name] for unit in mine if unit.name in fleet.units}
    stuck = [name for name, unit in known.items() if unit.deaths >= MOST_DEATHS and not unit.landed]
    return Backlog(
        open=[unit for unit in mine if unit.name not in landed and unit.name not in stuck],
        stuck=stuck,
        landed=landed,
        interrupted=[name for name, unit in known.items() if unit.claimed_by and not unit.landed],
        unsettled=[
            Landing(unit=name, branch=unit.intended.branch, old=unit.intended.old, new=unit.intended.new)
            for name, unit in known.items()
            if unit.intended
        ],
        history={name: unit.tries for name, unit in known.items() if unit.tries},
    )


def read_units(place: Workspace, config: Config) -> list[Unit]:
    return plan_documents.first_of_each(_every(place, config))


def _every(place: Workspace, config: Config) -> list[Unit]:
    glob = config.paths.plans_glob
    try:
        return list(plan_documents.every(place.root, glob))
    except (ValueError, NotImplementedError) as error:
        raise BadInput(
            f"[paths] plans_glob is {glob!r}, which is no pattern for files here: {error}",
            hint="dos config unset paths.plans_glob",
        ) from error


def never_offered(place: Workspace, config: Config) -> list[str]:
    """The units that no worker will ever take, each with where it stands and why."""
    first: dict[str, Unit] = {}
    found = []
    for unit in _every(place, config):
        earlier = first.setdefault(unit.name, unit)
        lane = lane_of(unit, config)
        if earlier is not unit:
            why = f"{earlier.document}:{earlier.line} has a unit of that name already"
        elif lane is None and unit.lane:
            why = f"it names the lane {unit.lane!r}, which is not declared"
        elif lane is None:
            why = "it names no lane, and [lanes] autopick is empty"
        elif lane not in config.roster():
            why = f"no worker is placed on its lane {lane!r}, which is neither concurrent nor exclusive"
        else:
            continue
        found.append(f"{unit.document}:{unit.line}: unit {unit.name} is never offered: {why}")
    return found


def lane_of(unit: Unit, config: Config) -> str | None:
    """The unit's own lane; a unit that names none goes to the first lane that is picked by itself."""
    if unit.lane:
        return config.canonical_lane(unit.lane)
    return config.lanes.autopick[0] if config.lanes.autopick else None
