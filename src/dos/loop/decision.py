"""One decision of a loop in the making: the state, the outcome, and how the state changes."""

from msgspec import structs

from dos.loop.gate import Gate
from dos.loop.types import (
    EVIDENCE,
    Action,
    IterationOutcome,
    LoopDecision,
    LoopState,
    OutcomeKind,
    StopReason,
)
from dos.reasons import table
from dos.reasons.table import Needs

CAP = "iteration-cap"
FORGET_EVIDENCE = dict.fromkeys(EVIDENCE)


def needs(why: str) -> Needs:
    """Return who can clear a stop, from the one table of reasons; LookupError for no reason."""
    reason = table.find(why)
    if reason is None:
        raise LookupError(f"the table of reasons has no row for {why}")
    return reason.needs


_NEEDS = {why: needs(why) for why in StopReason}


def is_outraced(state: LoopState, outcome: IterationOutcome) -> bool:
    """Whether a race was lost once too often in a row; it then counts as unclear."""
    return outcome.verdict == Gate.RACE and state.consecutive_race >= state.max_race


class Step:
    """One pass over the rungs: what a rung sees, and how it changes the state or decides."""

    __slots__ = ("changes", "considered", "outcome", "state")

    def __init__(self, state: LoopState, outcome: IterationOutcome) -> None:
        self.state = state
        self.outcome = outcome
        self.considered: tuple[str, ...] = ()  # the rungs so far; the last one decides
        self.changes: dict[str, object] = dict(FORGET_EVIDENCE)
        if outcome.kind != OutcomeKind.UNCLEAR and not is_outraced(state, outcome):
            self.changes["consecutive_adopt_wait"] = 0
        if outcome.verdict != Gate.RACE:
            self.changes["consecutive_race"] = 0

    def change(self, **changes: object) -> None:
        """Change fields of the next state."""
        self.changes.update(changes)

    def count(self, streak: str) -> tuple[bool, str]:
        """Count one more in a row; return whether that is too many, and the count as `2/3`."""
        new = getattr(self.state, "consecutive_" + streak) + 1
        most = getattr(self.state, "max_" + streak)
        self.changes["consecutive_" + streak] = new
        return new >= most, f"{new}/{most}"

    def stop(self, why: StopReason, reason: str) -> LoopDecision:
        """Decide to stop the loop."""
        who = _NEEDS[why]
        return LoopDecision(
            action=Action.STOP,
            stop_reason=why,
            needs=who,
            surface=who is not Needs.NOBODY,
            reason=reason,
            ladder=self.considered,
            next_state=structs.replace(self.state, **self.changes),
        )

    def go_on(
        self, mode: str, reason: str, *, reconcile: bool = False, who: Needs = Needs.NOBODY
    ) -> LoopDecision:
        """Decide to continue with the next iteration, unless the iteration cap is reached.

        The cap comes last, so that it never hides a stop with a name of its own.
        """
        state = self.state
        ladder = (*self.considered, CAP)
        if state.iteration >= state.max_iterations:
            ran = f"{state.iteration} of {state.max_iterations} iterations ran; {reason}"
            stop = self.stop(StopReason.ITERATION_CAP, ran)
            return structs.replace(stop, ladder=ladder)
        return LoopDecision(
            action=Action.CONTINUE,
            next_mode=mode,
            reconcile=reconcile,
            needs=who,
            surface=who is not Needs.NOBODY,
            reason=reason,
            ladder=ladder,
            next_state=structs.replace(state, iteration=state.iteration + 1, **self.changes),
        )

    def again(self, reason: str, **how: object) -> LoopDecision:
        """Decide to repeat the same iteration after a while."""
        return LoopDecision(
            reason=reason,
            ladder=self.considered,
            next_state=structs.replace(self.state, **self.changes),
            **how,  # type: ignore[arg-type]
        )
