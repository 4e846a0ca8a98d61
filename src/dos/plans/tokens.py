"""The words that a dispatch may use for how it went, and the older words for the same."""

from enum import StrEnum

from dos.plans.gate import Gate


class PacketOutcome(StrEnum):
    """How the picks of a packet ended, once they were launched."""

    SHIPPED_CLEAN = "SHIPPED-CLEAN"
    SHIPPED_DIRTY = "SHIPPED-DIRTY"
    STALLED = "STALLED"
    BLOCKED_OUTCOME = "BLOCKED-OUTCOME"
    WEDGED = "BLOCKED-OUTCOME"  # its older name


FORMER = {"WEDGE": Gate.BLOCKED.value, "WEDGED": PacketOutcome.BLOCKED_OUTCOME.value}
KNOWN_VERDICT_TOKENS = frozenset({*Gate, *PacketOutcome, *FORMER, "COLLISION", "ERROR", "RATE_LIMITED"})


def normalize_token(text: str | None) -> str | None:
    """The present word for a word; None for no word, and a word that nobody knows as it is."""
    word = (text or "").strip().upper()
    return FORMER.get(word, word) or None
