"""One worker's loop on a lane: take the lease, pick, run, measure, land, decide; until a typed stop.

It does nothing itself. It yields effects and is sent their answers, so that a simulator can run this very code.
"""

from msgspec import Struct, structs

from dos.backlog.pickable import Answer as Held
from dos.errors import Conflict, Fenced, Halted, NotReady
from dos.fleet import choose_agent, effects, incidents
from dos.fleet.effect import Steps, do
from dos.fleet.worker import land
from dos.fleet.worker.dispatch import dispatch, replan, replan_outcome
from dos.fleet.worker.iteration import Dispatch, IterationResult
from dos.fleet.worker.journal_writer import JournalWriter
from dos.journal import streams
from dos.journal.events import fleet, limits
from dos.journal.events.runs import IntentDeclared
from dos.lease import Refusal
from dos.limits.quota import Probe
from dos.loop import decide, record
from dos.loop.gate import Gate
from dos.loop.types import (
    Action,
    IterationOutcome,
    LoopDecision,
    LoopState,
    OutcomeKind,
    StopReason,
    WorkerStop,
)
from dos.reasons.table import Needs
from dos.text import join_some
from dos.units.unit import Unit
from dos.version import VERSION

SCREENED_KEPT = 100  # units of one look that are written down
LOOK_MS = 30_000  # between two looks whether what was in the way of a landing is gone
MOST_LOOKS = 20  # then a person has to say so

# What a unit is held for, as the catalogue of blocked causes has it; the others have a word of their own.
CAUSES = {
    Held.DRAFT_CLASS: "operator_decision",
    Held.OPERATOR_GATED: "operator_decision",
    Held.SOAK_OPEN: "lane_soak_gated",
    Held.STALE_CLAIM: "stale_claim_false_block",
}


class Stop(Struct, frozen=True):
    reason: StopReason | WorkerStop
    detail: str

    @property
    def needs(self) -> Needs:
        return decide.needs(self.reason)


class Waited(Struct, frozen=True):
    """Something may be otherwise now."""


Room = tuple[
    Unit | None, effects.AgentChoice | Stop | Waited | None
]  # who may be started, and on which unit


