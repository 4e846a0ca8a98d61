"""Events about limits, budgets, pauses, halts, questions to people, and incidents."""

from typing import Any, TypeGuard

from msgspec import Struct, field

from dos.journal.events.envelope import Fact
from dos.journal.events.fleet import AgentEnded, IterationCommitted, RunStopped, WorkerReaped
from dos.verify.baseline import CheckResult


class LimitHit(Fact, frozen=True, kw_only=True):
    """A provider refused an agent because of a limit or a missing login. Recorded by the worker.

    It holds for every lane that uses the same account, and the same model if one is named.
    """

    kind = "limit_hit"
    vendor: str
    account: str
    model: str = ""  # empty: every model of the account
    window: str = ""
    ending: str  # of agents.endings
    resets_at_ms: int | None = None
    retry_after_seconds: float | None = None
    agent: str = ""
    lane: str = ""
    run_id: str = ""
    found: str = ""  # the output that it was recognised by
    login: str = ""  # for a missing login: a digest of the agent's credentials
    login_host: str = ""  # and the host that they are on


class LimitProbed(Fact, frozen=True, kw_only=True):
    """A worker is about to try whether the provider answers again; the other lanes wait for it."""

    kind = "limit_probed"
    vendor: str
    account: str
    model: str = ""
    run_id: str
    lane: str


class LimitLifted(Fact, frozen=True, kw_only=True):
    """A limit no longer holds: a probe succeeded, or a person lifted it or logged in."""

    kind = "limit_lifted"
    vendor: str
    account: str
    model: str = ""
    run_id: str = ""
    reason: str = ""
    at_once: bool = False  # a person lifted it: all lanes may start at the same time


class UnitsScreened(Fact, frozen=True, kw_only=True):
    """A worker looked for a unit: the units it could take, and for each other one the reason."""

    kind = "units_screened"
    run_id: str
    lane: str
    offered: list[str] = field(default_factory=list)
    held: dict[str, str] = field(default_factory=dict)


class RunParked(Fact, frozen=True, kw_only=True):
    """A worker waits for a time or a person, not for its agent. Parked time counts for no limit.

    Where an `agent` is named, that one waits for a person: it lives, and its time counts.
    """

    kind = "run_parked"
    run_id: str
    lane: str
    why: str  # quota | budget | pause | landing | decision
    detail: str = ""
    until_ms: int | None = None
    agent: str = ""


class LandingQueued(Fact, frozen=True, kw_only=True):
    """A worker's work passed its checks and waits for its turn to land on a branch.

    On one branch one landing at a time is prepared, tested and made. The turn belongs to the
    worker that queued first and still holds its lane; it ends with the landing, its refusal, or
    the lease.
    """

    kind = "landing_queued"
    run_id: str
    lane: str
    unit: str
    branch: str


class LandingDeferred(Fact, frozen=True, kw_only=True):
    """A worker gave up its turn to land because something blocks it; it tries again later."""

    kind = "landing_deferred"
    run_id: str
    lane: str
    unit: str
    branch: str


class RunUnparked(Fact, frozen=True, kw_only=True):
    """A worker that was parked continues, after waiting this long."""

    kind = "run_unparked"
    run_id: str
    lane: str
    seconds: float = 0.0
    agent: str = ""


class AgentWaiting(Fact, frozen=True, kw_only=True):
    """An agent's own output says that it waits for its provider, so it is idle and not hung.

    Recorded by the monitor of the agent while the agent runs.
    """

    kind = "agent_waiting"
    run_id: str
    lane: str
    unit: str
    ending: str  # how the agent would end if the provider never answered
    detail: str = ""


class AgentWentOn(Fact, frozen=True, kw_only=True):
    """An agent that waited for its provider works again. Recorded by the monitor of the agent."""

    kind = "agent_went_on"
    run_id: str
    lane: str
    unit: str


class PauseRequested(Fact, frozen=True, kw_only=True):
    """A person paused a lane or the fleet: workers finish their iteration and then wait."""

    kind = "pause_requested"
    lane: str = ""  # empty: the whole fleet
    by: str = ""
    reason: str = ""


class PauseEnded(Fact, frozen=True, kw_only=True):
    """A person ended the pause of a lane or of the fleet."""

    kind = "pause_ended"
    lane: str = ""
    by: str = ""


class HaltRequested(Fact, frozen=True, kw_only=True):
    """A person asked a run to stop now, and its agent with it (`dos halt`, or an answer)."""

    kind = "halt_requested"
    run_id: str
    resumable: bool = False
    by: str = ""
    reason: str = ""

    @property
    def why(self) -> str:
        """The reason, which is never empty: readers take an empty one for "not halted"."""
        return self.reason or "halted by a person"


class SpinFlagged(Fact, frozen=True, kw_only=True):
    """A supervisor noticed a worker that is alive while nothing lands. It stops nothing."""

    kind = "spin_flagged"
    lane: str
    run_id: str
    lease: int
    reason: str


