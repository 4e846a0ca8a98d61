"""The page of `dos top`: the fleet as lines that fit the width and height of a terminal.

No line ever wraps, because a wrapped line would push others off the screen. A narrow terminal shows
fewer columns, a low one fewer lanes, those first that need attention. What the lines show is a
`TopView`, which `report/top_builder` makes.
"""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from textwrap import wrap

from msgspec import Struct
from rich.cells import cell_len, set_cell_size
from rich.text import Text

from dos.agents.adapter import PERSONAL
from dos.backlog.waiting import describe_other_waits
from dos.report.top import LaneRow, LaneState, LimitRow, Spend, Supervisor, TopView, state_word
from dos.text import one_line, plural
from dos.times import format_local_time
from dos.verbs.context import stdout_is_utf8

NARROWEST = 60
GAP = 2  # blanks between columns
FEWEST_LANES = 3  # that a small terminal shows before anything else
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
# Where not all lanes fit, those that need attention are kept.
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
MORE_LINES = 2  # of a lane, below its row, for what does not fit into it
SUPERVISOR_STATES = {
    "running": "is running",
    "draining": "is draining: workers finish, then it stops",
    "silent": "has not renewed its lease",
    "gone": "has exited; `dos up` starts another",
}


class Column(Struct, frozen=True, kw_only=True):
    """A column of the table, and the widths of the terminal at which it is shown."""

    title: str
    cell: Callable[[LaneRow, TopView], str]
    from_width: int = 0
    to_width: int = 1_000_000
    most: int = 10  # cells
    right: bool = False


def render_page(
    view: TopView, width: int, height: int | None = None, *, name: str = ""
) -> list[Text]:
    """Return the page; with a height, at most so many lines."""
    width = max(width, NARROWEST)
    head = [_line(text, width, style) for text, style in _head(view, name)]
    landings = [_line(text, width, "") for text in _landings(view)]
    if height is None:
        lines = [*head, *_table(view, view.rows, width, MORE_LINES)]
        if landings:
            lines += [_line("", width, ""), *landings]
        return lines
    # A small terminal shows lanes first: below their titles, above the number of the others.
    shown_first = min(FEWEST_LANES, len(view.rows))
    head = head[: max(1, height - 2 - shown_first)]
    rows = _most_urgent(view.rows, max(2, height - len(head) - 1))
    lines = [*head, *_table_that_fits(view, rows, width, height - len(head))]
    left_out = len(view.rows) - len(rows)
    if left_out:
        lines.append(_line(f"and {plural(left_out, 'more lane')}", width, "dim"))
    room = height - len(lines)
    if room > 2:
        lines += [_line("", width, ""), *landings[: room - 1]]
    return lines[:height]


def plain_text(lines: list[Text]) -> str:
    """Return the lines without styles."""
    return "\n".join(line.plain.rstrip() for line in lines)


def problem_line(problem: str) -> Text:
    """Return the line for a view that cannot be read now."""
    return Text(f"cannot read the journal: {problem}", style="red", no_wrap=True)


def _most_urgent(rows: list[LaneRow], room: int) -> list[LaneRow]:
    """Return the rows that fit, in their order; one line is left for the number of the others."""
    if len(rows) <= room:
        return rows
    by_urgency = sorted(range(len(rows)), key=lambda number: URGENCY.index(rows[number].state))
    kept = set(by_urgency[: room - 1])
    return [row for number, row in enumerate(rows) if number in kept]


def _head(view: TopView, name: str) -> list[tuple[str, str]]:
    """Return the lines above the table, each with its style."""
    clock = view.at.astimezone().strftime("%H:%M:%S")
    totals = view.totals
    counts = Counter(map(state_word, view.rows))
    states = ", ".join(f"{count} {state}" for state, count in counts.items())
    lanes = plural(totals.lanes, "lane")
    lines = [(f"{name or 'fleet'}  {clock}  {lanes}: {states or 'none'}", "bold")]
    for supervisor in view.supervisors:
        is_alive = supervisor.state in ("running", "draining")
        lines.append((_describe_supervisor(supervisor), "" if is_alive else "red"))
    if not view.supervisors:
        lines.append(("no supervisor is running; `dos up` starts one", "dim"))
    if view.paused is not None:
        why = ""
        if view.paused:
            why = f" ({view.paused})"
        lines.append((f"the fleet is paused{why}; `dos resume` ends the pause", "yellow"))
    landed = f"{totals.landed} landed, {totals.rejected} rejected"
    lines.append((f"last 24 hours: {landed}, {_describe_spend(totals.spend)}", ""))
    if view.decisions.open:
        count = plural(view.decisions.open, "open decision")
        lines.append((f"{count} (`dos decisions`): {view.decisions.first_question}", "bold red"))
    for limit in view.limits:
        lines.append((_describe_limit(limit, view.at), "yellow"))
    return [*lines, ("", "")]


