"""The verdicts on record: those of verbs, of hooks and of the fleet, as one list.

A verdict is the same record on every surface: `dos observe` counts it, `dos export` ships it.
"""

from collections.abc import Iterable, Iterator
from typing import Any, assert_never

from msgspec import Struct, field

from dos.errors import JournalCorrupt
from dos.journal.events import doors, fleet, lanes, runs
from dos.journal.events.envelope import Event
from dos.journal.events.reader import FactReader
from dos.text import quote
from dos.times import utc_stamp

LONGEST_REASON = 300
# The rungs on record, by what a hook answered where no rung was recorded.
RUNGS = {"DENY": "BLOCK", "WARN": "WARN", "ASK": "DEFER"}

Handled = (
    doors.VerdictGiven
    | doors.HookAnswered
    | lanes.LeaseGranted
    | lanes.LeaseRefused
    | fleet.WorkMeasured
    | fleet.LandingRefused
    | fleet.UnitLanded
    | fleet.IterationCommitted
    | runs.StepVerified
    | runs.CommandChecked
)
_reader: FactReader[Handled] = FactReader(
    Handled,
    silent="""
        lease_renewed lease_released lease_expired lease_revoked lease_adopted spawn_intended
        worker_spawned worker_reaped lane_failed drain_requested fleet_started fleet_stopped
        decision_forced run_minted run_begun unit_claimed unit_taken work_salvaged agent_started
        agent_ended landing_intended unit_attempted run_stopped id_allocated journal_pruned
        limit_hit limit_probed limit_lifted units_screened run_parked landing_queued
        landing_deferred run_unparked agent_waiting agent_went_on pause_requested pause_ended
        halt_requested spin_flagged decision_raised decision_answered plans_approved
        settings_approved lane_cleared unit_cleared budget_warned budget_spent budget_promised
        baseline_started baseline_checked work_committed fleet_found incident_found intent_declared
        extent_changed step_claimed run_suspended resume_proposed run_resumed run_ended
        halt_proposed ledger_line_unreadable hook_fault tool_called marker_held marker_reset
        session_bound export_advanced notification_sent lifecycle_ticked receipt_issued
        test_witnessed line_imported line_unreadable run_steered steer_delivered
    """,
)


class VerdictRecord(Struct, frozen=True, kw_only=True):
    """One verdict, with the keys that dos-kernel gave its lines."""

    schema_family: str = "verdict-journal"
    schema_version: int = 1
    ts: str
    seq: int  # the position of its event in the journal
    syscall: str
    verdict: str
    run_id: str = ""
    lane: str = ""
    subject: str = ""
    detail: dict[str, Any] = field(default_factory=dict)
    source: str = "kernel"  # sensor: a hook of an agent program


class Damaged(Struct, frozen=True):
    """An event that should hold a verdict and cannot be decoded."""

    seq: int


def read_verdicts(events: Iterable[Event]) -> Iterator[VerdictRecord | Damaged]:
    """Yield the verdict of each event that holds one, in order."""
    for event in events:
        if event.kind not in _reader.handles:
            continue
        try:
            record = _record(event)
        except JournalCorrupt:
            yield Damaged(event.pos)
            continue
        if record is not None:
            yield record


def _record(event: Event) -> VerdictRecord | None:
    """Return the record of an event; None for a lease of a lock, which judges nothing."""
    fact = _reader.decode(event)
    match fact:
        case None:
            return None
        case doors.VerdictGiven():
            return _of_verb(event, fact)
        case doors.HookAnswered():
            return _of_hook(event, fact)
        case lanes.LeaseGranted() | lanes.LeaseRefused():
            return _of_lease(event, fact)
        case runs.CommandChecked():
            return _of_check(event, fact)
        case (
            fleet.WorkMeasured()
            | fleet.LandingRefused()
            | fleet.UnitLanded()
            | fleet.IterationCommitted()
            | runs.StepVerified()
        ):
            return _of_work(event, fact)
        case never:
            assert_never(never)


