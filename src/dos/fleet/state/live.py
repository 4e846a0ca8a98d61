"""What whoever watches a fleet wants to know of it: who is at what since when, what holds each up, what came of it."""

from typing import ClassVar, assert_never

from msgspec import Struct, field

from dos.agents.adapter import LIMITS
from dos.journal.events import fleet, limits
from dos.journal.events.envelope import Event
from dos.journal.events.reader import FactReader
from dos.limits.state import ledger
from dos.times import utc_datetime
from dos.units.unit import LandingEntry

HOUR_MS = 3_600_000
HOURS_KEPT = 24
LANDINGS_KEPT = 20
RUNS_KEPT = 200

_Standing = (
    limits.RunParked
    | limits.RunUnparked
    | limits.AgentWaiting
    | limits.AgentWentOn
    | limits.SpinFlagged
    | limits.HaltRequested
    | fleet.WorkerReaped
    | fleet.RunStopped
)
_Work = (
    fleet.RunBegun
    | fleet.UnitClaimed
    | fleet.AgentStarted
    | fleet.AgentEnded
    | fleet.WorkMeasured
    | fleet.LandingRefused
    | fleet.UnitLanded
    | fleet.IterationCommitted
    | _Standing
)
Handled = limits.PauseRequested | limits.PauseEnded | _Work
_reader: FactReader[Handled] = FactReader(
    Handled,
    silent="""
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted lease_refused
        spawn_intended worker_spawned lane_failed drain_requested fleet_started fleet_stopped decision_forced
        run_minted unit_taken work_salvaged landing_intended unit_attempted id_allocated journal_pruned
        limit_hit limit_probed limit_lifted units_screened landing_queued landing_deferred decision_raised
        decision_answered plans_approved settings_approved lane_cleared unit_cleared budget_warned budget_spent
        budget_promised baseline_started baseline_checked work_committed fleet_found incident_found
        intent_declared extent_changed step_claimed step_verified run_suspended resume_proposed run_resumed
        run_ended halt_proposed ledger_line_unreadable hook_fault receipt_issued test_witnessed line_imported
        line_unreadable
    """,
)


class Parked(Struct, frozen=True, kw_only=True):
    why: str
    detail: str
    since_ms: int
    until_ms: int | None


class WatchedRun(Struct, kw_only=True):
    """A run as whoever watches sees it; only while it has not stopped, as far as the journal knows."""

    lane: str
    began_ms: int
    last_ms: int  # of the newest event that speaks of it
    unit: str = ""
    unit_since_ms: int = 0
    iteration: int = 0
    agent: str = ""
    agent_since_ms: int = 0  # 0: none is at work
    ended_with: str = ""  # its newest agent
    parked: Parked | None = None
    provider: Parked | None = None  # its agent waits for it, and tries again by itself
    spinning: str = ""  # why it was flagged
    halting: bool = False


class Tally(Struct, kw_only=True):
    """What one lane came to in one hour."""

    landed: int = 0
    rejected: int = 0
    usd: float = 0.0
    unpriced: int = 0  # starts of an agent whose cost nobody knows
    tokens: int = 0


class Pause(Struct, frozen=True, kw_only=True):
    since_ms: int
    by: str
    reason: str


