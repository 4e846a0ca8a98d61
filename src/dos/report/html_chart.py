"""The timeline as a drawing: lanes as rows, one bar for each agent, coloured by what became of it.

Widths are shares of the whole, so that it fits any screen and its letters keep their size.
"""

from datetime import datetime, timedelta
from html import escape

from dos.report.session import AgentBar, Outcome, Session, Wait
from dos.text import escape_invisible
from dos.times import format_duration

MARKS = {
    Outcome.LANDED: "✓",
    Outcome.DISBELIEVED: "✗",
    Outcome.REFUSED: "⊘",
    Outcome.CUT_SHORT: "–",
    Outcome.CRASHED: "!",
    Outcome.LIMITED: "◔",
    Outcome.WORKING: "…",
    Outcome.UNDECIDED: "?",
}
AXIS, LABEL, TRACK, WAITING, GAP = 30, 18, 24, 6, 12  # heights
ROW = LABEL + TRACK + WAITING + GAP
NARROWEST = 0.6  # of a hundred: what took no time is seen as well
TICKS = (0, 25, 50, 75, 100)


def escape_text(text: str) -> str:
    """A stranger's word in the page: on one line, nothing hidden, nothing that acts."""
    return escape(escape_invisible(text).replace("\n", "\\n").replace("\t", "\\t"))


def css_class(how: Outcome) -> str:
    return how.name.lower().replace("_", "-")


def format_time(at: datetime, told: Session) -> str:
    """With the date where it is not the same all the time."""
    same_day = told.since and told.until and told.since.date() == told.until.date()
    return f"{at:%H:%M:%S}" if same_day else f"{at:%m-%d %H:%M}"


def render_chart(told: Session) -> str:
    lanes = told.lanes
    if not lanes or told.since is None or told.until is None:
        return ""
    scale = _Scale(told.since, told.until)
    height = AXIS + ROW * len(lanes)
    parts = [_tick(told, scale, share, height) for share in TICKS]
    parts += [
        _restart(scale, start.at, start.found, height) for start in told.starts if start.found
    ]
    for number, lane in enumerate(lanes):
        top = AXIS + ROW * number
        parts.append(f'<text class="lane" x="0" y="{top + LABEL - 5}">{escape_text(lane)}</text>')
        parts.append(
            f'<rect class="track" x="0" y="{top + LABEL}" width="100%" height="{TRACK}" rx="4"/>'
        )
        parts += [_bar(bar, scale, top + LABEL, told) for bar in told.bars if bar.lane == lane]
        parts += [
            _wait(wait, scale, top + LABEL + TRACK + 2) for wait in told.waits if wait.lane == lane
        ]
    label = f"{len(told.bars)} agents on {len(lanes)} lanes in {format_duration(told.seconds)}"
    return (
        f'<svg class="chart" width="100%" height="{height}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
        f'<p class="legend">{_legend(told)}</p>'
    )


class _Scale:
    def __init__(self, since: datetime, until: datetime) -> None:
        self.since = since
        self.seconds = max((until - since).total_seconds(), 0.001)

    def place(self, start: datetime, end: datetime) -> tuple[float, float]:
        """Where it begins and how wide it is, in hundredths; what is near the end is not lost behind it."""
        begins = 100 * (start - self.since).total_seconds() / self.seconds
        ends = 100 * (end - self.since).total_seconds() / self.seconds
        left = min(max(begins, 0.0), 100 - NARROWEST)
        return left, min(max(ends - left, NARROWEST), 100 - left)

    def at(self, share: float) -> datetime:
        return self.since + timedelta(seconds=self.seconds * share / 100)


def _tick(told: Session, scale: _Scale, share: int, height: int) -> str:
    anchor = {0: "start", 100: "end"}.get(share, "middle")
    return (
        f'<line class="tick" x1="{share}%" x2="{share}%" y1="18" y2="{height}"/>'
        f'<text class="time" x="{share}%" y="12" text-anchor="{anchor}">{format_time(scale.at(share), told)}</text>'
    )


def _restart(scale: _Scale, at: datetime, found: str, height: int) -> str:
    left, _ = scale.place(at, at)
    return (
        f'<line class="restart" x1="{left:.2f}%" x2="{left:.2f}%" y1="18" y2="{height}">'
        f"<title>the fleet was started again: {escape_text(found)}</title></line>"
    )


def _bar(bar: AgentBar, scale: _Scale, top: int, told: Session) -> str:
    left, width = scale.place(bar.start, bar.end)
    ending = f" ({bar.ending})" if bar.ending else ""
    title = f"{bar.unit}: {bar.how}{ending}, {format_duration(bar.seconds)} from {format_time(bar.start, told)}, {bar.agent}"
    return (
        f'<svg x="{left:.2f}%" y="{top}" width="{width:.2f}%" height="{TRACK}"><title>{escape_text(title)}</title>'
        f'<rect class="bar {css_class(bar.how)}" width="100%" height="100%" rx="4"/>'
        f'<text class="in-bar" x="5" y="16">{MARKS[bar.how]} {escape_text(bar.unit.rpartition("/")[2])}</text></svg>'
    )


def _wait(wait: Wait, scale: _Scale, top: int) -> str:
    left, width = scale.place(wait.start, wait.end)
    title = f"waited {format_duration(wait.seconds)} on {wait.why}: {wait.detail}"
    return (
        f'<rect class="waiting" x="{left:.2f}%" y="{top}" width="{width:.2f}%" height="{WAITING - 2}" rx="2">'
        f"<title>{escape_text(title)}</title></rect>"
    )


def _legend(told: Session) -> str:
    used = {bar.how for bar in told.bars}
    keys = [
        f'<span><i class="{css_class(how)}">{MARKS[how]}</i> {how}</span>'
        for how in Outcome
        if how in used
    ]
    keys += ['<span><i class="waiting thin"></i> waits</span>'] if told.waits else []
    keys += (
        ['<span><i class="restart thin"></i> started again</span>']
        if any(each.found for each in told.starts)
        else []
    )
    return " ".join(keys)
