"""What is written of limits, budgets, pauses, halts, and of the questions that only a person can answer."""

from typing import Any

from msgspec import Struct, field

from dos.journal.events.envelope import Fact
from dos.journal.events.fleet import AgentEnded, IterationCommitted, RunStopped, WorkerReaped
from dos.verify.baseline import CheckResult


class LimitHit(Fact, frozen=True, kw_only=True):
    """A provider said no more. It holds for everybody who uses the same account (and model, where it is named)."""

    kind = "limit_hit"
    vendor: str
    account: str
    model: str = ""  # empty: all of the account's
    window: str = ""
    ending: str  # of agents.endings
    resets_at_ms: int | None = None
    retry_after_seconds: float | None = None
    agent: str = ""
    lane: str = ""
    run_id: str = ""
    found: str = ""  # the words it was told by
    login: str = ""  # where nobody is logged in: how the agent's credentials looked
    login_host: str = ""  # and where


class LimitProbed(Fact, frozen=True, kw_only=True):
    """One goes first and sees whether the provider answers again; the others wait for it."""

    kind = "limit_probed"
    vendor: str
    account: str
    model: str = ""
    run_id: str
    lane: str


class LimitLifted(Fact, frozen=True, kw_only=True):
    kind = "limit_lifted"
    vendor: str
    account: str
    model: str = ""
    run_id: str = ""
    reason: str = ""
    at_once: bool = (
        False  # by a person's word or login: the lanes need not come one after the other
    )


class UnitsScreened(Fact, frozen=True, kw_only=True):
    """What could be taken when a worker looked, and what could not, each for its one reason."""

    kind = "units_screened"
    run_id: str
    lane: str
    offered: list[str] = field(default_factory=list)
    held: dict[str, str] = field(default_factory=dict)


class RunParked(Fact, frozen=True, kw_only=True):
    """A run waits for a time or a person, not for its agent. Parked time is nobody's fault."""

    kind = "run_parked"
    run_id: str
    lane: str
    why: str  # quota | budget | pause | landing
    detail: str = ""
    until_ms: int | None = None


class LandingQueued(Fact, frozen=True, kw_only=True):
    """Work that is proven waits for its turn: on one branch, one landing at a time is prepared, tested and done.

    The turn is of whoever queued first and still holds its lane. It ends with the landing, its refusal, or the lease.
    """

    kind = "landing_queued"
    run_id: str
    lane: str
    unit: str
    branch: str


class LandingDeferred(Fact, frozen=True, kw_only=True):
    """Something is in the way of a landing: the next in the queue goes first, and this one is tried again later."""

    kind = "landing_deferred"
    run_id: str
    lane: str
    unit: str
    branch: str


class RunUnparked(Fact, frozen=True, kw_only=True):
    kind = "run_unparked"
    run_id: str
    lane: str
    seconds: float = 0.0


class AgentWaiting(Fact, frozen=True, kw_only=True):
    """Its own stream says that it waits for its provider: it is not working, and it does not hang."""

    kind = "agent_waiting"
    run_id: str
    lane: str
    unit: str
    ending: str  # what it would end with
    detail: str = ""


class AgentWentOn(Fact, frozen=True, kw_only=True):
    kind = "agent_went_on"
    run_id: str
    lane: str
    unit: str


class PauseRequested(Fact, frozen=True, kw_only=True):
    kind = "pause_requested"
    lane: str = ""  # empty: the whole fleet
    by: str = ""
    reason: str = ""


class PauseEnded(Fact, frozen=True, kw_only=True):
    kind = "pause_ended"
    lane: str = ""
    by: str = ""


class HaltRequested(Fact, frozen=True, kw_only=True):
    """A person's word: this run stops now, and its agent with it."""

    kind = "halt_requested"
    run_id: str
    resumable: bool = False
    by: str = ""
    reason: str = ""

    @property
    def why(self) -> str:
        """Never empty: that it is there is what stops the run."""
        return self.reason or "halted by a person"


class SpinFlagged(Fact, frozen=True, kw_only=True):
    """Alive, and nothing lands. Nobody is stopped by this."""

    kind = "spin_flagged"
    lane: str
    run_id: str
    lease: int
    reason: str


class Choice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    meaning: str = ""


class DecisionRaised(Fact, frozen=True, kw_only=True):
    """A question for a person, with all that waits for the answer."""

    kind = "decision_raised"
    id: str
    about: str  # which kind of question it is: questions/catalog.py has them all
    question: str
    choices: list[Choice]
    waits: list[str] = field(default_factory=list)  # as questions/subject.py writes them
    expires_ms: int | None = None
    otherwise: str = ""  # the choice that is taken when nobody answers in time; without one, what holds meanwhile
    until_start: bool = False  # its time is over when the fleet is started again
    detail: dict[str, Any] = field(default_factory=dict)


