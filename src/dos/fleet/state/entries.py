"""The entries of the fleet's state, and the facts that change them, grouped by what they are about.

The entries are runs, units, starts of lanes, requests to stop and incidents. `state.fleet` decides
which entry a fact changes; an entry knows how.
"""

from msgspec import Struct, field

from dos.agents.adapter import Ending, describe_ending
from dos.backlog.cooldown import AttemptOutcome
from dos.choices import ChoiceName
from dos.journal.events import fleet, lanes, limits
from dos.journal.events.limits import DecisionAnswered, IncidentFound
from dos.journal.events.reader import FactReader
from dos.questions.units import Incident

StartFact = (
    fleet.SpawnIntended
    | fleet.WorkerSpawned
    | fleet.WorkerReaped
    | fleet.LaneFailed
    | limits.LaneCleared
    | fleet.FleetStarted
    | lanes.LeaseGranted
)
RequestFact = (
    fleet.DrainRequested
    | limits.PauseRequested
    | limits.PauseEnded
    | limits.HaltRequested
    | limits.LimitHit
    | limits.LimitLifted
    | limits.UnitCleared
    | limits.DecisionAnswered
    | limits.IncidentFound
)
WorkFact = (
    fleet.UnitClaimed
    | fleet.AgentEnded
    | fleet.UnitAttempted
    | fleet.WorkMeasured
    | fleet.LandingIntended
    | fleet.LandingRefused
    | fleet.UnitLanded
    | fleet.WorkSalvaged
)
RunFact = (
    fleet.RunBegun
    | fleet.AgentStarted
    | limits.RunParked
    | limits.RunUnparked
    | limits.SpinFlagged
    | fleet.IterationCommitted
    | fleet.RunStopped
    | limits.FleetFound
)
FleetFact = StartFact | RequestFact | WorkFact | RunFact | limits.BudgetPromised
reader: FactReader[FleetFact] = FactReader(
    FleetFact,
    silent="""
        lease_renewed lease_released lease_expired lease_revoked lease_adopted lease_refused
        fleet_stopped decision_forced run_minted unit_taken id_allocated journal_pruned limit_probed
        units_screened landing_queued landing_deferred agent_waiting agent_went_on decision_raised
        plans_approved settings_approved budget_warned budget_spent baseline_started
        baseline_checked work_committed intent_declared extent_changed step_claimed step_verified
        run_suspended resume_proposed run_resumed run_ended halt_proposed ledger_line_unreadable
        hook_fault receipt_issued test_witnessed command_checked line_imported line_unreadable
        tool_called hook_answered marker_held marker_reset session_bound export_advanced
        notification_sent verdict_given lifecycle_ticked run_steered steer_delivered
    """,
)


TRIES_KEPT = 5
REFUSALS_KEPT = 5
DEATHS_KEPT = 1000  # of a lane; the restart limit cannot be higher


_SAVED_ON = "; its work is on "  # between why an attempt failed and the refs with its work


class FleetRun(Struct, kw_only=True):
    """A run as a supervisor needs it; kept after its end for the next run of the lane."""

    lane: str
    begun_ms: int
    begun: int = 0  # the position of its first event
    version: str = ""  # of dos, as the run recorded it
    unit: str = ""  # claimed, and its iteration is not recorded yet
    iterations: int = 0
    landed: int = 0
    landed_ms: int = 0  # the newest
    stop_reason: str = ""
    stop_detail: str = ""
    needs: str = ""
    stopped_ms: int = 0
    parked: bool = False
    flagged: bool = False  # as spinning; a landing clears it
    limit: str = ""  # the name of the limit that its last agent ran into
    missed: str = ""  # what did not land last, and why
    # The units that it failed at, and those of the dead run that it continues.
    failed: list[str] = field(default_factory=list)
    reported: bool = False  # its death was reported to the person who started the fleet

    def add_landing(self, at_ms: int) -> None:
        """Count a landing, which proves that the run makes progress."""
        self.landed += 1
        self.landed_ms = at_ms
        self.flagged = False
        self.missed = ""

    def add_attempt(self, unit: str, *, has_failed: bool) -> None:
        """Move the unit to the end of the failed ones, or remove it from them.

        The question about a stopped lane names the units in this order.
        """
        self.failed = [name for name in self.failed if name != unit]
        if has_failed:
            self.failed.append(unit)


class LastAttempt(Struct, kw_only=True, frozen=True):
    """The newest attempt at a unit that came to an end; a cooldown is counted from it."""

    run_id: str
    outcome: str
    at_ms: int
    text: str = ""  # the unit's fingerprint then


