"""What the supervisor and the worker can ask to be done: effects as values, each with the type of its answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from dos.agents.adapter import AgentOutcome
from dos.agents.logins import Credentials
from dos.backlog import cooldown, pickable
from dos.backlog.waiting import WaitsOn
from dos.fleet.effect import Effect
from dos.journal.events.envelope import Event, Fact
from dos.journal.events.limits import BaselineChecked, BudgetPromised, IncidentFound
from dos.journal.store import Entry
from dos.lease import Lease, Refusal
from dos.limits.budget import Allowance, BudgetLine
from dos.limits.quota import AgentCandidate, Probe
from dos.machine.process import Identity
from dos.questions import state
from dos.questions.catalog import AnyQuestion
from dos.reasons.table import Needs
from dos.receipts.receipt import CommandRun
from dos.runs import complete
from dos.units.unit import Landing, Unit

if TYPE_CHECKING:  # both import this module, which names them in strings
    from dos.fleet.supervisor import FleetSnapshot  # noqa: F401
    from dos.receipts.receipt import IssuedReceipt  # noqa: F401


class TakeLease(Effect[Lease | Refusal], frozen=True, kw_only=True):
    """Take a lane's lease, or with `is_lock` a lock, and renew it from then on."""

    lane: str
    run_id: str
    is_lock: bool = False


class ReleaseLease(Effect[None], frozen=True, kw_only=True):
    """Give a lease back; one that is lost already is no error."""

    lease: Lease
    reason: str


class Record(Effect[Event], frozen=True, kw_only=True):
    """Append one fact to a stream of the journal; Conflict when the stream is not at `expect`."""

    stream: str
    fact: Fact
    key: str  # so that it can be said again when nobody knows whether it was heard
    fence: int | None = None
    expect: int | None = None

    @property
    def entry(self) -> Entry:
        return Entry(
            stream=self.stream,
            kind=self.fact.kind,
            body=self.fact,
            key=self.key,
            fence=self.fence,
            expect=self.expect,
        )


class RecordAll(Effect[list[Event]], frozen=True, kw_only=True):
    """Append all of them in one transaction, or none."""

    records: list[Record]


class ClaimUnit(Effect[None], frozen=True, kw_only=True):
    """Write that the run works on the unit; Conflict when another run does."""

    unit: str
    lease: Lease
    claim: Record
    mark: Record  # in the unit's own stream, provided that nobody writes to it meanwhile


class SurveyBacklog(Effect["Backlog"], frozen=True, kw_only=True):
    """Look at the units of the lane, as the journal and the target branch have them now."""

    lease: Lease


class Backlog(Struct, frozen=True, kw_only=True):
    """The lane's units that have not landed, and what earlier runs left behind."""

    open: list[Unit]
    held: list[pickable.Verdict]  # what may not be offered, each with its one reason
    on_cooldown: list[cooldown.Verdict]  # what other runs tried in vain a short while ago
    landed: list[str]
    completion: complete.Verdict | None
    interrupted: list[str]  # claimed by a run that ended without a result
    pending_landings: list["PendingLanding"]
    history: dict[str, list[str]]  # unit -> why earlier tries did not land
    refusals: dict[str, "Refusals"] = {}  # by unit
    saved_commits: dict[
        str, str
    ] = {}  # unit -> the saved commit of what its last agent forgot to commit
    drain_requested: bool = False
    superseded_by: str = ""  # the version of dos that was started here since the run began
    halted: str = ""  # a person's word for why this run is to stop now
    paused: str = ""  # a person's word for why nothing is to begin
    fault_question: str = ""  # the open question about this host's surroundings: no agent is started until it is answered
    wake_pos: int = 0  # the newest thing that anybody had said by then
    now_ms: int = 0
    incidents: list[IncidentFound] = []  # that are not in the journal yet


class Refusals(Struct, frozen=True, kw_only=True):
    """How often a unit's landing was refused, and why the last times."""

    count: int = 0
    reasons: list[str] = []


class PendingLanding(Struct, frozen=True, kw_only=True):
    """A landing that was intended, and is not known to have happened: a run died at it, or something is in its way."""

    unit: Unit | None  # None: no plan declares it any more, or ever did
    landing: Landing
    iteration: int = 0
    untested: bool = False  # the tests failed on the branch itself too: they decide again
    question: str = ""  # that is open about it
    answered: int = 0  # how often a person has answered one about it


