"""The population plan for callers of their own: `supervise(evidence, policy)`, pure, and the records of it."""

from dos.plans.population import overlapping_concurrent_lanes, supervise
from dos.plans.ticks import (
    Answer,
    Blocked,
    Disposition,
    LaneLiveness,
    PlanRow,
    SuperviseEvidence,
    SupervisePolicy,
    SuperviseVerdict,
)

__all__ = [
    "Answer",
    "Blocked",
    "Disposition",
    "LaneLiveness",
    "PlanRow",
    "SuperviseEvidence",
    "SupervisePolicy",
    "SuperviseVerdict",
    "overlapping_concurrent_lanes",
    "supervise",
]
