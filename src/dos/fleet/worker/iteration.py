"""What one iteration is sent to do, and what became of it."""

from enum import StrEnum

from msgspec import Struct

from dos.fleet import effects
from dos.loop.types import IterationOutcome
from dos.units.unit import Unit


class Dispatch(Struct, frozen=True, kw_only=True):
    """What is to be done, and by whom."""

    unit: Unit
    iteration: int
    attempt: int
    agent_choice: effects.AgentChoice
    history: list[str]
    repeated: bool  # a run before died at it
    refusals: effects.Refusals = effects.Refusals()  # its landings, so far
    saved_commit: str = ""  # a saved commit of changes that its last agent forgot to commit
    documents: list[str] = []  # to be groomed, in a replan

    @property
    def is_replan(self) -> bool:
        return bool(self.documents)


class LandingResult(StrEnum):
    """What became of the work."""

    LANDED = "landed"
    KEPT = "kept"  # done and proven; it lands once a person's own work is out of its way
    MISSED = "missed"


class IterationResult(Struct, frozen=True, kw_only=True):
    outcome: IterationOutcome
    agent_result: effects.AgentResult
    limited: bool = False  # the provider's fault; its governor says when to go on, and with whom
    fault: str = (
        ""  # what is wrong with a program or provider, where only a person can put it right
    )
