"""The ledgers that spend is folded into: by run, lane, day, unit and agent.

What an agent uses is charged at once; whether it was worth it is known later, when its unit lands
or its iteration ends. Until then it is an entry of its run.
"""

from msgspec import Struct, field

from dos.agents.adapter import Ending
from dos.journal.events import fleet
from dos.limits.accounts import Account, Day, LaneDay
from dos.limits.budget import BudgetHistory, Spent

LANDED = "landed"
REJECTED = "rejected"
REPLAN = "replan"


class Ledger(Struct, kw_only=True, omit_defaults=True):
    """All that was spent under one heading, and by outcome once that is known."""

    total: Spent = Spent()
    by_outcome: dict[str, Spent] = field(default_factory=dict)  # landed | rejected | replan
    units: int = 0  # landed units
    lost: int = 0  # agents whose end was never recorded, so that what they used is unknown
    parked_seconds: float = 0.0
    idle_seconds: float = 0.0  # a worker lived, had no agent, and was not told to wait

    @property
    def undecided(self) -> int:
        """Agents at work, and those whose worker died before their outcome was known."""
        return self.total.agents - sum(spent.agents for spent in self.by_outcome.values())

    def outcome_total(self, outcome: str) -> Spent:
        """What was spent on work with this outcome: LANDED, REJECTED or REPLAN."""
        return self.by_outcome.get(outcome, Spent())

    def plus(self, other: "Ledger") -> "Ledger":
        """The sum of two ledgers."""
        by_outcome = {}
        for outcome in {**self.by_outcome, **other.by_outcome}:
            by_outcome[outcome] = self.outcome_total(outcome) + other.outcome_total(outcome)
        return Ledger(
            total=self.total + other.total,
            by_outcome=by_outcome,
            units=self.units + other.units,
            lost=self.lost + other.lost,
            parked_seconds=self.parked_seconds + other.parked_seconds,
            idle_seconds=self.idle_seconds + other.idle_seconds,
        )


class Entry(Struct, frozen=True, kw_only=True):
    """What one step of an agent used, until the outcome of its work is known.

    It names its day and its unit, so that the outcome can be added to the ledgers of that time.
    """

    day: str
    unit: str
    agent: str
    spent: Spent


class RunSpend(Struct, kw_only=True, omit_defaults=True):
    """What one run spent, and the entries whose outcome is not known yet.

    `last_ms` is the time of its newest event: a dead worker counts as alive until then.
    """

    lane: str
    part_of: str = ""  # the repeatable lane that its lane is a part of
    begun_ms: int
    last_ms: int
    agent: str = ""
    at_work: Entry | None = None  # the start of its agent, until the end is recorded
    iteration: int = 0
    in_iteration: Spent = Spent()
    entries: list[Entry] = field(default_factory=list)
    landed: list[str] = field(default_factory=list)  # units, since the last commit point
    parked_ms: int = 0
    ledger: Ledger = field(default_factory=Ledger)
    ended: bool = False

    @property
    def charged_lane(self) -> str:
        """The lane whose budget it uses: that of a part is the whole lane's."""
        return self.part_of or self.lane


class BudgetReservation(Struct, frozen=True, kw_only=True):
    """What the agent of a run may still use of the budgets that it shares with other runs.

    Without it, several agents that start at once could each use the whole rest of a budget. It
    ends with the agent, or at `until_ms` where the end of the agent was never recorded.
    """

    lane: str
    day: str
    until_ms: int
    spent: Spent

    def covers(self, account: Account) -> bool:
        """Whether it reserves part of this account."""
        return account in (Day(day=self.day), LaneDay(day=self.day, lane=self.lane))


class BudgetMark(Struct, frozen=True, kw_only=True):
    """A budget that people were told about, with what they were told and what they answered."""

    account: Account
    history: BudgetHistory = BudgetHistory()


class BudgetQuestion(Struct, frozen=True, kw_only=True):
    """An open question whether to raise a budget."""

    account: Account
    measure: str
    by: float  # how much a `raise` adds


def spent_by(fact: fleet.AgentEnded) -> Spent:
    """What one agent used, as far as its program or its price tells.

    The cost is unknown, not 0, unless the event has it or every usage report names its own.
    """
    if fact.outcome == Ending.LAUNCH_FAILED and not fact.usage:
        return Spent(seconds=fact.seconds)  # a program that never ran costs nothing
    cost = fact.cost_usd
    if cost is None and fact.usage:
        costs = [usage.cost_usd for usage in fact.usage]
        known = [amount for amount in costs if amount is not None]
        if len(known) == len(costs):
            cost = sum(known)
    return Spent(
        usd=cost or 0.0,
        unpriced=int(cost is None),
        tokens=sum(usage.tokens for usage in fact.usage),
        unmetered=int(not fact.usage),
        seconds=fact.seconds,
    )
