"""A reason for a refusal, a hold, a block or a stop, as it is explained to a person: built in, or the workspace's."""

from typing import Any

from msgspec import Struct, to_builtins

from dos.config.schema import Config
from dos.fleet.state.fleet import Fleet
from dos.loop import tokens
from dos.reasons import table
from dos.reasons.policy import registry


class Row(Struct, frozen=True, kw_only=True):
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


def every(config: Config) -> list[Row]:
    return [_row(reason) for reason in registry(config.reasons).rows]


def one(config: Config, token: str) -> Row | None:
    found = registry(config.reasons).find(token)
    return _row(found) if found else None


def guess(config: Config, token: str) -> str:
    """The category of a token that nobody declared, by the words in its name."""
    rules = ((rule.substring, rule.category) for rule in config.morphology)
    found = table.category_by_words(token, rules)
    return found[0] if found else table.Category.UNCLASSIFIED


def live(row: Row, fleet: Fleet) -> list[str]:
    """The lanes whose latest run stopped for this reason."""
    latest = {run.lane: run for run in sorted(fleet.runs.values(), key=lambda run: run.begun_ms)}
    return [lane for lane, run in latest.items() if run.stop_reason.upper() == row.token.upper()]


def page(row: Row, live_on: str) -> str:
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


def _row(reason: table.Reason) -> Row:
    return Row(
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
