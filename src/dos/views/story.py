"""The journal as a story: one line for each event that a person wants to see."""

from msgspec import Struct

from dos.journal import engine_events, events
from dos.journal.events import Event
from dos.journal.truth.receipt_events import ReceiptIssued
from dos.plans.limits import quota
from dos.plans.limits.quota import Key, Limit
from dos.records import logins
from dos.records.endings import Ending
from dos.records.moments import local_clock, moment
from dos.records.names import counted
from dos.verdicts.work.baselines import NOTHING_TO_EMPTY

GOOD, BAD, PLAIN, DIM = "good", "bad", "plain", "dim"


class Line(Struct, frozen=True):
    at_ms: int
    where: str
    text: str
    tone: str = PLAIN


def tell(event: Event) -> Line | None:
    """None for what only machines care about, such as a renewal."""
    fact = events.decode(event)
    found = _fleet(fact) or _run(fact) or _held_up(fact, event.at_ms)
    return Line(event.at_ms, *found) if found else None


def _fleet(fact: events.Fact | None) -> tuple[str, str, str] | None:
    match fact:
        case events.FleetStarted():
            workers = counted(fact.target, "worker")
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
        case engine_events.FleetFound():
            return "fleet", f"found {_found(fact)}", PLAIN
        case engine_events.BaselineStarted():
            return "fleet", f"checking that `{_first_line(fact.command)}` passes on {fact.branch} …", PLAIN
        case engine_events.BaselineChecked():
            return "fleet", _baseline(fact), GOOD if fact.passed and fact.sees_tree is not False else BAD
        case events.LeaseExpired():
            return "lease", f"fence {fact.lease} ran out and was taken over", BAD
    return None


def _run(fact: events.Fact | None) -> tuple[str, str, str] | None:
    match fact:
        case events.UnitClaimed():
            again = " again, after a crash" if fact.repeated else ""
            return fact.lane, f"took {fact.unit}{again}", PLAIN
        case events.AgentStarted() if fact.said:
            return fact.lane, f"{fact.unit}: {fact.said}", BAD
        case events.AgentEnded():
            said = f" and said {fact.claim!r}" if fact.claim else ""
            return fact.lane, f"agent {fact.outcome} after {fact.seconds:.1f} s{said}", DIM
        case events.WorkMeasured() if fact.verdict != "DELIVERED":
            return fact.lane, f"{fact.unit} not delivered: {fact.reason}", BAD
        case events.LandingRefused():
            return fact.lane, f"{fact.unit} not landed: {_first_line(fact.reason)}", BAD
        case events.UnitLanded():
            how = "found landed" if fact.recognised else "landed"
            return fact.lane, f"{fact.unit} {how} on {fact.branch} as {fact.commit[:9]}", GOOD
        case ReceiptIssued() if fact.said:
            return fact.lane, f"{fact.unit}: {fact.said}", PLAIN if fact.receipt and fact.receipt["signature"] else BAD
        case engine_events.WorkCommitted():
            return fact.lane, f"{fact.unit}: its agent left the work uncommitted; judged as {fact.commit[:9]}", PLAIN
        case events.WorkSalvaged():
            return fact.lane, f"saved to {fact.ref} ({fact.why})", PLAIN
        case events.RunStopped():
            return fact.lane, f"stopped: {fact.stop_reason} ({fact.reason}); needs {fact.needs}", PLAIN
    return None


def _held_up(fact: events.Fact | None, at_ms: int) -> tuple[str, str, str] | None:
    """What waits, and for whom."""
    match fact:
        case engine_events.LimitHit():
            return fact.lane, _limited(fact, at_ms), BAD
        case engine_events.LimitProbed():
            return fact.lane, f"goes first to see whether {fact.vendor} has room again", PLAIN
        case engine_events.LimitLifted():
            return "fleet", f"{fact.vendor} is used again: {fact.reason}", GOOD
        case engine_events.RunParked():
            until = f" until {_clock(fact.until_ms, at_ms)}" if fact.until_ms else ""
            return fact.lane, f"waits on {fact.why}{until}: {fact.detail}", DIM
        case engine_events.AgentWaiting():
            return fact.lane, f"its agent waits for its provider ({fact.ending}): {fact.detail}", DIM
        case engine_events.PauseRequested():
            return fact.lane or "fleet", f"paused: {fact.reason or 'by a person'}", PLAIN
        case engine_events.PauseEnded():
            return fact.lane or "fleet", "goes on", PLAIN
        case engine_events.HaltRequested():
            return "fleet", f"{fact.run_id} is to stop: {fact.reason or 'by a person'}", PLAIN
        case engine_events.SpinFlagged():
            return fact.lane, f"spins: {fact.reason}", BAD
        case engine_events.IncidentFound():
            return fact.lane or "fleet", f"incident: {fact.found}; it counts as no landing", BAD
        case engine_events.DecisionRaised():
            return "decision", f"{fact.question}  `dos decisions show {fact.id}`", BAD
        case engine_events.DecisionAnswered():
            return "decision", f"{fact.id}: {fact.choice}{' (nobody answered in time)' if fact.expired else ''}", PLAIN
        case engine_events.BudgetWarned() | engine_events.BudgetSpent():
            word = "spent" if isinstance(fact, engine_events.BudgetSpent) else "nearly spent"
            what = f"{fact.scope} {fact.subject}: {fact.spent:g} of {fact.limit:g} {fact.measure}"
            return "budget", f"{word}: {what}", BAD
    return None


def _baseline(fact: engine_events.BaselineChecked) -> str:
    command = f"`{_first_line(fact.command)}`"
    missing = "".join(f"; the acceptance command of {unit} cannot run: {why}" for unit, why in fact.missing.items())
    if not fact.passed:
        return f"{command} fails on {fact.branch} ({fact.commit[:9]}) after {fact.seconds:.1f} s: {fact.reason}"
    if fact.sees_tree is False:
        emptied = counted(fact.blanked, "source file")
        return f"{command} passes on {fact.branch} also with {emptied} emptied: it does not see the tree it is run in"
    untried = f"; {NOTHING_TO_EMPTY}" if fact.sees_tree is None else ""
    return f"{command} passes on {fact.branch} ({fact.seconds:.1f} s){untried}{missing}"


def _found(fact: engine_events.FleetFound) -> str:
    words = {
        "adopted": "live, left alone",
        "fenced": "dead, taken back",
        "resumed": "goes on after what was committed",
        "repeated": "begun and not committed, done again",
    }
    parts = [f"{word}: {', '.join(getattr(fact, name))}" for name, word in words.items() if getattr(fact, name)]
    parts += [f"{len(fact.skipped)} landed already, skipped"] if fact.skipped else []
    return "; ".join(parts)


def _first_line(text: str) -> str:
    """A conflict is told at length, for the next agent."""
    return text.partition("\n")[0]


def _limited(fact: engine_events.LimitHit, at_ms: int) -> str:
    """What the provider said, until when, and what logs in where that is what it takes."""
    limit = Limit(
        key=Key(vendor=fact.vendor, account=fact.account, model=fact.model), ending=fact.ending, agent=fact.agent
    )
    if fact.ending == Ending.AUTH:
        login = logins.command(fact.vendor)
        return f"{quota.said(limit)}" + (f"; log in with `{login}`" if login else "")
    until = f" until {_clock(fact.resets_at_ms, at_ms)}" if fact.resets_at_ms else ""
    return f"{quota.said(limit)}{until}; the lanes that use it wait"


def _clock(at_ms: int, now_ms: int) -> str:
    return local_clock(moment(at_ms), moment(now_ms), seconds=True)
