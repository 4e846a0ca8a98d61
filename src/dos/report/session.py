"""A fleet's time as values: each agent as a bar, and what became of it.

What an agent said is kept beside what was found, and never in its place.
"""

from datetime import datetime
from enum import StrEnum

from msgspec import Struct, field

from dos.units.unit import LandingEntry


class UnseenEnd(StrEnum):
    """In the place of how an agent's process ended, where nobody wrote that down."""

    LOST = "its worker died"
    LEFT = "its run stopped"


class Outcome(StrEnum):
    """What became of an agent's time."""

    LANDED = "landed"
    DISBELIEVED = "not believed"  # it ended as it should, and what it left was not enough
    REFUSED = "did not land"  # done and proven, and there was no place for it
    CUT_SHORT = "cut short"  # by its turns, its context, its budget, a permission
    CRASHED = "crashed"
    LIMITED = "limited"  # its provider had no room
    WORKING = "at work"
    UNDECIDED = "not decided"  # it ended, and nobody has said what became of it


class AgentBar(Struct, kw_only=True):
    """One agent, from its start to its end."""

    lane: str
    unit: str
    agent: str
    run_id: str
    iteration: int
    start: datetime
    end: datetime
    how: Outcome = Outcome.WORKING
    ending: str = ""  # of its process, or Unseen
    claim: str = ""

    @property
    def seconds(self) -> float:
        return max(0.0, (self.end - self.start).total_seconds())


class UnprovenClaim(Struct, frozen=True, kw_only=True):
    at: datetime
    unit: str
    lane: str
    run_id: str
    claim: str  # empty: it said nothing
    fact: str


class Crash(Struct, kw_only=True):
    at: datetime
    lane: str
    run_id: str
    unit: str  # empty: a worker, and nobody knows at what
    what: str
    then: str = ""  # how it went on; empty: it has not


class Wait(Struct, kw_only=True):
    """A run that waited, or its agent did."""

    lane: str
    run_id: str
    why: str  # quota | budget | pause | landing | provider; of older versions also decision | back-off
    detail: str
    start: datetime
    end: datetime
    is_over: bool = False

    @property
    def seconds(self) -> float:
        return max(0.0, (self.end - self.start).total_seconds())


class LimitPeriod(Struct, kw_only=True):
    """A provider said no more, until it had room again."""

    vendor: str
    account: str
    model: str
    ending: str
    lane: str
    found: str
    start: datetime
    end: datetime
    resets_at: datetime | None = None
    is_over: bool = False
    times: int = 1  # that it was said

    @property
    def seconds(self) -> float:
        return max(0.0, (self.end - self.start).total_seconds())


class SavedWork(Struct, frozen=True, kw_only=True):
    at: datetime
    lane: str
    run_id: str
    ref: str
    commit: str
    why: str


class Incident(Struct, frozen=True, kw_only=True):
    """Commits of an agent that no landing brought to where they are."""

    at: datetime
    lane: str
    run_id: str
    branch: str
    commits: list[str]
    found: str


class StoppedLane(Struct, frozen=True, kw_only=True):
    """A lane that stands still until somebody does something."""

    at: datetime
    lane: str
    reason: str
    needs: str
    detail: str


class FleetStart(Struct, frozen=True, kw_only=True):
    at: datetime
    host: str
    pid: int
    found: str = ""  # how the one before had ended


class Session(Struct, kw_only=True):
    since: datetime | None = None
    until: datetime | None = None
    starts: list[FleetStart] = field(default_factory=list)
    ended: str = ""  # why the fleet stopped; empty: it has not said so
    bars: list[AgentBar] = field(default_factory=list)
    landed: list[LandingEntry] = field(default_factory=list)
    disbelieved: list[UnprovenClaim] = field(default_factory=list)
    crashed: list[Crash] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    limits: list[LimitPeriod] = field(default_factory=list)
    salvaged: list[SavedWork] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)
    stopped: list[StoppedLane] = field(default_factory=list)

    @property
    def lanes(self) -> list[str]:
        return sorted({bar.lane for bar in self.bars} | {wait.lane for wait in self.waits})

    @property
    def lost(self) -> int:
        """The agents that nobody saw end: what they cost is not known."""
        return sum(isinstance(bar.ending, UnseenEnd) for bar in self.bars)

    @property
    def seconds(self) -> float:
        return (self.until - self.since).total_seconds() if self.since and self.until else 0.0


class ReceiptProof(Struct, frozen=True, kw_only=True):
    """A receipt, and whether it counts here."""

    valid: bool
    why: str
    verdict: str = ""
    key_id: str = ""  # empty: nobody signed it
    runner: str = ""
    command: str = ""
    exit_code: int | None = None


class LandingProof(Struct, frozen=True, kw_only=True):
    answer: str  # of `dos verify`; UNKNOWN: it could not be asked
    tier: str
    tier_name: str
    reason: str
    receipt: ReceiptProof | None

    @property
    def line(self) -> str:
        """The verdict, what it goes by, and the command; in one line."""
        return f"{self.verdict}, {self.signed}" + (f", `{self.command}`" if self.command else "")

    @property
    def verdict(self) -> str:
        return f"{self.answer} {self.tier} {self.tier_name}".rstrip()

    @property
    def signed(self) -> str:
        if self.receipt is None:
            return "no receipt"
        if not self.receipt.key_id:
            return f"a receipt that nobody signed ({self.receipt.why})"
        who = f"signed by {self.receipt.key_id}" + (
            f" on {self.receipt.runner}" if self.receipt.runner else ""
        )
        return who if self.receipt.valid else f"{who}, and does not hold: {self.receipt.why}"

    @property
    def command(self) -> str:
        return self.receipt.command if self.receipt else ""
