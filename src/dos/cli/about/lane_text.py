"""A lane as it is explained to a person."""

from typing import Any

from msgspec import Struct, to_builtins

from dos.config.schema import Config


class Lane(Struct, frozen=True, kw_only=True):
    lane: str
    kind: str  # concurrent | exclusive | undeclared
    exclusivity: str
    tree: tuple[str, ...]
    aliases: list[str]
    autopick: bool

    def to_json(self) -> dict[str, Any]:
        made: dict[str, Any] = to_builtins(self)
        return made


def every(config: Config) -> list[Lane]:
    return [_lane(config, name) for name in config.lanes.declared()]


def one(config: Config, name: str) -> Lane | None:
    """By its name in any case, or by an alias."""
    lane = config.canonical_lane(name)
    return None if lane is None else _lane(config, lane)


def _lane(config: Config, name: str) -> Lane:
    lanes = config.lanes
    if name in lanes.exclusive:
        kind, exclusivity = "exclusive", "runs alone: nothing else may be held beside it"
    elif name in lanes.concurrent:
        kind, exclusivity = "concurrent", "runs beside every lane whose paths it does not meet"
    else:
        kind, exclusivity = (
            "undeclared",
            "has a tree or is picked, and is neither concurrent nor exclusive",
        )
    return Lane(
        lane=name,
        kind=kind,
        exclusivity=exclusivity,
        tree=lanes.trees.get(name, ()),
        aliases=[word for word in lanes.aliases if lanes.canonical(word) == name],
        autopick=name in lanes.autopick,
    )


def page(lane: Lane, held_by: str) -> str:
    rows = {
        "NAME": lane.lane,
        "KIND": lane.kind,
        "EXCLUSIVITY": lane.exclusivity,
        "TREE": ", ".join(lane.tree)
        or "none: its region is unknown, and unknown overlaps everything",
        "ALIASES": ", ".join(lane.aliases) or "none",
        "AUTOPICK": "yes" if lane.autopick else "no",
        "HELD BY": held_by or "nobody",
    }
    return "\n".join(f"{label:<12} {value}" for label, value in rows.items())
