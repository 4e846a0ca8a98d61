"""The attempts at each unit as the journal records them, and how fresh a unit is by them.

Kept are their number and the newest of each outcome: more than that decides nothing. Attempts
that were imported from a log of dos-kernel ≤ 0.30 count like those of this journal.
"""

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

UNITS_KEPT = 5_000  # then the one that was tried longest ago is dropped
Handled = fleet.UnitAttempted | runs.LineImported | limits.UnitCleared
_reader: FactReader[Handled] = FactReader(
    Handled,
    silent="""
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted
        lease_refused spawn_intended worker_spawned worker_reaped lane_failed drain_requested
        fleet_started fleet_stopped decision_forced run_minted run_begun unit_claimed unit_taken
        work_salvaged agent_started agent_ended work_measured landing_intended unit_landed
        landing_refused iteration_committed run_stopped id_allocated journal_pruned limit_hit
        limit_probed limit_lifted units_screened run_parked landing_queued landing_deferred
        run_unparked agent_waiting agent_went_on pause_requested pause_ended halt_requested
        spin_flagged decision_raised decision_answered plans_approved settings_approved lane_cleared
        budget_warned budget_spent budget_promised baseline_started baseline_checked work_committed
        fleet_found incident_found intent_declared extent_changed step_claimed step_verified
        run_suspended resume_proposed run_resumed run_ended halt_proposed ledger_line_unreadable
        hook_fault receipt_issued test_witnessed command_checked line_unreadable tool_called
        hook_answered marker_held marker_reset session_bound export_advanced notification_sent
        verdict_given lifecycle_ticked run_steered steer_delivered
    """,
)


class UnitAttempts(Struct, kw_only=True):
    """The attempts at one unit."""

    count: int = 0
    # The newest attempt of each outcome since a person last cleared the unit.
    newest_ms: dict[AttemptOutcome, int] = field(default_factory=dict)
    # The fingerprint of the unit's text at that attempt.
    texts: dict[AttemptOutcome, str] = field(default_factory=dict)


class Attempts(Struct, kw_only=True):
    """The attempts at all units, folded from the journal."""

    name: ClassVar[str] = "attempts"

    units: dict[str, UnitAttempts] = field(default_factory=dict)

    def apply(self, event: Event) -> None:
        """Fold one event of the journal into the state."""
        match _reader.decode(event):
            case None:
                pass
            case fleet.UnitAttempted() as fact:
                outcome = AttemptOutcome.read(fact.outcome)
                self._add(make_attempt(fact.unit, outcome, event.at_ms, fact.text))
            case limits.UnitCleared() as fact:
                if attempts := self.units.get(fact.unit):
                    attempts.newest_ms = {}
                    attempts.texts = {}
            case runs.LineImported() as fact:
                attempt = released_attempt(fact.record) if fact.op == "ATTEMPT" else None
                if attempt:
                    self._add(attempt)
            case never:
                assert_never(never)

    def newest(self, unit: str) -> tuple[Attempt, ...]:
        """The newest attempt of each outcome since the unit was last cleared."""
        attempts = self.units.get(unit, UnitAttempts())
        newest = []
        for outcome, at_ms in attempts.newest_ms.items():
            newest.append(make_attempt(unit, outcome, at_ms, attempts.texts.get(outcome, "")))
        return tuple(newest)

    def count(self, unit: str) -> int:
        """How many attempts there were in all, also before the unit was cleared."""
        return self.units.get(unit, UnitAttempts()).count

    def _add(self, attempt: Attempt) -> None:
        """Count an attempt, and keep it if it is the newest of its outcome."""
        attempts = self.units.setdefault(attempt.unit, UnitAttempts())
        attempts.count += 1
        if attempt.at_ms >= attempts.newest_ms.get(attempt.outcome, attempt.at_ms):
            attempts.newest_ms[attempt.outcome] = attempt.at_ms
            attempts.texts[attempt.outcome] = attempt.text
        if len(self.units) > UNITS_KEPT:
            del self.units[min(self.units, key=self._newest_ms)]

    def _newest_ms(self, unit: str) -> int:
        """When a unit was last tried; 0 if that was cleared."""
        return max(self.units[unit].newest_ms.values(), default=0)


