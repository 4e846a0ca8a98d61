"""Events that prove something about a commit: test witnesses and receipts."""

from typing import Any

from msgspec import field

from dos.journal.events.envelope import Fact


class TestWitnessed(Fact, frozen=True, kw_only=True):
    """A test runner ran a commit's tests with and without the commit's change.

    Recorded in the stream of the commit by `dos test-witness run` and by workers, so that the
    tests need not be run again.
    """

    __test__ = False  # pytest would collect a class of this name

    kind = "test_witnessed"
    commit: str
    tree: str
    command: str
    verdict: str
    witnesses: bool
    cells: dict[str, list[str]]  # how each run came out, by old or new tests and code
    runner: str  # the host
    network: str  # off or on
    parent: str = ""
    unit: str = ""
    command_from: str = ""  # where the command came from: dos.toml, the unit's plan, or the caller
    assert_level: bool = False
    reason: str = ""
    weakened: list[str] = field(default_factory=list)


class ReceiptIssued(Fact, frozen=True, kw_only=True):
    """A worker issued the receipt of a landed commit, or could not.

    Recorded in the stream of the unit, once for each landed commit: after the branch was moved and
    before the unit counts as landed.
    """

    kind = "receipt_issued"
    run_id: str
    lane: str
    unit: str
    commit: str
    receipt: dict[str, Any] | None  # None: it could not be issued
    said: str = ""  # for people: that a key was generated, or why the receipt is not signed


def receipt_key(commit: str) -> str:
    """Return the key under which a commit's receipt is recorded, so that it is recorded once."""
    return f"receipt/{commit}"
