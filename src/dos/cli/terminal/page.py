"""The fleet on one page: lines that fit a width, as many as fit a height; nothing ever wraps."""

from collections.abc import Callable
from datetime import datetime

from msgspec import Struct
from rich.cells import cell_len, set_cell_size
from rich.text import Text

from dos.agents.adapter import PERSONAL
from dos.report.top import LaneRow, LaneState, LimitRow, Spend, Supervisor, TopView
from dos.text import escape_invisible, plural
from dos.times import format_local_time
from dos.verbs.context import stdout_is_utf8

NARROWEST = 60
GAP = 2
TONES = {
    LaneState.WORKING: "green",
    LaneState.STARTING: "green",
    LaneState.PERSON: "bold red",
    LaneState.FATAL: "bold red",
    LaneState.QUOTA: "yellow",
    LaneState.SILENT: "yellow",
    LaneState.SPINNING: "yellow",
    LaneState.PAUSED: "dim",
    LaneState.RESTING: "dim",
    LaneState.WAITING: "dim",
    LaneState.READY: "dim",
    LaneState.IDLE: "dim",
}
# Where not all lanes fit, those come first that somebody has to look at.
URGENCY = [
    LaneState.FATAL,
    LaneState.PERSON,
    LaneState.SPINNING,
    LaneState.SILENT,
    LaneState.QUOTA,
    LaneState.WORKING,
    LaneState.STARTING,
    LaneState.HELD,
    LaneState.WAITING,
    LaneState.READY,
    LaneState.RESTING,
    LaneState.PAUSED,
    LaneState.IDLE,
]
SHORT = {LaneState.PERSON: "on a person", LaneState.QUOTA: "on quota"}


class Column(Struct, frozen=True, kw_only=True):
    title: str
    cell: Callable[[LaneRow, TopView], str]
    from_width: int = 0  # of the terminal
    to_width: int = 1_000_000
    most: int = 10
    right: bool = False


def render_page(
    view: TopView, width: int, height: int | None = None, *, name: str = ""
) -> list[Text]:
    """With a height, never more lines than that."""
    width = max(width, NARROWEST)
    head = [_line(text, width, style) for text, style in _head(view, name)]
    landings = [_line(text, width, "") for text in _landings(view)]
    if height is None:
        body = _table(view, view.rows, width)
        return [*head, *body, *([_line("", width, ""), *landings] if landings else [])]
    # On a small terminal the lanes come first: three of them, below their titles, above how many more there are.
    head = head[: max(1, height - 2 - min(3, len(view.rows)))]
    room = max(2, height - len(head) - 1)
    rows = view.rows
    if len(rows) > room:
        kept = sorted(rows, key=lambda row: URGENCY.index(row.state))[: room - 1]
        rows = [row for row in rows if any(row is each for each in kept)]
    lines = [*head, *_table(view, rows, width)]
    if left := len(view.rows) - len(rows):
        lines.append(_line(f"and {plural(left, 'more lane')}", width, "dim"))
    if height - len(lines) > 2:
        lines += [_line("", width, ""), *landings[: height - len(lines) - 1]]
    return lines[:height]


def plain_text(lines: list[Text]) -> str:
    return "\n".join(line.plain.rstrip() for line in lines)


def _head(view: TopView, name: str) -> list[tuple[str, str]]:
    clock = view.at.astimezone().strftime("%H:%M:%S")
    states = ", ".join(f"{count} {state}" for state, count in view.totals.states.items())
    lines = [
        (
            f"{name or 'fleet'}  {clock}  {plural(view.totals.lanes, 'lane')}: {states or 'none'}",
            "bold",
        )
    ]
    lines += [
        (_supervisor(each), "" if each.state in ("running", "draining") else "red")
        for each in view.supervisors
    ]
    if not view.supervisors:
        lines.append(("no supervisor runs; `dos up` starts one", "dim"))
    if view.paused is not None:
        why = f": {view.paused}" if view.paused else ""
        lines.append((f"the fleet is paused{why}; `dos resume` lets it go on", "yellow"))
    totals = view.totals
    lines.append(
        (
            f"last 24 hours: {totals.landed} landed, {totals.rejected} rejected, {_spent(totals.spend)}",
            "",
        )
    )
    if decisions := view.decisions.open:
        lines.append(
            (f"{plural(decisions, 'decision')} open: {view.decisions.first_question}", "bold red")
        )
    lines += [(_limit(limit, view.at), "yellow") for limit in view.limits]
    return [*lines, ("", "")]


def _supervisor(row: Supervisor) -> str:
    said = {
        "running": "runs",
        "draining": "lets its workers finish and stops",
        "silent": "has not been heard of in its time",
        "gone": "is gone; `dos up` goes on",
    }
    return f"supervisor on {row.host} (process {row.pid}) {said[row.state]}"


def _limit(limit: LimitRow, now: datetime) -> str:
    if limit.ending in PERSONAL:
        return f"limit: {limit.said}; `dos limits` shows what clears it"
    until = (
        f"until {format_local_time(limit.resets_at, now)}"
        if limit.resets_at
        else "until it answers again"
    )
    doubt = ", by its own word; `dos limits lift` ends it" if limit.is_doubted else ""
    return f"limit: {limit.said} {until}{doubt}"


def _spent(spend: Spend) -> str:
    unknown = f"the cost of {plural(spend.unpriced, 'start')} is unknown" if spend.unpriced else ""
    money = f"${spend.usd:.2f}" if spend.usd or not unknown else ""
    return ", ".join(part for part in (money, unknown, f"{_count(spend.tokens)} tokens") if part)