class UnitState(Struct, kw_only=True):
    """What happened to one unit: its landing, its attempts, and the work that was saved of them.

    The journal's word alone. What git shows is laid over it by `backlog.io.target`.
    """

    landed: str = ""  # the commit
    landed_on: str = ""  # the branch
    landed_ms: int = 0
    claimed_by: str = ""  # the run that works on it, or died while it did
    deaths: int = 0  # how many runs in a row died while they worked on it
    claim: str = ""  # the last message of its agent
    outcome: str = ""  # how its last agent ended
    tries: list[str] = field(default_factory=list)  # why attempts did not land, newest last
    last_failure: str = ""  # the newest of them, without the refs of saved work
    intended: fleet.LandingIntended | None = None
    refusals: list[str] = field(default_factory=list)  # why its landing was refused, newest last
    refused: int = 0  # how often
    saved: list[str] = field(default_factory=list)  # refs with the work of the newest attempt
    saved_commit: str = ""  # changes that an agent did not commit; the next one begins with them
    saved_by_newest: bool = False  # the newest attempt saved them
    missed: bool = False  # the newest attempt did not land, and that is recorded
    last_attempt: LastAttempt | None = None  # None after a person has cleared the unit
    attempt_over: bool = False  # the newest claim came to the end of its attempt
    failures: int = 0  # failed attempts since it landed or was cleared
    cleared_ms: int = 0  # when a person last cleared it for another attempt
    undone: str = ""  # why git no longer shows it landed; never folded, set from git
    soaking: bool = False  # its work is there, and the index of soaks holds it; set from git too

    @property
    def is_interrupted(self) -> bool:
        """A run works on it, or died before the attempt was over."""
        return bool(self.claimed_by) and not self.attempt_over

    def add_claim(self, fact: fleet.UnitClaimed) -> None:
        """Begin an attempt; a repeated claim counts the death of the run before."""
        self.claimed_by = fact.run_id
        self.missed = False
        self.attempt_over = False
        self.saved_by_newest = False
        self.deaths += fact.repeated
        if not fact.repeated:
            self.saved = []

    def add_attempt(self, fact: fleet.UnitAttempted, at_ms: int) -> None:
        """End an attempt: one that shipped resets the count of failures, any other adds to it."""
        self.last_attempt = LastAttempt(
            run_id=fact.run_id, outcome=fact.outcome, at_ms=at_ms, text=fact.text
        )
        if self.claimed_by == fact.run_id:
            # The attempt came to its end, so the run did not die while it worked on the unit.
            self.attempt_over = True
            self.deaths = 0
        if fact.outcome == AttemptOutcome.SHIPPED:
            self.failures = 0
        else:
            self.failures += 1

    def add_refusal(self, reason: str) -> None:
        """Count a refused landing, which is no longer intended."""
        self.intended = None
        self.refused += 1
        self.refusals = [*self.refusals, reason][-REFUSALS_KEPT:]

    def add_landing(self, fact: fleet.UnitLanded, at_ms: int) -> None:
        """Mark the unit as landed. What was saved of earlier attempts is not needed any more."""
        self.landed = fact.commit
        self.landed_on = fact.branch
        self.landed_ms = at_ms
        self.intended = None
        self.claimed_by = ""
        self.saved = []
        self.saved_commit = ""
        self.failures = 0

    def add_miss(self, why: str) -> str:
        """Add why the newest attempt did not land, and return it in words for people.

        The next agent reads these texts in its prompt, so they name the refs with saved work.
        """
        text = why
        if self.outcome not in ("", Ending.OK):
            text = f"its agent {describe_ending(self.outcome)}: {why}"
        where = ""
        if self.saved:
            where = f"{_SAVED_ON}{', '.join(self.saved)}"
        self.tries = [*self.tries, text + where][-TRIES_KEPT:]
        self.last_failure = text
        self.missed = True
        return text

    def add_saved_ref(self, ref: str) -> None:
        """Add a ref with work of the newest attempt, also to the text about it."""
        if self.missed and self.tries:
            self.tries[-1] += f", {ref}" if self.saved else f"{_SAVED_ON}{ref}"
        self.saved.append(ref)

    def clear(self, at_ms: int) -> None:
        """Forget failed attempts and deaths: a person wants the unit to be tried again."""
        self.last_attempt = None
        self.failures = 0
        self.deaths = 0
        self.cleared_ms = at_ms


