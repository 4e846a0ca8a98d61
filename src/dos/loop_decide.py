"""The loop's decision for callers of their own: `decide(state, outcome)`, pure, and the records around it."""

from dos.plans.gate import Gate as GateVerdict
from dos.plans.gate import gate_policy
from dos.plans.iterations import DescendantProgress, IterationOutcome, LoopDecision, LoopState, OutcomeKind, StopReason
from dos.plans.iterations import Productivity as ReplanProductivity
from dos.plans.loop import decide
from dos.verdicts.access.cooldown import Answer as CooldownState
from dos.verdicts.access.cooldown import Verdict as Cooldown
from dos.verdicts.access.pickable import Answer as HoldReason
from dos.verdicts.access.pickable import Verdict as Pickability
from dos.verdicts.progress.convergence import Answer as Convergence
from dos.verdicts.progress.convergence import Verdict as ConvergenceVerdict
from dos.verdicts.progress.holding import WaitMarkerDecision, propose_tighter_budget, wait_marker_budget
from dos.verdicts.progress.liveness import Answer as Liveness
from dos.verdicts.work.complete import Answer as Completion
from dos.verdicts.work.complete import Verdict as CompletionVerdict

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
