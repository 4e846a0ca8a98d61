"""The time of a fleet as values: agents with their outcomes, landings with their proofs.

What an agent claimed is kept beside what git shows, never in its place. The field names are keys of
`dos report --json`. `session_fold` makes a `Session` from events; `summary` and `html` show it.
"""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from msgspec import Struct, field

from dos.journal.events import fleet
from dos.journal.events.doors import HookAnswered
from dos.journal.events.envelope import Event
from dos.journal.events.reader import select
from dos.text import one_line, show_name
from dos.units.unit import LandingEntry

DENY = "DENY"  # the action of an answer that refuses
UNCLASSIFIED = "UNCLASSIFIED"


class UnseenEnd(StrEnum):
    """Stands for how an agent's process ended where no event recorded it."""

    LOST = "its worker died"
    LEFT = "its run stopped"


class Outcome(StrEnum):
    """What came of the time of an agent.

    An agent is at work until its process ends, then undecided until its work is measured; a landing
    overrides whatever was said before.
    """

    LANDED = "landed"
    DISBELIEVED = "not believed"  # it ended normally, and git does not show what it claimed
    REFUSED = "did not land"  # proven, but the landing was refused
    CUT_SHORT = "cut short"  # by its turns, its context, its budget, a permission
    CRASHED = "crashed"
    LIMITED = "limited"  # by a limit of its provider
    WORKING = "at work"
    UNDECIDED = "not decided"  # it ended, and was not measured yet


class AgentBar(Struct, kw_only=True):
    """One agent from its start to its end, a bar of the timeline.

    `end` of an agent that has not ended is the time of the newest event.
    """

    lane: str
    unit: str
    agent: str
    run_id: str
    iteration: int
    start: datetime
    end: datetime
    how: Outcome = Outcome.WORKING
    ending: str = ""  # of its process, or an UnseenEnd
    claim: str = ""

    @property
    def seconds(self) -> float:
        """How long it ran; never negative, also where clocks were changed."""
        return max(0.0, (self.end - self.start).total_seconds())


class UnprovenClaim(Struct, frozen=True, kw_only=True):
    """What an agent claimed to have delivered, and what was found instead.

    `fact` is the reason of the measurement, such as `no commit was made`.
    """

    at: datetime
    unit: str
    lane: str
    run_id: str
    claim: str  # empty: it claimed nothing
    fact: str


class Crash(Struct, kw_only=True):
    """An agent or a worker that died, and what happened next.

    The death of a worker counts once, together with the agent that it ran.
    """

    at: datetime
    lane: str
    run_id: str
    unit: str  # empty: a worker died, and its unit is unknown
    what: str
    then: str = ""  # what happened next; empty: nothing yet


class Wait(Struct, kw_only=True):
    """A time in which a run, or its agent, waited.

    `why` is the token by which a run was parked, `detail` the sentence that was recorded with it.
    """

    lane: str
    run_id: str
    # quota | budget | pause | landing | provider; in older journals also decision | back-off
    why: str
    detail: str
    start: datetime
    end: datetime
    is_over: bool = False

    @property
    def seconds(self) -> float:
        """How long the wait took, or has taken so far."""
        return max(0.0, (self.end - self.start).total_seconds())


class LimitPeriod(Struct, kw_only=True):
    """A time in which a provider refused requests because of a limit.

    The limit holds for an account, or for one model of it; it is one period however many agents met
    it. `resets_at` is what the provider announced last.
    """

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
    times: int = 1  # that the provider said so

    @property
    def seconds(self) -> float:
        """How long the provider refused requests, or has refused them so far."""
        return max(0.0, (self.end - self.start).total_seconds())


class SavedWork(Struct, frozen=True, kw_only=True):
    """Work that was saved to a ref before its worktree was removed.

    `dos salvage` lists the refs; work that landed later may still have one.
    """

    at: datetime
    lane: str
    run_id: str
    ref: str
    commit: str
    why: str


class Incident(Struct, frozen=True, kw_only=True):
    """Commits that an agent made outside its worktree, so that no landing checked them.

    They never count as landed, also if their content is what a unit asks for.
    """

    at: datetime
    lane: str
    run_id: str
    branch: str
    commits: list[str]
    found: str


class RefusedCalls(Struct, frozen=True, kw_only=True):
    """Tool calls of a lane's agents that were refused before they happened, for one reason."""

    lane: str
    reason_class: str  # a token, such as OUT_OF_REGION
    count: int
    latest: str  # the newest one, in words


class StoppedLane(Struct, frozen=True, kw_only=True):
    """A lane that does not start again by itself.

    A stop that time clears is none; the next run on the lane removes it.
    """

    at: datetime
    lane: str
    reason: str
    needs: str
    detail: str


