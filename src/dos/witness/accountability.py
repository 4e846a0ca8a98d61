"""Who wrote a piece of evidence, which decides what it can prove."""

from enum import StrEnum


class Accountability(StrEnum):
    """Who wrote a piece of evidence, lowest first."""

    AGENT_AUTHORED = "AGENT_AUTHORED"  # the claimant could have written it
    OS_RECORDED = "OS_RECORDED"  # dos or the system recorded it
    THIRD_PARTY = "THIRD_PARTY"  # a party that the claimant does not control

    @property
    def is_forgeable(self) -> bool:
        """Whether the claimant could have written it, so that it proves nothing."""
        return self is Accountability.AGENT_AUTHORED

    @property
    def rank(self) -> int:
        """The place in the order, from 0."""
        return list(Accountability).index(self)
