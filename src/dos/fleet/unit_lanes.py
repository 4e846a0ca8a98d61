"""The lane that a unit belongs to by `dos.toml`, and why no worker is placed on it."""

from shlex import quote

from msgspec import json

from dos.config.schema import Config
from dos.text import join_some
from dos.units.unit import Unit


def why_unstaffed(unit: Unit, config: Config) -> str:
    """Why no worker is ever placed on the unit's lane; empty: one is."""
    lane = lane_of(unit, config)
    if lane is None and unit.lane:
        return f"its lane {unit.lane!r} is not declared"
    if lane is None:
        return "it names no lane, and [lanes] autopick is empty"
    if lane not in config.roster():
        return (
            f"no worker is placed on its lane {lane!r}, which is neither concurrent nor exclusive"
        )
    return ""


def how_to_staff(unit: Unit, config: Config) -> str:
    """What to do so that a worker takes a unit that none would take."""
    lane = lane_of(unit, config)
    if lane is None:
        return f"write `- lane: LANE` with one of {join_some(config.roster())} below {unit.document}:{unit.line}"
    lanes = json.encode([*config.lanes.concurrent, lane]).decode()
    return f"`dos config set lanes.concurrent {quote(lanes)}` places one"


def lane_of(unit: Unit, config: Config) -> str | None:
    """The unit's own lane; a unit that names none goes to the first lane that is picked by itself."""
    if unit.lane:
        return config.canonical_lane(unit.lane)
    return config.lanes.autopick[0] if config.lanes.autopick else None
