"""The loop's decision for callers of their own: `decide(state, outcome)`, pure, and the records around it."""

from dos.plans.iterations import DescendantProgress, IterationOutcome, LoopDecision, LoopState, OutcomeKind, StopReason
from dos.plans.loop import decide
from dos.verdicts.progress.holding import propose_tighter_budget, wait_marker_budget

__all__ = [
    "DescendantProgress",
    "IterationOutcome",
    "LoopDecision",
    "LoopState",
    "OutcomeKind",
    "StopReason",
    "decide",
    "propose_tighter_budget",
    "wait_marker_budget",
]
