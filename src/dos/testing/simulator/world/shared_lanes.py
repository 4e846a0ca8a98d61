"""Simulated workspaces with lanes that several workers share, each on a part."""

from msgspec import structs

from dos.fleet import worker_health
from dos.fleet.population.types import Supervise
from dos.lanes.policy import Lanes
from dos.regions import region
from dos.testing.simulator.world.workspace import SimulatedWorkspace, declared_unit

MOST_PARTS = 2  # of one lane that may have a worker
MORE_UNITS = (6, 7)  # of each lane with units, by their numbers


def with_shared_lanes(drawn: SimulatedWorkspace) -> SimulatedWorkspace:
    """Return the workspace with lanes that several workers share, each on a part.

    Each lane with units gets two more. Of every third unit the paths are not declared, so that it
    is worked on in the whole lane.
    """
    lanes = drawn.config.lanes
    declared = list(drawn.units)
    for lane in dict.fromkeys(unit.lane for unit in drawn.units):
        for number in MORE_UNITS:
            declared.append(declared_unit(f"{lane.upper()}{number}", "one more", lane))
    units = []
    for place, unit in enumerate(declared):
        folder = lanes.trees[unit.lane][0].removesuffix("**")
        paths = (f"{folder}{unit.id}/**",) if place % 3 != 2 else ()
        units.append(structs.replace(unit, paths=paths))
    shared = structs.replace(
        drawn.config,
        lanes=Lanes(repeatable=lanes.concurrent, trees=lanes.trees),
        supervise=Supervise(max_concurrency=MOST_PARTS),
    )
    config = worker_health.with_parts(shared, units)
    return structs.replace(
        drawn,
        config=config,
        shared=shared,
        units=tuple(units),
        target=drawn.target + 1,
        regions={name: config.lane_region(name) or region([]) for name in config.roster()},
    )
