"""Would the same evidence be decided the same way: by the same rules again, or under other limits?"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct, structs

from dos.loop import decide as loop
from dos.loop.types import EVIDENCE, IterationOutcome, LoopDecision, LoopState
from dos.loop.verdicts import liveness

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


class Policy(Struct, frozen=True, kw_only=True):
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


def replay(taken: Sequence[Taken], policy: Policy | None = None) -> Replay:
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


def _under(policy: Policy, counters: LoopState, seen: LoopState) -> LoopState:
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
