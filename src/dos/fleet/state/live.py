"""The fleet as people watch it: what each run does since when, what it waits for, what landed."""

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

_StatusFact = (
    limits.RunParked
    | limits.RunUnparked
    | limits.AgentWaiting
    | limits.AgentWentOn
    | limits.SpinFlagged
    | limits.HaltRequested
    | fleet.WorkerReaped
    | fleet.RunStopped
)
_WorkFact = (
    fleet.RunBegun
    | fleet.UnitClaimed
    | fleet.AgentStarted
    | fleet.AgentEnded
    | fleet.WorkMeasured
    | fleet.LandingRefused
    | fleet.UnitLanded
    | fleet.IterationCommitted
    | _StatusFact
)
Handled = limits.PauseRequested | limits.PauseEnded | _WorkFact
_reader: FactReader[Handled] = FactReader(
    Handled,
    silent="""
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted
        lease_refused spawn_intended worker_spawned lane_failed drain_requested fleet_started
        fleet_stopped decision_forced run_minted unit_taken work_salvaged landing_intended
        unit_attempted id_allocated journal_pruned limit_hit limit_probed limit_lifted
        units_screened landing_queued landing_deferred decision_raised decision_answered
        plans_approved settings_approved lane_cleared unit_cleared budget_warned budget_spent
        budget_promised baseline_started baseline_checked work_committed fleet_found incident_found
        intent_declared extent_changed step_claimed step_verified run_suspended resume_proposed
        run_resumed run_ended halt_proposed ledger_line_unreadable hook_fault receipt_issued
        test_witnessed command_checked line_imported line_unreadable tool_called hook_answered
        marker_held marker_reset session_bound export_advanced notification_sent verdict_given
        lifecycle_ticked run_steered steer_delivered
    """,
)


class Parked(Struct, frozen=True, kw_only=True):
    """What a run waits for; `why` is a token such as `quota`, `detail` the words for people.

    Without `until_ms` the run waits for an event, such as the end of a pause.
    """

    why: str
    detail: str
    since_ms: int
    until_ms: int | None


class WatchedRun(Struct, kw_only=True):
    """A run that has not stopped, as far as the journal knows.

    A run whose process was killed stays here until a supervisor reaps it, so whoever shows it
    compares it with the leases.
    """

    lane: str
    began_ms: int
    last_ms: int  # of the newest event about it
    unit: str = ""
    unit_since_ms: int = 0
    iteration: int = 0
    agent: str = ""
    agent_since_ms: int = 0  # 0: no agent runs
    ended_with: str = ""  # how its newest agent ended
    parked: Parked | None = None
    provider: Parked | None = None  # its agent waits for the provider and retries by itself
    spinning: str = ""  # why it was flagged
    halting: bool = False


class Tally(Struct, kw_only=True):
    """What one lane landed and spent in one hour.

    Counted by the hour, so that `dos top` can show the last hour and the last day without reading
    a day of events.
    """

    landed: int = 0
    rejected: int = 0
    usd: float = 0.0
    unpriced: int = 0  # starts of agents whose cost is unknown
    tokens: int = 0


class Pause(Struct, frozen=True, kw_only=True):
    """A pause of a lane or of the fleet: since when, and who asked for it with which reason."""

    since_ms: int
    by: str
    reason: str

    @property
    def text(self) -> str:
        """Who asked for it and why, as far as that was recorded: `by ann: the disk is full`."""
        parts = []
        if self.by:
            parts.append(f"by {self.by}")
        if self.reason:
            parts.append(self.reason)
        return ": ".join(parts)


class LiveState(Struct, kw_only=True):
    """The fleet as `dos top` shows it. A fold: `apply` takes one event after the other.

    It keeps only what is live or a day old, so that it stays small however long a fleet runs.
    """

    name: ClassVar[str] = "watching"
    made_with: ClassVar[tuple[str, ...]] = (ledger.__name__,)

    runs: dict[str, WatchedRun] = field(default_factory=dict)
    # By lane, then by the hours since 1970.
    tallies: dict[str, dict[int, Tally]] = field(default_factory=dict)
    pauses: dict[str, Pause] = field(default_factory=dict)  # by lane; "": the whole fleet
    landings: list[LandingEntry] = field(default_factory=list)  # newest last

    def apply(self, event: Event) -> None:
        """Change the state by one event; other kinds of events are skipped."""
        match _reader.decode(event):
            case None:
                pass
            case limits.PauseRequested() as fact:
                self.pauses[fact.lane] = Pause(since_ms=event.at_ms, by=fact.by, reason=fact.reason)
            case limits.PauseEnded() as fact:
                self.pauses.pop(fact.lane, None)
            case fact:
                self._apply_work(fact, event)

    def _apply_work(self, fact: _WorkFact, event: Event) -> None:
        """Follow a run through its iteration: the claim, the agent, the landing, the commit."""
        match fact:
            case fleet.RunBegun():
                self._run(fact.run_id, fact.lane, event)
            case fleet.UnitClaimed():
                run = self._run(fact.run_id, fact.lane, event)
                run.unit = fact.unit
                run.unit_since_ms = event.at_ms
                run.iteration = fact.iteration
            case fleet.AgentStarted():
                run = self._run(fact.run_id, fact.lane, event)
                run.agent = fact.agent
                run.agent_since_ms = event.at_ms
            case fleet.AgentEnded():
                run = self._run(fact.run_id, fact.lane, event)
                run.agent_since_ms = 0
                run.ended_with = fact.outcome
                run.provider = None
                self._add_spend(fact, event)
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
                run.unit = ""
                run.iteration = fact.iteration
                run.agent_since_ms = 0
            case _:
                self._apply_status(fact, event)

    def _apply_status(self, fact: _StatusFact, event: Event) -> None:
        """Apply a fact about what a run waits for, whether it spins, and whether it is over."""
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
        """Count work that was measured and not delivered, unless the agent could not finish it."""
        run = self._run(fact.run_id, fact.lane, event)
        # A limit of the provider, or a halt by a person, says nothing about the work.
        if run.ended_with not in LIMITS and not run.halting:
            self._tally(fact.lane, event).rejected += 1

    def _run(self, run_id: str, lane: str, event: Event) -> WatchedRun:
        """Return the run of an event, new where it is not known.

        Every event of a run proves that it lived then, so its newest time is kept.
        """
        run = self.runs.setdefault(
            run_id, WatchedRun(lane=lane, began_ms=event.at_ms, last_ms=event.at_ms)
        )
        run.last_ms = event.at_ms
        while len(self.runs) > RUNS_KEPT:  # runs that died and were never reaped
            del self.runs[next(iter(self.runs))]
        return run

    def _tally(self, lane: str, event: Event) -> Tally:
        """Return the tally of the hour of an event; older hours than a day are removed."""
        hours = self.tallies.setdefault(lane, {})
        hour = event.at_ms // HOUR_MS
        tally = hours.setdefault(hour, Tally())
        for old in list(hours):
            if old <= hour - HOURS_KEPT:
                del hours[old]
        return tally

    def _add_spend(self, fact: fleet.AgentEnded, event: Event) -> None:
        """Add what an agent used to the hour in which it ended."""
        tally = self._tally(fact.lane, event)
        spent = ledger.spent_by(fact)
        tally.tokens += spent.tokens
        tally.usd += spent.usd
        tally.unpriced += spent.unpriced
