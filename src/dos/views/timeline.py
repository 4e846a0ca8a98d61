"""A run as it went by: what happened, when, and how long it took until the next thing did."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from dos.journal import events, streams
from dos.journal.events import Event
from dos.journal.store import Store
from dos.records.moments import second_stamp
from dos.views import story


class Moment(Struct, frozen=True, kw_only=True):
    pos: int
    at: str
    since_start_ms: int
    took_ms: int  # until the next moment
    kind: str
    text: str
    slowest: bool = False


def of_run(store: Store, run_id: str, happened: Sequence[Event]) -> list[Event]:
    """The run's own stream, with what stands in those of its units and its lane; found by the run id, never by time."""
    units, lanes = set(), set()
    for fact in map(events.decode, happened):
        if isinstance(fact, events.UnitClaimed):
            units.add(fact.unit)
        if isinstance(fact, events.RunBegun | events.RunStopped) and fact.lane:
            lanes.add(fact.lane)
    found = list(happened)
    for stream in [*(streams.unit(unit) for unit in units), *(streams.spawn(lane) for lane in lanes)]:
        found += [event for event in store.load(stream) if event.body.get("run_id") == run_id]
    for lane in lanes:
        found += _leases(store.load(streams.lease(lane)), run_id)
    return sorted(found, key=lambda event: event.pos)


def _leases(happened: Iterable[Event], run_id: str) -> list[Event]:
    """A lease is its fence: what names the fence of the run's grant belongs to the run."""
    found: list[Event] = []
    fences: set[int] = set()
    for event in happened:
        fact = events.decode(event)
        if isinstance(fact, events.LeaseGranted | events.LeaseAdopted) and fact.asked.run_id == run_id:
            fences.add(event.pos)
            found.append(event)
        elif getattr(fact, "lease", None) in fences and not isinstance(fact, events.LeaseRenewed):
            found.append(event)
    return found


def moments(happened: Sequence[Event]) -> list[Moment]:
    ends = [*(event.at_ms for event in happened[1:]), happened[-1].at_ms if happened else 0]
    took = [max(0, end - event.at_ms) for event, end in zip(happened, ends, strict=True)]
    longest = max(took, default=0)
    return [
        Moment(
            pos=event.pos,
            at=second_stamp(event.at_ms),
            since_start_ms=event.at_ms - happened[0].at_ms,
            took_ms=milliseconds,
            kind=event.kind,
            text=_told(event),
            slowest=bool(longest) and milliseconds == longest,
        )
        for event, milliseconds in zip(happened, took, strict=True)
    ]


def _told(event: Event) -> str:
    line = story.tell(event)
    if line is not None:
        return line.text
    match events.decode(event):
        case events.IterationCommitted() as fact:
            return f"iteration {fact.iteration} ended {fact.outcome}: {fact.action}, {fact.reason}"
        case events.WorkMeasured() as fact:
            return f"measured {fact.unit}: {fact.reason}"
        case events.LandingIntended() as fact:
            return f"about to land {fact.unit} on {fact.branch}"
        case events.UnitAttempted() as fact:
            return f"the try at {fact.unit} counts as {fact.outcome}"
        case events.AgentStarted() as fact:
            return f"agent {fact.agent} started on {fact.unit}"
        case _:
            return event.kind.replace("_", " ")


def render(run_id: str, told: Sequence[Moment]) -> str:
    lines = [f"run {run_id}, from {told[0].at}"]
    for moment in told:
        mark = "  ← longest" if moment.slowest else ""
        lines.append(f"{_clock(moment.since_start_ms):>9}  {moment.text}  {_took(moment.took_ms)}{mark}".rstrip())
    return "\n".join(lines)


def _clock(milliseconds: int) -> str:
    seconds = milliseconds / 1000
    return f"+{seconds:.1f} s" if seconds < 600 else f"+{seconds / 60:.0f} min"


def _took(milliseconds: int) -> str:
    return f"({milliseconds / 1000:.1f} s)" if milliseconds >= 100 else ""
