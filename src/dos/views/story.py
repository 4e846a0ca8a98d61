"""The journal as a story: one line for each event that a person wants to see."""

from msgspec import Struct

from dos.journal import events
from dos.journal.events import Event
from dos.journal.receipt_events import ReceiptIssued

GOOD, BAD, PLAIN, DIM = "good", "bad", "plain", "dim"


class Line(Struct, frozen=True):
    at_ms: int
    where: str
    text: str
    tone: str = PLAIN


def tell(event: Event) -> Line | None:
    """None for what only machines care about, such as a renewal."""
    fact = events.decode(event)
    found = _fleet(fact) or _run(fact)
    return Line(event.at_ms, *found) if found else None


def _fleet(fact: events.Fact | None) -> tuple[str, str, str] | None:
    match fact:
        case events.FleetStarted():
            workers = "1 worker" if fact.target == 1 else f"{fact.target} workers"
            return "fleet", f"started on {fact.host}: {workers} wanted", PLAIN
        case events.FleetStopped():
            return "fleet", f"stopped: {fact.reason}", PLAIN
        case events.DrainRequested():
            return "fleet", "asked to drain", PLAIN
        case events.WorkerSpawned():
            return fact.lane, f"worker {fact.pid} started", DIM
        case events.WorkerReaped():
            return fact.lane, f"reaped a worker: {fact.reason}", BAD
        case events.LaneFailed():
            return fact.lane, f"given up on until a person looks: {fact.reason}", BAD
        case events.LeaseGranted() if not fact.asked.is_lock:
            return fact.asked.lane, "lane leased", DIM
        case events.LeaseExpired():
            return "lease", f"fence {fact.lease} ran out and was taken over", BAD
    return None


def _run(fact: events.Fact | None) -> tuple[str, str, str] | None:
    match fact:
        case events.UnitClaimed():
            again = " again, after a crash" if fact.repeated else ""
            return fact.lane, f"took {fact.unit}{again}", PLAIN
        case events.AgentEnded():
            said = f" and said {fact.claim!r}" if fact.claim else ""
            return fact.lane, f"agent {fact.outcome} after {fact.seconds:.1f} s{said}", DIM
        case events.WorkMeasured() if fact.verdict != "DELIVERED":
            return fact.lane, f"{fact.unit} not delivered: {fact.reason}", BAD
        case events.LandingRefused():
            return fact.lane, f"{fact.unit} not landed: {fact.reason}", BAD
        case events.UnitLanded():
            how = "found landed" if fact.recognised else "landed"
            return fact.lane, f"{fact.unit} {how} on {fact.branch} as {fact.commit[:9]}", GOOD
        case ReceiptIssued() if fact.said:
            return fact.lane, f"{fact.unit}: {fact.said}", PLAIN if fact.receipt and fact.receipt["signature"] else BAD
        case events.WorkSalvaged():
            return fact.lane, f"saved to {fact.ref} ({fact.why})", PLAIN
        case events.RunStopped():
            return fact.lane, f"stopped: {fact.stop_reason} ({fact.reason}); needs {fact.needs}", PLAIN
    return None
