"""How a fleet's time ended: what landed, what was claimed and not believed, what crashed and went on."""

from collections.abc import Iterable

from msgspec import Struct, field

from dos.journal import events
from dos.journal.events import Event

CRASHES = frozenset({"crashed", "killed", "hung", "failed", "launch_failed"})


class Report(Struct, kw_only=True):
    landed: list[str] = field(default_factory=list)
    disbelieved: list[str] = field(default_factory=list)
    crashed: list[str] = field(default_factory=list)
    salvaged: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)


def report(happened: Iterable[Event]) -> Report:
    made = Report()
    ends: dict[str, events.AgentEnded] = {}  # by unit, the newest
    for event in happened:
        match events.decode(event):
            case events.AgentEnded() as fact:
                ends[fact.unit] = fact
                if fact.outcome in CRASHES:
                    made.crashed.append(f"{fact.unit}: its agent {fact.outcome} after {fact.seconds:.1f} s")
            case events.WorkMeasured() as fact if fact.verdict != "DELIVERED":
                end = ends.get(fact.unit)
                if end is None or end.outcome not in CRASHES:
                    said = f"said {end.claim!r}; " if end and end.claim else ""
                    made.disbelieved.append(f"{fact.unit}: {said}{fact.reason}")
            case events.LandingRefused() as fact:
                made.disbelieved.append(f"{fact.unit}: {fact.reason}")
            case events.UnitLanded() as fact:
                made.landed.append(f"{fact.unit}  {fact.commit[:9]} on {fact.branch}")
            case events.WorkerReaped() as fact:
                made.crashed.append(f"{fact.lane}: its worker died ({fact.reason}); another went on")
            case events.WorkSalvaged() as fact:
                made.salvaged.append(f"{fact.ref}  {fact.why}")
            case events.RunStopped() as fact if fact.needs != "nobody":
                made.stopped.append(f"{fact.lane}: {fact.stop_reason}, needs {fact.needs}: {fact.reason}")
            case events.LaneFailed() as fact:
                made.stopped.append(f"{fact.lane}: given up on: {fact.reason}")
    return made


def render(made: Report) -> str:
    parts = [
        _part("landed, each with its commit", made.landed),
        _part("claimed, and not believed", made.disbelieved),
        _part("crashed, and went on", made.crashed),
        _part("saved before it was cleared away", made.salvaged),
        _part("waiting for somebody", made.stopped),
    ]
    return "\n\n".join(part for part in parts if part) or "nothing happened"


def _part(title: str, lines: list[str]) -> str:
    return "\n".join([f"{title}: {len(lines)}", *(f"  {line}" for line in lines)]) if lines else ""
