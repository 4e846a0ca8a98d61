"""Who wrote a piece of evidence. It decides what the evidence can prove."""

from enum import StrEnum


class Accountability(StrEnum):
    """Lowest first."""

    AGENT_AUTHORED = "AGENT_AUTHORED"  # whoever claims it could have written it
    OS_RECORDED = "OS_RECORDED"  # a runner saw it happen
    THIRD_PARTY = "THIRD_PARTY"  # somebody else says so

    @property
    def is_forgeable(self) -> bool:
        return self is Accountability.AGENT_AUTHORED

    @property
    def rank(self) -> int:
        return list(Accountability).index(self)
