"""What one iteration is given to do, and what it came to."""

from enum import StrEnum

from msgspec import Struct

from dos.fleet import effects
from dos.loop.types import IterationOutcome
from dos.units.unit import Unit


class Dispatch(Struct, frozen=True, kw_only=True):
    """A unit to work on, the agent that works on it, and what is known of earlier attempts."""

    unit: Unit
    iteration: int
    attempt: int
    agent_choice: effects.AgentChoice
    history: list[str]  # why earlier attempts did not land
    repeated: bool  # an earlier run died while it worked on the unit
    refusals: effects.Refusals = effects.Refusals()  # of its landings so far
    saved_commit: str = ""  # changes that the last agent did not commit
    documents: list[str] = []  # the plan documents, in a replan

    @property
    def is_replan(self) -> bool:
        return bool(self.documents)


class LandingResult(StrEnum):
    """What became of the work of an agent."""

    LANDED = "landed"
    KEPT = "kept"  # finished and measured; it lands once a person's own work is out of the way
    MISSED = "missed"


class IterationResult(Struct, frozen=True, kw_only=True):
    """What one agent came to, as the loop decides by it."""

    outcome: IterationOutcome
    agent_result: effects.AgentResult
    limited: bool = False  # stopped by a limit; the next choice of an agent says when to continue
    fault: str = ""  # what a person has to correct about a program or an account
