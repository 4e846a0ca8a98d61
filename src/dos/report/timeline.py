"""A run as it went by: what happened, when, and how long it took until the next thing did."""

from collections.abc import Iterable, Sequence
from typing import assert_never

from msgspec import Struct

from dos.journal import lease_state, streams
from dos.journal.events.envelope import Event
from dos.journal.events.fleet import RunBegun, RunStopped, UnitClaimed
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
from dos.report import event_text
from dos.times import utc_stamp


class Moment(Struct, frozen=True, kw_only=True):
    pos: int
    at: str
    since_start_ms: int
    took_ms: int  # until the next moment
    kind: str
    text: str
    slowest: bool = False


def events_of_run(store: Store, run_id: str, happened: Sequence[Event]) -> list[Event]:
    """The run's own stream, with what stands in those of its units and its lane; found by the run id, never by time."""
    units = {fact.unit for _, fact in select(happened, UnitClaimed)}
    lanes = {fact.lane for _, fact in select(happened, RunBegun, RunStopped) if fact.lane}
    found = list(happened)
    for stream in [
        *(streams.unit(unit) for unit in units),
        *(streams.spawn(lane) for lane in lanes),
    ]:
        found += [event for event in store.load(stream) if event.body.get("run_id") == run_id]
    for lane in lanes:
        found += _leases(store.load(streams.lease(lane)), run_id)
    return sorted(found, key=lambda event: event.pos)


def _leases(happened: Iterable[Event], run_id: str) -> list[Event]:
    """A lease is its fence: what names the fence of the run's grant belongs to the run."""
    found: list[Event] = []
    fences: set[int] = set()
    for event in happened:
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


def moments(happened: Sequence[Event]) -> list[Moment]:
    ends = [*(event.at_ms for event in happened[1:]), happened[-1].at_ms if happened else 0]
    took = [max(0, end - event.at_ms) for event, end in zip(happened, ends, strict=True)]
    longest = max(took, default=0)
    return [
        Moment(
            pos=event.pos,
            at=utc_stamp(event.at_ms),
            since_start_ms=event.at_ms - happened[0].at_ms,
            took_ms=milliseconds,
            kind=event.kind,
            text=_text(event),
            slowest=bool(longest) and milliseconds == longest,
        )
        for event, milliseconds in zip(happened, took, strict=True)
    ]


def _text(event: Event) -> str:
    fact = decode(event)
    return event_text.describe(fact, event.at_ms) if fact else event_text.describe_kind(event.kind)


def render(run_id: str, told: Sequence[Moment]) -> str:
    lines = [f"run {run_id}, from {told[0].at}"]
    for moment in told:
        mark = "  ← longest" if moment.slowest else ""
        lines.append(
            f"{_clock(moment.since_start_ms):>9}  {moment.text}  {_took(moment.took_ms)}{mark}".rstrip()
        )
    return "\n".join(lines)


def _clock(milliseconds: int) -> str:
    seconds = milliseconds / 1000
    return f"+{seconds:.1f} s" if seconds < 600 else f"+{seconds / 60:.0f} min"


def _took(milliseconds: int) -> str:
    return f"({milliseconds / 1000:.1f} s)" if milliseconds >= 100 else ""
