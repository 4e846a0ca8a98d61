"""One decision of a loop in the making: the state, the outcome, and how the state changes.

Also what a loop does about a limit of a provider, by the word that reports it.
"""

from enum import StrEnum

from msgspec import Struct, field, structs

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
from dos.times import Backoff

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
    """One pass over the rungs: what a rung sees, and how it changes the state or decides.

    The changes are collected here, because a rung that decides nothing may still reset a counter.
    """

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
        """Count one more in a row; return whether that is too many, and the count as `2 of 3`."""
        new = getattr(self.state, "consecutive_" + streak) + 1
        most = getattr(self.state, "max_" + streak)
        self.changes["consecutive_" + streak] = new
        return new >= most, f"{new} of {most}"

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


# Limits of a provider

BACKOFF = Backoff((60, 270, 1200))  # in seconds; a loop waits by it
MOST_RETRIES = 3


class LimitKind(StrEnum):
    """The kinds of limits: one that passes soon, one that resets, one that needs money."""

    TRANSIENT_OVERLOAD = "transient_overload"
    USAGE_WINDOW = "usage_window"
    HARD_QUOTA = "hard_quota"
    NONE = "none"


class LimitVerdict(Struct, frozen=True, kw_only=True):
    """What a loop does about a limit."""

    answer: LimitKind = field(name="category")
    retry_same_iteration: bool = False
    backoff_seconds: tuple[float, ...] = ()
    escalate_after: int = 1
    operator_action_required: bool = False
    clears_on_timer: bool = False


LIMIT_VERDICTS = {
    LimitKind.TRANSIENT_OVERLOAD: LimitVerdict(
        answer=LimitKind.TRANSIENT_OVERLOAD,
        retry_same_iteration=True,
        backoff_seconds=BACKOFF.delays,
        escalate_after=MOST_RETRIES,
        clears_on_timer=True,
    ),
    LimitKind.USAGE_WINDOW: LimitVerdict(answer=LimitKind.USAGE_WINDOW, clears_on_timer=True),
    LimitKind.HARD_QUOTA: LimitVerdict(answer=LimitKind.HARD_QUOTA, operator_action_required=True),
    LimitKind.NONE: LimitVerdict(answer=LimitKind.NONE),
}

# The words that loops, quota errors and outcomes use.
_LIMIT_WORDS = {
    "OVERLOADED": LimitKind.TRANSIENT_OVERLOAD,
    "RPM_THROTTLED": LimitKind.TRANSIENT_OVERLOAD,
    "TRANSIENT_429": LimitKind.TRANSIENT_OVERLOAD,
    "RATE_LIMITED": LimitKind.USAGE_WINDOW,
    "DAILY_QUOTA_EXHAUSTED": LimitKind.USAGE_WINDOW,
    "SUBSCRIPTION_BLACKOUT": LimitKind.USAGE_WINDOW,
    "LLM-QUOTA-EXHAUSTED": LimitKind.USAGE_WINDOW,
    "LLM-QUOTA-EXHAUSTED-DURABLE": LimitKind.USAGE_WINDOW,
    "CREDIT_LOW": LimitKind.HARD_QUOTA,
}


def judge_limit(word: str | None) -> LimitVerdict:
    """Return what the word for a limit means; an unknown word is no limit."""
    key = (word or "").strip().upper()
    return LIMIT_VERDICTS[_LIMIT_WORDS.get(key, LimitKind.NONE)]
