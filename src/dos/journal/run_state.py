"""The state of one run, folded from its own stream, and how it is read and changed."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, assert_never

from msgspec import Struct, field, structs

from dos.errors import Conflict
from dos.journal import streams
from dos.journal.backend import Entry
from dos.journal.events import fleet, runs
from dos.journal.events.envelope import Event, Fact
from dos.journal.events.reader import FactReader
from dos.journal.fold import fold
from dos.journal.store import Store
from dos.run_ids import validated_run_id
from dos.units.unit import Landing

_End = (
    runs.RunSuspended
    | runs.ResumeProposed
    | runs.RunResumed
    | runs.RunEnded
    | runs.LedgerLineUnreadable
)
Handled = (
    fleet.RunMinted
    | fleet.RunBegun
    | fleet.LandingIntended
    | runs.IntentDeclared
    | runs.ExtentChanged
    | runs.StepClaimed
    | runs.StepVerified
    | _End
)
_reader: FactReader[Handled] = FactReader(
    Handled,
    silent="""
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted
        lease_refused spawn_intended worker_spawned worker_reaped lane_failed drain_requested
        fleet_started fleet_stopped decision_forced unit_claimed unit_taken work_salvaged
        agent_started agent_ended work_measured unit_landed landing_refused unit_attempted
        iteration_committed run_stopped id_allocated journal_pruned limit_hit limit_probed
        limit_lifted units_screened run_parked landing_queued landing_deferred run_unparked
        agent_waiting agent_went_on pause_requested pause_ended halt_requested spin_flagged
        decision_raised decision_answered plans_approved settings_approved lane_cleared unit_cleared
        budget_warned budget_spent budget_promised baseline_started baseline_checked work_committed
        fleet_found incident_found halt_proposed hook_fault receipt_issued test_witnessed
        command_checked line_imported line_unreadable tool_called hook_answered marker_held
        marker_reset session_bound export_advanced notification_sent verdict_given lifecycle_ticked
        run_steered steer_delivered
    """,
)


class VerifiedStep(Struct, frozen=True):
    """The commit that showed a step, and the rung of `dos verify` that found it."""

    sha: str
    via: str


class Checkpoint(Struct, frozen=True, kw_only=True):
    """A turn of the agent's conversation, with its digest when the run was suspended."""

    turn: int
    digest: str
    transcript: str