class Worker:
    def __init__(self, *, lane: str, run_id: str, state: LoopState, version: str = VERSION) -> None:
        self.version = version
        self.lane = lane
        self.run_id = run_id
        self.state = state
        self.attempt = 1  # at the same iteration: a provider that was overloaded is asked again
        self.looks = 0  # in vain, whether a landing's way is free
        self.journal: JournalWriter

    def work(self) -> Steps[Stop]:
        taken = yield from do(effects.TakeLease(lane=self.lane, run_id=self.run_id))
        if isinstance(taken, Refusal):
            refused = Stop(WorkerStop.LANE_HELD, taken.detail)
            fact = self._stopped(refused)
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
            yield from self.journal.append(self._stopped(stop))
            yield from do(effects.ReleaseLease(lease=taken, reason=stop.reason))
        except Fenced as error:
            return Stop(WorkerStop.LEASE_LOST, str(error))
        return stop

    def _stopped(self, stop: Stop) -> fleet.RunStopped:
        return fleet.RunStopped(
            run_id=self.run_id,
            lane=self.lane,
            stop_reason=stop.reason,
            needs=stop.needs,
            reason=stop.detail,
        )

    def _until_stopped(self) -> Steps[Stop]:
        lease = self.journal.lease
        yield from self.journal.append(
            fleet.RunBegun(
                **self.journal.identity,
                host=lease.host,
                start_sha=lease.start_sha,
                version=self.version,
            )
        )
        backlog = yield from self._survey()
        yield from self.journal.append(self._intent(backlog))
        again = mode = ""
        while True:
            if stop := _told_to_stop(backlog):
                return stop
            units = [] if mode == "replan" else _picks(backlog, again)
            unit, chosen = yield from self._room(backlog, units, mode)
            if isinstance(chosen, Stop):
                return chosen
            if isinstance(chosen, Waited):
                backlog = yield from self._survey()
                continue
            yield from self.journal.append(self._screened(backlog))
            done: IterationResult | None = None
            if unit and chosen:
                try:
                    done = yield from dispatch(self.journal, self._asked(unit, chosen, backlog))
                except Conflict:  # another lane has taken it since we looked
                    backlog = yield from self._survey()
                    continue
                outcome = done.outcome
                backlog = yield from self._look()  # as it stands now, for the decision
            elif chosen:
                before = backlog
                done, backlog = yield from replan(
                    self.journal, chosen, before, self.state.iteration, self.attempt
                )
                outcome = replan_outcome(done, before, backlog)
            else:
                outcome = _gate(backlog)
            state = _seen(self.state, backlog)
            decision = decide.decide(state, outcome)
            if (
                done and done.fault and decision.stop_reason
            ):  # `claude is not logged in`, not `it did not come up`
                decision = structs.replace(decision, reason=done.fault)
            yield from self._commit(unit, state, outcome, decision, done)
            self.state = decision.next_state
            if decision.stop_reason:
                return Stop(decision.stop_reason, decision.reason)
            once_more = decision.action in (Action.RETRY, Action.WAIT)
            self.attempt, again = (
                (self.attempt + 1, unit.name if unit else "") if once_more else (1, "")
            )
            # Of a provider without room the governor knows more, and who can take over meanwhile.
            if once_more and not (done and done.limited):
                yield from do(effects.BackOff(seconds=decision.backoff_seconds))
            mode = decision.next_mode or mode
            if not done or once_more or backlog.pending_landings:
                backlog = yield from self._survey()

    def _survey(self) -> Steps[effects.Backlog]:
        """The backlog, once the landings that are left over were tried."""
        backlog = yield from self._look()
        if not backlog.pending_landings or backlog.paused or _told_to_stop(backlog):
            return backlog
        yield from land.settle(self.journal, backlog.pending_landings)
        return (yield from self._look())

    def _look(self) -> Steps[effects.Backlog]:
        """The backlog, once every incident is written down and asked about: the units of one wait for the answer."""
        backlog = yield from do(effects.SurveyBacklog(lease=self.journal.lease))
        if not backlog.incidents:
            return backlog
        for incident in backlog.incidents:
            yield from do(incidents.record(incident))
            yield from self.journal.ask([incidents.ask_about(incident)])
        return (yield from do(effects.SurveyBacklog(lease=self.journal.lease)))

    def _room(self, backlog: effects.Backlog, units: list[Unit], mode: str) -> Steps[Room]:
        """Who may be started on which unit; None where there is nothing to start one for.

        `units` are the first for each agent that one asks for: where the
        agent of one has no room, another agent's unit is done meanwhile.
        """
        if backlog.paused:
            yield from self._park("pause", backlog.paused, None, backlog.wake_pos)
            return None, Waited()
        if not units and mode != "replan":
            return None, (
                yield from self._wait_to_land(backlog)
            ) if backlog.pending_landings else None
        refusals: list[effects.CannotStart] = []
        wanted: list[Unit | None] = [*units] or [None]
        for unit in wanted:
            chosen = yield from self._choose(unit.agent if unit else "")
            if isinstance(chosen, effects.AgentChoice):
                return unit, chosen
            refusals.append(chosen)
        refused = choose_agent.first_available(refusals)
        if refused.until_ms is None:
            return None, Stop(WorkerStop.DECISION_NEEDED, refused.detail)
        yield from self._park(
            refused.parked_for, refused.detail, refused.until_ms, backlog.wake_pos
        )
        return None, Waited()

    def _wait_to_land(self, backlog: effects.Backlog) -> Steps[Stop | Waited]:
        """Nothing tells when a person's own files are out of the way, so it is looked at."""
        names = join_some([each.landing.unit for each in backlog.pending_landings])
        if self.looks >= MOST_LOOKS:
            return Stop(
                WorkerStop.DECISION_NEEDED,
                f"done, and something is in the way of landing it: {names}",
            )
        self.looks += 1
        yield from self._park("landing", names, backlog.now_ms + LOOK_MS, backlog.wake_pos)
        return Waited()

    def _intent(self, backlog: effects.Backlog) -> IntentDeclared:
        """What the run sets out to do: so that anybody can ask later whether it did, and where to go on."""
        return IntentDeclared(
            run_id=self.run_id,
            goal=f"what is left of lane {self.lane}",
            lane=self.lane,
            start_sha=self.journal.lease.start_sha,
            steps=list(backlog.completion.residual) if backlog.completion else [],
        )

    def _screened(self, backlog: effects.Backlog) -> limits.UnitsScreened:
        resting = {each.unit_id: each.answer for each in backlog.on_cooldown}
        held = resting | {each.unit: str(each.reason) for each in backlog.held}
        return limits.UnitsScreened(
            **self.journal.identity,
            offered=[unit.name for unit in backlog.open[:SCREENED_KEPT]],
            held=dict(list(held.items())[:SCREENED_KEPT]),
        )

    def _asked(self, unit: Unit, chosen: effects.AgentChoice, backlog: effects.Backlog) -> Dispatch:
        return Dispatch(
            unit=unit,
            iteration=self.state.iteration,
            attempt=self.attempt,
            agent_choice=chosen,
            history=backlog.history.get(unit.name, []),
            repeated=unit.name in backlog.interrupted,
            refusals=backlog.refusals.get(unit.name, effects.Refusals()),
            saved_commit=backlog.saved_commits.get(unit.name, ""),
        )

    def _choose(self, agent: str) -> Steps[effects.AgentChoice | effects.CannotStart]:
        """For a unit that asks for this agent, or for none.

        What only one of several may do is written down first; of those that try, one succeeds.
        """
        while True:
            chosen = yield from do(
                effects.ChooseAgent(
                    lease=self.journal.lease,
                    run_id=self.run_id,
                    iteration=self.state.iteration,
                    agent=agent,
                )
            )
            for fact in chosen.warnings:
                yield from self.journal.append(fact)
            if isinstance(chosen, effects.CannotStart):
                yield from self.journal.ask(chosen.questions)
                return chosen
            try:
                if promise := chosen.reservation:
                    key = f"promise/{self.run_id}/{promise.version}"
                    yield from self.journal.append_shared(
                        streams.BUDGET, promise.fact, key, expect=promise.version
                    )
                if probe := chosen.probe:
                    key = f"probe/{self.run_id}/{probe.version}"
                    yield from self.journal.append_shared(
                        streams.limit(probe.key), self._probing(probe), key, expect=probe.version
                    )
            except Conflict:
                continue
            return chosen

    def _probing(self, probe: Probe) -> limits.LimitProbed:
        key = probe.key
        return limits.LimitProbed(
            vendor=key.vendor, account=key.account, model=key.model, **self.journal.identity
        )

    def _park(self, why: str, detail: str, until_ms: int | None, word: int) -> Steps[None]:
        yield from self.journal.append(
            limits.RunParked(**self.journal.identity, why=why, detail=detail, until_ms=until_ms)
        )
        park = effects.Park(
            lease=self.journal.lease, run_id=self.run_id, until_ms=until_ms, wake_pos=word
        )
        seconds = yield from do(park)
        yield from self.journal.append(
            limits.RunUnparked(**self.journal.identity, seconds=round(seconds, 3))
        )

    def _commit(
        self,
        unit: Unit | None,
        state: LoopState,
        outcome: IterationOutcome,
        decision: LoopDecision,
        done: IterationResult | None,
    ) -> Steps[None]:
        fact = record.decision_fact(
            self.run_id,
            self.lane,
            unit.name if unit else "",
            self.attempt,
            state,
            outcome,
            decision,
        )
        if done:
            ended = done.agent_result
            fact = structs.replace(
                fact,
                seconds=round(ended.seconds, 3),
                usage=list(ended.outcome.usage),
                cost_usd=ended.cost_usd,
            )
        yield from self.journal.append(fact)


