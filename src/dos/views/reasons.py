"""A reason for a refusal or a stop, as it is explained to a person: built in, or declared by the workspace."""

from typing import Any

from msgspec import Struct, to_builtins

from dos.config.tables import Config
from dos.journal.states.fleet import Fleet
from dos.records import reasons


class Row(Struct, frozen=True, kw_only=True):
    token: str
    category: str
    summary: str
    refusal: bool
    needs: str
    retryable: bool
    fix: str
    see_also: tuple[str, ...]
    built_in: bool

    def to_json(self) -> dict[str, Any]:
        made: dict[str, Any] = to_builtins(self)
        return made


def every(config: Config) -> list[Row]:
    return [*(_built_in(reason) for reason in reasons.TABLE), *(_declared(config, token) for token in config.reasons)]


def one(config: Config, token: str) -> Row | None:
    wanted = token.strip().upper()
    return next((row for row in every(config) if row.token.upper() == wanted), None)


def guess(config: Config, token: str) -> str:
    """The category of a token that nobody declared, by what it has in its name."""
    wanted = token.upper()
    rule = next((rule for rule in config.morphology if rule.substring.upper() in wanted), None)
    return rule.category if rule else "UNCLASSIFIED"


def live(row: Row, fleet: Fleet) -> list[str]:
    """The lanes whose latest run stopped for this reason."""
    latest = {run.lane: run for run in sorted(fleet.runs.values(), key=lambda run: run.begun_ms)}
    return [lane for lane, run in latest.items() if run.stop_reason.upper() == row.token.upper()]


def page(row: Row, live_on: str) -> str:
    rows = {
        "NAME": row.token,
        "CATEGORY": row.category,
        "REFUSAL?": "yes" if row.refusal else "no: a run stops for it",
        "MEANING": row.summary or "(the workspace gives none)",
        "CLEARED BY": row.needs,
        "TYPICAL FIX": row.fix or "none is needed",
        "SEE ALSO": ", ".join(row.see_also) or "-",
        "LIVE": live_on or "on no lane",
    }
    return "\n".join(f"{label:<12} {value}" for label, value in rows.items())


def _built_in(reason: reasons.Reason) -> Row:
    return Row(
        token=reason.token,
        category=reason.category,
        summary=reason.message,
        refusal=reason.refusal,
        needs=reason.needs,
        retryable=reason.retryable,
        fix=reason.fix,
        see_also=reason.see_also,
        built_in=True,
    )


def _declared(config: Config, token: str) -> Row:
    reason = config.reasons[token]
    return Row(
        token=token,
        category=reason.category,
        summary=reason.summary,
        refusal=reason.refusal,
        needs=reasons.Needs.OPERATOR,
        retryable=False,
        fix=reason.fix,
        see_also=reason.see_also,
        built_in=False,
    )
