"""A fleet's time, told from its events."""

from collections.abc import Iterable
from datetime import datetime
from typing import assert_never

from dos.agents.adapter import Ending
from dos.fleet.state.fleet import NO_ROOM
from dos.journal.events import fleet, limits
from dos.journal.events.envelope import Event
from dos.journal.events.reader import FactReader, select
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
from dos.times import utc_datetime

CRASHES = frozenset({*event_text.CRASHED, "crashed"})  # and what it was called once
NOBODY = frozenset({Needs.NOBODY, Needs.TIME})

_OfFleet = (
    fleet.FleetStarted
    | fleet.FleetStopped
    | fleet.WorkerReaped
    | fleet.LaneFailed
    | fleet.RunBegun
    | fleet.RunStopped
)
_OfAgent = fleet.AgentStarted | fleet.AgentEnded
_OfWork = (
    fleet.WorkMeasured
    | fleet.LandingRefused
    | fleet.UnitLanded
    | fleet.WorkSalvaged
    | limits.IncidentFound
)
_OfWaiting = (
    limits.HaltRequested
    | limits.RunParked
    | limits.RunUnparked
    | limits.AgentWaiting
    | limits.AgentWentOn
    | limits.LimitHit
    | limits.LimitLifted
)
SessionFact = _OfFleet | _OfAgent | _OfWork | _OfWaiting
_reader: FactReader[SessionFact] = FactReader(
    SessionFact,
    silent="""
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted lease_refused
        spawn_intended worker_spawned drain_requested decision_forced run_minted unit_claimed unit_taken
        landing_intended unit_attempted iteration_committed id_allocated journal_pruned limit_probed
        units_screened landing_queued landing_deferred pause_requested pause_ended spin_flagged decision_raised
        decision_answered plans_approved settings_approved lane_cleared unit_cleared budget_warned budget_spent
        budget_promised baseline_started baseline_checked work_committed fleet_found intent_declared
        extent_changed step_claimed step_verified run_suspended resume_proposed run_resumed run_ended
        halt_proposed ledger_line_unreadable hook_fault receipt_issued test_witnessed line_imported
        line_unreadable
    """,
)


def fold_session(happened: Iterable[Event]) -> Session:
    teller = _SessionFold()
    for event in happened:
        teller.apply(_reader.decode(event), utc_datetime(event.at_ms))
    return teller.result()


def last_start(happened: Iterable[Event], *, host: str = "") -> Event | None:
    """Where the newest session of the fleet began: a start after one that had not stopped only goes on with it.

    With a host, only what its own supervisors began counts.
    """
    began: Event | None = None
    running: set[str] = set()  # hosts
    for event, fact in select(happened, fleet.FleetStarted, fleet.FleetStopped):
        if isinstance(fact, fleet.FleetStopped):
            running.discard(fact.host)
        elif host in ("", fact.host):
            began = began if began and fact.host in running else event
            running.add(fact.host)
    return began


