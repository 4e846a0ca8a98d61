"""The effects of a worker, most of which a supervisor shares, each with the type of its answer.

A worker and a supervisor are generators: they yield these values and are sent the answers. What
only a supervisor asks for is in `tick`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from dos.agents.adapter import AgentOutcome
from dos.agents.logins import Credentials
from dos.backlog import cooldown, pickable
from dos.backlog.waiting import WaitsOn
from dos.fleet.effect import Effect
from dos.journal.backend import Entry
from dos.journal.events.envelope import Event, Fact
from dos.journal.events.limits import BaselineChecked, BudgetPromised, IncidentFound
from dos.lease import Lease, Refusal
from dos.limits.budget import Allowance, BudgetLine
from dos.limits.quota import AgentCandidate, Probe
from dos.questions.catalog import AnyQuestion
from dos.reasons.table import Needs
from dos.receipts.receipt import CommandRun
from dos.runs import complete
from dos.units.unit import Landing, Unit

if TYPE_CHECKING:  # both import this module, which names them in strings
    from dos.receipts.receipt import IssuedReceipt  # noqa: F401


class TakeLease(Effect[Lease | Refusal], frozen=True, kw_only=True):
    """Take a lane's lease, or with `is_lock` a lock, and renew it from then on."""

    lane: str
    run_id: str
    is_lock: bool = False


class ReleaseLease(Effect[None], frozen=True, kw_only=True):
    """Release a lease; a lease that is lost already is no error."""

    lease: Lease
    reason: str


class Record(Effect[Event], frozen=True, kw_only=True):
    """Append one fact to a stream of the journal.

    Raises Conflict unless the stream is at version `expect`, where one is given.
    """

    stream: str
    fact: Fact
    key: str  # a record that is sent twice is written once
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
    """Append all records in one transaction, or none of them."""

    records: list[Record]


class ClaimUnit(Effect[None], frozen=True, kw_only=True):
    """Record that the run works on the unit; raises Conflict when another run does."""

    unit: str
    lease: Lease
    claim: Record
    mark: Record  # in the unit's own stream; fails if another run writes to it meanwhile


class SurveyBacklog(Effect["Backlog"], frozen=True, kw_only=True):
    """Read the lane's units, as the journal and the target branch have them now."""

    lease: Lease


class Backlog(Struct, frozen=True, kw_only=True):
    """The lane's units that have not landed, and what earlier runs and people left for the run."""

    open: list[Unit]
    held: list[pickable.Verdict]  # the units that may not be offered, each with its reason
    on_cooldown: list[cooldown.Verdict]  # units that other runs failed at a short while ago
    landed: list[str]
    completion: complete.Verdict | None
    interrupted: list[str]  # claimed by a run that ended without a result
    pending_landings: list["PendingLanding"]
    history: dict[str, list[str]]  # unit -> why earlier attempts did not land
    refusals: dict[str, "Refusals"] = {}  # by unit
    saved_commits: dict[str, str] = {}  # unit -> changes that its last agent did not commit
    drain_requested: bool = False
    superseded_by: str = ""  # the version of dos that was started here since the run began
    halted: str = ""  # why a person stops this run now
    paused: str = ""  # why a person paused the lane
    fault_question: str = ""  # the open question about this host; no agent starts before its answer
    wake_pos: int = 0  # the journal position of the newest event that can end a wait
    now_ms: int = 0
    incidents: list[IncidentFound] = []  # that are not in the journal yet


class Refusals(Struct, frozen=True, kw_only=True):
    """How often a unit's landing was refused, and why the last times."""

    count: int = 0
    reasons: list[str] = []


class PendingLanding(Struct, frozen=True, kw_only=True):
    """A landing that was intended and is not known to have happened.

    A run died while landing it, or something is in its way.
    """

    unit: Unit | None  # None: no plan declares it
    landing: Landing
    iteration: int = 0
    untested: bool = False  # the tests failed on the branch itself too; they run again
    question: str = ""  # the id of the open question about it
    answered: int = 0  # how many questions about it a person has answered
    tests_accepted: bool = False  # a person lets these commits change tests


