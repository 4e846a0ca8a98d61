"""The journal as a story: one line for each event that a person wants to see while the fleet runs."""

from collections.abc import Sequence
from typing import assert_never

from msgspec import Struct

from dos.agents.adapter import Activity, Waiting
from dos.journal.events import fleet, lanes, limits
from dos.journal.events.envelope import Event
from dos.journal.events.proofs import ReceiptIssued
from dos.journal.events.reader import FactReader
from dos.report import event_text
from dos.report.event_text import FleetFact, WaitingFact

GOOD, BAD, PLAIN, DIM = "good", "bad", "plain", "dim"

ShownWorkFact = (
    fleet.UnitClaimed
    | fleet.AgentStarted
    | fleet.AgentEnded
    | fleet.WorkMeasured
    | fleet.LandingRefused
    | fleet.UnitLanded
    | ReceiptIssued
    | limits.WorkCommitted
    | fleet.WorkSalvaged
    | fleet.RunStopped
)
ShownFact = FleetFact | ShownWorkFact | WaitingFact
_reader: FactReader[ShownFact] = FactReader(
    ShownFact,
    silent="""
        lease_renewed lease_released lease_revoked lease_adopted lease_refused spawn_intended decision_forced
        run_minted run_begun unit_taken landing_intended unit_attempted iteration_committed id_allocated
        journal_pruned units_screened landing_queued landing_deferred run_unparked agent_went_on plans_approved
        settings_approved lane_cleared unit_cleared budget_promised intent_declared extent_changed step_claimed
        step_verified run_suspended resume_proposed run_resumed run_ended halt_proposed ledger_line_unreadable
        hook_fault test_witnessed line_imported line_unreadable
    """,
)


class EventLine(Struct, frozen=True):
    at_ms: int
    where: str
    text: str
    tone: str = PLAIN


def event_line(event: Event) -> EventLine | None:
    """None for what only machines care about, such as a renewal."""
    fact = _reader.decode(event)
    if fact is None:
        return None
    if isinstance(fact, FleetFact):
        shown = _fleet_tone(fact)
    elif isinstance(fact, ShownWorkFact):
        shown = _work_tone(fact)
    else:
        shown = _waiting_tone(fact)
    if shown is None:
        return None
    where, tone = shown
    return EventLine(event.at_ms, where, event_text.describe(fact, event.at_ms), tone)


def _fleet_tone(fact: FleetFact) -> tuple[str, str] | None:
    """Where it happened, and its tone; None: not worth a line."""
    match fact:
        case fleet.FleetStarted() | fleet.FleetStopped() | fleet.DrainRequested():
            return "fleet", PLAIN
        case limits.FleetFound() | limits.BaselineStarted():
            return "fleet", PLAIN
        case limits.BaselineChecked():
            return "fleet", GOOD if fact.passed and fact.sees_tree is not False else BAD
        case fleet.WorkerSpawned():
            return fact.lane, DIM
        case fleet.WorkerReaped() | fleet.LaneFailed():
            return fact.lane, BAD
        case lanes.LeaseGranted():
            return None if fact.asked.is_lock else (fact.asked.lane, DIM)
        case lanes.LeaseExpired():
            return "lease", BAD
        case never:
            assert_never(never)


def _work_tone(fact: ShownWorkFact) -> tuple[str, str] | None:
    match fact:
        case (
            fleet.UnitClaimed() | limits.WorkCommitted() | fleet.WorkSalvaged() | fleet.RunStopped()
        ):
            return fact.lane, PLAIN
        case fleet.AgentStarted():
            return (fact.lane, BAD) if fact.said else None
        case fleet.AgentEnded():
            return fact.lane, DIM
        case fleet.WorkMeasured():
            return None if fact.verdict == "DELIVERED" else (fact.lane, BAD)
        case fleet.LandingRefused():
            return fact.lane, BAD
        case fleet.UnitLanded():
            return fact.lane, GOOD
        case ReceiptIssued():
            is_signed = fact.receipt and fact.receipt["signature"]
            return (fact.lane, PLAIN if is_signed else BAD) if fact.said else None
        case never:
            assert_never(never)


def _waiting_tone(fact: WaitingFact) -> tuple[str, str]:
    match fact:
        case limits.LimitHit() | limits.SpinFlagged():
            return fact.lane, BAD
        case limits.LimitProbed():
            return fact.lane, PLAIN
        case limits.LimitLifted():
            return "fleet", GOOD
        case limits.RunParked() | limits.AgentWaiting():
            return fact.lane, DIM
        case limits.PauseRequested() | limits.PauseEnded():
            return fact.lane or "fleet", PLAIN
        case limits.HaltRequested():
            return "fleet", PLAIN
        case limits.IncidentFound():
            return fact.lane or "fleet", BAD
        case limits.DecisionRaised():
            return "decision", BAD
        case limits.DecisionAnswered():
            return "decision", PLAIN
        case limits.BudgetWarned() | limits.BudgetSpent():
            return "budget", BAD
        case never:
            assert_never(never)


class AgentLine(Struct, frozen=True):
    kind: str  # activity | waiting: for its provider | line: as it stands in the log
    text: str


def agent_lines(line: str, heard: Sequence[Activity | Waiting]) -> list[AgentLine]:
    """Nothing for a line that only programs care about; a line that no program wrote stands for itself."""
    if not heard:
        return (
            [] if not line.strip() or line.lstrip().startswith("{") else [AgentLine("line", line)]
        )
    return [_told(each) for each in heard]


def _told(heard: Activity | Waiting) -> AgentLine:
    match heard:
        case Activity(text=text):
            return AgentLine("activity", text)
        case Waiting(ending=ending, seconds=seconds, text=text):
            again = f", tries again in {seconds:g} s" if seconds is not None else ""
            return AgentLine(
                "waiting",
                f"waits for its provider ({ending}){again}" + (f": {text}" if text else ""),
            )
