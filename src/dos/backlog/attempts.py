"""The tries at each unit: how many, and when the newest of each outcome was. More than that decides nothing."""

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, ClassVar, assert_never

from msgspec import Struct, field

from dos.backlog.cooldown import Attempt, AttemptOutcome
from dos.journal.events import fleet, limits, runs
from dos.journal.events.envelope import Event
from dos.journal.events.reader import FactReader
from dos.journal.transfer.lane_log import Readability, readability
from dos.times import YEAR_10000_MS, utc_stamp

UNITS_KEPT = 5_000  # those that were tried longest ago are forgotten first
Handled = fleet.UnitAttempted | runs.LineImported | limits.UnitCleared
_reader: FactReader[Handled] = FactReader(
    Handled,
    silent="""
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted lease_refused
        spawn_intended worker_spawned worker_reaped lane_failed drain_requested fleet_started fleet_stopped
        decision_forced run_minted run_begun unit_claimed unit_taken work_salvaged agent_started agent_ended
        work_measured landing_intended unit_landed landing_refused iteration_committed run_stopped id_allocated
        journal_pruned limit_hit limit_probed limit_lifted units_screened run_parked landing_queued
        landing_deferred run_unparked agent_waiting agent_went_on pause_requested pause_ended halt_requested
        spin_flagged decision_raised decision_answered plans_approved settings_approved lane_cleared
        budget_warned budget_spent budget_promised baseline_started baseline_checked work_committed fleet_found
        incident_found intent_declared extent_changed step_claimed step_verified run_suspended resume_proposed
        run_resumed run_ended halt_proposed ledger_line_unreadable hook_fault receipt_issued test_witnessed
        line_unreadable
    """,
)


class UnitAttempts(Struct, kw_only=True):
    count: int = 0
    newest_ms: dict[AttemptOutcome, int] = field(
        default_factory=dict
    )  # since a person last cleared the unit
    texts: dict[AttemptOutcome, str] = field(
        default_factory=dict
    )  # what the unit said then, by its fingerprint


class Attempts(Struct, kw_only=True):
    name: ClassVar[str] = "attempts"

    units: dict[str, UnitAttempts] = field(default_factory=dict)

    def apply(self, event: Event) -> None:
        match _reader.decode(event):
            case None:
                pass
            case fleet.UnitAttempted() as fact:
                self._note(
                    make_attempt(
                        fact.unit, AttemptOutcome.read(fact.outcome), event.at_ms, fact.text
                    )
                )
            case limits.UnitCleared() as fact:
                if tries := self.units.get(fact.unit):
                    tries.newest_ms, tries.texts = {}, {}
            case runs.LineImported() as fact:
                attempt = released_attempt(fact.record) if fact.op == "ATTEMPT" else None
                if attempt:
                    self._note(attempt)
            case never:
                assert_never(never)

    def newest(self, unit: str) -> tuple[Attempt, ...]:
        """The newest of each outcome."""
        tries = self.units.get(unit, UnitAttempts())
        return tuple(
            make_attempt(unit, outcome, at_ms, tries.texts.get(outcome, ""))
            for outcome, at_ms in tries.newest_ms.items()
        )

    def count(self, unit: str) -> int:
        return self.units.get(unit, UnitAttempts()).count

    def _note(self, attempt: Attempt) -> None:
        tries = self.units.setdefault(attempt.unit, UnitAttempts())
        tries.count += 1
        if attempt.at_ms >= tries.newest_ms.get(attempt.outcome, attempt.at_ms):
            tries.newest_ms[attempt.outcome] = attempt.at_ms
            tries.texts[attempt.outcome] = attempt.text
        if len(self.units) > UNITS_KEPT:
            del self.units[min(self.units, key=self._newest_ms)]

    def _newest_ms(self, unit: str) -> int:
        return max(self.units[unit].newest_ms.values(), default=0)


def make_attempt(unit: str, outcome: AttemptOutcome, at_ms: int, text: str = "") -> Attempt:
    return Attempt(unit=unit, outcome=outcome, at_ms=at_ms, ts=utc_stamp(at_ms), text=text)


def released_attempt(record: Mapping[str, Any]) -> Attempt | None:
    """An attempt as released logs have it; None for what is none or cannot be read, which counts as not tried."""
    unit, at_ms = released_unit(record), released_moment(record)
    return (
        None
        if unit is None or at_ms is None
        else make_attempt(unit, AttemptOutcome.read(record.get("outcome")), at_ms)
    )


def released_unit(record: Mapping[str, Any]) -> str | None:
    """The unit that a released record says was tried; None for another record, and for one that is not ours to read."""
    tag = record.get("schema")
    family = tag.get("family", "lane-journal") if isinstance(tag, Mapping) else "lane-journal"
    readable = (
        readability(record) in (Readability.READABLE, Readability.UNTAGGED)
        and family == "lane-journal"
    )
    unit = record.get("unit_id")
    return (
        unit
        if readable and record.get("op") in (None, "", "ATTEMPT") and isinstance(unit, str)
        else None
    )


def released_moment(record: Mapping[str, Any]) -> int | None:
    at_ms = _milliseconds(record.get("attempted_at_ms"))
    return _moment(record.get("ts")) if at_ms is None else at_ms


def _milliseconds(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = int(value)
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number < YEAR_10000_MS else None


def _moment(stamp: object) -> int | None:
    try:
        at = datetime.fromisoformat(stamp) if isinstance(stamp, str) else None
    except ValueError:
        return None
    return (
        None
        if at is None
        else _milliseconds(at.replace(tzinfo=at.tzinfo or UTC).timestamp() * 1000)
    )


class Freshness(StrEnum):
    NEVER_ATTEMPTED = "NEVER_ATTEMPTED"
    ATTEMPTED = "ATTEMPTED"


EXIT_CODES = {Freshness.NEVER_ATTEMPTED: 0, Freshness.ATTEMPTED: 3}


class FreshnessEvidence(Struct, frozen=True, kw_only=True):
    unit_id: str
    attempted: bool = False
    last_attempt_ms: int | None = None  # None: never, or nobody can read when


class FreshnessVerdict(Struct, frozen=True, kw_only=True):
    answer: Freshness = field(name="freshness")
    unit_id: str = ""
    last_attempt_ms: int | None = None
    sort_key: tuple[int, int] = (0, 0)  # ascending
    reason: str = ""


def judge_freshness(seen: FreshnessEvidence) -> FreshnessVerdict:
    if not seen.attempted:
        return FreshnessVerdict(
            answer=Freshness.NEVER_ATTEMPTED, unit_id=seen.unit_id, reason="it was never tried"
        )
    return FreshnessVerdict(
        answer=Freshness.ATTEMPTED,
        unit_id=seen.unit_id,
        last_attempt_ms=seen.last_attempt_ms,
        sort_key=(1, seen.last_attempt_ms or 0),
        reason="it was tried; units that were tried longer ago go first",
    )
