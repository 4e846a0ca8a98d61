"""A lane as it is explained to a person."""

from typing import Any

from msgspec import Struct, to_builtins

from dos.config.schema import Config
from dos.fleet.state.fleet import FleetState
from dos.loop import tokens
from dos.reasons import table
from dos.reasons.policy import registry


class LaneEntry(Struct, frozen=True, kw_only=True):
    lane: str
    kind: str  # concurrent | exclusive | undeclared
    exclusivity: str
    tree: tuple[str, ...]
    aliases: list[str]
    autopick: bool

    def to_json(self) -> dict[str, Any]:
        made: dict[str, Any] = to_builtins(self)
        return made


def all_lanes(config: Config) -> list[LaneEntry]:
    return [_lane_entry(config, name) for name in config.lanes.declared()]


def find_lane(config: Config, name: str) -> LaneEntry | None:
    """By its name in any case, or by an alias."""
    lane = config.canonical_lane(name)
    return None if lane is None else _lane_entry(config, lane)


def _lane_entry(config: Config, name: str) -> LaneEntry:
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
    return LaneEntry(
        lane=name,
        kind=kind,
        exclusivity=exclusivity,
        tree=lanes.trees.get(name, ()),
        aliases=[word for word in lanes.aliases if lanes.canonical(word) == name],
        autopick=name in lanes.autopick,
    )


def lane_page(lane: LaneEntry, held_by: str) -> str:
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


class ReasonEntry(Struct, frozen=True, kw_only=True):
    token: str
    kind: str
    category: str
    summary: str
    refusal: bool
    needs: str
    clears_by: str
    retryable: bool
    fix: str
    see_also: tuple[str, ...]
    built_in: bool

    def to_json(self) -> dict[str, Any]:
        made: dict[str, Any] = to_builtins(self)
        return made


def all_reasons(config: Config) -> list[ReasonEntry]:
    return [_reason_entry(reason) for reason in registry(config.reasons).rows]


def find_reason(config: Config, token: str) -> ReasonEntry | None:
    found = registry(config.reasons).find(token)
    return _reason_entry(found) if found else None


def guess_category(config: Config, token: str) -> str:
    """The category of a token that nobody declared, by the words in its name."""
    rules = ((rule.substring, rule.category) for rule in config.morphology)
    found = table.category_by_words(token, rules)
    return found[0] if found else table.Category.UNCLASSIFIED


def stopped_lanes(row: ReasonEntry, fleet: FleetState) -> list[str]:
    """The lanes whose latest run stopped for this reason."""
    latest = {run.lane: run for run in sorted(fleet.runs.values(), key=lambda run: run.begun_ms)}
    return [lane for lane, run in latest.items() if run.stop_reason.upper() == row.token.upper()]


def reason_page(row: ReasonEntry, live_on: str) -> str:
    clears_by = tokens.words(row.clears_by)
    rows = {
        "NAME": row.token,
        "KIND": row.kind,
        "CATEGORY": row.category,
        "REFUSAL?": "yes" if row.refusal else "no: a run stops for it",
        "MEANING": row.summary or "(the workspace gives none)",
        "CLEARED BY": clears_by
        if row.clears_by == row.needs
        else f"{clears_by} (needs {row.needs})",
        "TYPICAL FIX": row.fix or "none is needed",
        "SEE ALSO": ", ".join(row.see_also) or "-",
        "LIVE": live_on or "on no lane",
    }
    return "\n".join(f"{label:<12} {value}" for label, value in rows.items())


def _reason_entry(reason: table.Reason) -> ReasonEntry:
    return ReasonEntry(
        token=reason.token,
        kind=reason.kind,
        category=reason.category,
        summary=reason.message,
        refusal=reason.refusal,
        needs=reason.needs,
        clears_by=reason.clears_by,
        retryable=reason.retryable,
        fix=reason.fix,
        see_also=reason.see_also,
        built_in=table.find(reason.token) is not None,
    )
