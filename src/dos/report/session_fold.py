"""Folds the events of a fleet into a session: agents, landings, crashes, waits and limits.

The fold reads events alone: no clock, no git, no process table. What it says of an agent is
therefore what was recorded, and an agent whose worker was killed stays at work until another event
shows that it is not.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import assert_never

from dos.agents.adapter import Ending
from dos.fleet.state.fleet import NO_ROOM
from dos.journal.events import fleet, limits
from dos.journal.events.doors import HookAnswered
from dos.journal.events.envelope import Event
from dos.journal.events.reader import FactReader
from dos.reasons.table import Needs
from dos.report import event_text
from dos.report.session import (
    AgentBar,
    Crash,
    FleetStart,
    Incident,
    LimitPeriod,
    Outcome,
    SavedWork,
    Session,
    StoppedLane,
    UnprovenClaim,
    UnseenEnd,
    Wait,
)
from dos.report.session_waits import OpenWaits
from dos.times import utc_datetime

# How an agent ends that did not end by itself; older journals have "crashed".
CRASHES = frozenset(
    {Ending.CRASH, Ending.KILLED, Ending.HANG, Ending.LAUNCH_FAILED, Ending.UNKNOWN, "crashed"}
)
# A stop that clears without a person is no stopped lane.
CLEARS_BY_ITSELF = frozenset({Needs.NOBODY, Needs.TIME})

_FleetFact = (
    fleet.FleetStarted
    | fleet.FleetStopped
    | fleet.WorkerReaped
    | fleet.LaneFailed
    | fleet.RunBegun
    | fleet.RunStopped
)
_AgentFact = fleet.AgentStarted | fleet.AgentEnded
_WorkFact = (
    fleet.WorkMeasured
    | fleet.LandingRefused
    | fleet.UnitLanded
    | fleet.WorkSalvaged
    | limits.IncidentFound
)
_WaitingFact = (
    limits.HaltRequested
    | limits.RunParked
    | limits.RunUnparked
    | limits.AgentWaiting
    | limits.AgentWentOn
    | limits.LimitHit
    | limits.LimitLifted
)
SessionFact = _FleetFact | _AgentFact | _WorkFact | _WaitingFact | HookAnswered
_reader: FactReader[SessionFact] = FactReader(
    SessionFact,
    silent="""
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted
        lease_refused spawn_intended worker_spawned drain_requested decision_forced run_minted
        unit_claimed unit_taken landing_intended unit_attempted iteration_committed id_allocated
        journal_pruned limit_probed units_screened landing_queued landing_deferred pause_requested
        pause_ended spin_flagged decision_raised decision_answered plans_approved settings_approved
        lane_cleared unit_cleared budget_warned budget_spent budget_promised baseline_started
        baseline_checked work_committed fleet_found intent_declared extent_changed step_claimed
        step_verified run_suspended resume_proposed run_resumed run_ended halt_proposed
        ledger_line_unreadable hook_fault receipt_issued test_witnessed command_checked
        line_imported line_unreadable tool_called marker_held marker_reset
        session_bound export_advanced notification_sent verdict_given lifecycle_ticked run_steered
        steer_delivered
    """,
)


def fold_session(events: Iterable[Event]) -> Session:
    """Return the session that these events tell, in the order of the journal.

    The events may begin in the middle of a run: an agent that ends without a known start is added
    with the duration that its end records.
    """
    session_fold = _SessionFold()
    for event in events:
        session_fold.apply(_reader.decode(event), utc_datetime(event.at_ms))
    return session_fold.result()


class _SessionFold:
    """The session so far, and what is still open in it.

    Agents are found by their lane while they run, because a lane has one at a time, and by run and
    unit afterwards, because measurements and landings name those.
    """

    def __init__(self) -> None:
        self.session = Session()
        self.now = utc_datetime(0)
        self.open_bars: dict[str, AgentBar] = {}  # by lane: it has one agent at a time
        self.newest: dict[tuple[str, str], AgentBar] = {}  # by run and unit
        self.waits = OpenWaits(self.session)
        self.stops: dict[str, StoppedLane] = {}  # by lane
        self.stopped_hosts: dict[str, bool] = {}
        self.halted: set[str] = set()  # runs that a person asked to halt

    def apply(self, fact: SessionFact | None, at: datetime) -> None:
        """Apply a fact; None is an event of no interest, which still shows that time passed."""
        self.now = max(self.now, at)
        if fact is None:
            return
        if isinstance(fact, _FleetFact):
            self._apply_fleet(fact, at)
        elif isinstance(fact, _AgentFact):
            self._apply_agent(fact, at)
        elif isinstance(fact, _WorkFact):
            self._apply_work(fact, at)
        elif isinstance(fact, HookAnswered):
            self.session.count_refusal(fact)
        else:
            self._apply_waiting(fact, at)
        self.session.since = self.session.since or at
        self.session.until = self.now

    def result(self) -> Session:
        """Return the session, with everything that is still open ending now.

        A crash whose unit landed later says so, whatever it said before: that is what a reader of
        the report wants to know of it.
        """
        session = self.session
        still_open: list[AgentBar | Wait | LimitPeriod] = [
            *self.open_bars.values(),
            *self.waits.still_open(),
        ]
        for period in still_open:
            period.end = self.now
        if still_open:
            session.until = self.now
        if session.since and session.bars:
            session.since = min(session.since, *(bar.start for bar in session.bars))
        session.stopped = list(self.stops.values())
        landings = {entry.landing.unit: entry for entry in session.landed}
        for crash in session.crashed:
            landing = landings.get(crash.unit)
            if landing and landing.at >= crash.at:
                crash.then = f"landed later as {landing.landing.commit[:9]}"
        return session

    def _apply_fleet(self, fact: _FleetFact, at: datetime) -> None:
        """Apply an event of a supervisor, a worker process or a run as a whole."""
        match fact:
            case fleet.FleetStarted():
                self._start_fleet(fact, at)
            case fleet.FleetStopped():
                self.session.ended = fact.reason
                self.stopped_hosts[fact.host] = True
            case fleet.WorkerReaped():
                self._lose_agent(fact.lane, at, fact.run_id)
                self.waits.end_run(fact.run_id, at)
                unit = self._last_unit(fact.run_id)
                self._add_crash(fact.lane, fact.run_id, unit, event_text.describe(fact, 0), at)
            case fleet.LaneFailed():
                self.stops[fact.lane] = StoppedLane(
                    at=at,
                    lane=fact.lane,
                    reason="given up on",
                    needs=Needs.OPERATOR,
                    detail=fact.reason,
                )
            case fleet.RunBegun():
                self.stops.pop(fact.lane, None)
                for crash in self.session.crashed:
                    if crash.lane == fact.lane and crash.run_id != fact.run_id:
                        crash.then = crash.then or "another run continued"
            case fleet.RunStopped():
                self._stop_run(fact, at)
            case never:
                assert_never(never)

    def _start_fleet(self, fact: fleet.FleetStarted, at: datetime) -> None:
        """Add a start; the session continues, also where the supervisor before it had stopped."""
        found = ""
        if not self.stopped_hosts.get(fact.host, True):
            found = "the supervisor before it ended without a record"
        start = FleetStart(at=at, host=fact.host, pid=fact.pid, found=found, sandbox=fact.sandbox)
        self.session.starts.append(start)
        self.session.ended = ""
        self.stopped_hosts[fact.host] = False

    def _stop_run(self, fact: fleet.RunStopped, at: datetime) -> None:
        """End what the run had open; keep the stop if only a person or a repair clears it.

        An agent that is still open then was left by its run: its outcome is unknown, and it did not
        crash.
        """
        bar = self._lose_agent(fact.lane, at, fact.run_id)
        if bar:
            bar.how = Outcome.UNDECIDED
            bar.ending = UnseenEnd.LEFT
        self.waits.end_run(fact.run_id, at)
        if fact.needs not in CLEARS_BY_ITSELF:
            self.stops[fact.lane] = StoppedLane(
                at=at, lane=fact.lane, reason=fact.stop_reason, needs=fact.needs, detail=fact.reason
            )

    def _last_unit(self, run_id: str) -> str:
        """Return the unit of the newest agent of a run, or ""."""
        for bar in reversed(self.session.bars):
            if bar.run_id == run_id:
                return bar.unit
        return ""

    def _add_crash(self, lane: str, run_id: str, unit: str, what: str, at: datetime) -> None:
        """Add a crash; what happened next is filled in by later events."""
        crash = Crash(at=at, lane=lane, run_id=run_id, unit=unit, what=what)
        self.session.crashed.append(crash)

    def _apply_agent(self, fact: _AgentFact, at: datetime) -> None:
        """Apply the start or the end of an agent.

        A start on a lane that still has an agent shows that the end of that agent was never
        recorded.
        """
        match fact:
            case fleet.AgentStarted():
                self._lose_agent(fact.lane, at)
                self.open_bars[fact.lane] = self._add_bar(fact, at, at)
                for crash in self.session.crashed:
                    if crash.unit == fact.unit and not crash.then:
                        crash.then = "tried again"
            case fleet.AgentEnded():
                self._end_agent(fact, at)
            case never:
                assert_never(never)

    def _add_bar(self, fact: _AgentFact, start: datetime, end: datetime) -> AgentBar:
        """Add a bar to the timeline, and remember it as the newest of its run and unit."""
        bar = AgentBar(
            lane=fact.lane,
            unit=fact.unit,
            agent=fact.agent,
            run_id=fact.run_id,
            iteration=fact.iteration,
            start=start,
            end=end,
        )
        self.session.bars.append(bar)
        self.newest[fact.run_id, fact.unit] = bar
        return bar

    def _end_agent(self, fact: fleet.AgentEnded, at: datetime) -> None:
        """End an agent with the outcome that its process shows.

        A normal end is not a success: it stays undecided until the work is measured. A crash that a
        person asked for, with a halt, is no crash.
        """
        bar = self.open_bars.get(fact.lane)
        if bar and bar.run_id == fact.run_id:
            del self.open_bars[fact.lane]
        else:  # it was started before the first event of the session
            start_ms = int((at.timestamp() - max(0.0, fact.seconds)) * 1000)
            bar = self._add_bar(fact, utc_datetime(start_ms), at)
        bar.end = at
        bar.ending = fact.outcome
        bar.claim = fact.claim
        bar.agent = fact.agent or bar.agent
        self.waits.unpark_agent(fact.run_id, at)
        if fact.outcome in CRASHES and fact.run_id not in self.halted:
            bar.how = Outcome.CRASHED
            what = event_text.describe_agent_end(fact)
            self._add_crash(fact.lane, fact.run_id, fact.unit, what, at)
        elif fact.outcome in NO_ROOM:
            bar.how = Outcome.LIMITED
        elif fact.outcome == Ending.OK:
            bar.how = Outcome.UNDECIDED
        else:
            bar.how = Outcome.CUT_SHORT

    def _apply_work(self, fact: _WorkFact, at: datetime) -> None:
        """Apply what was measured, refused, landed or saved, or an incident."""
        match fact:
            case fleet.WorkMeasured():
                if self._is_unproven_claim(fact):
                    self._add_unproven_claim(fact, at)
            case fleet.LandingRefused():
                bar = self.newest.get((fact.run_id, fact.unit))
                if bar and bar.how is Outcome.UNDECIDED:
                    bar.how = Outcome.REFUSED
            case fleet.UnitLanded():
                self._land(fact, at)
            case fleet.WorkSalvaged():
                saved = SavedWork(
                    at=at,
                    lane=fact.lane,
                    run_id=fact.run_id,
                    ref=fact.ref,
                    commit=fact.commit,
                    why=fact.why,
                )
                self.session.salvaged.append(saved)
            case limits.IncidentFound():
                incident = Incident(
                    at=at,
                    lane=fact.lane,
                    run_id=fact.run_id,
                    branch=fact.branch,
                    commits=fact.commits,
                    found=fact.found,
                )
                self.session.incidents.append(incident)
            case never:
                assert_never(never)

    def _is_unproven_claim(self, fact: fleet.WorkMeasured) -> bool:
        """Whether an agent claimed work that the measurement does not show."""
        if fact.reconciled:
            return fact.reconciled == "QUIET_INCOMPLETE"
        # Older journals do not record how the claim compared: an agent that crashed made none.
        bar = self.newest.get((fact.run_id, fact.unit))
        claimed_nothing = bar is not None and bar.how in (Outcome.CRASHED, Outcome.LIMITED)
        return fact.verdict != "DELIVERED" and not claimed_nothing

    def _add_unproven_claim(self, fact: fleet.WorkMeasured, at: datetime) -> None:
        """Add the claim beside what was found instead of it."""
        bar = self.newest.get((fact.run_id, fact.unit))
        if bar and bar.how is Outcome.UNDECIDED:
            bar.how = Outcome.DISBELIEVED
        claim = UnprovenClaim(
            at=at,
            unit=fact.unit,
            lane=fact.lane,
            run_id=fact.run_id,
            claim=bar.claim if bar else "",
            fact=fact.reason,
        )
        self.session.disbelieved.append(claim)

    def _land(self, fact: fleet.UnitLanded, at: datetime) -> None:
        """Add a landing, with the claim of the agent that made it."""
        bar = self.newest.get((fact.run_id, fact.unit))
        if bar is None:
            # Another run found the landing of an agent whose worker had died.
            bars = [bar for bar in self.session.bars if bar.unit == fact.unit]
            bar = bars[-1] if bars else None
        claim = ""
        if bar:
            bar.how = Outcome.LANDED
            claim = bar.claim
        self.session.landed.append(fact.entry(at, claim=claim))

    def _apply_waiting(self, fact: _WaitingFact, at: datetime) -> None:
        """Apply a halt, or the begin or end of a wait or a limit."""
        match fact:
            case limits.HaltRequested():
                self.halted.add(fact.run_id)
            case limits.RunParked():
                self.waits.park_run(fact, at)
            case limits.RunUnparked():
                self.waits.unpark_run(fact.run_id, at)
            case limits.AgentWaiting():
                self.waits.park_agent(fact, at)
            case limits.AgentWentOn():
                self.waits.unpark_agent(fact.run_id, at)
            case limits.LimitHit():
                self.waits.hit_limit(fact, at)
            case limits.LimitLifted():
                self.waits.lift_limit(fact, at)
            case never:
                assert_never(never)

    def _lose_agent(self, lane: str, at: datetime, run_id: str = "") -> AgentBar | None:
        """End the agent that the lane still has: another was started, or its worker is gone."""
        bar = self.open_bars.get(lane)
        if bar is None or run_id not in ("", bar.run_id):
            return None
        bar.end = at
        bar.how = Outcome.CRASHED
        bar.ending = UnseenEnd.LOST
        self.waits.end_run(bar.run_id, at)
        return self.open_bars.pop(lane)