def _told_to_stop(backlog: effects.Backlog) -> Stop | None:
    if backlog.halted:
        return Stop(WorkerStop.HALTED, backlog.halted)
    if backlog.drain_requested:
        return Stop(WorkerStop.DRAIN_REQUESTED, "the fleet was asked to drain")
    if backlog.superseded_by:
        version = backlog.superseded_by
        return Stop(WorkerStop.DRAIN_REQUESTED, f"dos {version} was started on this host")
    if backlog.fault_question:
        return Stop(
            WorkerStop.DECISION_NEEDED,
            f"no agent starts on this host: `dos decisions show {backlog.fault_question}`",
        )
    return None


def _gate(backlog: effects.Backlog) -> IterationOutcome:
    """With the cause, where the first unit that is held has one."""
    if not backlog.held and not backlog.on_cooldown:
        return IterationOutcome(kind=OutcomeKind.GATE, verdict=Gate.DRAIN)
    why = next((each.reason for each in backlog.held if each.reason), Held.COOLDOWN)
    return IterationOutcome(
        kind=OutcomeKind.GATE, verdict=Gate.BLOCKED, blocked_cause=CAUSES.get(why, why)
    )


def _seen(state: LoopState, backlog: effects.Backlog) -> LoopState:
    """The state with what was seen: of the next unit only when nothing else can be offered, or waits to land."""
    goes_on = backlog.open or backlog.pending_landings
    return structs.replace(
        state,
        completion=backlog.completion,
        pickability=None if goes_on else next(iter(backlog.held), None),
        cooldown=None if goes_on else next(iter(backlog.on_cooldown), None),
    )


def _picks(backlog: effects.Backlog, again: str) -> list[Unit]:
    """The unit to do next: what is to be tried again comes first, then what a dead run left half done, then what failed
    least often. After it the first of those that ask for another agent, for each such agent."""

    def order(unit: Unit) -> tuple[bool, bool, int]:
        tries = len(backlog.history.get(unit.name, []))
        return unit.name != again, unit.name not in backlog.interrupted, tries

    waiting = {each.landing.unit for each in backlog.pending_landings}
    first: dict[str, Unit] = {}  # by the agent that is asked for
    for unit in sorted((unit for unit in backlog.open if unit.name not in waiting), key=order):
        first.setdefault(unit.agent, unit)
    return list(first.values())