class DecisionAnswered(Fact, frozen=True, kw_only=True):
    kind = "decision_answered"
    id: str
    choice: str
    by: str = ""
    expired: bool = False  # nobody answered in time: this is what was said would happen then
    reason: str = ""  # why it was closed without a person's answer


class PlansApproved(Fact, frozen=True, kw_only=True):
    """A person runs the fleet by these texts of the plan documents: a later edit on disk does not count by itself."""

    kind = "plans_approved"
    where: str  # the checkout: its host and its directory
    documents: dict[str, str] = field(default_factory=dict)  # name -> text
    committed: dict[str, str] = field(
        default_factory=dict
    )  # name -> the blob that the target branch held then
    by: str = ""


class SettingsApproved(Fact, frozen=True, kw_only=True):
    """A person runs the fleet by this text of dos.toml: a later edit on disk does not count by itself."""

    kind = "settings_approved"
    where: str  # the checkout: its host and its directory
    documents: dict[str, str] = field(
        default_factory=dict
    )  # dos.toml -> its text; empty: there was no file
    committed: dict[str, str] = field(
        default_factory=dict
    )  # dos.toml -> the blob that the target branch held then
    by: str = ""


class LaneCleared(Fact, frozen=True, kw_only=True):
    """A person's word: what the lane was given up on for, or stopped for, holds it no more."""

    kind = "lane_cleared"
    lane: str
    by: str = ""


class UnitCleared(Fact, frozen=True, kw_only=True):
    """A person's word: the unit may be tried now, however its last attempts ended."""

    kind = "unit_cleared"
    unit: str
    lane: str = ""
    by: str = ""


class BudgetWarned(Fact, frozen=True, kw_only=True):
    kind = "budget_warned"
    scope: str  # iteration | run | lane | day
    subject: str  # the run, the lane, the date
    measure: str  # usd | tokens | wall_minutes | iterations
    spent: float
    limit: float


class BudgetSpent(Fact, frozen=True, kw_only=True):
    kind = "budget_spent"
    scope: str
    subject: str
    measure: str
    spent: float
    limit: float


class BudgetPromised(Fact, frozen=True, kw_only=True):
    """Before an agent is started: what the budgets that it shares with others may lose to it at most."""

    kind = "budget_promised"
    run_id: str
    lane: str
    iteration: int
    usd: float  # 0: nothing bounds what it costs
    until_ms: int  # it has ended by then


class BaselineStarted(Fact, frozen=True, kw_only=True):
    """The workspace's setup and test begin to run in a fresh tree of the target, before any agent works."""

    kind = "baseline_started"
    host: str
    branch: str
    commit: str
    command: str


class BaselineChecked(CheckResult, Fact, frozen=True, kw_only=True):
    """What setup and test said of a tree that no agent has touched. It holds for this host, tree and commands."""

    kind = "baseline_checked"


class WorkCommitted(Fact, frozen=True, kw_only=True):
    """An agent ended well and left its work uncommitted; dos committed it, to be measured like any other work."""

    kind = "work_committed"
    run_id: str
    lane: str
    unit: str
    commit: str
    ref: str  # where the same files were saved before


# After each of them its run has no agent, so nothing need be kept for one.
AGENT_GONE = (AgentEnded, IterationCommitted, RunStopped, WorkerReaped, RunParked)


class FleetFound(Fact, frozen=True, kw_only=True):
    """What a supervisor found when it came: each line by the name of its lane or unit."""

    kind = "fleet_found"
    host: str
    adopted: list[str] = field(default_factory=list)  # live, and left alone
    adopted_lanes: list[str] = field(default_factory=list)
    fenced: list[str] = field(default_factory=list)  # dead: taken back, saved, done again
    resumed: list[str] = field(default_factory=list)  # go on after what was committed
    repeated: list[str] = field(default_factory=list)  # begun and never committed
    skipped: list[str] = field(default_factory=list)  # landed already


class IncidentFound(Fact, frozen=True, kw_only=True):
    """An agent's commits reached the target branch, or the user's checkout, and no landing brought them there.

    They count as no landing until a person says that they stay.
    """

    kind = "incident_found"
    id: str
    branch: str  # that was moved; HEAD: the checkout of the user
    run_id: str = ""  # whose agent it was
    lane: str = ""
    units: list[str] = field(default_factory=list)  # that the run was at
    commits: list[str] = field(default_factory=list)  # oldest first
    moved_to: list[str] = field(default_factory=list)  # by each entry of the reflogs
    found: str = ""  # by what it was noticed
