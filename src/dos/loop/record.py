"""The decisions of one run, as its stream tells them: what was seen, how it ended, what was decided."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from msgspec import Struct, ValidationError, convert, structs, to_builtins

from dos.errors import JournalCorrupt
from dos.journal.events.envelope import Event
from dos.journal.events.fleet import IterationCommitted
from dos.journal.events.reader import select
from dos.loop import decide as loop
from dos.loop.types import EVIDENCE, IterationOutcome, LoopDecision, LoopState
from dos.loop.verdicts import liveness


class RecordedDecision(Struct, frozen=True, kw_only=True):
    at_ms: int
    iteration: int
    attempt: int
    unit: str
    state: LoopState
    outcome: IterationOutcome
    decision: LoopDecision


def decision_fact(
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


def decision_key(iteration: int, attempt: int) -> str:
    """One decision for each try of an iteration, whoever writes it."""
    return f"{IterationCommitted.kind}/{iteration}.{attempt}"


def read_decisions(happened: Iterable[Event]) -> list[RecordedDecision]:
    """Oldest first; what was written before decisions were kept whole is left out."""
    written = select(happened, IterationCommitted)
    return [_decided(event, fact) for event, fact in written if fact.decision is not None]


def _decided(event: Event, written: IterationCommitted) -> RecordedDecision:
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
            f"event {event.pos}: the decision of iteration {written.iteration} is not one: {error}",
            hint=f"`dos journal show {event.pos}` prints what is stored.",
        ) from error


LIMITS = ("gate_mode", *(name for name in LoopState.__struct_fields__ if name.startswith("max_")))


class Taken(Protocol):
    """A decision that was taken."""

    @property
    def iteration(self) -> int: ...
    @property
    def attempt(self) -> int: ...
    @property
    def state(self) -> LoopState: ...
    @property
    def outcome(self) -> IterationOutcome: ...
    @property
    def decision(self) -> LoopDecision: ...


class ReplayPolicy(Struct, frozen=True, kw_only=True):
    """Other limits for the loop, and for the verdicts whose evidence was kept whole."""

    loop: LoopState
    liveness: liveness.Policy


class Difference(Struct, frozen=True, kw_only=True):
    iteration: int
    attempt: int
    recorded: LoopDecision
    replayed: LoopDecision


class Replay(Struct, frozen=True, kw_only=True):
    decisions: int
    difference: Difference | None = (
        None  # the first one: what would have happened after it, nobody saw
    )


def replay(taken: Sequence[Taken], policy: ReplayPolicy | None = None) -> Replay:
    """Each decision again, from what was seen then. Under another policy the counters go on from the new decisions."""
    state: LoopState | None = None
    for step in taken:
        if policy is None:
            state = step.state
        else:
            state = _under(policy, state or step.state, step.state)
        made = loop.decide(state, step.outcome)
        if _gist(made) != _gist(step.decision):
            different = Difference(
                iteration=step.iteration,
                attempt=step.attempt,
                recorded=step.decision,
                replayed=made,
            )
            return Replay(decisions=len(taken), difference=different)
        state = made.next_state
    return Replay(decisions=len(taken))


def _under(policy: ReplayPolicy, counters: LoopState, seen: LoopState) -> LoopState:
    evidence = {name: getattr(seen, name) for name in EVIDENCE}
    if isinstance(seen.liveness, liveness.Verdict) and seen.liveness.evidence is not None:
        evidence["liveness"] = liveness.judge(seen.liveness.evidence, policy.liveness)
    limits = {name: getattr(policy.loop, name) for name in LIMITS}
    return structs.replace(counters, **evidence, **limits)


def _gist(decision: LoopDecision) -> tuple[object, ...]:
    """What is done about it; how it is worded, and the limits that are carried along, may differ."""
    return (
        decision.action,
        decision.next_mode,
        decision.reconcile,
        decision.stop_reason,
        decision.needs,
        decision.backoff_seconds,
        decision.until,
    )
