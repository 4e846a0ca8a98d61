"""Does a run go on after an iteration, and if not, why not and who can clear it?"""

from enum import StrEnum

from msgspec import Struct, structs

from dos.records import reasons
from dos.records.reasons import Needs


class OutcomeKind(StrEnum):
    SHIPPED = "SHIPPED"  # the agent ran and its work was measured
    GATE = "GATE"  # nothing was launched
    UNCLEAR = "UNCLEAR"  # crashed, killed, hung: no terminal result
    RATE_LIMITED = "RATE_LIMITED"
    OVERLOADED = "OVERLOADED"
    LAUNCH_FAILED = "LAUNCH_FAILED"


class Gate(StrEnum):
    DRAIN = "DRAIN"  # no unit is left to offer
    BLOCKED = "BLOCKED"  # units are left, and none may be offered


class StopReason(StrEnum):
    ITERATION_CAP = "iteration-cap"
    COMPLETE = "complete"
    DRAIN = "drain"
    BLOCKED = "blocked"
    LAUNCH_FAILED = "launch-failed"
    RATE_LIMITED = "rate-limited"
    CONSECUTIVE_OVERLOADED = "consecutive-overloaded"
    CONSECUTIVE_UNCLEAR = "consecutive-unclear"
    CONSECUTIVE_DIRTY_ZERO = "consecutive-dirty-zero"
    DRAIN_REQUESTED = "drain-requested"
    LEASE_LOST = "lease-lost"
    LANE_HELD = "lane-held"


class IterationOutcome(Struct, frozen=True, kw_only=True):
    kind: OutcomeKind
    verdict: Gate | None = None  # of a GATE
    ship_count: int | None = None  # of a SHIPPED: units that landed, measured


class LoopState(Struct, frozen=True, kw_only=True):
    iteration: int = 1
    max_iterations: int = 10
    consecutive_unclear: int = 0
    max_unclear: int = 3
    consecutive_overloaded: int = 0
    max_overloaded: int = 3
    consecutive_dirty_zero: int = 0
    max_dirty_zero: int = 3


class LoopDecision(Struct, frozen=True, kw_only=True):
    action: str  # continue | retry-same-iter | stop
    next_state: LoopState
    reason: str
    stop_reason: StopReason | None = None
    needs: Needs = Needs.NOBODY
    backoff_seconds: int = 0


BACKOFF_SECONDS = (60, 270, 1200)


def decide(state: LoopState, outcome: IterationOutcome) -> LoopDecision:
    if outcome.kind is OutcomeKind.LAUNCH_FAILED:
        return _stop(state, StopReason.LAUNCH_FAILED, "the agent's process did not come up")
    if outcome.kind is OutcomeKind.RATE_LIMITED:
        return _stop(state, StopReason.RATE_LIMITED, "the provider's usage window is used up")
    if outcome.kind is OutcomeKind.OVERLOADED:
        return _overloaded(state)
    state = structs.replace(state, consecutive_overloaded=0)
    if outcome.kind is OutcomeKind.UNCLEAR:
        count = state.consecutive_unclear + 1
        state = structs.replace(state, consecutive_unclear=count)
        if count >= state.max_unclear:
            return _stop(
                state, StopReason.CONSECUTIVE_UNCLEAR, f"no clear end {count}/{state.max_unclear} times in a row"
            )
        return _go_on(state, f"no clear end {count}/{state.max_unclear}; the unit is tried again")
    state = structs.replace(state, consecutive_unclear=0)
    if outcome.kind is OutcomeKind.GATE:
        if outcome.verdict is Gate.BLOCKED:
            return _stop(state, StopReason.BLOCKED, "units are left, and none of them may be offered")
        return _stop(state, StopReason.DRAIN, "no unit is left to offer")
    if outcome.ship_count == 0:
        count = state.consecutive_dirty_zero + 1
        state = structs.replace(state, consecutive_dirty_zero=count)
        if count >= state.max_dirty_zero:
            return _stop(
                state,
                StopReason.CONSECUTIVE_DIRTY_ZERO,
                f"nothing landed {count}/{state.max_dirty_zero} times in a row",
            )
        return _go_on(state, f"nothing landed {count}/{state.max_dirty_zero}")
    return _go_on(structs.replace(state, consecutive_dirty_zero=0), "a unit landed")


def _overloaded(state: LoopState) -> LoopDecision:
    count = state.consecutive_overloaded + 1
    state = structs.replace(state, consecutive_overloaded=count)
    if count >= state.max_overloaded:
        return _stop(
            state, StopReason.CONSECUTIVE_OVERLOADED, f"overloaded {count}/{state.max_overloaded} times in a row"
        )
    wait = BACKOFF_SECONDS[min(count, len(BACKOFF_SECONDS)) - 1]
    reason = f"overloaded {count}/{state.max_overloaded}"
    return LoopDecision(action="retry-same-iter", next_state=state, reason=reason, backoff_seconds=wait)


def _go_on(state: LoopState, reason: str) -> LoopDecision:
    # Last of all, so that a stop with a name of its own is never hidden behind the cap.
    if state.iteration >= state.max_iterations:
        return _stop(state, StopReason.ITERATION_CAP, f"{state.iteration} of {state.max_iterations} iterations ran")
    return LoopDecision(
        action="continue", next_state=structs.replace(state, iteration=state.iteration + 1), reason=reason
    )


def _stop(state: LoopState, why: StopReason, reason: str) -> LoopDecision:
    return LoopDecision(action="stop", next_state=state, reason=reason, stop_reason=why, needs=needs(why))


def needs(why: StopReason) -> Needs:
    """Who can clear a stop, from the one table of reasons."""
    found = reasons.find(why)
    if found is None:
        raise LookupError(f"the table of reasons has no row for {why}")
    return found.needs