def _of_verb(event: Event, fact: doors.VerdictGiven) -> VerdictRecord:
    return VerdictRecord(
        ts=utc_stamp(event.at_ms),
        seq=event.pos,
        syscall=fact.syscall,
        verdict=fact.verdict,
        run_id=fact.run_id,
        lane=fact.lane,
        subject=fact.subject,
        detail=fact.detail,
    )


def _of_hook(event: Event, fact: doors.HookAnswered) -> VerdictRecord:
    detail: dict[str, Any] = {"action": fact.action, "via": fact.via}
    if fact.reason_class:
        detail["reason_class"] = fact.reason_class
    if fact.session:
        detail["session"] = fact.session
    if fact.paths:
        detail["paths"] = list(fact.paths)
    return VerdictRecord(
        ts=utc_stamp(event.at_ms),
        seq=event.pos,
        syscall=fact.moment,
        verdict=rung(fact),
        run_id=fact.run_id,
        lane=fact.lane,
        subject=fact.tool,
        detail=_with_reason(detail, fact.reason),
        source="sensor",
    )


def rung(fact: doors.HookAnswered) -> str:
    """Return the rung of an answer on the ladder of interventions."""
    return fact.intervention or RUNGS.get(fact.action, fact.action)


def _of_lease(event: Event, fact: lanes.LeaseGranted | lanes.LeaseRefused) -> VerdictRecord | None:
    detail: dict[str, Any] = {}
    if isinstance(fact, lanes.LeaseRefused):
        lane, holder, run_id, verdict = fact.lane, fact.holder, fact.run_id, "REFUSE"
        detail["reason_class"] = fact.reason_class
        detail = _with_reason(detail, fact.reason)
    else:
        if fact.asked.is_lock:
            return None
        lane, holder, run_id = fact.asked.lane, fact.asked.holder, fact.asked.run_id
        verdict = "ACQUIRE"
        detail["fence"] = event.pos
    return VerdictRecord(
        ts=utc_stamp(event.at_ms),
        seq=event.pos,
        syscall="lease_lane_acquire",
        verdict=verdict,
        run_id=run_id,
        lane=lane,
        subject=holder,
        detail=detail,
    )


def _of_check(event: Event, fact: runs.CommandChecked) -> VerdictRecord:
    return VerdictRecord(
        ts=utc_stamp(event.at_ms),
        seq=event.pos,
        syscall="check",
        verdict="PASS" if fact.passed else "FAIL",
        subject=fact.commit,
        detail={"command": quote(fact.command), "exit_code": fact.exit_code},
    )


Work = (
    fleet.WorkMeasured
    | fleet.LandingRefused
    | fleet.UnitLanded
    | fleet.IterationCommitted
    | runs.StepVerified
)


def _of_work(event: Event, fact: Work) -> VerdictRecord:
    """Return the record of what a worker measured, landed or decided."""
    lane = ""
    reason = ""
    match fact:
        case fleet.WorkMeasured():
            words = ("measure", fact.verdict, fact.unit)
            lane, reason = fact.lane, fact.reason
        case fleet.LandingRefused():
            words = ("land", "REFUSED", fact.unit)
            lane, reason = fact.lane, fact.reason
        case fleet.UnitLanded():
            words = ("land", "LANDED", fact.unit)
            lane, reason = fact.lane, f"{fact.commit} on {fact.branch}"
        case fleet.IterationCommitted():
            words = ("decide", fact.action.upper(), fact.unit)
            lane, reason = fact.lane, fact.reason
        case runs.StepVerified():
            words = ("run_verify", "VERIFIED", fact.step)
        case never:
            assert_never(never)
    syscall, verdict, subject = words
    return VerdictRecord(
        ts=utc_stamp(event.at_ms),
        seq=event.pos,
        syscall=syscall,
        verdict=verdict,
        run_id=fact.run_id,
        lane=lane,
        subject=subject,
        detail=_with_reason({}, reason),
    )


def _with_reason(detail: dict[str, Any], reason: str) -> dict[str, Any]:
    if reason:
        detail["reason"] = reason[:LONGEST_REASON]
    return detail
