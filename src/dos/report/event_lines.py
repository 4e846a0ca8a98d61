"""Lines for people who watch a fleet: the events worth a line, and what an agent printed.

`dos up` prints `event_line` of each new event; `dos logs` prints `agent_lines` of each line of a
log. The sentence itself comes from `event_text`; here it is decided which events are shown, at
which place and in which tone. The surface turns a tone into a colour.
"""

from collections.abc import Sequence
from typing import assert_never

from msgspec import Struct

from dos.agents.adapter import Activity, Heard, ToolResult, Waiting
from dos.journal import streams
from dos.journal.events import doors, fleet, lanes, limits
from dos.journal.events.envelope import Event
from dos.journal.events.reader import FactReader
from dos.journal.events.runs import ReceiptIssued
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
        lease_renewed lease_released lease_revoked lease_adopted lease_refused spawn_intended
        decision_forced run_minted run_begun unit_taken landing_intended unit_attempted
        iteration_committed id_allocated journal_pruned units_screened landing_queued
        landing_deferred run_unparked agent_went_on plans_approved settings_approved lane_cleared
        unit_cleared budget_promised intent_declared extent_changed step_claimed step_verified
        run_suspended resume_proposed run_resumed run_ended halt_proposed ledger_line_unreadable
        hook_fault test_witnessed command_checked line_imported line_unreadable tool_called
        hook_answered marker_held marker_reset session_bound export_advanced notification_sent
        verdict_given lifecycle_ticked
    """,
)


class EventLine(Struct, frozen=True):
    """An event as one line: when, where (a lane, or `fleet`), the sentence and its tone.

    The tone is GOOD for what landed or passed, BAD for what a person may have to look at, DIM for
    routine, PLAIN for the rest.
    """

    at_ms: int
    where: str
    text: str
    tone: str = PLAIN


def event_line(event: Event) -> EventLine | None:
    """Return the line of an event; None for one that people need not see, such as a renewal."""
    fact = _reader.decode(event)
    if fact is None:
        return None
    if isinstance(fact, FleetFact):
        place = _fleet_tone(fact)
    elif isinstance(fact, ShownWorkFact):
        place = _work_tone(fact)
    else:
        place = _waiting_tone(fact)
    if place is None:
        return None
    where, tone = place
    if isinstance(fact, lanes.LeaseExpired):
        where = streams.lane_leases.subject(event.stream) or where  # the fact names no lane
    return EventLine(event.at_ms, where, event_text.describe(fact, event.at_ms), tone)


def _fleet_tone(fact: FleetFact) -> tuple[str, str] | None:
    """Return the place and tone of an event of the supervisor or a lease; None for no line.

    Named locks are no lanes, so their leases get no line.
    """
    match fact:
        case fleet.FleetStarted() | fleet.FleetStopped() | fleet.DrainRequested():
            return "fleet", PLAIN
        case limits.FleetFound() | limits.BaselineStarted():
            return "fleet", PLAIN
        case limits.BaselineChecked():
            is_good = fact.passed and fact.sees_tree is not False
            return "fleet", GOOD if is_good else BAD
        case fleet.WorkerSpawned():
            return fact.lane, DIM
        case fleet.WorkerReaped() | fleet.LaneFailed():
            return fact.lane, BAD
        case lanes.LeaseGranted():
            if fact.asked.is_lock:
                return None
            return fact.asked.lane, DIM
        case lanes.LeaseExpired():
            return "lease", BAD
        case never:
            assert_never(never)


def _work_tone(fact: ShownWorkFact) -> tuple[str, str] | None:  # noqa: C901, PLR0911
    """Return the place and tone of an event of a unit's work; None for no line.

    An agent that started, a delivery and a receipt get no line unless they say something:
    the landing that follows tells the same.
    """
    match fact:
        case (
            fleet.UnitClaimed() | limits.WorkCommitted() | fleet.WorkSalvaged() | fleet.RunStopped()
        ):
            return fact.lane, PLAIN
        case fleet.AgentStarted():
            if not fact.said:
                return None
            return fact.lane, BAD
        case fleet.AgentEnded():
            return fact.lane, DIM
        case fleet.WorkMeasured():
            if fact.verdict == "DELIVERED":
                return None
            return fact.lane, BAD
        case fleet.LandingRefused():
            return fact.lane, BAD
        case fleet.UnitLanded():
            return fact.lane, GOOD
        case ReceiptIssued():
            if not fact.said:
                return None
            is_signed = fact.receipt and fact.receipt["signature"]
            return fact.lane, PLAIN if is_signed else BAD
        case never:
            assert_never(never)


def _waiting_tone(fact: WaitingFact) -> tuple[str, str]:  # noqa: C901, PLR0911
    """Return the place and tone of an event about limits, pauses, questions or budgets.

    A question stands at `decision` and not at its lane: it may hold several lanes.
    """
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
        case doors.RunSteered() | doors.SteerDelivered():
            return fact.lane, PLAIN
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
    """What an agent printed, as a person reads it: its own stream is made for programs."""

    # activity | result: of a tool | output: of that tool | waiting: for its provider
    # | line: as it stands in the log
    kind: str
    text: str


def agent_lines(line: str, activities: Sequence[Heard]) -> list[AgentLine]:
    """Return what a line of an agent's log tells people.

    `activities` is what its adapter made of the line. A line of JSON that tells nothing is left
    out; a line of another form is shown as it is.
    """
    if activities:
        return [shown for activity in activities for shown in _agent_lines(activity)]
    if not line.strip() or line.lstrip().startswith("{"):
        return []
    return [AgentLine("line", line)]


def _agent_lines(activity: Heard) -> list[AgentLine]:
    """Return the lines of one activity that the adapter recognised."""
    match activity:
        case Activity(text=text):
            return [AgentLine("activity", text)]
        case ToolResult():
            return _result_lines(activity)
        case Waiting(ending=ending, seconds=seconds, text=text):
            parts = [f"waits for its provider ({ending})"]
            if seconds is not None:
                parts.append(f", tries again in {seconds:g} s")
            if text:
                parts.append(f": {text}")
            return [AgentLine("waiting", "".join(parts))]


def _result_lines(result: ToolResult) -> list[AgentLine]:
    """How the tool ended, and below it the end of what it printed."""
    if result.exit_code is not None:
        ended = f"exit {result.exit_code}"
    elif result.failed:
        ended = "failed"
    else:
        ended = "result"  # some programs report a failed command as a success
    output = [AgentLine("output", f"    {line}") for line in result.output.splitlines()]
    return [AgentLine("result", f"  {ended}"), *output]
