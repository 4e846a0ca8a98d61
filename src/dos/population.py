"""The population plan for callers of their own: `supervise(evidence, policy)`, pure, and the records of it."""

from dos.fleet.population.supervise import overlapping_concurrent_lanes, supervise
from dos.fleet.population.types import (
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
