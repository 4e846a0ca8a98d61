"""The settings with the parts of repeatable lanes, for what is asked about a part by its name."""

from collections.abc import Collection

from dos.config.schema import Config
from dos.errors import BadInput
from dos.lanes import parts
from dos.text import quote
from dos.world import World


def config_for(world: World, lane: str) -> Config:
    """Return the settings; if the lane may be a part, with a lane for each part.

    The units are those of the plans on disk: this starts no worker. Raises BadInput where they
    cannot be read.
    """
    if not world.config.lanes.whole_of(lane):
        return world.config
    return config_with_parts(world)


def lane_of_unit(world: World, word: str) -> str:
    """Return the lane of a unit, by its name or its id: its part of a repeatable one, if any.

    Raises BadInput if no plan declares the unit, or if its lane is not declared.
    """
    from dos.units.io import sources  # only for callers that name a unit

    unit = sources.find_unit(sources.read(world.workspace, world.config).units, word)
    if unit is None:
        raise BadInput(f"no plan declares the unit {quote(word)}", hint="`dos plan` lists them.")
    lane = parts.lane_of(config_with_parts(world).lanes, unit)
    if lane is None:
        raise BadInput(
            f"the lane of unit {quote(word)} is not declared", hint="`dos lint` shows the problem."
        )
    return lane


def config_with_parts(world: World, landed: Collection[str] = ()) -> Config:
    """Return the settings with a lane for each part of a repeatable lane.

    No worker is placed on the parts of units that have `landed`.
    """
    if not world.config.lanes.repeatable:
        return world.config
    from dos.fleet import worker_health  # only for settings with such a lane
    from dos.units.io import sources

    units = sources.read(world.workspace, world.config).units
    return worker_health.with_parts(world.config, units, landed)