def make_attempt(unit: str, outcome: AttemptOutcome, at_ms: int, text: str = "") -> Attempt:
    """An attempt with its moment written for people as well."""
    return Attempt(unit=unit, outcome=outcome, at_ms=at_ms, ts=utc_stamp(at_ms), text=text)


def released_attempt(record: Mapping[str, Any]) -> Attempt | None:
    """An attempt in a log of dos-kernel ≤ 0.30; None if the record is none or is unreadable.

    An unreadable attempt counts as not tried.
    """
    unit = released_unit(record)
    at_ms = released_moment(record)
    if unit is None or at_ms is None:
        return None
    return make_attempt(unit, AttemptOutcome.read(record.get("outcome")), at_ms)


def released_unit(record: Mapping[str, Any]) -> str | None:
    """The unit of an attempt in a log of dos-kernel ≤ 0.30; None for any other record."""
    tag = record.get("schema")
    if isinstance(tag, Mapping) and tag.get("family", "lane-journal") != "lane-journal":
        return None
    if readability(record) not in (Readability.READABLE, Readability.UNTAGGED):
        return None
    unit = record.get("unit_id")
    if record.get("op") not in (None, "", "ATTEMPT") or not isinstance(unit, str):
        return None
    return unit


def released_moment(record: Mapping[str, Any]) -> int | None:
    """When an attempt of such a log was, in milliseconds; None if that is unreadable."""
    at_ms = _milliseconds(record.get("attempted_at_ms"))
    if at_ms is None:
        return _stamp_milliseconds(record.get("ts"))
    return at_ms


def _milliseconds(value: object) -> int | None:
    """A moment from a log; None for what is no moment of this era."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = int(value)
    except (ValueError, OverflowError):
        return None
    if 0 <= number < YEAR_10000_MS:
        return number
    return None


def _stamp_milliseconds(stamp: object) -> int | None:
    """A moment from an ISO stamp; UTC if it names no zone."""
    if not isinstance(stamp, str):
        return None
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return _milliseconds(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() * 1000)


class Freshness(StrEnum):
    """Whether a unit was ever tried. It only breaks ties, behind the caller's own sort key."""

    NEVER_ATTEMPTED = "NEVER_ATTEMPTED"
    ATTEMPTED = "ATTEMPTED"


EXIT_CODES = {Freshness.NEVER_ATTEMPTED: 0, Freshness.ATTEMPTED: 3}


class FreshnessEvidence(Struct, frozen=True, kw_only=True):
    """Whether a unit was ever tried, and when last."""

    unit_id: str
    attempted: bool = False
    last_attempt_ms: int | None = None  # None: never, or unreadable


class FreshnessVerdict(Struct, frozen=True, kw_only=True):
    """How fresh a unit is, as `dos pick-priority --json` prints it."""

    answer: Freshness = field(name="freshness")
    unit_id: str = ""
    last_attempt_ms: int | None = None
    sort_key: tuple[int, int] = (0, 0)  # ascending
    reason: str = ""


def judge_freshness(evidence: FreshnessEvidence) -> FreshnessVerdict:
    """Rank a unit: first those never tried, then those tried longest ago."""
    if not evidence.attempted:
        return FreshnessVerdict(
            answer=Freshness.NEVER_ATTEMPTED, unit_id=evidence.unit_id, reason="it was never tried"
        )
    return FreshnessVerdict(
        answer=Freshness.ATTEMPTED,
        unit_id=evidence.unit_id,
        last_attempt_ms=evidence.last_attempt_ms,
        sort_key=(1, evidence.last_attempt_ms or 0),
        reason="it was tried; units that were tried longer ago go first",
    )