class FleetStart(Struct, frozen=True, kw_only=True):
    """A start of a supervisor.

    A session has several after a crash, or where more than one host supervises the fleet.
    """

    at: datetime
    host: str
    pid: int
    found: str = ""  # set where the supervisor before it had not ended regularly
    sandbox: str = ""  # what walls its agents got; empty: not recorded


class Session(Struct, kw_only=True):
    """Everything that happened from one start of the fleet on.

    `since` and `until` are None where nothing happened. Lists are in the order of the events.
    """

    since: datetime | None = None
    until: datetime | None = None
    starts: list[FleetStart] = field(default_factory=list)
    ended: str = ""  # why the fleet stopped; empty: it has not
    bars: list[AgentBar] = field(default_factory=list)
    landed: list[LandingEntry] = field(default_factory=list)
    disbelieved: list[UnprovenClaim] = field(default_factory=list)
    crashed: list[Crash] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    limits: list[LimitPeriod] = field(default_factory=list)
    salvaged: list[SavedWork] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)
    refused: list[RefusedCalls] = field(default_factory=list)
    stopped: list[StoppedLane] = field(default_factory=list)

    def count_refusal(self, fact: HookAnswered) -> None:
        """Count a call that was refused; warnings and questions are none."""
        if fact.action != DENY:
            return
        reason_class = fact.reason_class or UNCLASSIFIED
        count = 1
        for known in self.refused:
            if (known.lane, known.reason_class) == (fact.lane, reason_class):
                count += known.count
                self.refused.remove(known)
                break
        latest = f"{show_name(fact.tool)}: {one_line(fact.reason)}"
        self.refused.append(
            RefusedCalls(lane=fact.lane, reason_class=reason_class, count=count, latest=latest)
        )

    @property
    def lanes(self) -> list[str]:
        """The lanes on which an agent worked or a run waited."""
        return sorted({bar.lane for bar in self.bars} | {wait.lane for wait in self.waits})

    @property
    def seconds(self) -> float:
        """How long the session took, or has taken so far."""
        if self.since is None or self.until is None:
            return 0.0
        return (self.until - self.since).total_seconds()


class ReceiptProof(Struct, frozen=True, kw_only=True):
    """A receipt of a landing, and whether it is valid here and now.

    A valid receipt can become invalid later: the workspace may no longer trust its key.
    """

    valid: bool
    why: str
    verdict: str = ""
    key_id: str = ""  # empty: it is not signed
    runner: str = ""
    command: str = ""
    exit_code: int | None = None


class LandingProof(Struct, frozen=True, kw_only=True):
    """The proof of a landing: the verdict of `dos verify` and the receipt."""

    answer: str  # of `dos verify`; UNKNOWN: it could not be asked
    tier: str
    tier_name: str
    reason: str
    receipt: ReceiptProof | None

    @property
    def line(self) -> str:
        """The verdict, the signature and the acceptance command in one line."""
        parts = [self.verdict, self.signed]
        if self.command:
            parts.append(f"`{self.command}`")
        return ", ".join(parts)

    @property
    def verdict(self) -> str:
        """The answer of `dos verify` with its tier, such as `SHIPPED T5 witnessed`."""
        return f"{self.answer} {self.tier} {self.tier_name}".rstrip()

    @property
    def signed(self) -> str:
        """Who signed the receipt; or why it is not valid here, and then it proves nothing."""
        receipt = self.receipt
        if receipt is None:
            return "no receipt"
        if not receipt.key_id:
            return f"receipt without a signature ({receipt.why})"
        if not receipt.valid:
            return f"its receipt is not valid here: {receipt.why}"
        if receipt.runner:
            return f"signed by {receipt.key_id} on {receipt.runner}"
        return f"signed by {receipt.key_id}"

    @property
    def command(self) -> str:
        """The acceptance command that the receipt names, or ""."""
        if self.receipt:
            return self.receipt.command
        return ""


def last_start(events: Iterable[Event], *, host: str = "") -> Event | None:
    """Return the event with which the newest session of the fleet began, or None.

    A start after a crash continues the session before it. With a host, only the supervisors of that
    host count.
    """
    start: Event | None = None
    running_hosts: set[str] = set()
    for event, fact in select(events, fleet.FleetStarted, fleet.FleetStopped):
        if isinstance(fact, fleet.FleetStopped):
            running_hosts.discard(fact.host)
        elif host in ("", fact.host):
            if start is None or fact.host not in running_hosts:
                start = event
            running_hosts.add(fact.host)
    return start