class RunState(Struct, kw_only=True):
    """What a run declared, claimed and verified, and whether it is suspended, resumed or ended."""

    name: ClassVar[str] = "run"

    version: int = 0  # of the stream; 0: the run is unknown
    process_id: str = ""
    parent_id: str | None = None
    root_id: str = ""
    minted_ms: int = 0
    goal: str = ""
    plan: str = ""
    phase: str = ""
    lane: str = ""
    start_sha: str = ""
    steps: list[str] = field(default_factory=list)
    regions: dict[str, list[str]] = field(default_factory=dict)
    kept_steps: list[str] = field(default_factory=list)  # left out without approval: still to do
    resumes: str = ""
    claimed: dict[str, str] = field(default_factory=dict)
    verified: dict[str, VerifiedStep] = field(default_factory=dict)
    landings: list[Landing] = field(default_factory=list)  # intended ones, without their receipts
    suspended: bool = False
    suspend_reason: str = ""
    suspend_resume_sha: str = ""
    checkpoint: Checkpoint | None = None
    proposed: bool = False
    successor: str = ""
    result: str = ""  # how it ended; empty while it has not
    unreadable_lines: int = 0
    unreadable_newer: bool = False

    @property
    def has_intent(self) -> bool:
        """Whether the run declared anything that could be checked."""
        return bool(self.goal or self.plan or self.steps)

    def apply(self, event: Event) -> None:
        """Change the state by one event of the run's stream."""
        self.version = event.ver
        match _reader.decode(event):
            case None:
                pass
            case fleet.RunMinted() as fact:
                self.process_id = fact.process_id
                self.minted_ms = fact.ts_ms
                self.parent_id = fact.parent_id
                self.root_id = fact.root_id
            case fleet.RunBegun() as fact:
                self.lane = fact.lane or self.lane
                self.start_sha = self.start_sha or fact.start_sha
            case fleet.LandingIntended() as fact:
                self.landings.append(structs.replace(fact.landing, receipt=None))
            case runs.IntentDeclared() as fact:
                self._declare(fact)
            case runs.ExtentChanged() as fact:
                self._set_extent(fact.steps, fact.regions, approved=bool(fact.approved_by))
            case runs.StepClaimed() as fact:
                self.claimed[fact.step] = fact.sha
            case runs.StepVerified() as fact:
                self.verified[fact.step] = VerifiedStep(fact.sha, fact.via)
            case fact:
                self._apply_end(fact)

    def _apply_end(self, fact: _End) -> None:
        match fact:
            case runs.RunSuspended():
                self._suspend(fact)
            case runs.ResumeProposed():
                self.proposed = True
            case runs.RunResumed():
                self.successor = self.successor or fact.successor
            case runs.RunEnded():
                self.result = fact.result
            case runs.LedgerLineUnreadable():
                self.unreadable_lines += 1
                self.unreadable_newer = self.unreadable_newer or fact.newer
            case never:
                assert_never(never)

    def _suspend(self, fact: runs.RunSuspended) -> None:
        self.suspended = True
        self.suspend_reason = fact.reason
        self.suspend_resume_sha = fact.resume_sha
        self.proposed = False
        self.checkpoint = None
        if fact.transcript_digest:
            self.checkpoint = Checkpoint(
                turn=fact.checkpoint_turn,
                digest=fact.transcript_digest,
                transcript=fact.transcript,
            )

    def _declare(self, fact: runs.IntentDeclared) -> None:
        self.goal = fact.goal or self.goal
        self.plan = fact.plan or self.plan
        self.phase = fact.phase or self.phase
        self.lane = fact.lane or self.lane
        # The first start is kept. An earlier one would count older commits as the run's work, and
        # a later one would not count steps that are finished.
        self.start_sha = self.start_sha or fact.start_sha
        self.resumes = self.resumes or fact.resumes
        if fact.steps:
            self._set_extent(fact.steps, fact.regions, approved=False)
        self.suspended = False
        self.suspend_reason = ""
        self.suspend_resume_sha = ""
        self.checkpoint = None
        self.proposed = False
        self.result = ""

    def _set_extent(
        self, steps: Sequence[str], regions: Mapping[str, list[str]], *, approved: bool
    ) -> None:
        """Replace the declared steps. Without approval, steps that are left out stay to do."""
        if approved:
            self.steps = list(dict.fromkeys(steps))
            self.regions = dict(regions)
            self.kept_steps = []
            return
        # A declared step also keeps its region: a wider one would make the step easier to show.
        added = {step: globs for step, globs in regions.items() if step not in self.steps}
        self.regions = added | self.regions
        self.kept_steps = [step for step in self.steps if step not in steps]
        self.steps = list(dict.fromkeys([*steps, *self.kept_steps]))


Decide = Callable[[RunState], Sequence[Fact]]


def stream(run_id: str) -> str:
    """Return the name of a run's stream. Raises NameInvalid for a text that is not a run id."""
    return streams.run(validated_run_id(run_id))


def read(store: Store, run_id: str) -> RunState:
    """Return the state of a run; its version is 0 if the journal does not know the run."""
    return fold(RunState(), store.load(stream(run_id)))


def entries(
    run_id: str, facts: Sequence[Fact], *, at_version: int, fence: int | None = None
) -> list[Entry]:
    """Return the entries that append facts to a run's stream if it is still at this version."""
    return [
        Entry(
            stream=stream(run_id),
            kind=fact.kind,
            body=fact,
            expect=at_version + offset,
            fence=fence,
        )
        for offset, fact in enumerate(facts)
    ]


def change(store: Store, run_id: str, decide: Decide, *, fence: int | None = None) -> RunState:
    """Append what `decide` makes of the run, and return the run as it was decided on.

    When another process changed the run in between, it is read and decided on again. The loop
    ends, because each further round means that another process made progress.
    """
    while True:
        run = read(store, run_id)
        facts = decide(run)
        if not facts:
            return run
        try:
            store.append_all(entries(run_id, facts, at_version=run.version, fence=fence))
        except Conflict:
            continue
        return run
