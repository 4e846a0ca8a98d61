"""What a lane still has to do: the units of the plan documents, less what has landed."""

from collections.abc import Collection, Sequence

from dos.config.tables import Config
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
    return plan_documents.read(place.root, config.paths.plans_glob)


def lane_of(unit: Unit, config: Config) -> str | None:
    """The unit's own lane; a unit that names none goes to the first lane that is picked by itself."""
    if unit.lane:
        return config.canonical_lane(unit.lane)
    return config.lanes.autopick[0] if config.lanes.autopick else None