class LiveState(Struct, kw_only=True):
    name: ClassVar[str] = "watching"
    made_with: ClassVar[tuple[str, ...]] = (ledger.__name__,)

    runs: dict[str, WatchedRun] = field(default_factory=dict)
    tallies: dict[str, dict[int, Tally]] = field(
        default_factory=dict
    )  # by lane, then by the hours since 1970
    pauses: dict[str, Pause] = field(
        default_factory=dict
    )  # by lane; under no name, the whole fleet's
    landings: list[LandingEntry] = field(default_factory=list)  # newest last

    def apply(self, event: Event) -> None:
        match _reader.decode(event):
            case None:
                pass
            case limits.PauseRequested() as fact:
                self.pauses[fact.lane] = Pause(since_ms=event.at_ms, by=fact.by, reason=fact.reason)
            case limits.PauseEnded() as fact:
                self.pauses.pop(fact.lane, None)
            case fact:
                self._apply_work(fact, event)

    def _apply_work(self, fact: _Work, event: Event) -> None:
        match fact:
            case fleet.RunBegun():
                self._run(fact.run_id, fact.lane, event)
            case fleet.UnitClaimed():
                run = self._run(fact.run_id, fact.lane, event)
                run.unit, run.unit_since_ms, run.iteration = fact.unit, event.at_ms, fact.iteration
            case fleet.AgentStarted():
                run = self._run(fact.run_id, fact.lane, event)
                run.agent, run.agent_since_ms = fact.agent, event.at_ms
            case fleet.AgentEnded():
                run = self._run(fact.run_id, fact.lane, event)
                run.agent_since_ms, run.ended_with, run.provider = 0, fact.outcome, None
                self._spent(fact, event)
            case fleet.WorkMeasured():
                if fact.verdict != "DELIVERED":
                    self._reject(fact, event)
            case fleet.LandingRefused():
                self._run(fact.run_id, fact.lane, event)
                self._tally(fact.lane, event).rejected += 1
            case fleet.UnitLanded():
                self._run(fact.run_id, fact.lane, event).spinning = ""
                self._tally(fact.lane, event).landed += 1
                self.landings = [*self.landings, fact.entry(utc_datetime(event.at_ms))][
                    -LANDINGS_KEPT:
                ]
            case fleet.IterationCommitted():
                run = self._run(fact.run_id, fact.lane, event)
                run.unit, run.iteration, run.agent_since_ms = "", fact.iteration, 0
            case _:
                self._apply_standing(fact, event)

    def _apply_standing(self, fact: _Standing, event: Event) -> None:
        match fact:
            case limits.RunParked():
                self._run(fact.run_id, fact.lane, event).parked = Parked(
                    why=fact.why, detail=fact.detail, since_ms=event.at_ms, until_ms=fact.until_ms
                )
            case limits.RunUnparked():
                self._run(fact.run_id, fact.lane, event).parked = None
            case limits.AgentWaiting():
                self._run(fact.run_id, fact.lane, event).provider = Parked(
                    why="quota",
                    detail=f"{fact.ending} {fact.detail}".strip(),
                    since_ms=event.at_ms,
                    until_ms=None,
                )
            case limits.AgentWentOn():
                self._run(fact.run_id, fact.lane, event).provider = None
            case limits.SpinFlagged():
                self._run(fact.run_id, fact.lane, event).spinning = fact.reason
            case limits.HaltRequested():
                if run := self.runs.get(fact.run_id):
                    run.halting = True
            case fleet.WorkerReaped() | fleet.RunStopped():
                self.runs.pop(fact.run_id, None)
            case never:
                assert_never(never)

    def _reject(self, fact: fleet.WorkMeasured, event: Event) -> None:
        run = self._run(fact.run_id, fact.lane, event)
        # That its provider had no room, or that a person ended it, says nothing about the work.
        if run.ended_with not in LIMITS and not run.halting:
            self._tally(fact.lane, event).rejected += 1

    def _run(self, run_id: str, lane: str, event: Event) -> WatchedRun:
        run = self.runs.setdefault(
            run_id, WatchedRun(lane=lane, began_ms=event.at_ms, last_ms=event.at_ms)
        )
        run.last_ms = event.at_ms
        while len(self.runs) > RUNS_KEPT:  # of those that died and were never reaped
            del self.runs[next(iter(self.runs))]
        return run

    def _tally(self, lane: str, event: Event) -> Tally:
        hours, hour = self.tallies.setdefault(lane, {}), event.at_ms // HOUR_MS
        tally = hours.setdefault(hour, Tally())
        for old in [each for each in hours if each <= hour - HOURS_KEPT]:
            del hours[old]
        return tally

    def _spent(self, fact: fleet.AgentEnded, event: Event) -> None:
        tally, spent = self._tally(fact.lane, event), ledger.spent_by(fact)
        tally.tokens += spent.tokens
        tally.usd += spent.usd
        tally.unpriced += spent.unpriced
