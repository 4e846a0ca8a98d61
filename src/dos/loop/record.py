"""The decisions of a run: written to its stream, read from it, and replayed under other limits.

A worker writes its decisions as part of its own transactions. A loop that another program runs
calls `step`, which decides one iteration and writes the decision.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct, ValidationError, convert, structs, to_builtins

from dos.errors import BadInput, JournalCorrupt
from dos.journal import streams
from dos.journal.backend import Entry
from dos.journal.events.envelope import Event, Fact
from dos.journal.events.fleet import IterationCommitted, RunStopped
from dos.journal.events.reader import select
from dos.journal.events.runs import RunEnded
from dos.journal.store import Store
from dos.loop import tokens
from dos.loop.decide import decide
from dos.loop.types import EVIDENCE, Action, IterationOutcome, LoopDecision, LoopState
from dos.loop.verdicts import liveness

LIMITS = ("gate_mode", *(name for name in LoopState.__struct_fields__ if name.startswith("max_")))


class IterationDecision(Struct, frozen=True, kw_only=True):
    """A decision about one attempt at an iteration, with all that it was made from."""

    attempt: int
    unit: str
    state: LoopState
    outcome: IterationOutcome
    decision: LoopDecision


class RecordedDecision(IterationDecision, frozen=True, kw_only=True):
    """A decision that was read from the journal."""

    at_ms: int
    iteration: int


def decision_fact(run_id: str, lane: str, made: IterationDecision) -> IterationCommitted:
    """Return the fact that records a decision."""
    return IterationCommitted(
        run_id=run_id,
        lane=lane,
        iteration=made.state.iteration,
        unit=made.unit,
        outcome=made.outcome.kind,
        action=made.decision.action,
        reason=made.decision.reason,
        attempt=made.attempt,
        state=to_builtins(made.state),
        judged=to_builtins(made.outcome),
        decision=to_builtins(made.decision),
    )


def decision_key(iteration: int, attempt: int) -> str:
    """Return the key that makes a decision the only one for an attempt at an iteration."""
    return f"{IterationCommitted.kind}/{iteration}.{attempt}"


def read_decisions(happened: Iterable[Event]) -> list[RecordedDecision]:
    """Return the decisions among the events, oldest first; raises JournalCorrupt.

    Events of versions that did not record whole decisions are left out.
    """
    written = select(happened, IterationCommitted)
    return [_recorded(event, fact) for event, fact in written if fact.decision is not None]


def _recorded(event: Event, written: IterationCommitted) -> RecordedDecision:
    """Return the decision of an event. Raises JournalCorrupt for one that cannot be decoded."""
    try:
        return RecordedDecision(
            at_ms=event.at_ms,
            iteration=written.iteration,
            attempt=written.attempt,
            unit=written.unit,
            state=convert(written.state, LoopState),
            outcome=convert(written.judged, IterationOutcome),
            decision=convert(written.decision, LoopDecision),
        )
    except ValidationError as error:
        raise JournalCorrupt(
            f"event {event.pos}: the decision of iteration {written.iteration} is invalid: {error}",
            hint=f"`dos journal show {event.pos}` prints what is stored.",
        ) from error


class ReplayPolicy(Struct, frozen=True, kw_only=True):
    """Other limits for the loop, and for the verdicts whose evidence was recorded whole."""

    loop: LoopState
    liveness: liveness.Policy


class Difference(Struct, frozen=True, kw_only=True):
    """A decision that would be another one now."""

    iteration: int
    attempt: int
    recorded: LoopDecision
    replayed: LoopDecision


class Replay(Struct, frozen=True, kw_only=True):
    """How many decisions were replayed, and the first difference.

    What would have happened after a difference is not known, so the replay ends there.
    """

    decisions: int
    difference: Difference | None = None


def replay(recorded: Sequence[RecordedDecision], policy: ReplayPolicy | None = None) -> Replay:
    """Decide each recorded iteration again from its evidence, until a decision differs.

    Under another policy the counters continue from the new decisions. Nothing is written.
    """
    state: LoopState | None = None
    for made in recorded:
        if policy is None:
            state = made.state
        else:
            state = _with_policy(policy, state or made.state, made.state)
        decision = decide(state, made.outcome)
        if _effect(decision) != _effect(made.decision):
            difference = Difference(
                iteration=made.iteration,
                attempt=made.attempt,
                recorded=made.decision,
                replayed=decision,
            )
            return Replay(decisions=len(recorded), difference=difference)
        state = decision.next_state
    return Replay(decisions=len(recorded))


def _with_policy(policy: ReplayPolicy, counters: LoopState, recorded: LoopState) -> LoopState:
    """Return the counters with the recorded evidence and the limits of the policy."""
    evidence = {name: getattr(recorded, name) for name in EVIDENCE}
    verdict = recorded.liveness
    if isinstance(verdict, liveness.Verdict) and verdict.evidence is not None:
        evidence["liveness"] = liveness.judge(verdict.evidence, policy.liveness)
    limits = {name: getattr(policy.loop, name) for name in LIMITS}
    return structs.replace(counters, **evidence, **limits)


def _effect(decision: LoopDecision) -> tuple[object, ...]:
    """Return what a decision does; its wording and the limits that it carries may differ."""
    return (
        decision.action,
        decision.next_mode,
        decision.reconcile,
        decision.stop_reason,
        decision.needs,
        decision.backoff_seconds,
        decision.until,
    )


# One step of a loop that another program runs


class StepRequest(Struct, frozen=True, kw_only=True):
    """The iteration that has ended, as its caller reports it."""

    outcome: IterationOutcome
    evidence: LoopState  # only its evidence is used
    lane: str = ""
    unit: str = ""
    iteration: int | None = None  # None: the next one
    attempt: int | None = None
    fence: int | None = None


class StepResult(Struct, frozen=True, kw_only=True):
    """The decision about an iteration."""

    decision: LoopDecision
    iteration: int
    attempt: int
    repeated: bool  # it was decided before, and nothing was written now


class LoopPosition(Struct, frozen=True, kw_only=True):
    """Where a run is: the state before its next decision."""

    state: LoopState
    attempt: int
    stopped: RecordedDecision | None = None


def loop_position(recorded: list[RecordedDecision], fresh: LoopState) -> LoopPosition:
    """Return where a run is after its recorded decisions; `fresh` is the state of a new run."""
    if not recorded:
        return LoopPosition(state=fresh, attempt=1)
    last = recorded[-1]
    repeats = last.decision.action in (Action.RETRY, Action.WAIT)
    return LoopPosition(
        state=last.decision.next_state,
        attempt=last.attempt + 1 if repeats else 1,
        stopped=last if last.decision.action == Action.STOP else None,
    )


def step(store: Store, run_id: str, request: StepRequest, *, fresh: LoopState) -> StepResult:
    """Decide the iteration that has ended, record the decision and return it.

    An iteration that was decided before gets the recorded decision. Raises BadInput when the run
    has ended or stopped, or when another iteration comes next.
    """
    happened = store.load(streams.run(run_id))
    recorded = read_decisions(happened)
    position = loop_position(recorded, fresh)
    if request.iteration is not None:
        for earlier in recorded:
            if (earlier.iteration, earlier.attempt) == _requested(request):
                return _repeated(run_id, earlier, request.outcome)
    if any(select(happened, RunEnded)):
        raise BadInput(
            f"run {run_id} has ended", hint=f"`dos trace {run_id}` shows how; begin another run."
        )
    _check_position(run_id, position, request)
    return _decide(store, run_id, request, position)


def _requested(request: StepRequest) -> tuple[int | None, int]:
    """Return the iteration and the attempt of a request; the first attempt is the default."""
    return request.iteration, request.attempt or 1


def _check_position(run_id: str, position: LoopPosition, request: StepRequest) -> None:
    """Raise BadInput unless the request is about the iteration that comes next."""
    stopped = position.stopped
    if stopped:
        why = tokens.words(stopped.decision.stop_reason or "")
        commands = f"`dos why {run_id}` explains it; `dos run-id mint NAME` begins another run."
        raise BadInput(
            f"run {run_id} stopped after iteration {stopped.iteration}: {why}", hint=commands
        )
    if request.iteration is None:
        return
    if _requested(request) != (position.state.iteration, position.attempt):
        iteration, attempt = _requested(request)
        raise BadInput(
            f"run {run_id} is at iteration {position.state.iteration},"
            f" attempt {position.attempt}, not at iteration {iteration}, attempt {attempt}",
            hint="Leave --iteration out to decide the next one.",
        )


def _decide(store: Store, run_id: str, request: StepRequest, position: LoopPosition) -> StepResult:
    """Decide the next iteration and write the decision, with a stop also the run's end.

    When another caller wrote a decision first, that one is returned and nothing is written.
    """
    evidence = {name: getattr(request.evidence, name) for name in EVIDENCE}
    state = structs.replace(position.state, **evidence)
    decision = decide(state, request.outcome)
    made = IterationDecision(
        attempt=position.attempt,
        unit=request.unit,
        state=state,
        outcome=request.outcome,
        decision=decision,
    )
    iteration = state.iteration
    stream = streams.run(run_id)
    # The key makes it the only one: a second caller gets what the first one wrote.
    key = decision_key(iteration, position.attempt)
    fact = decision_fact(run_id, request.lane, made)
    entries = [_entry(stream, fact, key, request.fence)]
    if decision.stop_reason:
        # In one transaction, so that `dos why` finds both or neither.
        stopped = RunStopped(
            run_id=run_id,
            lane=request.lane,
            stop_reason=decision.stop_reason,
            needs=decision.needs,
            reason=decision.reason,
            by_hand=True,
        )
        stop_key = f"{RunStopped.kind}/{iteration}.{position.attempt}"
        entries.append(_entry(stream, stopped, stop_key, request.fence))
    kept = read_decisions(store.append_all(entries)[:1])[0]
    if kept.decision != decision:
        return _repeated(run_id, kept, request.outcome)
    return StepResult(
        decision=decision, iteration=iteration, attempt=position.attempt, repeated=False
    )


def _entry(stream: str, fact: Fact, key: str, fence: int | None) -> Entry:
    """Return the entry of a fact. With a fence it is refused once the lease is lost."""
    return Entry(stream=stream, kind=fact.kind, body=fact, key=key, fence=fence)


def _repeated(run_id: str, earlier: RecordedDecision, outcome: IterationOutcome) -> StepResult:
    """Return the recorded decision; raises BadInput when the outcome is another one now."""
    before = structs.replace(earlier.outcome, ended_at=None)
    if before != structs.replace(outcome, ended_at=None):
        raise BadInput(
            f"iteration {earlier.iteration} of run {run_id} was decided as {before.kind},"
            f" not {outcome.kind}",
            hint="An iteration ends once; `dos why RUN` shows how."
            " Leave --iteration out to decide the next one.",
        )
    return StepResult(
        decision=earlier.decision,
        iteration=earlier.iteration,
        attempt=earlier.attempt,
        repeated=True,
    )
