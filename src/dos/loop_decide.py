"""The Python API of the loop's decision: `decide(state, outcome)` and its records.

`decide` is pure. The names are those of dos-kernel, so that loops written for it keep working.
"""

from dos.backlog import cooldown, pickable
from dos.loop import gate, types
from dos.loop.decide import decide
from dos.loop.gate import gate_policy
from dos.loop.types import (
    DescendantProgress,
    IterationOutcome,
    LoopDecision,
    LoopState,
    OutcomeKind,
    StopReason,
)
from dos.loop.verdicts import convergence, liveness
from dos.loop.verdicts.noop_budget import (
    WaitMarkerDecision,
    propose_tighter_budget,
    wait_marker_budget,
)
from dos.runs import complete

CooldownState = cooldown.Answer
Cooldown = cooldown.Verdict
HoldReason = pickable.Answer
Pickability = pickable.Verdict
GateVerdict = gate.Gate
ReplanProductivity = types.Productivity
Convergence = convergence.Answer
ConvergenceVerdict = convergence.Verdict
Liveness = liveness.Answer
Completion = complete.Answer
CompletionVerdict = complete.Verdict

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