class PrepareWorktree(Effect["Worktree"], frozen=True, kw_only=True):
    """Create a clean worktree of the target branch.

    Work that an earlier run left in it is saved to a ref first.
    """

    lane: str
    run_id: str
    lease: Lease
    # A saved commit whose changes are restored into the worktree, uncommitted, where they fit.
    saved_commit: str = ""


class Worktree(Struct, frozen=True, kw_only=True):
    """A worktree that is ready for an agent, and what was saved out of it."""

    path: str
    target: str
    base: str
    salvaged: list["Salvage"]
    ready: bool = True  # the setup command has run in it
    queue: str = ""  # the branch on which landings take turns; empty: no turns are needed
    missing_files: str = ""  # which included files of the user could not be copied
    resumed: str = ""  # the saved commit whose files were restored, uncommitted


class Salvage(Struct, frozen=True, kw_only=True):
    """Work that was saved to a ref before its worktree was cleaned."""

    ref: str
    commit: str
    why: str
    onto: str = ""  # the head that it has uncommitted changes of; empty: it has commits
    earlier: bool = False  # an earlier run did the work


class ChooseAgent(Effect["AgentChoice | CannotStart"], frozen=True, kw_only=True):
    """Choose the agent that may start now, by the limits of the providers and the budgets."""

    lease: Lease
    run_id: str
    iteration: int
    agent: str = ""  # the agent that the unit asks for; empty: the lane's


class AgentChoice(Struct, frozen=True, kw_only=True):
    """The agent to start, and what has to be recorded before it starts."""

    agent: AgentCandidate
    now_ms: int
    probe: Probe | None = None  # the agent tests a limit first; valid once recorded
    reservation: "BudgetReservation | None" = None  # of shared budgets; valid once recorded
    allowance: Allowance = Allowance()  # what the budgets leave for it
    budget_rows: Sequence[BudgetLine] = ()  # the budgets at the time of the choice
    warnings: list[Fact] = []  # facts to record for people


class BudgetReservation(Struct, frozen=True, kw_only=True):
    """Money of a shared budget that is kept for one agent until it ends."""

    fact: BudgetPromised
    version: int  # of the budget stream when the money was available


class CannotStart(Struct, frozen=True, kw_only=True):
    """Why no agent may start now, and until when."""

    waits_on: WaitsOn  # a budget, a limit or a login
    parked_for: str  # quota | budget
    detail: str
    until_ms: int | None  # None: only a person can clear it
    needs: Needs
    questions: list[AnyQuestion] = []
    warnings: list[Fact] = []
    clears_with: str = ""  # a command that clears it, unless it is an answer to a question
    is_reserved: bool = False  # the rest of a budget is reserved for agents at work
    limit: str = ""  # the path of the key of the limit
    # A run probes the limit: the wait ends with its result, and at `until_ms` only if none comes.
    is_probed: bool = False


class Park(Effect[float], frozen=True, kw_only=True):
    """Wait until the time is over, or until the journal moves past `wake_pos` for this run.

    Answers with the seconds that went by.
    """

    lease: Lease
    run_id: str
    until_ms: int | None
    wake_pos: int  # an event after this position ends the wait


class TakePlans(Effect["Plans | Refusal"], frozen=True, kw_only=True):
    """Take a lease on the plan documents, so that an agent can replan."""

    lease: Lease
    run_id: str


class Plans(Struct, frozen=True, kw_only=True):
    """The plan documents, and the lease under which they may be changed."""

    lease: Lease  # the lane's own where the documents lie in the lane
    documents: list[str]


class RunAgent(Effect["AgentResult"], frozen=True, kw_only=True):
    """Run an agent on a unit until it ends or is ended."""

    unit: Unit
    lease: Lease  # the agent works under it
    run_lease: Lease  # the run's own: its events are written under this lease, its log lies there
    run_id: str
    iteration: int
    attempt: int
    worktree: Worktree
    history: list[str]
    agent: str
    allowance: Allowance = Allowance()  # what the budgets leave for it
    documents: Sequence[str] = ()  # the plan documents, when the unit is a replan


class AgentResult(Struct, frozen=True, kw_only=True):
    """How a start of an agent ended, and what it cost."""

    outcome: AgentOutcome
    exit_code: int | None
    seconds: float
    cost_usd: float | None = None  # None: unknown
    login: Credentials = Credentials()  # set when the program was not logged in
    version: str = ""  # of the program; empty: it is not known
    refused: str = ""  # what it printed of a refusal, behind walls


