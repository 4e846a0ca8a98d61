"""The loop's decision for callers of their own: `decide(state, outcome)`, pure, and the records around it."""

from dos.backlog.cooldown import Answer as CooldownState
from dos.backlog.cooldown import Verdict as Cooldown
from dos.backlog.pickable import Answer as HoldReason
from dos.backlog.pickable import Verdict as Pickability
from dos.loop.decide import decide
from dos.loop.gate import Gate as GateVerdict
from dos.loop.gate import gate_policy
from dos.loop.types import (
    DescendantProgress,
    IterationOutcome,
    LoopDecision,
    LoopState,
    OutcomeKind,
    StopReason,
)
from dos.loop.types import Productivity as ReplanProductivity
from dos.loop.verdicts.convergence import Answer as Convergence
from dos.loop.verdicts.convergence import Verdict as ConvergenceVerdict
from dos.loop.verdicts.liveness import Answer as Liveness
from dos.loop.verdicts.noop_budget import (
    WaitMarkerDecision,
    propose_tighter_budget,
    wait_marker_budget,
)
from dos.runs.complete import Answer as Completion
from dos.runs.complete import Verdict as CompletionVerdict

__all__ = [
    "Completion",
    "CompletionVerdict",
    "Convergence",
    "ConvergenceVerdict",
    "Cooldown",
    "CooldownState",
    "DescendantProgress",
    "GateVerdict",
    "HoldReason",
    "IterationOutcome",
    "Liveness",
    "LoopDecision",
    "LoopState",
    "OutcomeKind",
    "Pickability",
    "ReplanProductivity",
    "StopReason",
    "WaitMarkerDecision",
    "decide",
    "gate_policy",
    "propose_tighter_budget",
    "wait_marker_budget",
]
