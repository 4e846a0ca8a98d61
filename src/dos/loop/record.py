"""The decisions of a run: written to its stream, read from it, and replayed under other limits."""

from collections.abc import Iterable, Sequence

from msgspec import Struct, ValidationError, convert, structs, to_builtins

from dos.errors import JournalCorrupt
from dos.journal.events.envelope import Event
from dos.journal.events.fleet import IterationCommitted
from dos.journal.events.reader import select
from dos.loop.decide import decide
from dos.loop.types import EVIDENCE, IterationOutcome, LoopDecision, LoopState
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

    Under another policy the counters continue from the new decisions.
    """
    state: LoopState | None = None
    for step in recorded:
        if policy is None:
            state = step.state
        else:
            state = _with_policy(policy, state or step.state, step.state)
        decision = decide(state, step.outcome)
        if _effect(decision) != _effect(step.decision):
            difference = Difference(
                iteration=step.iteration,
                attempt=step.attempt,
                recorded=step.decision,
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
