"""What is written of receipts. They stand in the stream of their unit: one is found by the unit's name alone."""

from typing import Any

from dos.journal.events.envelope import Fact


class ReceiptIssued(Fact, frozen=True, kw_only=True):
    """Written once for each landed commit, after the branch moved and before the unit counts as landed."""

    kind = "receipt_issued"
    run_id: str
    lane: str
    unit: str
    commit: str
    receipt: dict[str, Any] | None  # None: it could not be made
    said: str = ""  # what a person should know of it: that a key was made, or why it is not signed


def key_of(commit: str) -> str:
    """One landing of one commit has one receipt, whoever writes it."""
    return f"receipt/{commit}"
