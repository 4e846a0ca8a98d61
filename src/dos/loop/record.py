"""The decisions of one run, as its stream tells them: what was seen, how it ended, what was decided."""

from collections.abc import Iterable

from msgspec import Struct, ValidationError, convert, to_builtins

from dos.errors import JournalCorrupt
from dos.journal.events.envelope import Event
from dos.journal.events.fleet import IterationCommitted
from dos.journal.events.reader import select
from dos.loop.types import IterationOutcome, LoopDecision, LoopState


class Decided(Struct, frozen=True, kw_only=True):
    at_ms: int
    iteration: int
    attempt: int
    unit: str
    state: LoopState
    outcome: IterationOutcome
    decision: LoopDecision


def fact(
    run_id: str,
    lane: str,
    unit: str,
    attempt: int,
    state: LoopState,
    outcome: IterationOutcome,
    decision: LoopDecision,
) -> IterationCommitted:
    return IterationCommitted(
        run_id=run_id,
        lane=lane,
        iteration=state.iteration,
        unit=unit,
        outcome=outcome.kind,
        action=decision.action,
        reason=decision.reason,
        attempt=attempt,
        state=to_builtins(state),
        judged=to_builtins(outcome),
        decision=to_builtins(decision),
    )


def key(iteration: int, attempt: int) -> str:
    """One decision for each try of an iteration, whoever writes it."""
    return f"{IterationCommitted.kind}/{iteration}.{attempt}"


def read(happened: Iterable[Event]) -> list[Decided]:
    """Oldest first; what was written before decisions were kept whole is left out."""
    written = select(happened, IterationCommitted)
    return [_decided(event, fact) for event, fact in written if fact.decision is not None]


def _decided(event: Event, written: IterationCommitted) -> Decided:
    try:
        return Decided(
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
            f"event {event.pos}: the decision of iteration {written.iteration} is not one: {error}",
            hint=f"`dos journal show {event.pos}` prints what is stored.",
        ) from error
