"""One worker's loop on a lane: take the lease, pick, run, measure, land, decide, until a stop.

A worker does no I/O. It yields effects and is sent their answers, so that the simulator can run
the same code.
"""

from msgspec import Struct, structs

from dos.errors import Conflict, Fenced, Halted, NotReady
from dos.fleet import choose_agent, effects, incidents
from dos.fleet.effect import Steps, do
from dos.fleet.worker import settle
from dos.fleet.worker.dispatch import dispatch, replan, replan_outcome
from dos.fleet.worker.iteration import (
    Dispatch,
    IterationResult,
    Stop,
    gate_outcome,
    requested_stop,
    units_to_try,
    with_evidence,
)
from dos.fleet.worker.journal_writer import JournalWriter
from dos.journal import streams
from dos.journal.events import fleet, limits
from dos.journal.events.runs import IntentDeclared
from dos.lease import Refusal
from dos.limits.quota import Probe
from dos.loop import decide, record
from dos.loop.types import Action, IterationOutcome, LoopDecision, LoopState, WorkerStop
from dos.text import join_some
from dos.units.unit import Unit
from dos.version import VERSION

SCREENED_KEPT = 100  # units of one survey that are recorded
LANDING_CHECK_MS = 30_000  # between two checks whether a landing is still blocked
MOST_LANDING_CHECKS = 20  # then a person has to say that it can land


class Start(Struct, frozen=True, kw_only=True):
    """What an iteration starts: an agent on a unit, a replan without a unit, or no agent."""

    unit: Unit | None = None
    agent: effects.AgentChoice | None = None


class Iteration(Struct, frozen=True, kw_only=True):
    """What an iteration came to, and the backlog after it."""

    outcome: IterationOutcome
    backlog: effects.Backlog
    result: IterationResult | None = None  # None: no agent was started


