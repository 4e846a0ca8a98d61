"""One durable step of a loop that another program runs: the journal keeps its state."""

from msgspec import Struct, structs

from dos.errors import BadInput
from dos.journal import streams
from dos.journal.backend import Entry
from dos.journal.events.envelope import Fact
from dos.journal.events.fleet import RunStopped
from dos.journal.events.reader import select
from dos.journal.events.runs import RunEnded
from dos.journal.store import Store
from dos.loop import decide, record
from dos.loop.record import IterationDecision, RecordedDecision
from dos.loop.types import EVIDENCE, Action, IterationOutcome, LoopDecision, LoopState


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
    recorded = record.read_decisions(happened)
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
    return request.iteration, request.attempt or 1


def _check_position(run_id: str, position: LoopPosition, request: StepRequest) -> None:
    """Raise BadInput unless the request is about the iteration that comes next."""
    stopped = position.stopped
    if stopped:
        why = stopped.decision.stop_reason
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
    evidence = {name: getattr(request.evidence, name) for name in EVIDENCE}
    state = structs.replace(position.state, **evidence)
    decision = decide.decide(state, request.outcome)
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
    key = record.decision_key(iteration, position.attempt)
    fact = record.decision_fact(run_id, request.lane, made)
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
    kept = record.read_decisions(store.append_all(entries)[:1])[0]
    if kept.decision != decision:
        return _repeated(run_id, kept, request.outcome)
    return StepResult(
        decision=decision, iteration=iteration, attempt=position.attempt, repeated=False
    )


def _entry(stream: str, fact: Fact, key: str, fence: int | None) -> Entry:
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
