"""The pages of `dos man` for lanes and for reasons of refusals, holds, blocks and stops."""

from typing import Any

from msgspec import Struct, to_builtins

from dos.config.schema import Config
from dos.fleet.state.fleet import FleetState
from dos.loop import tokens
from dos.reasons import table
from dos.reasons.policy import registry


class LaneEntry(Struct, frozen=True, kw_only=True):
    """A lane as its page and its JSON show it."""

    lane: str
    kind: str  # concurrent | exclusive | undeclared
    exclusivity: str
    tree: tuple[str, ...]
    aliases: list[str]
    autopick: bool

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = to_builtins(self)
        return document


class ReasonEntry(Struct, frozen=True, kw_only=True):
    """A reason as its page and its JSON show it: built in, or declared by the workspace."""

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
        document: dict[str, Any] = to_builtins(self)
        return document


def all_lanes(config: Config) -> list[LaneEntry]:
    """Return the entries of all declared lanes."""
    return [_lane_entry(config, name) for name in config.lanes.declared()]


def find_lane(config: Config, name: str) -> LaneEntry | None:
    """Return the entry of a lane, by its name in any case or by an alias; None if unknown."""
    lane = config.canonical_lane(name)
    if lane is None:
        return None
    return _lane_entry(config, lane)


def _lane_entry(config: Config, name: str) -> LaneEntry:
    lanes = config.lanes
    if name in lanes.exclusive:
        kind = "exclusive"
        exclusivity = "runs alone: nothing else may be held beside it"
    elif name in lanes.concurrent:
        kind = "concurrent"
        exclusivity = "runs beside every lane whose paths it does not meet"
    else:
        kind = "undeclared"
        exclusivity = "has a tree or is picked, and is neither concurrent nor exclusive"
    return LaneEntry(
        lane=name,
        kind=kind,
        exclusivity=exclusivity,
        tree=lanes.trees.get(name, ()),
        aliases=[alias for alias in lanes.aliases if lanes.canonical(alias) == name],
        autopick=name in lanes.autopick,
    )


def lane_page(lane: LaneEntry, held_by: str) -> str:
    """Return the page of a lane; `held_by` names the holders of its leases."""
    tree = ", ".join(lane.tree)
    rows = {
        "NAME": lane.lane,
        "KIND": lane.kind,
        "EXCLUSIVITY": lane.exclusivity,
        "TREE": tree or "none: its region is unknown, so it overlaps every lane",
        "ALIASES": ", ".join(lane.aliases) or "none",
        "AUTOPICK": "yes" if lane.autopick else "no",
        "HELD BY": held_by or "none",
    }
    return _page(rows)


def all_reasons(config: Config) -> list[ReasonEntry]:
    """Return the entries of all reasons, built in or declared."""
    return [_reason_entry(reason) for reason in registry(config.reasons).rows]


def find_reason(config: Config, token: str) -> ReasonEntry | None:
    """Return the entry of a reason; None if unknown."""
    reason = registry(config.reasons).find(token)
    if reason is None:
        return None
    return _reason_entry(reason)


def guess_category(config: Config, token: str) -> str:
    """Return the category of an undeclared reason, by the words in its name."""
    rules = ((rule.substring, rule.category) for rule in config.morphology)
    category = table.category_by_words(token, rules)
    if category:
        return category[0]
    return table.Category.UNCLASSIFIED


def stopped_lanes(reason: ReasonEntry, fleet: FleetState) -> list[str]:
    """Return the lanes whose newest run stopped for this reason."""
    newest = {run.lane: run for run in sorted(fleet.runs.values(), key=lambda run: run.begun_ms)}
    token = reason.token.upper()
    return [lane for lane, run in newest.items() if run.stop_reason.upper() == token]


def reason_page(reason: ReasonEntry, lanes: str) -> str:
    """Return the page of a reason; `lanes` names those that stopped for it."""
    clears_by = tokens.words(reason.clears_by)
    if reason.clears_by != reason.needs:
        clears_by += f" (needs {reason.needs})"
    rows = {
        "NAME": reason.token,
        "KIND": reason.kind,
        "CATEGORY": reason.category,
        "REFUSAL?": "yes" if reason.refusal else "no: a run stops for it",
        "MEANING": reason.summary or "(not given in dos.toml)",
        "CLEARED BY": clears_by,
        "TYPICAL FIX": reason.fix or "none is needed",
        "SEE ALSO": ", ".join(reason.see_also) or "-",
        "LIVE": lanes or "on no lane",
    }
    return _page(rows)


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


def _page(rows: dict[str, str]) -> str:
    return "\n".join(f"{label:<12} {value}" for label, value in rows.items())
