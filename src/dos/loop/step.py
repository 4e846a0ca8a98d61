"""One durable step of a loop that somebody else runs: its state is the journal's, and a step taken stays taken."""

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
from dos.loop.record import RecordedDecision
from dos.loop.types import EVIDENCE, Action, IterationOutcome, LoopDecision, LoopState


class StepResult(Struct, frozen=True, kw_only=True):
    decision: LoopDecision
    iteration: int
    attempt: int
    repeated: bool  # it was decided before, and nothing was written now


class LoopPosition(Struct, frozen=True, kw_only=True):
    """Where the run stands: the state before its next decision."""

    state: LoopState
    attempt: int
    stopped: RecordedDecision | None = None


def loop_position(taken: list[RecordedDecision], fresh: LoopState) -> LoopPosition:
    if not taken:
        return LoopPosition(state=fresh, attempt=1)
    last = taken[-1]
    again = last.decision.action in (Action.RETRY, Action.WAIT)
    return LoopPosition(
        state=last.decision.next_state,
        attempt=last.attempt + 1 if again else 1,
        stopped=last if last.decision.action == Action.STOP else None,
    )


def step(
    store: Store,
    run_id: str,
    outcome: IterationOutcome,
    *,
    fresh: LoopState,
    evidence: LoopState,
    lane: str = "",
    unit: str = "",
    iteration: int | None = None,
    attempt: int | None = None,
    fence: int | None = None,
) -> StepResult:
    """Decide the iteration that just ended and keep it; the same iteration told again gets the same answer."""
    stream = streams.run(run_id)
    happened = store.load(stream)
    taken = record.read_decisions(happened)
    now = loop_position(taken, fresh)
    if iteration is not None:
        which = (iteration, attempt or 1)
        for found in taken:
            if (found.iteration, found.attempt) == which:
                return _repeated(run_id, found, outcome)
    if any(select(happened, RunEnded)):
        raise BadInput(
            f"run {run_id} has ended", hint=f"`dos trace {run_id}` shows how; begin another run."
        )
    if now.stopped:
        why = now.stopped.decision.stop_reason
        raise BadInput(
            f"run {run_id} stopped after iteration {now.stopped.iteration}: {why}",
            hint=f"`dos why {run_id}` tells how it came to that; `dos run-id mint NAME` begins another.",
        )
    if iteration is not None and which != (now.state.iteration, now.attempt):
        raise BadInput(
            f"run {run_id} is at iteration {now.state.iteration}, try {now.attempt}; "
            f"iteration {iteration}, try {attempt or 1}, is not what comes next",
            hint="Leave --iteration out to decide the next one.",
        )
    state = structs.replace(now.state, **{name: getattr(evidence, name) for name in EVIDENCE})
    decision = decide.decide(state, outcome)
    written = record.decision_fact(run_id, lane, unit, now.attempt, state, outcome, decision)
    # The key makes it once: whoever comes second to the same iteration is handed what the first one wrote.
    entries = [_entry(stream, written, record.decision_key(state.iteration, now.attempt), fence)]
    if decision.stop_reason:  # in one transaction: who asks why it stopped finds both or neither
        stopped = RunStopped(
            run_id=run_id,
            lane=lane,
            stop_reason=decision.stop_reason,
            needs=decision.needs,
            reason=decision.reason,
            by_hand=True,
        )
        entries.append(
            _entry(stream, stopped, f"{RunStopped.kind}/{state.iteration}.{now.attempt}", fence)
        )
    kept = record.read_decisions(store.append_all(entries)[:1])[0]
    if kept.decision != decision:
        return _repeated(run_id, kept, outcome)
    return StepResult(
        decision=decision, iteration=state.iteration, attempt=now.attempt, repeated=False
    )


def _entry(stream: str, fact: Fact, key: str, fence: int | None) -> Entry:
    return Entry(stream=stream, kind=fact.kind, body=fact, key=key, fence=fence)


def _repeated(run_id: str, found: RecordedDecision, outcome: IterationOutcome) -> StepResult:
    if structs.replace(found.outcome, ended_at=None) != structs.replace(outcome, ended_at=None):
        raise BadInput(
            f"iteration {found.iteration} of run {run_id} was decided as {found.outcome.kind}, not {outcome.kind}",
            hint="An iteration ends once; `dos why RUN` shows how. Leave --iteration out to decide the next one.",
        )
    return StepResult(
        decision=found.decision, iteration=found.iteration, attempt=found.attempt, repeated=True
    )