def _landings(view: TopView) -> list[str]:
    rows = [
        f"{format_local_time(each.at, view.at):>6}  {each.landing.commit[:9]}  {each.landing.unit}  ({each.lane})"
        for each in view.landings
    ]
    return ["landed last:", *rows] if rows else []


def _table(view: TopView, rows: list[LaneRow], width: int) -> list[Text]:
    if not rows:
        return [_line("no lanes are known here; `dos init` finds some", width, "dim")]
    columns = [column for column in COLUMNS if column.from_width <= width < column.to_width]
    cells = [[_safe(column.cell(row, view)) for column in columns] for row in rows]
    widths = [
        min(
            column.most,
            max(cell_len(line[at]) for line in [[each.title for each in columns], *cells]),
        )
        for at, column in enumerate(columns)
    ]
    widths[-1] = max(
        0, width - sum(widths[:-1]) - GAP * (len(widths) - 1)
    )  # the last one takes what is left
    lines = [_row([column.title for column in columns], columns, widths, "bold")]
    for row, line in zip(rows, cells, strict=True):
        lines.append(_row(line, columns, widths, TONES.get(row.state, "")))
    return lines


def _row(cells: list[str], columns: list[Column], widths: list[int], style: str) -> Text:
    made = Text(no_wrap=True, overflow="crop")
    for number, (cell, column, width) in enumerate(zip(cells, columns, widths, strict=True)):
        cut = _cut(cell, width)
        if column.right:
            cut = cut.rstrip(" ").rjust(width)
        # Only the state is coloured: the rest is read, not glanced at. A title is one as a whole.
        made.append(cut, style if column.title == "STATE" or style == "bold" else "")
        if number < len(widths) - 1:
            made.append(" " * GAP)
    return made


def _line(text: str, width: int, style: str) -> Text:
    return Text(_cut(_safe(text), width).rstrip(" "), style=style, no_wrap=True, overflow="crop")


def _cut(text: str, width: int) -> str:
    """Exactly so many cells; what was too long ends with a mark."""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    mark = "…" if stdout_is_utf8() else "~"
    return set_cell_size(text, max(0, width - 1)) + mark if width else ""


def _safe(text: str) -> str:
    """On one line, with nothing in it that a terminal would act on."""
    shown = escape_invisible(text).replace("\n", "\\n").replace("\t", " ")
    return shown if stdout_is_utf8() else shown.encode("ascii", "backslashreplace").decode()


def _state(row: LaneRow, view: TopView) -> str:
    return row.state.value


def _short_state(row: LaneRow, view: TopView) -> str:
    return SHORT.get(row.state, row.state.value)


def _since(row: LaneRow, view: TopView) -> str:
    return short_span((view.at - row.since).total_seconds()) if row.since else ""


def _heard(row: LaneRow, view: TopView) -> str:
    return short_span((view.at - row.last_activity).total_seconds()) if row.last_activity else ""


def _money(row: LaneRow, view: TopView) -> str:
    if not row.spend.usd and row.spend.unpriced:
        return "unknown"
    more = "+?" if row.spend.unpriced else ""
    return f"${row.spend.usd:.2f}{more}" if row.spend.usd else ""


def _waits(row: LaneRow, view: TopView) -> str:
    until = f"until {format_local_time(row.until, view.at)}" if row.until else ""
    more = f" (and {len(row.waiting) - 1} more)" if len(row.waiting) > 1 else ""
    waits = ": ".join(part for part in (until, f"{row.waits_for}{more}") if part)
    return ", ".join(part for part in (row.unit, waits) if part)


def _count(number: int) -> str:
    for size, letter in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return str(number)


def short_span(seconds: float) -> str:
    """A length of time in at most five characters."""
    whole = max(0, int(seconds))
    if whole < 100:
        return f"{whole}s"
    if whole < 6_000:
        return f"{whole // 60}m"
    hours, days = whole // 3_600, whole // 86_400
    return f"{hours}h" if hours < 100 else f"{days}d" if days < 10_000 else "long"


_MIDDLE, _WIDE, _WIDER, _WIDEST = 80, 90, 120, 150
COLUMNS = [
    Column(title="LANE", cell=lambda row, view: row.lane, most=16),
    Column(title="STATE", cell=_short_state, most=11, to_width=_MIDDLE),
    Column(title="STATE", cell=_state, most=19, from_width=_MIDDLE),
    Column(title="FOR", cell=_since, most=5, right=True),
    Column(title="HEARD", cell=_heard, most=5, right=True, from_width=_WIDE),
    Column(
        title="LANDED",
        cell=lambda row, view: str(row.landed or ""),
        most=6,
        right=True,
        from_width=_MIDDLE,
    ),
    Column(
        title="REJECTED",
        cell=lambda row, view: str(row.rejected or ""),
        most=8,
        right=True,
        from_width=100,
    ),
    Column(title="COST", cell=_money, most=10, right=True, from_width=_WIDE),
    Column(
        title="TOKENS",
        cell=lambda row, view: _count(row.spend.tokens) if row.spend.tokens else "",
        most=7,
        right=True,
        from_width=_WIDER,
    ),
    Column(title="AGENT", cell=lambda row, view: row.agent, most=12, from_width=_WIDER),
    Column(title="RUN", cell=lambda row, view: row.run_id, most=19, from_width=_WIDEST),
    Column(title="HOST", cell=lambda row, view: row.host, most=12, from_width=_WIDEST),
    Column(title="UNIT, OR WHAT IT WAITS FOR", cell=_waits, most=1_000),
]
