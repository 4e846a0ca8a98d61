"""What a landed unit cost; and apart from that what came to nothing, what planning took, and the time that only passed.

A cost that nobody knows is None, never 0.
"""

from collections.abc import Mapping

from msgspec import Struct

from dos.limits.budget import Spent
from dos.limits.state.spend import LANDED, REJECTED, REPLAN, Ledger, Spend
from dos.times import format_duration

UNKNOWN = "unknown"


class Amount(Struct, frozen=True, kw_only=True):
    usd: float | None  # None: of at least one agent it is not known
    known_usd: float
    unpriced: int  # the agents whose cost is not known
    tokens: int | None
    known_tokens: int
    unmetered: int
    wall_seconds: float
    iterations: int
    agents: int


class CostRow(Struct, frozen=True, kw_only=True):
    name: str
    landed_units: int
    total: Amount
    landed: Amount
    rejected: Amount
    replan: Amount
    undecided_agents: int  # at work, or their worker died before it could say what became of theirs
    parked_seconds: float
    idle_seconds: float


class UnitCost(Struct, frozen=True, kw_only=True):
    """All that was spent, by the units that landed; None: none did, or it is not known."""

    usd: float | None
    tokens: float | None
    wall_seconds: float | None


class Costs(Struct, frozen=True, kw_only=True):
    by: str
    since: str | None
    rows: list[CostRow]
    total: CostRow
    per_landed_unit: UnitCost


def costs(spend: Spend, by: str, since: str | None = None) -> Costs:
    total = _row("total", spend.whole)
    return Costs(
        by=by,
        since=since,
        rows=[_row(name, book) for name, book in _ledgers(spend, by).items()],
        total=total,
        per_landed_unit=_unit_cost(total),
    )


def render(told: Costs) -> str:
    if not told.total.total.agents:
        return "no agent has been started" + (f" since {told.since}" if told.since else "")
    table: list[tuple[str, ...]] = [
        (
            told.by,
            "landed",
            "cost",
            "of it rejected",
            "of it replan",
            "tokens",
            "agent time",
            "parked",
            "idle",
        )
    ]
    table += [_cells(row) for row in (*told.rows, told.total)]
    widths = [max(len(cells[place]) for cells in table) for place in range(len(table[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
        for cells in table
    ]
    each = told.per_landed_unit
    if not told.total.landed_units:
        lines.append("nothing has landed")
    else:
        tokens = UNKNOWN if each.tokens is None else f"{each.tokens:,.0f}"
        lines.append(
            f"each landed unit: {_dollars(each.usd)}, {tokens} tokens, {format_duration(each.wall_seconds or 0.0)} of agents' time"
        )
    if told.total.total.unpriced:
        lines.append(
            f"the cost of {told.total.total.unpriced} of {told.total.total.agents} agents is unknown"
        )
    return "\n".join(lines)


def amount(spent: Spent) -> Amount:
    return Amount(
        usd=None if spent.unpriced else spent.usd,
        known_usd=spent.usd,
        unpriced=spent.unpriced,
        tokens=None if spent.unmetered else spent.tokens,
        known_tokens=spent.tokens,
        unmetered=spent.unmetered,
        wall_seconds=spent.seconds,
        iterations=spent.iterations,
        agents=spent.agents,
    )


def money(found: Amount) -> str:
    """With a plus sign where some of it is not known."""
    if found.usd is not None:
        return _dollars(found.usd)
    return f"{_dollars(found.known_usd)} + {UNKNOWN}" if found.known_usd else UNKNOWN


def _ledgers(spend: Spend, by: str) -> Mapping[str, Ledger]:
    match by:
        case "unit":
            return {name: spend.units[name] for name in sorted(spend.units)}
        case "agent":
            return {name or UNKNOWN: spend.agents[name] for name in sorted(spend.agents)}
        case "day":
            return {name: spend.days[name] for name in sorted(spend.days)}
    lanes: dict[str, Ledger] = {}
    for _, of_day in sorted(spend.lanes.items()):
        for lane, book in of_day.items():
            lanes[lane] = lanes.get(lane, Ledger()).plus(book)
    return dict(sorted(lanes.items()))


def _row(name: str, book: Ledger) -> CostRow:
    return CostRow(
        name=name,
        landed_units=book.units,
        total=amount(book.total),
        landed=amount(book.outcome_total(LANDED)),
        rejected=amount(book.outcome_total(REJECTED)),
        replan=amount(book.outcome_total(REPLAN)),
        undecided_agents=book.undecided,
        parked_seconds=round(book.parked_seconds, 3),
        idle_seconds=round(book.idle_seconds, 3),
    )


def _unit_cost(total: CostRow) -> UnitCost:
    count, spent = total.landed_units, total.total
    return UnitCost(
        usd=spent.usd / count if count and spent.usd is not None else None,
        tokens=spent.tokens / count if count and spent.tokens is not None else None,
        wall_seconds=spent.wall_seconds / count if count else None,
    )


def _cells(row: CostRow) -> tuple[str, ...]:
    tokens = (
        f"{row.total.known_tokens:,}"
        if row.total.tokens is not None or row.total.known_tokens
        else UNKNOWN
    )
    return (
        row.name,
        str(row.landed_units),
        money(row.total),
        money(row.rejected),
        money(row.replan),
        tokens,
        format_duration(row.total.wall_seconds),
        format_duration(row.parked_seconds),
        format_duration(row.idle_seconds),
    )


def _dollars(usd: float | None) -> str:
    return UNKNOWN if usd is None else f"${usd:,.2f}"