class MeasureWork(Effect["Measurement"], frozen=True, kw_only=True):
    """Find what was committed since the worktree's base, and run the acceptance command on it."""

    unit: Unit
    lease: Lease
    worktree: Worktree
    is_replan: bool = False  # no plan declares a replan, so the oracle cannot judge it


class Measurement(Struct, frozen=True, kw_only=True):
    """What git and the acceptance command say about the work of an agent."""

    head: str
    commits: list[str]
    strays: list[str]
    changed_paths: int
    accepted: bool | None  # None: no acceptance command, or no commit to run it on
    detail: str = ""
    why_not_shipped: str = ""  # why the oracle would not call it shipped
    acceptance_run: CommandRun | None = None


class SaveChanges(Effect[list[Salvage]], frozen=True, kw_only=True):
    """Save uncommitted changes to a ref and reset the tree to its head."""

    run_id: str
    worktree: Worktree


class CommitChanges(Effect[str], frozen=True, kw_only=True):
    """Commit saved changes with the unit's trailer; empty where that is not allowed.

    It is allowed where an acceptance command can judge the changes and every path lies in the
    lane.
    """

    unit: Unit
    lease: Lease
    worktree: Worktree
    saved: Salvage


class SaveCommits(Effect[list[Salvage]], frozen=True, kw_only=True):
    """Save the commits of a lane to a ref, unless they landed."""

    run_id: str
    worktree: Worktree
    committed_by_dos: str = ""  # a commit that dos made of files that are saved already
    landed: bool = False  # nothing has to be saved


class AwaitTurn(Effect[int], frozen=True, kw_only=True):
    """Wait for the run's turn to land; answers how many landings are still ahead of it.

    Raises Halted when a person stops the run, and Fenced when its lease is lost.
    """

    lease: Lease
    run_id: str
    seconds: float


class Provenance(Struct, frozen=True, kw_only=True):
    """Who made commits: trailers of what lands name them."""

    agent: str
    model: str  # as the program reported it; empty: it reported none
    run_id: str
    version: str = ""  # of the agent's program; empty: it is not known


class PrepareLanding(Effect["Landing | NotLanded"], frozen=True, kw_only=True):
    """Rebase the measured commits onto the target branch as it is now, and test them there."""

    unit: Unit
    lease: Lease
    worktree: Worktree
    head: str  # the commit that was measured
    acceptance_run: CommandRun | None = None  # of the acceptance command, on that head
    is_replan: bool = False
    provenance: Provenance | None = None  # None: the commits name it already
    tests_accepted: bool = False  # a person lets these commits change tests


class MoveBranch(Effect["NotLanded | None"], frozen=True, kw_only=True):
    """Move the branch to the landing's commit, under the lane's fence; None: it has moved."""

    lease: Lease
    landing: Landing


class NotLanded(Struct, frozen=True, kw_only=True):
    """Why a landing did not happen, and whether it can be tried again."""

    reason: str
    retryable: bool = False  # the same commits may land in a moment
    branch_moved: bool = False  # another landing was first
    obstacle: bool = False  # a person's own files or branch are in the way
    # The tests fail without the work too, so the failure does not count against the unit.
    baseline_failure: BaselineChecked | None = None
    # What would have landed, with a baseline failure or changed tests.
    landing: Landing | None = None
    tests_changed: bool = False  # it weakens tests, or fails those of its base; a person may accept
    conflict: bool = False  # it does not merge with what has landed since; the reason shows where


class HasLanded(Effect[bool], frozen=True, kw_only=True):
    """Ask whether the target branch holds the commit."""

    landing: Landing


class IssueReceipt(Effect["IssuedReceipt"], frozen=True, kw_only=True):
    """Sign the receipt of a landing and write it to git's notes, or report why that failed."""

    landing: Landing


class Pause(Effect[None], frozen=True, kw_only=True):
    """Wait this many seconds."""

    seconds: float


class BackOff(Effect[None], frozen=True, kw_only=True):
    """Wait this many seconds, or until a drain is requested."""

    seconds: float