class PrepareWorktree(Effect["Worktree"], frozen=True, kw_only=True):
    """A clean tree of the target branch; what an earlier run left in it is saved first."""

    lane: str
    run_id: str
    lease: Lease
    saved_commit: str = (
        ""  # a saved commit whose files are to lie in it uncommitted, where they fit
    )


class Worktree(Struct, frozen=True, kw_only=True):
    path: str
    target: str
    base: str
    salvaged: list["Salvage"]
    ready: bool = True  # the setup command has run in it
    queue: str = (
        ""  # the branch on which landings take turns; empty: there is nothing to take turns at
    )
    missing_files: str = ""  # what of the user's files it was to have, and has not
    resumed: str = ""  # the saved commit whose files lie in it uncommitted


class Salvage(Struct, frozen=True, kw_only=True):
    ref: str
    commit: str
    why: str
    onto: str = ""  # the head that it holds uncommitted changes of; empty: it holds something else
    earlier: bool = False  # an earlier run did it


class ChooseAgent(Effect["AgentChoice | CannotStart"], frozen=True, kw_only=True):
    """Who may be started now, by the limits of the providers and by the budgets."""

    lease: Lease
    run_id: str
    iteration: int
    agent: str = ""  # that the unit asks for; empty: the lane's


class AgentChoice(Struct, frozen=True, kw_only=True):
    agent: AgentCandidate
    now_ms: int
    probe: Probe | None = None  # it goes first after a limit, if writing that down succeeds
    reservation: "BudgetReservation | None" = (
        None  # of budgets that others share; it counts if writing that down succeeds
    )
    allowance: Allowance = Allowance()  # by the budgets
    budget_rows: Sequence[BudgetLine] = ()  # of them, as they stood then
    warnings: list[Fact] = []  # what people are to be warned of


class BudgetReservation(Struct, frozen=True, kw_only=True):
    fact: BudgetPromised
    version: int  # of the stream, when it was seen that there is room


class CannotStart(Struct, frozen=True, kw_only=True):
    waits_on: WaitsOn  # a budget, a limit or a login
    parked_for: str  # quota | budget
    detail: str
    until_ms: int | None  # None: a person has to do something
    needs: Needs
    questions: list[AnyQuestion] = []
    warnings: list[Fact] = []
    clears_with: str = ""  # a command that a person can type, where it is no answer to a question
    is_reserved: bool = False  # what is left of a budget is promised to agents at work
    limit: str = ""  # the path of the key of the limit that it waits for


class Park(Effect[float], frozen=True, kw_only=True):
    """Wait until the time is over or something was said that may change it; the seconds that went by."""

    lease: Lease
    run_id: str
    until_ms: int | None
    wake_pos: int  # the newest that was heeded: what came after it ends the wait


class TakePlans(Effect["Plans | Refusal"], frozen=True, kw_only=True):
    """Take a lease on the plan documents, so that they can be groomed."""

    lease: Lease
    run_id: str


class Plans(Struct, frozen=True, kw_only=True):
    lease: Lease  # the lane's own, when the documents lie in it
    documents: list[str]


class RunAgent(Effect["AgentResult"], frozen=True, kw_only=True):
    """Run an agent on a unit until it ends, or is ended."""

    unit: Unit
    lease: Lease  # that it works under
    run_lease: (
        Lease  # the run's: what is told of it is written under this one, and its log lies there
    )
    run_id: str
    iteration: int
    attempt: int
    worktree: Worktree
    history: list[str]
    agent: str
    allowance: Allowance = Allowance()  # what the budgets leave for it
    documents: Sequence[str] = ()  # to be groomed: then the unit is a replan


class AgentResult(Struct, frozen=True, kw_only=True):
    """How a start of an agent ended, and what it cost."""

    outcome: AgentOutcome
    exit_code: int | None
    seconds: float
    cost_usd: float | None = None  # None: nobody knows
    login: Credentials = Credentials()  # where nobody was logged in


class MeasureWork(Effect["Measurement"], frozen=True, kw_only=True):
    """What was committed since the worktree's base, and whether it is accepted."""

    unit: Unit
    lease: Lease
    worktree: Worktree
    is_replan: bool = (
        False  # it is a replan: no plan declares it, so the oracle knows nothing of it
    )


