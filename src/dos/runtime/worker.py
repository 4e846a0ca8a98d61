"""One worker's loop on a lane: take the lease, pick, run, measure, land, decide; until a typed stop.

It does nothing itself. It yields effects and is sent their answers, so that a simulator can run this very code.
"""

from collections.abc import Generator
from enum import StrEnum
from typing import Any

from msgspec import Struct, structs

from dos.errors import Fenced
from dos.journal import events, receipt_events
from dos.journal.receipt_events import ReceiptIssued
from dos.journal.run_events import IntentDeclared, StepVerified
from dos.journal.states import decided
from dos.plans import loop
from dos.plans.gate import Gate
from dos.plans.iterations import (
    Action,
    IterationOutcome,
    LoopDecision,
    LoopState,
    OutcomeKind,
    Productivity,
    StopReason,
)
from dos.plans.tokens import PacketOutcome
from dos.records.attempts import Outcome as Tried
from dos.records.leases import Lease, Refusal
from dos.records.reasons import Needs
from dos.records.units import Unit
from dos.runtime import effects
from dos.verdicts.work import delivered

Steps = Generator[Any, Any, Any]
LANDING_TRIES = 6
FIRST_PAUSE_SECONDS = 0.1

# How an agent's end is weighed when its work did not land.
OUTCOMES = {
    "ok": OutcomeKind.SHIPPED,
    "failed": OutcomeKind.UNCLEAR,
    "crashed": OutcomeKind.UNCLEAR,
    "killed": OutcomeKind.UNCLEAR,
    "hung": OutcomeKind.UNCLEAR,
    "limited": OutcomeKind.RATE_LIMITED,
    "overloaded": OutcomeKind.OVERLOADED,
    "launch_failed": OutcomeKind.LAUNCH_FAILED,
}


# What a try that did not land was. That its provider had no room says nothing about a unit.
TRIED = {
    OutcomeKind.SHIPPED: Tried.DRAINED,
    OutcomeKind.UNCLEAR: Tried.ERROR,
    OutcomeKind.LAUNCH_FAILED: Tried.ERROR,
}


class Ended(StrEnum):
    """Why a run ends that was not at fault: beside what the loop decides."""

    DRAIN_REQUESTED = "drain-requested"
    LEASE_LOST = "lease-lost"
    LANE_HELD = "lane-held"


class Stop(Struct, frozen=True):
    reason: StopReason | Ended
    detail: str

    @property
    def needs(self) -> Needs:
        return loop.needs(self.reason)