class Worker:
    """The loop of one run on one lane.

    `state` is where the loop starts: new, or where the lane's dead run came to. `version` is
    recorded, so that a supervisor of another version can let this worker drain.
    """

    def __init__(self, *, lane: str, run_id: str, state: LoopState, version: str = VERSION) -> None:
        self.version = version
        self.lane = lane
        self.run_id = run_id
        self.state = state
        self.attempt = 1  # at the same iteration, while a provider is overloaded
        self.retry_unit = ""  # the unit to try again
        self.mode = ""  # dispatch or replan, as the last decision says
        self.landing_checks = 0  # that found a landing still blocked
        self.journal: JournalWriter

    def work(self) -> Steps[Stop]:
        """Work on the lane until there is a reason to stop, and return it.

        The stop is recorded and the lease released, except where the lease was refused or lost:
        then another process owns the lane, and records what follows.
        """
        taken = yield from do(effects.TakeLease(lane=self.lane, run_id=self.run_id))
        if isinstance(taken, Refusal):
            refused = Stop(WorkerStop.LANE_HELD, taken.detail)
            fact = self._stop_fact(refused)
            yield from do(effects.Record(stream=streams.run(self.run_id), fact=fact, key="refused"))
            return refused
        self.lane = taken.lane
        self.journal = JournalWriter(run_id=self.run_id, lease=taken)
        try:
            try:
                stop = yield from self._until_stopped()
            except Halted as error:
                stop = Stop(WorkerStop.HALTED, str(error))
            except NotReady as error:
                stop = Stop(WorkerStop.NOT_READY, str(error))
            yield from self.journal.append(self._stop_fact(stop))
            yield from do(effects.ReleaseLease(lease=taken, reason=stop.reason))
        except Fenced as error:
            return Stop(WorkerStop.LEASE_LOST, str(error))
        return stop

    def _stop_fact(self, stop: Stop) -> fleet.RunStopped:
        """Return the fact that ends the run in the journal; a run without one counts as dead."""
        return fleet.RunStopped(
            run_id=self.run_id,
            lane=self.lane,
            stop_reason=stop.reason,
            needs=stop.needs,
            reason=stop.detail,
        )

    def _until_stopped(self) -> Steps[Stop]:
        """Iterate until there is a reason to stop, and return it.

        Each round reads the backlog, chooses a unit and an agent, runs it, and records a decision.
        A round that only waited, or whose unit another lane has claimed, begins again.
        """
        yield from self.journal.append(self._begin_fact())
        backlog = yield from self._survey()
        yield from self.journal.append(self._intent(backlog))
        while True:
            if stop := requested_stop(backlog):
                return stop
            start = yield from self._next_start(backlog)
            if isinstance(start, Stop):
                return start
            if start is None:
                backlog = yield from self._survey()
                continue
            yield from self.journal.append(self._screened(backlog))
            iteration = yield from self._iterate(start, backlog)
            if iteration is None:
                backlog = yield from self._survey()
                continue
            decision = yield from self._decide(start.unit, iteration)
            if decision.stop_reason:
                return Stop(decision.stop_reason, decision.reason)
            backlog = yield from self._after(decision, start.unit, iteration)

    def _iterate(self, start: Start, backlog: effects.Backlog) -> Steps[Iteration | None]:
        """Run one iteration; None when another lane has claimed the unit since the survey."""
        if start.agent is None:
            return Iteration(outcome=gate_outcome(backlog), backlog=backlog)
        if start.unit is None:
            result, after = yield from replan(
                self.journal, start.agent, backlog, self.state.iteration, self.attempt
            )
            outcome = replan_outcome(result, backlog, after)
            return Iteration(outcome=outcome, backlog=after, result=result)
        order = self._dispatch(start.unit, start.agent, backlog)
        try:
            done = yield from dispatch(self.journal, order)
        except Conflict:
            return None
        after = yield from self._read_backlog()
        return Iteration(outcome=done.outcome, backlog=after, result=done)

    def _decide(self, unit: Unit | None, iteration: Iteration) -> Steps[LoopDecision]:
        """Decide whether the loop continues, and record the decision.

        The recorded state is what a later run continues from if this one dies now.
        """
        state = with_evidence(self.state, iteration.backlog)
        decision = decide.decide(state, iteration.outcome)
        result = iteration.result
        if result and result.fault and decision.stop_reason:
            # `claude is not logged in` says more than `the agent's process did not start`.
            decision = structs.replace(decision, reason=result.fault)
        made = record.IterationDecision(
            attempt=self.attempt,
            unit=unit.name if unit else "",
            state=state,
            outcome=iteration.outcome,
            decision=decision,
        )
        fact = record.decision_fact(self.run_id, self.lane, made)
        if result:
            agent = result.agent_result
            fact = structs.replace(
                fact,
                seconds=round(agent.seconds, 3),
                usage=list(agent.outcome.usage),
                cost_usd=agent.cost_usd,
            )
        yield from self.journal.append(fact)
        self.state = decision.next_state
        return decision

    def _after(
        self, decision: LoopDecision, unit: Unit | None, iteration: Iteration
    ) -> Steps[effects.Backlog]:
        """Prepare the next iteration: wait where the decision says so, and return its backlog."""
        result = iteration.result
        retrying = decision.action in (Action.RETRY, Action.WAIT)
        if retrying:
            self.attempt += 1
            self.retry_unit = unit.name if unit else ""
        else:
            self.attempt = 1
            self.retry_unit = ""
        # After a limit of a provider, the choice of the next agent says how long to wait.
        is_limited = result is not None and result.limited
        if retrying and not is_limited:
            yield from do(effects.BackOff(seconds=decision.backoff_seconds))
        self.mode = decision.next_mode or self.mode
        if result is None or retrying or iteration.backlog.pending_landings:
            return (yield from self._survey())
        return iteration.backlog

    def _survey(self) -> Steps[effects.Backlog]:
        """Read the backlog, after another attempt at the pending landings."""
        backlog = yield from self._read_backlog()
        if not backlog.pending_landings or backlog.paused or requested_stop(backlog):
            return backlog
        yield from settle.settle(self.journal, backlog.pending_landings)
        return (yield from self._read_backlog())

    def _read_backlog(self) -> Steps[effects.Backlog]:
        """Read the backlog; new incidents are recorded and asked about first.

        The units of an incident wait for the answer, so the backlog is read again after that.
        """
        backlog = yield from do(effects.SurveyBacklog(lease=self.journal.lease))
        if not backlog.incidents:
            return backlog
        for incident in backlog.incidents:
            yield from do(incidents.record(incident))
            yield from self.journal.ask([incidents.ask_about(incident)])
        return (yield from do(effects.SurveyBacklog(lease=self.journal.lease)))

    def _next_start(self, backlog: effects.Backlog) -> Steps[Start | Stop | None]:
        """Choose what to start; None after a wait, when the backlog has to be read again.

        Where the agent of one unit cannot start, a unit that asks for another agent is tried.
        """
        if backlog.paused:
            yield from self._park("pause", backlog.paused, None, backlog.wake_pos)
            return None
        units: list[Unit | None] = []
        if self.mode == "replan":
            units = [None]
        else:
            units += units_to_try(backlog, self.retry_unit)
        if not units and backlog.pending_landings:
            return (yield from self._wait_to_land(backlog))
        if not units:
            return Start()
        refusals: list[effects.CannotStart] = []
        for unit in units:
            choice = yield from self._choose(unit.agent if unit else "")
            if isinstance(choice, effects.AgentChoice):
                return Start(unit=unit, agent=choice)
            refusals.append(choice)
        refusal = choose_agent.first_available(refusals)
        if refusal.until_ms is None:
            return Stop(WorkerStop.DECISION_NEEDED, refusal.detail)
        yield from self._park(
            refusal.parked_for,
            refusal.detail,
            refusal.until_ms,
            backlog.wake_pos,
            is_probed=refusal.is_probed,
        )
        return None

    def _wait_to_land(self, backlog: effects.Backlog) -> Steps[Stop | None]:
        """Wait a while for a blocked landing; stop after too many waits.

        No event tells when a person's own files are out of the way, so the worker checks again.
        """
        names = join_some([pending.landing.unit for pending in backlog.pending_landings])
        if self.landing_checks >= MOST_LANDING_CHECKS:
            detail = f"finished, but something is in the way of landing it: {names}"
            return Stop(WorkerStop.DECISION_NEEDED, detail)
        self.landing_checks += 1
        until_ms = backlog.now_ms + LANDING_CHECK_MS
        yield from self._park("landing", names, until_ms, backlog.wake_pos)
        return None

    def _begin_fact(self) -> fleet.RunBegun:
        """Return the first fact of the run: where it runs, from which commit, by which version."""
        lease = self.journal.lease
        return fleet.RunBegun(
            **self.journal.identity,
            host=lease.host,
            start_sha=lease.start_sha,
            version=self.version,
            part_of=lease.part_of,
        )

    def _intent(self, backlog: effects.Backlog) -> IntentDeclared:
        """Declare the units that the run sets out to land, so that `dos resume` can compare."""
        completion = backlog.completion
        return IntentDeclared(
            run_id=self.run_id,
            goal=f"what is left of lane {self.lane}",
            lane=self.lane,
            start_sha=self.journal.lease.start_sha,
            steps=list(completion.residual) if completion else [],
        )

    def _screened(self, backlog: effects.Backlog) -> limits.UnitsScreened:
        """Return the fact that records which units were offered and which were held, and why."""
        reasons = {verdict.unit_id: str(verdict.answer) for verdict in backlog.on_cooldown}
        reasons |= {verdict.unit: str(verdict.reason) for verdict in backlog.held}
        return limits.UnitsScreened(
            **self.journal.identity,
            offered=[unit.name for unit in backlog.open[:SCREENED_KEPT]],
            held=dict(list(reasons.items())[:SCREENED_KEPT]),
        )

    def _dispatch(
        self, unit: Unit, choice: effects.AgentChoice, backlog: effects.Backlog
    ) -> Dispatch:
        """Return the order for an agent, with what is known of earlier attempts at the unit."""
        return Dispatch(
            unit=unit,
            iteration=self.state.iteration,
            attempt=self.attempt,
            agent_choice=choice,
            history=backlog.history.get(unit.name, []),
            repeated=unit.name in backlog.interrupted,
            refusals=backlog.refusals.get(unit.name, effects.Refusals()),
            saved_commit=backlog.saved_commits.get(unit.name, ""),
        )

    def _choose(self, agent: str) -> Steps[effects.AgentChoice | effects.CannotStart]:
        """Choose an agent for a unit that asks for `agent`, or for any where it is empty.

        A budget reservation or a probe of a limit is recorded first: of several workers that
        try, one succeeds and the others choose again.
        """
        while True:
            choice = yield from do(
                effects.ChooseAgent(
                    lease=self.journal.lease,
                    run_id=self.run_id,
                    iteration=self.state.iteration,
                    agent=agent,
                )
            )
            for fact in choice.warnings:
                yield from self.journal.append(fact)
            if isinstance(choice, effects.CannotStart):
                yield from self.journal.ask(choice.questions)
                return choice
            try:
                yield from self._reserve(choice)
            except Conflict:
                continue
            return choice

    def _reserve(self, choice: effects.AgentChoice) -> Steps[None]:
        """Record what the choice reserves; raises Conflict when another worker was first."""
        if reservation := choice.reservation:
            key = f"promise/{self.run_id}/{reservation.version}"
            yield from self.journal.append_shared(
                streams.BUDGET, reservation.fact, key, expect=reservation.version
            )
        if probe := choice.probe:
            key = f"probe/{self.run_id}/{probe.version}"
            yield from self.journal.append_shared(
                streams.limit(probe.key), self._probe_fact(probe), key, expect=probe.version
            )

    def _probe_fact(self, probe: Probe) -> limits.LimitProbed:
        """Return the fact that this run probes a limit for all others."""
        key = probe.key
        return limits.LimitProbed(
            vendor=key.vendor, account=key.account, model=key.model, **self.journal.identity
        )

    def _park(
        self,
        why: str,
        detail: str,
        until_ms: int | None,
        wake_pos: int,
        *,
        is_probed: bool = False,
    ) -> Steps[None]:
        """Record that the run waits, wait, and record how long it was.

        The wait ends at `until_ms`, or with the first event after `wake_pos` that may end it. The
        lane stays held, so that no other worker takes the unit meanwhile. While another run probes
        the limit no end is recorded: the wait ends with the result.
        """
        identity = self.journal.identity
        known_end_ms = None if is_probed else until_ms
        parked = limits.RunParked(**identity, why=why, detail=detail, until_ms=known_end_ms)
        yield from self.journal.append(parked)
        seconds = yield from do(
            effects.Park(
                lease=self.journal.lease,
                run_id=self.run_id,
                until_ms=until_ms,
                wake_pos=wake_pos,
            )
        )
        yield from self.journal.append(limits.RunUnparked(**identity, seconds=round(seconds, 3)))
