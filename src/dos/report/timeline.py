"""The timeline of a run: each event with its time and how long it took until the next one.

`dos timeline` gathers with `events_of_run`, makes `moments` of them, which are its JSON, and prints
`render` of those.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import assert_never

from msgspec import Struct

from dos.journal import lease_state, streams
from dos.journal.events.doors import HookAnswered
from dos.journal.events.envelope import Event
from dos.journal.events.fleet import RunBegun, RunStopped, UnitClaimed, UnitTaken
from dos.journal.events.lanes import (
    LeaseAdopted,
    LeaseExpired,
    LeaseGranted,
    LeaseReleased,
    LeaseRenewed,
    LeaseRevoked,
)
from dos.journal.events.reader import decode, select
from dos.journal.store import Store
from dos.questions.agent_requests import ToolRequested
from dos.report import event_text
from dos.times import format_local_time, utc_stamp


class Moment(Struct, frozen=True, kw_only=True):
    """One event of a timeline; the field names are keys of `dos timeline --json`.

    `took_ms` is the time until the next event, so it measures what began with this event.
    """

    pos: int
    at: str
    since_start_ms: int
    took_ms: int  # until the next moment
    kind: str
    text: str
    slowest: bool = False


def events_of_run(
    store: Store, run_id: str, events: Sequence[Event], *, with_successors: bool = False
) -> list[Event]:
    """Return the events of a run in order: of its own stream, its units, its lane and its lease,
    and what its agents were refused or a person answered them.

    They belong to the run by its id or by the fence of its lease, never by their time: another run
    may work on the same unit or lane a moment later. With successors, the events by which other
    runs took one of its units are among them.
    """
    units = {fact.unit for _, fact in select(events, UnitClaimed)}
    lanes = {fact.lane for _, fact in select(events, RunBegun, RunStopped) if fact.lane}
    found = list(events)
    found += _answers_to_agents(store, run_id)
    other_streams = [streams.unit(unit) for unit in units]
    other_streams += [streams.spawn(lane) for lane in lanes]
    for stream in other_streams:
        for event in store.load(stream):
            is_taken_over = with_successors and event.kind == UnitTaken.kind
            if is_taken_over or event.body.get("run_id") == run_id:
                found.append(event)
    for lane in lanes:
        found += _lease_events(store.load(streams.lease(lane)), run_id)
    return sorted(found, key=lambda event: event.pos)


def _answers_to_agents(store: Store, run_id: str) -> list[Event]:
    """Return what agents of the run were refused or warned of, and the answers of people."""
    found = []
    for event in store.load(streams.session(run_id)):
        if event.kind == HookAnswered.kind:
            found.append(event)
    with store.backend.read() as view:
        asked = list(view.streams(streams.decision(ToolRequested.id_prefix(run_id))))
    for stream in asked:
        found += store.load(stream)
    return found


def _lease_events(events: Iterable[Event], run_id: str) -> list[Event]:
    """Return the events of the run's leases: a lease is named by the fence of its grant."""
    found: list[Event] = []
    fences: set[int] = set()
    for event in events:
        match lease_state.reader.decode(event):
            case LeaseGranted() | LeaseAdopted() as fact:
                if fact.asked.run_id == run_id:
                    fences.add(event.pos)
                    found.append(event)
            case LeaseReleased() | LeaseExpired() | LeaseRevoked() as fact:
                if fact.lease in fences:
                    found.append(event)
            case LeaseRenewed() | None:
                pass
            case never:
                assert_never(never)
    return found


def moments(events: Sequence[Event]) -> list[Moment]:
    """Return the moments of a run; the longest ones are marked as slowest.

    Clocks of two hosts may differ, so a negative distance counts as zero. The last moment took no
    time.
    """
    if not events:
        return []
    start_ms = events[0].at_ms
    ends = [*(event.at_ms for event in events[1:]), events[-1].at_ms]
    durations = [max(0, end - event.at_ms) for event, end in zip(events, ends, strict=True)]
    longest = max(durations)
    timeline = []
    for event, took_ms in zip(events, durations, strict=True):
        moment = Moment(
            pos=event.pos,
            at=utc_stamp(event.at_ms),
            since_start_ms=event.at_ms - start_ms,
            took_ms=took_ms,
            kind=event.kind,
            text=_describe(event),
            slowest=longest > 0 and took_ms == longest,
        )
        timeline.append(moment)
    return timeline


def _describe(event: Event) -> str:
    """Return the sentence of an event; for a kind of a newer version, the name of the kind."""
    fact = decode(event)
    if fact is None:
        return event_text.describe_kind(event.kind)
    return event_text.describe(fact, event.at_ms)


def render(run_id: str, timeline: Sequence[Moment], now: datetime) -> str:
    """Return the timeline as text: when it began by local time, then a line for each moment.

    A moment is shown by its distance from the first one, with how long it took until the next.
    """
    start = format_local_time(datetime.fromisoformat(timeline[0].at), now, seconds=True)
    lines = [f"run {run_id}, from {start}"]
    for moment in timeline:
        mark = ""
        if moment.slowest:
            mark = "  ← longest"
        offset = _format_offset(moment.since_start_ms)
        line = f"{offset:>9}  {moment.text}  {_format_took(moment.took_ms)}{mark}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def _format_offset(milliseconds: int) -> str:
    """Return the distance from the first moment, in minutes from ten minutes on."""
    seconds = milliseconds / 1000
    if seconds < 600:
        return f"+{seconds:.1f} s"
    return f"+{seconds / 60:.0f} min"


def _format_took(milliseconds: int) -> str:
    """Return a duration; "" below a tenth of a second."""
    if milliseconds < 100:
        return ""
    return f"({milliseconds / 1000:.1f} s)"