class Measurement(Struct, frozen=True, kw_only=True):
    head: str
    commits: list[str]
    strays: list[str]
    changed_paths: int
    accepted: bool | None  # None: there is no acceptance command, or nothing to run it on
    detail: str = ""
    why_not_shipped: str = ""  # why the oracle would not call it shipped
    acceptance_run: CommandRun | None = None


class SaveChanges(Effect[list[Salvage]], frozen=True, kw_only=True):
    """Save what nobody committed to a ref; then the tree is as its head."""

    run_id: str
    worktree: Worktree


class CommitChanges(Effect[str], frozen=True, kw_only=True):
    """Make a commit of saved changes, with the unit's trailer; empty where they may not be taken.

    They may where an acceptance command is there to judge them and every path lies in the lane.
    """

    unit: Unit
    lease: Lease
    worktree: Worktree
    saved: Salvage


class SaveCommits(Effect[list[Salvage]], frozen=True, kw_only=True):
    """Save commits that did not land to a ref."""

    run_id: str
    worktree: Worktree
    committed_by_dos: str = ""  # a commit that dos made of files which are saved already


class AwaitTurn(Effect[int], frozen=True, kw_only=True):
    """How many landings are still ahead of the run's own after so many seconds; 0: it is its turn.

    Halted when a person stops the run meanwhile, Fenced when its lease is lost.
    """

    lease: Lease
    run_id: str
    seconds: float


class PrepareLanding(Effect["Landing | NotLanded"], frozen=True, kw_only=True):
    """Rebase what was measured onto the target branch as it is now, and test it there."""

    unit: Unit
    lease: Lease
    worktree: Worktree
    head: str  # what was measured, and nothing else
    acceptance_run: CommandRun | None = None  # of the acceptance command, on that head
    is_replan: bool = False


class MoveBranch(Effect["NotLanded | None"], frozen=True, kw_only=True):
    """Move the branch to the landing's commit, under the lane's fence; None: it is there."""

    lease: Lease
    landing: Landing


class NotLanded(Struct, frozen=True, kw_only=True):
    reason: str
    retryable: bool = False  # the same work may land in a moment
    branch_moved: bool = False  # only because another's work landed first
    obstacle: bool = False  # only because of something that a person has there
    baseline_failure: BaselineChecked | None = (
        None  # the tests fail without the work too: nothing is held against it
    )
    landing: Landing | None = None  # what would have landed, with a fault
    conflict: bool = (
        False  # it does not fit on what others have landed since; the reason shows where
    )


class HasLanded(Effect[bool], frozen=True, kw_only=True):
    """Whether the target branch holds the commit."""

    landing: Landing


class IssueReceipt(Effect["IssuedReceipt"], frozen=True, kw_only=True):
    """Sign the receipt and write it to git's notes; or say what stood in the way."""

    landing: Landing


class Pause(Effect[None], frozen=True, kw_only=True):
    """Wait so many seconds."""

    seconds: float


class BackOff(Effect[None], frozen=True, kw_only=True):
    """Wait so many seconds, or until a drain is asked for."""

    seconds: float


class ObserveFleet(Effect["FleetSnapshot"], frozen=True, kw_only=True):
    """Look at everything that a tick decides by."""

    lease: Lease
    is_first: bool = False  # also what was left by those before


class CheckBaseline(Effect[BaselineChecked | None], frozen=True, kw_only=True):
    """Run setup and test in a fresh tree of the target; None when a drain ended it."""

    lease: Lease


class Warn(Effect[None], frozen=True, kw_only=True):
    """Tell whoever runs this what goes wrong, and that it is tried again."""

    text: str


class ExpireQuestion(Effect[None], frozen=True, kw_only=True):
    """Answer a question that nobody answered in time as was announced, unless somebody was quicker."""

    question: state.OpenQuestion
    choice: str = ""
    reason: str = ""


class SpawnWorker(Effect[Identity | None], frozen=True, kw_only=True):
    """Start a worker; None: the system would not start it."""

    lane: str
    run_id: str


class RevokeLease(Effect[bool], frozen=True, kw_only=True):
    """End a lease that was judged dead; False when its holder moved in between."""

    lease: Lease
    reason: str


class MintRun(Effect[str], frozen=True, kw_only=True):
    """Generate a run id."""

    process: str
