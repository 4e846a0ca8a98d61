"""Show what landed units cost, besides work that did not land, replanning, and parked or idle time.

A cost that is not known is None, never 0.
"""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct

from dos.limits.accounts import dollars
from dos.limits.budget import Spent
from dos.limits.state.ledger import LANDED, REJECTED, REPLAN, Ledger
from dos.limits.state.spend import FleetSpend
from dos.text import plural
from dos.times import format_duration

UNKNOWN = "unknown"
_COLUMNS = (
    "landed",
    "cost",
    "for work not landed",
    "for replans",
    "tokens",
    "agent time",
    "parked",
    "idle",
)


class Amount(Struct, frozen=True, kw_only=True):
    """What was spent, in the fields of `dos costs --json`."""

    usd: float | None  # None: the cost of at least one agent is not known
    known_usd: float
    unpriced: int  # agents whose cost is not known, those among them whose end is not recorded
    tokens: int | None
    known_tokens: int
    unmetered: int
    wall_seconds: float
    iterations: int
    agents: int


class CostRow(Struct, frozen=True, kw_only=True):
    """The costs of one lane, unit, agent or day."""

    name: str
    landed_units: int
    total: Amount
    landed: Amount
    rejected: Amount
    replan: Amount
    undecided_agents: int  # at work, or their worker died before the outcome was known
    parked_seconds: float
    idle_seconds: float


class UnitCost(Struct, frozen=True, kw_only=True):
    """The total divided by the landed units; None: none landed, or the total is not known."""

    usd: float | None
    tokens: float | None
    wall_seconds: float | None


class Costs(Struct, frozen=True, kw_only=True):
    """The whole report. `dos costs --json` prints it."""

    by: str
    since: str | None
    rows: list[CostRow]
    total: CostRow
    per_landed_unit: UnitCost


def costs(spend: FleetSpend, by: str, since: str | None = None) -> Costs:
    """The costs by `lane`, `unit`, `agent` or `day`.

    `since` is only shown: the caller folds `spend` from the events since then.
    """
    total = _row("total", spend.whole)
    return Costs(
        by=by,
        since=since,
        rows=[_row(name, ledger) for name, ledger in _ledgers(spend, by).items()],
        total=total,
        per_landed_unit=_unit_cost(total),
    )


def render(report: Costs) -> str:
    """The report as a table, with the cost of a landed unit below it.

    A last line says of how many agents the cost is unknown, because the sums lack theirs.
    """
    total = report.total.total
    if not total.agents:
        if report.since:
            return f"No agent was started since {_local_time(report.since)}"
        return "No agent was started"
    lines = _table(report)
    if report.total.landed_units:
        lines.append(_unit_line(report.per_landed_unit))
    else:
        lines.append("Nothing landed")
    if total.unpriced:
        lines.append(unknown_cost_line(total))
    return "\n".join(lines)


def unknown_cost_line(total: Amount) -> str:
    """Return how many agent runs have an unknown cost, which is in no total."""
    runs = f"{total.unpriced} of {plural(total.agents, 'agent run')}"
    return f"The cost of {runs} is unknown and not included"


def _local_time(stamp: str) -> str:
    return f"{datetime.fromisoformat(stamp).astimezone():%Y-%m-%d %H:%M %Z}"


def _table(report: Costs) -> list[str]:
    """The header and the rows, padded to columns; the total comes last."""
    table: list[tuple[str, ...]] = [(report.by, *_COLUMNS)]
    # A lane waits and is idle; which unit or agent it was for is not known.
    has_waits = report.by in ("lane", "day")
    table += [_cells(row, has_waits=has_waits) for row in report.rows]
    table.append(_cells(report.total, has_waits=True))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for cells in table:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
        lines.append("  ".join(padded).rstrip())
    return lines


def _unit_line(cost: UnitCost) -> str:
    tokens = UNKNOWN
    if cost.tokens is not None:
        tokens = f"{cost.tokens:,.0f}"
    seconds = format_duration(cost.wall_seconds or 0.0)
    return f"Per landed unit: {_dollars(cost.usd)}, {tokens} tokens, {seconds} of agent time"


def amount(spent: Spent, lost: int = 0) -> Amount:
    """What was spent, with None for totals that are not known.

    `lost` agents ran too, and nothing is known of what they used.
    """
    unpriced = spent.unpriced + lost
    usd = None
    if not unpriced:
        usd = spent.usd
    unmetered = spent.unmetered + lost
    tokens = None
    if not unmetered:
        tokens = spent.tokens
    return Amount(
        usd=usd,
        known_usd=spent.usd,
        unpriced=unpriced,
        tokens=tokens,
        known_tokens=spent.tokens,
        unmetered=unmetered,
        wall_seconds=spent.seconds,
        iterations=spent.iterations,
        agents=spent.agents,
    )


def money(spent: Amount) -> str:
    """The cost in dollars, marked where part of it is not known."""
    if spent.usd is not None:
        return _dollars(spent.usd)
    if spent.known_usd:
        return f"{_dollars(spent.known_usd)} + {UNKNOWN}"
    return UNKNOWN


def _ledgers(spend: FleetSpend, by: str) -> Mapping[str, Ledger]:
    """The ledgers to show, sorted by name; `lane` adds up the days."""
    match by:
        case "unit":
            return dict(sorted(spend.units.items()))
        case "agent":
            return {name or UNKNOWN: ledger for name, ledger in sorted(spend.agents.items())}
        case "day":
            return dict(sorted(spend.days.items()))
    lanes: dict[str, Ledger] = {}
    for _, by_lane in sorted(spend.lanes.items()):
        for lane, ledger in by_lane.items():
            lanes[lane] = lanes.get(lane, Ledger()).plus(ledger)
    return dict(sorted(lanes.items()))


def _row(name: str, ledger: Ledger) -> CostRow:
    return CostRow(
        name=name,
        landed_units=ledger.units,
        total=amount(ledger.total, ledger.lost),
        landed=amount(ledger.outcome_total(LANDED)),
        rejected=amount(ledger.outcome_total(REJECTED)),
        replan=amount(ledger.outcome_total(REPLAN)),
        undecided_agents=ledger.undecided,
        parked_seconds=round(ledger.parked_seconds, 3),
        idle_seconds=round(ledger.idle_seconds, 3),
    )


def _unit_cost(total: CostRow) -> UnitCost:
    """The total divided by the landed units, so that work that did not land counts too."""
    count = total.landed_units
    if not count:
        return UnitCost(usd=None, tokens=None, wall_seconds=None)
    usd = None
    if total.total.usd is not None:
        usd = total.total.usd / count
    tokens = None
    if total.total.tokens is not None:
        tokens = total.total.tokens / count
    return UnitCost(usd=usd, tokens=tokens, wall_seconds=total.total.wall_seconds / count)


def _cells(row: CostRow, *, has_waits: bool) -> tuple[str, ...]:
    """The cells of one row of the table; a dash for a time that is not known by what it shows."""
    parked = idle = "–"
    if has_waits:
        parked = format_duration(row.parked_seconds)
        idle = format_duration(row.idle_seconds)
    tokens = UNKNOWN
    if row.total.tokens is not None or row.total.known_tokens:
        tokens = f"{row.total.known_tokens:,}"
    return (
        row.name,
        str(row.landed_units),
        money(row.total),
        money(row.rejected),
        money(row.replan),
        tokens,
        format_duration(row.total.wall_seconds),
        parked,
        idle,
    )


def _dollars(usd: float | None) -> str:
    if usd is None:
        return UNKNOWN
    return dollars(usd)
