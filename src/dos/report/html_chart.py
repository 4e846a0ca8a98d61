"""The timeline of a report as SVG: a row for each lane, a bar for each agent.

Widths are percentages, so that the chart fits any screen and its letters keep their size. Each bar
carries a mark beside its colour, for readers who cannot tell the colours apart.
"""

from datetime import datetime, timedelta
from html import escape

from dos.report.event_text import parked_for
from dos.report.session import AgentBar, Outcome, Session, Wait
from dos.report.summary import format_time
from dos.text import one_line
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
# Heights in pixels.
AXIS = 30
LABEL = 18
TRACK = 24
WAITING = 6
GAP = 12
ROW = LABEL + TRACK + WAITING + GAP
NARROWEST = 0.6  # percent: an agent that took no time is visible, too
TICKS = (0, 25, 50, 75, 100)


def escape_text(text: str) -> str:
    """Return text for the page: on one line, escaped, with invisible characters shown."""
    return escape(one_line(text))


def css_class(outcome: Outcome) -> str:
    """Return the name of the CSS class of an outcome."""
    return outcome.name.lower().replace("_", "-")


def render_chart(session: Session) -> str:
    """Return the chart and its legend as HTML; "" for a session without agents."""
    lanes = session.lanes
    if not lanes or session.since is None or session.until is None:
        return ""
    scale = _Scale(session.since, session.until)
    height = AXIS + ROW * len(lanes)
    parts = [_tick(session, scale, percent, height) for percent in TICKS]
    for start in session.starts:
        if start.found:
            parts.append(_restart(scale, start.at, start.found, height))
    for number, lane in enumerate(lanes):
        parts += _lane_row(session, scale, lane, AXIS + ROW * number)
    duration = format_duration(session.seconds)
    label = f"{len(session.bars)} agents on {len(lanes)} lanes in {duration}"
    return (
        f'<svg class="chart" width="100%" height="{height}" role="img" aria-label="{label}">'
        f'{"".join(parts)}</svg><p class="legend">{_legend(session)}</p>'
    )


def _lane_row(session: Session, scale: "_Scale", lane: str, top: int) -> list[str]:
    """Return the name of a lane, its track, its agents on it, and its waits below it."""
    track = top + LABEL
    parts = [
        f'<text class="lane" x="0" y="{track - 5}">{escape_text(lane)}</text>',
        f'<rect class="track" x="0" y="{track}" width="100%" height="{TRACK}" rx="4"/>',
    ]
    for bar in session.bars:
        if bar.lane == lane:
            parts.append(_bar(bar, scale, track, session))
    for wait in session.waits:
        if wait.lane == lane:
            parts.append(_wait(wait, scale, track + TRACK + 2))
    return parts


class _Scale:
    """Turns times of the session into percentages of its length."""

    def __init__(self, since: datetime, until: datetime) -> None:
        """Map this time span to the width of the chart; a span of zero is made a little longer."""
        self.since = since
        self.seconds = max((until - since).total_seconds(), 0.001)

    def span(self, start: datetime, end: datetime) -> tuple[float, float]:
        """Return the left edge and the width of a time, both in percent and within the chart."""
        first = 100 * (start - self.since).total_seconds() / self.seconds
        last = 100 * (end - self.since).total_seconds() / self.seconds
        left = min(max(first, 0.0), 100 - NARROWEST)
        return left, min(max(last - left, NARROWEST), 100 - left)

    def time(self, percent: float) -> datetime:
        """Return the time at a percentage of the session."""
        return self.since + timedelta(seconds=self.seconds * percent / 100)


def _tick(session: Session, scale: _Scale, percent: int, height: int) -> str:
    """Return a vertical line with its local time; the outer ones are aligned to the edges."""
    anchor = {0: "start", 100: "end"}.get(percent, "middle")
    time = format_time(scale.time(percent), session)
    return (
        f'<line class="tick" x1="{percent}%" x2="{percent}%" y1="18" y2="{height}"/>'
        f'<text class="time" x="{percent}%" y="12" text-anchor="{anchor}">{time}</text>'
    )


def _restart(scale: _Scale, at: datetime, found: str, height: int) -> str:
    """Return the line for a start of a supervisor after one that had been killed."""
    left, _ = scale.span(at, at)
    return (
        f'<line class="restart" x1="{left:.2f}%" x2="{left:.2f}%" y1="18" y2="{height}">'
        f"<title>supervisor restarted: {escape_text(found)}</title></line>"
    )


def _bar(bar: AgentBar, scale: _Scale, top: int, session: Session) -> str:
    """Return the bar of an agent: its mark and unit inside, all else in its tooltip."""
    left, width = scale.span(bar.start, bar.end)
    ending = ""
    if bar.ending:
        ending = f" ({bar.ending})"
    duration = format_duration(bar.seconds)
    start = format_time(bar.start, session)
    title = f"{bar.unit}: {bar.how}{ending}, {duration} from {start}, {bar.agent}"
    short_unit = escape_text(bar.unit.rpartition("/")[2])
    return (
        f'<svg x="{left:.2f}%" y="{top}" width="{width:.2f}%" height="{TRACK}">'
        f"<title>{escape_text(title)}</title>"
        f'<rect class="bar {css_class(bar.how)}" width="100%" height="100%" rx="4"/>'
        f'<text class="in-bar" x="5" y="16">{MARKS[bar.how]} {short_unit}</text></svg>'
    )


def _wait(wait: Wait, scale: _Scale, top: int) -> str:
    """Return the thin bar of a wait, with its reason in its tooltip."""
    left, width = scale.span(wait.start, wait.end)
    title = f"waited {format_duration(wait.seconds)} for {parked_for(wait.why)}: {wait.detail}"
    return (
        f'<rect class="waiting" x="{left:.2f}%" y="{top}" width="{width:.2f}%"'
        f' height="{WAITING - 2}" rx="2"><title>{escape_text(title)}</title></rect>'
    )


def _legend(session: Session) -> str:
    """Return the outcomes and marks that occur in this chart, with their meaning."""
    outcomes = {bar.how for bar in session.bars}
    keys = []
    for outcome in Outcome:
        if outcome in outcomes:
            mark = f'<i class="{css_class(outcome)}">{MARKS[outcome]}</i>'
            keys.append(f"<span>{mark} {outcome}</span>")
    if session.waits:
        keys.append('<span><i class="waiting thin"></i> waits</span>')
    if any(start.found for start in session.starts):
        keys.append('<span><i class="restart thin"></i> supervisor restarted</span>')
    return " ".join(keys)
