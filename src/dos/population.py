"""The Python API of the supervisor's plan: `supervise(evidence, policy)` and its records.

`supervise` is pure: it decides from the evidence alone and changes nothing.
"""

from dos.fleet.population.placement import overlapping_concurrent_lanes
from dos.fleet.population.supervise import supervise
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