class Choice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One answer that a question offers, and what it does."""

    name: str
    meaning: str = ""


class DecisionRaised(Fact, frozen=True, kw_only=True):
    """A supervisor or a worker asked a person a question, and lists what waits for the answer."""

    kind = "decision_raised"
    id: str
    about: str  # the kind of question: questions/catalog.py has them all
    question: str
    choices: list[Choice]
    waits: list[str] = field(default_factory=list)  # as questions/subject.py writes them
    expires_ms: int | None = None
    otherwise: str = ""  # the choice taken when it expires; if none, what holds until an answer
    until_start: bool = False  # it expires when the fleet is started again
    detail: dict[str, Any] = field(default_factory=dict)


class DecisionAnswered(Fact, frozen=True, kw_only=True):
    """A question was answered by a person, expired, or was closed because it no longer applies."""

    kind = "decision_answered"
    id: str
    choice: str
    by: str = ""
    expired: bool = False  # not answered in time: the choice is the one announced for that case
    reason: str = ""  # why it was closed without a person's answer


class PlansApproved(Fact, frozen=True, kw_only=True):
    """A person started the fleet with these texts of the plan documents, or approved them.

    An edit on disk after it does not count until it is approved too.
    """

    kind = "plans_approved"
    where: str  # the checkout: its host and its directory
    documents: dict[str, str] = field(default_factory=dict)  # name -> text
    committed: dict[str, str] = field(default_factory=dict)  # name -> blob on the target branch
    by: str = ""


class SettingsApproved(Fact, frozen=True, kw_only=True):
    """A person started the fleet with this text of dos.toml, or approved it.

    An edit on disk after it does not count until it is approved too.
    """

    kind = "settings_approved"
    where: str  # the checkout: its host and its directory
    documents: dict[str, str] = field(default_factory=dict)  # dos.toml -> text; empty: no file
    committed: dict[str, str] = field(default_factory=dict)  # dos.toml -> blob on the target branch
    by: str = ""


class LaneCleared(Fact, frozen=True, kw_only=True):
    """A person's answer cleared the failures or the stop that kept a lane from starting."""

    kind = "lane_cleared"
    lane: str
    by: str = ""


class UnitCleared(Fact, frozen=True, kw_only=True):
    """A person allowed a unit to be tried now, however its last attempts ended."""

    kind = "unit_cleared"
    unit: str
    lane: str = ""
    by: str = ""


class BudgetWarned(Fact, frozen=True, kw_only=True):
    """A worker found that a budget's warning threshold is passed; recorded once per budget."""

    kind = "budget_warned"
    scope: str  # iteration | run | lane | day
    subject: str  # the run, the lane, the date
    measure: str  # usd | tokens | wall_minutes | iterations
    spent: float
    limit: float


class BudgetSpent(Fact, frozen=True, kw_only=True):
    """A worker found that a budget is used up, and starts no further agent under it."""

    kind = "budget_spent"
    scope: str
    subject: str
    measure: str
    spent: float
    limit: float


class BudgetPromised(Fact, frozen=True, kw_only=True):
    """A worker reserved what its agent may cost at most from the budgets it shares with others.

    It is recorded before the agent starts, in one stream, so that two workers cannot reserve the
    same money.
    """

    kind = "budget_promised"
    run_id: str
    lane: str
    iteration: int
    usd: float  # 0: the cost has no upper bound
    until_ms: int  # the agent has ended by then


class BaselineStarted(Fact, frozen=True, kw_only=True):
    """A supervisor is about to run the workspace's setup and test in a fresh tree of the target."""

    kind = "baseline_started"
    host: str
    branch: str
    commit: str
    command: str


class BaselineChecked(CheckResult, Fact, frozen=True, kw_only=True):
    """Setup and test ended in a tree that no agent has touched.

    The result holds for this host, tree and these commands. Recorded by the one who ran them.
    """

    kind = "baseline_checked"


class WorkCommitted(Fact, frozen=True, kw_only=True):
    """An agent finished and left its work uncommitted, and its worker committed it.

    The commit is measured like any other.
    """

    kind = "work_committed"
    run_id: str
    lane: str
    unit: str
    commit: str
    ref: str  # the salvage ref under which the same files were saved before


_AGENT_GONE = (AgentEnded, IterationCommitted, RunStopped, WorkerReaped, RunParked)
AgentGone = AgentEnded | IterationCommitted | RunStopped | WorkerReaped | RunParked


def is_agent_gone(fact: Fact) -> TypeGuard[AgentGone]:
    """Whether its run has no agent after this event, so that nothing is reserved for one."""
    if isinstance(fact, RunParked):
        return not fact.agent
    return isinstance(fact, _AGENT_GONE)


class FleetFound(Fact, frozen=True, kw_only=True):
    """A supervisor recorded what it found when it started: one line for each lane or unit."""

    kind = "fleet_found"
    host: str
    adopted: list[str] = field(default_factory=list)  # alive, and left alone
    adopted_lanes: list[str] = field(default_factory=list)
    fenced: list[str] = field(default_factory=list)  # dead: revoked, saved, to be done again
    resumed: list[str] = field(default_factory=list)  # continue after the last commit point
    repeated: list[str] = field(default_factory=list)  # begun and never committed
    skipped: list[str] = field(default_factory=list)  # landed already


class IncidentFound(Fact, frozen=True, kw_only=True):
    """A supervisor found an agent's commits on the target branch or in the user's checkout
    that no landing brought there.

    They do not count as landed until a person decides to keep them.
    """

    kind = "incident_found"
    id: str
    branch: str  # the branch that was moved; HEAD: the user's checkout
    run_id: str = ""  # the run whose agent did it
    lane: str = ""
    units: list[str] = field(default_factory=list)  # that the run worked on
    commits: list[str] = field(default_factory=list)  # oldest first
    moved_to: list[str] = field(default_factory=list)  # one for each entry of the reflogs
    found: str = ""  # how it was noticed