class LastStop(Struct, kw_only=True, frozen=True):
    """How the last run of a lane ended; `needs` says who can clear that, a person or time."""

    run_id: str
    reason: str
    detail: str
    needs: str
    at_ms: int
    landed: int = 0
    limit: str = ""  # the name of the limit that kept its agents from starting
    missed: str = ""  # what did not land last, and why
    failed: list[str] = []  # the units that it failed at


class LaneStarts(Struct, kw_only=True):
    """A lane's starts: the newest one, how the last run ended, and whether the lane is disabled.

    A start goes from the intent over the process to the lease. A worker that dies on the way
    leaves its run in `unended`, by which the supervisor counts deaths and backs off.
    """

    unended: dict[str, int] = field(default_factory=dict)  # run -> start; no stop is recorded
    at_ms: int = 0
    intended: int = 0  # the position of the newest start, or of the supervisor that started it
    told_to_wait_ms: int = 0
    woken_ms: int = 0  # when a person last cleared one of its units
    run_id: str = ""
    host: str = ""
    system: str = ""  # on which the pid is; empty: unknown
    pid: int = 0
    pid_started: float = 0.0
    pending: bool = False  # started, and its lease is not granted yet
    failed: str = ""  # why the lane is disabled
    times_failed: int = 0
    stopped: LastStop | None = None  # None once a person has cleared it
    current_run: str = ""  # the run that began here and did not stop: at work, or dead
    version: int = 0

    def add_intent(self, fact: fleet.SpawnIntended, at_ms: int, position: int) -> None:
        """Begin a start, whose worker has neither a process nor a lease yet."""
        starts = [*self.unended.items(), (fact.run_id, at_ms)]
        self.unended = dict(starts[-DEATHS_KEPT:])
        self.at_ms = at_ms
        self.intended = fact.supervisor or position
        self.run_id = fact.run_id
        self.host = fact.host
        self.system = fact.system
        self.pending = True
        self.pid = 0

    def add_process(self, fact: fleet.WorkerSpawned) -> None:
        """Add the process of the newest start."""
        if fact.run_id != self.run_id:
            return  # the event of an earlier start, recorded late
        self.pid = fact.pid
        self.pid_started = fact.pid_started
        self.system = fact.system or self.system

    def end_pending(self, run_id: str) -> None:
        """The run has taken its lease, or stopped without one."""
        if self.run_id == run_id:
            self.pending = False

    def clear_failure(self) -> None:
        """Let the lane be started again, as if its runs had not failed."""
        self.failed = ""
        self.unended = {}
        self.told_to_wait_ms = 0
        self.stopped = None


class SupervisorStart(Struct, kw_only=True, frozen=True):
    """The newest start of a supervisor on one machine."""

    position: int
    version: str  # of dos


class StopRequests(Struct, kw_only=True, frozen=True):
    """What a run is asked to do: drain, stop now, or start nothing.

    A drain or a newer version lets the current iteration finish; a halt ends the agent at once; a
    pause keeps the lane and starts nothing until it ends.
    """

    drain: bool = False
    superseded_by: str = ""  # the version of dos that was started on its machine since it began
    halted: str = ""
    paused: str = ""

    @property
    def must_stop(self) -> bool:
        """Whether the run may not begin another iteration."""
        return self.drain or bool(self.superseded_by or self.halted)


class Incidents(Struct, kw_only=True):
    """Commits that agents put on the target branch themselves, and which a person keeps."""

    found: dict[str, IncidentFound] = field(default_factory=dict)  # by the id of its question
    kept: set[str] = field(default_factory=set)  # the questions that were answered with keep

    def add(self, fact: IncidentFound) -> None:
        """Keep an incident. Several hosts may report the same one; the first report counts."""
        self.found.setdefault(Incident.id_of(fact.id), fact)

    def answer(self, fact: DecisionAnswered) -> None:
        """Keep the commits of an incident where a person says so."""
        if fact.choice == ChoiceName.KEEP and fact.id in self.found:
            self.kept.add(fact.id)

    @property
    def disputed(self) -> frozenset[str]:
        """The commits that do not count as landings, whatever their messages say."""
        disputed = [fact for name, fact in self.found.items() if name not in self.kept]
        return frozenset(commit for fact in disputed for commit in fact.commits)

    @property
    def kept_commits(self) -> frozenset[str]:
        """The commits that a person keeps."""
        return frozenset(commit for name in self.kept for commit in self.found[name].commits)