def _describe_supervisor(supervisor: Supervisor) -> str:
    """Return where a supervisor runs, or why it does not."""
    state = SUPERVISOR_STATES[supervisor.state]
    return f"supervisor on {supervisor.host} (process {supervisor.pid}) {state}"


def _describe_limit(limit: LimitRow, now: datetime) -> str:
    """Return a limit, until when it holds, and the command that ends it where a person can."""
    if limit.ending in PERSONAL:
        return f"limit: {limit.said}; `dos limits` shows how to clear it"
    until = "until it accepts requests again"
    if limit.resets_at:
        until = f"until {format_local_time(limit.resets_at, now)}"
    if limit.is_doubted:
        until += " (says the provider); `dos limits lift` ends it"
    return f"limit: {limit.said} {until}"


def _describe_spend(spend: Spend) -> str:
    """Return cost and tokens; where agents did not report them, that they are unknown."""
    runs = plural(spend.unpriced, "agent run")
    if spend.unpriced and not spend.usd and not spend.tokens:
        return f"cost and tokens of {runs} unknown"
    parts = []
    if spend.usd or not spend.unpriced:
        parts.append(f"${spend.usd:.2f}")
    if spend.unpriced:
        parts.append(f"cost of {runs} unknown")
    parts.append(f"{_short_number(spend.tokens)} tokens")
    return ", ".join(parts)


def _landings(view: TopView) -> list[str]:
    """Return a line for each of the last landings under a title; nothing without landings."""
    if not view.landings:
        return []
    lines = ["last landed:"]
    for entry in view.landings:
        time = format_local_time(entry.at, view.at)
        landing = entry.landing
        lines.append(f"{time:>6}  {landing.commit[:9]}  {landing.unit}  ({entry.lane})")
    return lines


def _table_that_fits(view: TopView, rows: list[LaneRow], width: int, height: int) -> list[Text]:
    """Return the table with as many lines below each row as there is room for."""
    for more_lines in range(MORE_LINES, 0, -1):
        table = _table(view, rows, width, more_lines)
        if len(table) < height:
            return table
    return _table(view, rows, width, 0)


def _table(view: TopView, rows: list[LaneRow], width: int, more_lines: int) -> list[Text]:
    """Return the titles and a line for each row, with the rest of its last cell below it."""
    if not rows:
        return [_line("no lanes; `dos init` finds some", width, "dim")]
    columns = [column for column in COLUMNS if column.from_width <= width < column.to_width]
    titles = [column.title for column in columns]
    cells = [[_safe(column.cell(row, view)) for column in columns] for row in rows]
    widths = []
    for number, column in enumerate(columns):
        widest = max(cell_len(line[number]) for line in [titles, *cells])
        widths.append(min(column.most, widest))
    # The last column takes the rest of the line.
    used = sum(widths[:-1]) + GAP * (len(widths) - 1)
    widths[-1] = max(0, width - used)
    lines = [_table_line(titles, columns, widths, "bold")]
    for row, line in zip(rows, cells, strict=True):
        *others, last = line
        first, *rest = _parted(last, widths[-1], more_lines)
        lines.append(_table_line([*others, first], columns, widths, TONES.get(row.state, "")))
        for part in rest:
            lines.append(_line(" " * used + part, width, "dim"))
    return lines


def _parted(text: str, width: int, more_lines: int) -> list[str]:
    """Return the text in at most so many parts after the first; the last one holds all the rest."""
    if not more_lines or cell_len(text) <= width:
        return [text]
    parts = wrap(text, width)
    most = more_lines + 1
    if len(parts) <= most:
        return parts
    return [*parts[: most - 1], " ".join(parts[most - 1 :])]


def _table_line(cells: list[str], columns: list[Column], widths: list[int], style: str) -> Text:
    """Return one line of the table, each cell cut or padded to the width of its column."""
    line = Text(no_wrap=True, overflow="crop")
    for number, (cell, column, width) in enumerate(zip(cells, columns, widths, strict=True)):
        text = _cut(cell, width)
        if column.right:
            text = text.rstrip(" ").rjust(width)
        # Only the state is coloured, and the line of titles as a whole.
        is_styled = column.title == "STATE" or style == "bold"
        line.append(text, style if is_styled else "")
        if number < len(widths) - 1:
            line.append(" " * GAP)
    return line


