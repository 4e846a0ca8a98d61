"""What was measured of the work, in the stream of its commit: whoever asks later need not measure again."""

from typing import Any

from msgspec import field

from dos.journal.events.envelope import Fact


class TestWitnessed(Fact, frozen=True, kw_only=True):
    """A runner tried the tests of a commit with and without its change."""

    __test__ = False  # it is no test itself, whatever it is called

    kind = "test_witnessed"
    commit: str
    tree: str
    command: str
    verdict: str
    witnesses: bool
    cells: dict[str, list[str]]  # how each run of each came out
    runner: str  # the host
    network: str  # off or on
    parent: str = ""
    unit: str = ""
    command_from: str = ""  # who said what to run: dos.toml, the unit's plan, or whoever called
    assert_level: bool = False
    reason: str = ""
    weakened: list[str] = field(default_factory=list)


class ReceiptIssued(Fact, frozen=True, kw_only=True):
    """Written once for each landed commit, after the branch moved and before the unit counts as landed."""

    kind = "receipt_issued"
    run_id: str
    lane: str
    unit: str
    commit: str
    receipt: dict[str, Any] | None  # None: it could not be made
    said: str = ""  # what a person should know of it: that a key was made, or why it is not signed


def receipt_key(commit: str) -> str:
    """One landing of one commit has one receipt, whoever writes it."""
    return f"receipt/{commit}"