class Worker:
    def __init__(self, *, lane: str, run_id: str, agent: str, state: LoopState) -> None:
        self.lane = lane
        self.run_id = run_id
        self.agent = agent
        self.state = state
        self.attempt = 1  # at the same iteration: a provider that was overloaded is asked again
        self.lease: Lease
        self._notes = 0

    def work(self) -> Generator[Any, Any, Stop]:
        taken = yield effects.TakeLease(lane=self.lane, run_id=self.run_id)
        if isinstance(taken, Refusal):
            refused = Stop(Ended.LANE_HELD, taken.detail)
            yield effects.Record(stream=f"run/{self.run_id}", fact=self._stopped(refused), key="refused")
            return refused
        self.lease, self.lane = taken, taken.lane
        try:
            stop: Stop = yield from self._until_stopped()
            yield from self._note(self._stopped(stop))
            yield effects.ReleaseLease(lease=self.lease, reason=stop.reason)
        except Fenced as error:
            return Stop(Ended.LEASE_LOST, str(error))
        return stop

    def _stopped(self, stop: Stop) -> events.RunStopped:
        return events.RunStopped(
            run_id=self.run_id, lane=self.lane, stop_reason=stop.reason, needs=stop.needs, reason=stop.detail
        )

    def _until_stopped(self) -> Steps:
        backlog: effects.Backlog = yield effects.SurveyBacklog(lease=self.lease)
        yield from self._settle(backlog.unsettled)
        yield from self._note(
            events.RunBegun(
                run_id=self.run_id,
                lane=self.lane,
                host=self.lease.host,
                start_sha=self.lease.start_sha,
            )
        )
        again = mode = ""
        backlog = yield effects.SurveyBacklog(lease=self.lease)
        yield from self._note(self._intent(backlog))
        while not backlog.drain_requested:
            unit = None if mode == "replan" else _pick(backlog, again)
            if unit:
                outcome = yield from self._dispatch(unit, backlog)
            elif mode == "replan":
                outcome = IterationOutcome(kind=OutcomeKind.REPLAN_DONE, replan_productivity=_refilled(backlog))
            else:
                gate = Gate.BLOCKED if backlog.held or backlog.resting else Gate.DRAIN
                outcome = IterationOutcome(kind=OutcomeKind.GATE, verdict=gate)
            if unit:
                backlog = yield effects.SurveyBacklog(lease=self.lease)  # as it stands now, for the decision
            state = _seen(self.state, backlog)
            decision = loop.decide(state, outcome)
            yield from self._commit(unit, state, outcome, decision)
            self.state = decision.next_state
            if decision.stop_reason:
                return Stop(decision.stop_reason, decision.reason)
            if decision.action in (Action.RETRY, Action.WAIT):
                self.attempt, again = self.attempt + 1, unit.name if unit else ""
                yield effects.BackOff(seconds=decision.backoff_seconds)
            else:
                self.attempt, again = 1, ""
            mode = decision.next_mode
            if not unit or decision.action in (Action.RETRY, Action.WAIT):
                backlog = yield effects.SurveyBacklog(lease=self.lease)
        return Stop(Ended.DRAIN_REQUESTED, "the fleet was asked to drain")

    def _intent(self, backlog: effects.Backlog) -> IntentDeclared:
        """What the run sets out to do: so that anybody can ask later whether it did, and where to go on."""
        return IntentDeclared(
            run_id=self.run_id,
            goal=f"what is left of lane {self.lane}",
            lane=self.lane,
            start_sha=self.lease.start_sha,
            steps=list(backlog.completion.residual) if backlog.completion else [],
        )

    def _dispatch(self, unit: Unit, backlog: effects.Backlog) -> Steps:
        number = self.state.iteration
        who = {"run_id": self.run_id, "lane": self.lane, "unit": unit.name}
        yield from self._note(events.UnitClaimed(**who, iteration=number, repeated=unit.name in backlog.interrupted))
        worktree: effects.Worktree = yield effects.PrepareWorktree(lane=self.lane, run_id=self.run_id, lease=self.lease)
        yield from self._note_salvage(worktree.salvaged)
        yield from self._note(events.AgentStarted(**who, iteration=number, agent=self.agent, base=worktree.base))
        ended: effects.Ended = yield effects.RunAgent(
            unit=unit,
            lease=self.lease,
            run_id=self.run_id,
            iteration=number,
            attempt=self.attempt,
            worktree=worktree,
            history=backlog.history.get(unit.name, []),
        )
        yield from self._note(
            events.AgentEnded(
                **who,
                iteration=number,
                outcome=ended.outcome,
                exit_code=ended.exit_code,
                claim=ended.claim,
                seconds=round(ended.seconds, 3),
            )
        )
        yield from self._note_salvage((yield effects.SaveChanges(run_id=self.run_id, worktree=worktree)))
        landed: bool = yield from self._measure_and_land(unit, worktree)
        yield from self._note_salvage((yield effects.SaveCommits(run_id=self.run_id, worktree=worktree)))
        kind = OutcomeKind.SHIPPED if landed else OUTCOMES.get(ended.outcome, OutcomeKind.UNCLEAR)
        yield from self._note_try(unit, Tried.SHIPPED if landed else TRIED.get(kind))
        if kind is not OutcomeKind.SHIPPED:
            return IterationOutcome(kind=kind)
        return IterationOutcome(
            kind=kind,
            measurement_expected=True,
            packet_judge=PacketOutcome.SHIPPED_CLEAN if landed else PacketOutcome.SHIPPED_DIRTY,
            ship_count=int(landed),
        )

    def _note_try(self, unit: Unit, outcome: Tried | None) -> Steps:
        if outcome is not None:
            yield effects.Record(
                stream=f"unit/{unit.name}",
                fact=events.UnitAttempted(
                    unit=unit.name, outcome=outcome, lane=self.lane, run_id=self.run_id, host=self.lease.host
                ),
                key=f"attempted/{self.run_id}/{self.state.iteration}.{self.attempt}",
                fence=self.lease.fence,
            )

    def _measure_and_land(self, unit: Unit, worktree: effects.Worktree) -> Steps:
        """What git and exit codes say alone; what the agent said plays no part."""
        measured: effects.Measured = yield effects.MeasureWork(unit=unit, lease=self.lease, worktree=worktree)
        verdict = delivered.judge(
            delivered.Evidence(
                commits=len(measured.commits),
                changed_paths=measured.changed_paths,
                strays=measured.strays,
                accepted=measured.accepted,
                detail=measured.detail,
            )
        )
        who = {"run_id": self.run_id, "lane": self.lane, "unit": unit.name}
        yield from self._note(
            events.WorkMeasured(
                **who,
                iteration=self.state.iteration,
                base=worktree.base,
                head=measured.head,
                commits=measured.commits,
                strays=measured.strays,
                accepted=measured.accepted,
                verdict=verdict.answer,
                reason=verdict.reason,
            )
        )
        if verdict.answer is not delivered.Answer.DELIVERED:
            return False
        refused: effects.NotLanded | None = yield from self._land(unit, worktree, measured)
        if refused:
            yield from self._note(events.LandingRefused(**who, reason=refused.reason))
        return refused is None

    def _land(self, unit: Unit, worktree: effects.Worktree, measured: effects.Measured) -> Steps:
        """Again and again while only the branch has moved: the work is done, and another's landing does not undo it."""
        pause = FIRST_PAUSE_SECONDS
        for _ in range(LANDING_TRIES):
            landing = yield effects.PrepareLanding(
                unit=unit, lease=self.lease, worktree=worktree, head=measured.head, run=measured.run
            )
            if isinstance(landing, effects.NotLanded):
                return landing
            refused = yield from self._move(landing)
            if refused is None or not refused.retryable:
                return refused
            yield effects.Pause(seconds=pause)
            pause *= 2
        return refused

    def _move(self, landing: effects.Landing) -> Steps:
        """Intent, then the branch, then the record: after a crash between any two, git says how far it came."""
        yield from self._note(
            events.LandingIntended(
                run_id=self.run_id,
                lane=self.lane,
                unit=landing.unit,
                iteration=self.state.iteration,
                branch=landing.branch,
                old=landing.old,
                new=landing.new,
                receipt=landing.receipt,
            )
        )
        refused = yield effects.MoveBranch(lease=self.lease, landing=landing)
        if refused is None:
            yield from self._note_landed(landing, recognised=False)
        return refused

    def _settle(self, unsettled: list[effects.Landing]) -> Steps:
        """Landings that were intended by a run that died: ask git how far each came, and finish it."""
        for landing in unsettled:
            if (yield effects.HasLanded(landing=landing)):
                yield from self._note_landed(landing, recognised=True)
            elif (refused := (yield effects.MoveBranch(lease=self.lease, landing=landing))) is None:
                yield from self._note_landed(landing, recognised=False)
            else:
                yield from self._note(
                    events.LandingRefused(run_id=self.run_id, lane=self.lane, unit=landing.unit, reason=refused.reason)
                )

    def _note_landed(self, landing: effects.Landing, *, recognised: bool) -> Steps:
        """The receipt first: until there is one, the landing is unsettled, and whoever comes next issues it."""
        issued = yield effects.IssueReceipt(landing=landing)
        yield effects.Record(
            stream=f"unit/{landing.unit}",
            fact=ReceiptIssued(
                run_id=self.run_id,
                lane=self.lane,
                unit=landing.unit,
                commit=landing.new,
                receipt=issued.receipt,
                said=issued.said,
            ),
            key=receipt_events.key_of(landing.new),
            fence=self.lease.fence,
        )
        fact = events.UnitLanded(
            run_id=self.run_id,
            lane=self.lane,
            unit=landing.unit,
            branch=landing.branch,
            commit=landing.new,
            base=landing.old,
            recognised=recognised,
        )
        # The unit's own stream and key: one landing of one commit is written once, whoever finds it.
        yield effects.Record(
            stream=f"unit/{landing.unit}", fact=fact, key=f"landed/{landing.new}", fence=self.lease.fence
        )
        step = StepVerified(run_id=self.run_id, step=landing.unit, sha=landing.new, via="file-path")
        yield effects.Record(
            stream=f"run/{self.run_id}", fact=step, key=f"verified/{landing.new}", fence=self.lease.fence
        )

    def _commit(self, unit: Unit | None, state: LoopState, outcome: IterationOutcome, decision: LoopDecision) -> Steps:
        name = unit.name if unit else ""
        yield from self._note(decided.fact(self.run_id, self.lane, name, self.attempt, state, outcome, decision))

    def _note_salvage(self, salvaged: list[effects.Salvage]) -> Steps:
        for saved in salvaged:
            yield from self._note(
                events.WorkSalvaged(
                    run_id=self.run_id, lane=self.lane, ref=saved.ref, commit=saved.commit, why=saved.why
                )
            )

    def _note(self, fact: events.Fact) -> Steps:
        """Write a fact to the run's stream: this once, however often it has to be sent."""
        self._notes += 1
        key = f"{fact.kind}/{self.lease.fence}.{self._notes}"
        yield effects.Record(stream=f"run/{self.run_id}", fact=fact, key=key, fence=self.lease.fence)


def _refilled(backlog: effects.Backlog) -> Productivity:
    """Nobody but a person refills a plan here: it was read again, and there is something in it or there is not."""
    return Productivity.PRODUCTIVE if backlog.open else Productivity.UNPRODUCTIVE


def _seen(state: LoopState, backlog: effects.Backlog) -> LoopState:
    """The state with what was seen: of the next unit only when nothing else can be offered."""
    return structs.replace(
        state,
        completion=backlog.completion,
        pickability=None if backlog.open else next(iter(backlog.held), None),
        cooldown=None if backlog.open else next(iter(backlog.resting), None),
    )


def _pick(backlog: effects.Backlog, again: str) -> Unit | None:
    """What is to be tried again comes first, then what a dead run left half done, then what failed least often."""

    def order(unit: Unit) -> tuple[bool, bool, int]:
        tries = len(backlog.history.get(unit.name, []))
        return unit.name != again, unit.name not in backlog.interrupted, tries

    return min(backlog.open, key=order, default=None)