class _SessionFold:
    def __init__(self) -> None:
        self.session = Session()
        self.now = utc_datetime(0)
        self.open_bars: dict[str, AgentBar] = {}  # by lane: it has one agent at a time
        self.newest: dict[tuple[str, str], AgentBar] = {}  # by run and unit
        self.open_waits: dict[tuple[str, bool], Wait] = {}  # by run; and whether its agent waits
        self.open_limits: dict[tuple[str, str, str], LimitPeriod] = {}
        self.stops: dict[str, StoppedLane] = {}  # by lane
        self.finished: dict[str, bool] = {}  # by host
        self.halted: set[str] = set()  # runs that a person told to stop

    def apply(self, fact: SessionFact | None, at: datetime) -> None:
        """None: something happened that is no part of the session but tells that it went on."""
        self.now = max(self.now, at)
        if fact is None:
            return
        if isinstance(fact, _OfFleet):
            self._of_fleet(fact, at)
        elif isinstance(fact, _OfAgent):
            self._of_agent(fact, at)
        elif isinstance(fact, _OfWork):
            self._of_work(fact, at)
        else:
            self._of_waiting(fact, at)
        self.session.since = self.session.since or at
        self.session.until = self.now

    def result(self) -> Session:
        told = self.session
        running: list[AgentBar | Wait | LimitPeriod] = [
            *self.open_bars.values(),
            *self.open_waits.values(),
            *self.open_limits.values(),
        ]
        for each in running:
            each.end = self.now
        if running:
            told.until = self.now
        if told.since and told.bars:
            told.since = min(told.since, *(bar.start for bar in told.bars))
        told.stopped = list(self.stops.values())
        landed = {each.landing.unit: each for each in told.landed}
        for crash in told.crashed:
            found = landed.get(crash.unit)
            if found and found.at >= crash.at:
                crash.then = f"landed later as {found.landing.commit[:9]}"
        return told

    def _of_fleet(self, fact: _OfFleet, at: datetime) -> None:
        match fact:
            case fleet.FleetStarted():
                found = (
                    ""
                    if self.finished.get(fact.host, True)
                    else "the one before had ended without a word"
                )
                self.session.starts.append(
                    FleetStart(at=at, host=fact.host, pid=fact.pid, found=found)
                )
                self.session.ended, self.finished[fact.host] = "", False
            case fleet.FleetStopped():
                self.session.ended, self.finished[fact.host] = fact.reason, True
            case fleet.WorkerReaped():
                self._lose(fact.lane, at, fact.run_id)
                self._end_waits(fact.run_id, at)
                unit = next(
                    (bar.unit for bar in reversed(self.session.bars) if bar.run_id == fact.run_id),
                    "",
                )
                what = event_text.describe(fact, 0)
                self.session.crashed.append(
                    Crash(at=at, lane=fact.lane, run_id=fact.run_id, unit=unit, what=what)
                )
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
                        crash.then = crash.then or "another went on"
            case fleet.RunStopped():
                if bar := self._lose(fact.lane, at, fact.run_id):
                    bar.how, bar.ending = Outcome.UNDECIDED, UnseenEnd.LEFT
                self._end_waits(fact.run_id, at)
                if fact.needs not in NOBODY:
                    self.stops[fact.lane] = StoppedLane(
                        at=at,
                        lane=fact.lane,
                        reason=fact.stop_reason,
                        needs=fact.needs,
                        detail=fact.reason,
                    )
            case never:
                assert_never(never)

    def _of_agent(self, fact: _OfAgent, at: datetime) -> None:
        match fact:
            case fleet.AgentStarted():
                self._lose(fact.lane, at)
                bar = AgentBar(
                    lane=fact.lane, unit=fact.unit, agent=fact.agent, run_id=fact.run_id, iteration=fact.iteration,
                    start=at, end=at,
                )  # fmt: skip
                self.session.bars.append(bar)
                self.open_bars[fact.lane] = self.newest[fact.run_id, fact.unit] = bar
                for crash in self.session.crashed:
                    if crash.unit == fact.unit and not crash.then:
                        crash.then = "tried again"
            case fleet.AgentEnded():
                self._end_agent(fact, at)
            case never:
                assert_never(never)

    def _end_agent(self, fact: fleet.AgentEnded, at: datetime) -> None:
        bar = self.open_bars.get(fact.lane)
        if bar and bar.run_id == fact.run_id:
            del self.open_bars[fact.lane]
        else:  # it was started before all this
            bar = AgentBar(
                lane=fact.lane, unit=fact.unit, agent=fact.agent, run_id=fact.run_id, iteration=fact.iteration,
                start=utc_datetime(int((at.timestamp() - max(0.0, fact.seconds)) * 1000)), end=at,
            )  # fmt: skip
            self.session.bars.append(bar)
            self.newest[fact.run_id, fact.unit] = bar
        bar.end, bar.ending, bar.claim, bar.agent = (
            at,
            fact.outcome,
            fact.claim,
            fact.agent or bar.agent,
        )
        self._end_wait((fact.run_id, True), at)
        if fact.outcome in CRASHES and fact.run_id not in self.halted:
            bar.how = Outcome.CRASHED
            what = event_text.describe_agent_end(fact)
            self.session.crashed.append(
                Crash(at=at, lane=fact.lane, run_id=fact.run_id, unit=fact.unit, what=what)
            )
        elif fact.outcome in NO_ROOM:
            bar.how = Outcome.LIMITED
        else:
            bar.how = Outcome.UNDECIDED if fact.outcome == Ending.OK else Outcome.CUT_SHORT

    def _of_work(self, fact: _OfWork, at: datetime) -> None:
        match fact:
            case fleet.WorkMeasured():
                bar = self.newest.get((fact.run_id, fact.unit))
                said_nothing = bar is not None and bar.how in (Outcome.CRASHED, Outcome.LIMITED)
                # Journals of old do not tell how the claim was compared.
                if fact.reconciled == "QUIET_INCOMPLETE" or (
                    not fact.reconciled and fact.verdict != "DELIVERED" and not said_nothing
                ):
                    self._disbelieve(fact, at)
            case fleet.LandingRefused():
                if (
                    bar := self.newest.get((fact.run_id, fact.unit))
                ) and bar.how is Outcome.UNDECIDED:
                    bar.how = Outcome.REFUSED
            case fleet.UnitLanded():
                bar = self.newest.get((fact.run_id, fact.unit)) or self._last_at(fact.unit)
                if bar:
                    bar.how = Outcome.LANDED
                self.session.landed.append(fact.entry(at, claim=bar.claim if bar else ""))
            case fleet.WorkSalvaged():
                self.session.salvaged.append(
                    SavedWork(
                        at=at,
                        lane=fact.lane,
                        run_id=fact.run_id,
                        ref=fact.ref,
                        commit=fact.commit,
                        why=fact.why,
                    )
                )
            case limits.IncidentFound():
                self.session.incidents.append(
                    Incident(
                        at=at, lane=fact.lane, run_id=fact.run_id, branch=fact.branch, commits=fact.commits,
                        found=fact.found,
                    )
                )  # fmt: skip
            case never:
                assert_never(never)

    def _disbelieve(self, fact: fleet.WorkMeasured, at: datetime) -> None:
        bar = self.newest.get((fact.run_id, fact.unit))
        if bar and bar.how is Outcome.UNDECIDED:
            bar.how = Outcome.DISBELIEVED
        claim = bar.claim if bar else ""
        self.session.disbelieved.append(
            UnprovenClaim(
                at=at,
                unit=fact.unit,
                lane=fact.lane,
                run_id=fact.run_id,
                claim=claim,
                fact=fact.reason,
            )
        )

    def _last_at(self, unit: str) -> AgentBar | None:
        """Whoever was at it before its worker died; another only found that it had landed."""
        return next((bar for bar in reversed(self.session.bars) if bar.unit == unit), None)

    def _of_waiting(self, fact: _OfWaiting, at: datetime) -> None:
        match fact:
            case limits.HaltRequested():
                self.halted.add(fact.run_id)
            case limits.RunParked():
                self._wait((fact.run_id, False), fact.lane, fact.why, fact.detail, at)
            case limits.RunUnparked():
                self._end_wait((fact.run_id, False), at)
            case limits.AgentWaiting():
                self._wait(
                    (fact.run_id, True), fact.lane, "provider", fact.detail or fact.ending, at
                )
            case limits.AgentWentOn():
                self._end_wait((fact.run_id, True), at)
            case limits.LimitHit():
                self._hit(fact, at)
            case limits.LimitLifted():
                lifted = self.open_limits.pop((fact.vendor, fact.account, fact.model), None)
                if lifted:
                    lifted.end, lifted.is_over = at, True
            case never:
                assert_never(never)

    def _hit(self, fact: limits.LimitHit, at: datetime) -> None:
        key = (fact.vendor, fact.account, fact.model)
        resets_at = None if fact.resets_at_ms is None else utc_datetime(fact.resets_at_ms)
        if known := self.open_limits.get(key):
            known.times, known.resets_at = known.times + 1, resets_at or known.resets_at
            return
        limit = LimitPeriod(
            vendor=fact.vendor, account=fact.account, model=fact.model, ending=fact.ending, lane=fact.lane,
            found=fact.found, start=at, end=at, resets_at=resets_at,
        )  # fmt: skip
        self.open_limits[key] = limit
        self.session.limits.append(limit)

    def _wait(self, key: tuple[str, bool], lane: str, why: str, detail: str, at: datetime) -> None:
        self._end_wait(key, at)
        wait = Wait(lane=lane, run_id=key[0], why=why, detail=detail, start=at, end=at)
        self.open_waits[key] = wait
        self.session.waits.append(wait)

    def _end_wait(self, key: tuple[str, bool], at: datetime) -> None:
        if wait := self.open_waits.pop(key, None):
            wait.end, wait.is_over = at, True

    def _end_waits(self, run_id: str, at: datetime) -> None:
        for is_agent in (False, True):
            self._end_wait((run_id, is_agent), at)

    def _lose(self, lane: str, at: datetime, run_id: str = "") -> AgentBar | None:
        """Whoever is still said to be at work there is not: another is, or its worker is gone."""
        bar = self.open_bars.get(lane)
        if bar is None or run_id not in ("", bar.run_id):
            return None
        bar.end, bar.how, bar.ending = at, Outcome.CRASHED, UnseenEnd.LOST
        self._end_waits(bar.run_id, at)
        return self.open_bars.pop(lane)