def _line(text: str, width: int, style: str) -> Text:
    """Return a line without columns, cut to the width."""
    return Text(_cut(_safe(text), width).rstrip(" "), style=style, no_wrap=True, overflow="crop")


def _cut(text: str, width: int) -> str:
    """Return the text with exactly so many cells; one that is too long ends with a mark."""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    if width == 0:
        return ""
    mark = "~"
    if stdout_is_utf8():
        mark = "…"
    return set_cell_size(text, width - 1) + mark


def _safe(text: str) -> str:
    """Return the text on one line, without anything that a terminal would act on."""
    line = one_line(text)
    if stdout_is_utf8():
        return line
    return line.encode("ascii", "backslashreplace").decode()


def _lane(row: LaneRow, _view: TopView) -> str:
    return row.lane


def _state(row: LaneRow, _view: TopView) -> str:
    return state_word(row)


def _state_duration(row: LaneRow, view: TopView) -> str:
    return _age(row.since, view)


def _activity_age(row: LaneRow, view: TopView) -> str:
    return _age(row.last_activity, view)


def _age(at: datetime | None, view: TopView) -> str:
    """Return how long ago it was, or "" where that is not known."""
    if at is None:
        return ""
    return short_span((view.at - at).total_seconds())


def _landed(row: LaneRow, _view: TopView) -> str:
    return str(row.landed or "")


def _rejected(row: LaneRow, _view: TopView) -> str:
    return str(row.rejected or "")


def _cost(row: LaneRow, _view: TopView) -> str:
    """Return the cost of a lane; `>=` where the cost of some agents is not known."""
    spend = row.spend
    if not spend.usd:
        if spend.unpriced:
            return "unknown"
        return ""
    at_least = ""
    if spend.unpriced:
        at_least = ">="
    return f"{at_least}${spend.usd:.2f}"


def _tokens(row: LaneRow, _view: TopView) -> str:
    if row.spend.tokens:
        return _short_number(row.spend.tokens)
    return ""


def _agent(row: LaneRow, _view: TopView) -> str:
    return row.agent


def _run(row: LaneRow, _view: TopView) -> str:
    return row.run_id


def _host(row: LaneRow, _view: TopView) -> str:
    return row.host


def _unit_or_wait(row: LaneRow, view: TopView) -> str:
    """Return the unit of a lane, and what it waits for, with the time until which it does."""
    parts = []
    if row.unit:
        parts.append(row.unit)
    wait = row.waits_for.removeprefix(f"Lane {row.lane} ")
    head = []
    if row.waiting and row.state in (LaneState.RESTING, LaneState.WAITING):
        title = row.waiting[0].title  # the state does not say what it waits for
        if not wait.startswith(title):
            head.append(title)
    if row.until:
        head.append(f"until {format_local_time(row.until, view.at)}")
    wait = ": ".join(part for part in (" ".join(head), wait) if part)
    wait += describe_other_waits(row.waiting)
    if wait:
        parts.append(wait)
    return ", ".join(parts)


def _short_number(number: int) -> str:
    """Return a number with one decimal and a letter for its size, such as `19.5k`."""
    for size, letter in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return str(number)


def short_span(seconds: float) -> str:
    """Return a length of time in at most five characters, rounded down: a column is narrow."""
    whole = max(0, int(seconds))
    if whole < 100:
        return f"{whole}s"
    if whole < 6_000:
        return f"{whole // 60}m"
    hours = whole // 3_600
    if hours < 100:
        return f"{hours}h"
    days = whole // 86_400
    if days < 10_000:
        return f"{days}d"
    return "long"


_MIDDLE, _WIDE, _FULL, _WIDER, _WIDEST = 80, 90, 100, 120, 150
COLUMNS = [
    Column(title="LANE", cell=_lane, most=16),
    Column(title="STATE", cell=_state, most=11),
    Column(title="FOR", cell=_state_duration, most=5, right=True),
    Column(title="QUIET", cell=_activity_age, most=5, right=True, from_width=_WIDE),
    Column(title="LANDED", cell=_landed, most=6, right=True, from_width=_MIDDLE),
    Column(title="REJECTED", cell=_rejected, most=8, right=True, from_width=_FULL),
    Column(title="COST", cell=_cost, most=10, right=True, from_width=_WIDE),
    Column(title="TOKENS", cell=_tokens, most=7, right=True, from_width=_WIDER),
    Column(title="AGENT", cell=_agent, most=12, from_width=_WIDER),
    Column(title="RUN", cell=_run, most=19, from_width=_WIDEST),
    Column(title="HOST", cell=_host, most=12, from_width=_WIDEST),
    Column(title="UNIT, OR WAITING FOR", cell=_unit_or_wait, most=1_000),
]
