"""A try at a unit, and how it ended."""

from enum import StrEnum

from msgspec import Struct


class AttemptOutcome(StrEnum):
    """How a try at a unit ended."""

    SHIPPED = "shipped"
    DRAINED = "drained"  # it was offered, and nothing came of it
    BLOCKED = "blocked"
    ERROR = "error"
    UNKNOWN = "unknown"

    @classmethod
    def read(cls, text: object) -> "AttemptOutcome":
        """The outcome of that name; a name that nobody knows is one that is unknown."""
        return next((outcome for outcome in cls if outcome == text), cls.UNKNOWN)


class Attempt(Struct, frozen=True, kw_only=True):
    unit: str
    outcome: AttemptOutcome
    at_ms: int
    ts: str = ""  # the same moment, for people
    text: str = ""  # the fingerprint of the unit as it was tried; empty: nobody wrote it down
