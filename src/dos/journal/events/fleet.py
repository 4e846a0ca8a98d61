"""Events about workers, runs, units and landings, and the few that concern the journal itself.

The `kind` is written out in each class, so renaming a class changes nothing that is stored.
Fields are added with a default and are never renamed or removed. `events/kinds.py` lists every
kind, and every reader of events decides about each of them.
"""

from datetime import datetime
from typing import Any

from msgspec import field

from dos.agents.adapter import Usage
from dos.journal.events.envelope import Fact
from dos.units.unit import Landing, LandingEntry


class SpawnIntended(Fact, frozen=True, kw_only=True):
    """A supervisor, or `dos spawn`, is about to start a worker for a lane.

    It is recorded before the process is started, with the stream's expected version, so that of
    two supervisors only one can start a worker.
    """

    kind = "spawn_intended"
    lane: str
    run_id: str
    host: str
    holder: str = ""  # who starts the worker, if that is not a supervisor
    loop_ts: str = ""
    reason: str = ""
    system: str = ""  # the system on which the worker is to run; empty: unknown
    supervisor: int = 0  # the supervisor's fence; 0: not started by one, or not recorded


class WorkerSpawned(Fact, frozen=True, kw_only=True):
    """A supervisor started a worker process. Recorded right after the start, with its pid."""

    kind = "worker_spawned"
    lane: str
    run_id: str
    host: str
    pid: int
    pid_started: float  # with the pid it identifies the process: pids are reused
    system: str = ""  # the system whose process table holds the pid; empty: unknown


class WorkerReaped(Fact, frozen=True, kw_only=True):
    """A supervisor revoked the lease of a worker that has exited, or whose lease lapsed.

    It is never recorded for a worker that is alive and only slow.
    """

    kind = "worker_reaped"
    lane: str
    run_id: str
    lease: int
    reason: str


class LaneFailed(Fact, frozen=True, kw_only=True):
    """A supervisor disabled a lane whose workers keep exiting, until a person answers."""

    kind = "lane_failed"
    lane: str
    reason: str


class DrainRequested(Fact, frozen=True, kw_only=True):
    """A person asked the fleet to stop: by `dos down`, or by interrupting `dos up`."""

    kind = "drain_requested"
    reason: str = ""


class FleetStarted(Fact, frozen=True, kw_only=True):
    """A supervisor took the lease of its host. Recorded before its first look at the fleet."""

    kind = "fleet_started"
    host: str
    pid: int
    target: int  # how many workers it keeps running
    system: str = ""  # unique to the machine; empty: an older version did not record it
    version: str = ""  # of dos; empty: an older version did not record it
    sandbox: str = ""  # what walls agents get on this host; empty: not recorded


class FleetStopped(Fact, frozen=True, kw_only=True):
    """A supervisor exited on its own decision. One that is killed records nothing."""

    kind = "fleet_stopped"
    host: str
    reason: str


class DecisionForced(Fact, frozen=True, kw_only=True):
    """`dos arbitrate --force` was told no, and its caller continued in spite of it."""

    kind = "decision_forced"
    lane: str
    reason_class: str
    reason: str
    host: str


class RunMinted(Fact, frozen=True, kw_only=True):
    """A run id was generated, with the run's parent and root.

    It is recorded before the run begins, so that the run's children can find their root.
    """

    kind = "run_minted"
    run_id: str
    process_id: str
    parent_id: str | None
    root_id: str
    ts_ms: int


class RunBegun(Fact, frozen=True, kw_only=True):
    """A worker took its lane's lease and began a run at this commit, before it chose a unit."""

    kind = "run_begun"
    run_id: str
    lane: str
    host: str
    start_sha: str
    version: str = ""  # of dos; empty: an older version did not record it
    part_of: str = ""  # the repeatable lane that the lane is a part of


class UnitClaimed(Fact, frozen=True, kw_only=True):
    """A worker chose the unit of its next iteration. Recorded in the stream of the run."""

    kind = "unit_claimed"
    run_id: str
    lane: str
    unit: str
    iteration: int
    repeated: bool = False  # a run that died before it finished had claimed the same unit


class UnitTaken(Fact, frozen=True, kw_only=True):
    """A worker claimed a unit. Recorded in the stream of the unit, together with `UnitClaimed`.

    Two workers that claim a unit at once write to the same stream, so one of them conflicts.
    """

    kind = "unit_taken"
    run_id: str
    lane: str
    unit: str


class WorkSalvaged(Fact, frozen=True, kw_only=True):
    """A worker saved uncommitted or unlanded work under a ref before it cleared the worktree."""

    kind = "work_salvaged"
    run_id: str
    lane: str
    ref: str
    commit: str
    why: str
    kept_for: str = ""  # the unit whose next attempt begins with these uncommitted files
    earlier: bool = False  # an earlier run left the work, and this one only saved it


class AgentStarted(Fact, frozen=True, kw_only=True):
    """A worker is about to start an agent for a unit, in a worktree at `base`."""

    kind = "agent_started"
    run_id: str
    lane: str
    unit: str
    iteration: int
    agent: str
    base: str
    said: str = ""  # what a person should know about the place where the agent works


class AgentEnded(Fact, frozen=True, kw_only=True):
    """An agent's process ended. Recorded by its worker, before the work is measured.

    What the agent claims is kept beside what was observed, and nothing is decided by it.
    """

    kind = "agent_ended"
    run_id: str
    lane: str
    unit: str
    iteration: int
    outcome: str
    exit_code: int | None
    claim: str
    seconds: float
    agent: str = ""
    found: str = ""  # the output that the outcome was recognised by
    usage: list[Usage] = field(default_factory=list)
    cost_usd: float | None = None  # None: the price is unknown
    session: str = ""  # the agent program's own name for the conversation
    refused: str = ""  # what it printed of a refusal, behind walls: `Permission denied`


class WorkMeasured(Fact, frozen=True, kw_only=True):
    """A worker measured in git what an agent did: commits, stray paths, acceptance check."""

    kind = "work_measured"
    run_id: str
    lane: str
    unit: str
    iteration: int
    base: str
    head: str
    commits: list[str]
    strays: list[str]
    accepted: bool | None
    verdict: str
    reason: str
    reconciled: str = ""  # the agent's claim to have finished, compared with git


class LandingIntended(Fact, frozen=True, kw_only=True):
    """A worker is about to move the target branch from `old` to `new`.

    It is recorded first, so that after a crash git shows whether the branch was moved.
    """

    kind = "landing_intended"
    run_id: str
    lane: str
    unit: str
    iteration: int
    branch: str
    old: str
    new: str
    receipt: dict[str, Any] | None = None  # a draft, to be signed once the branch holds the commit
    untested: bool = False  # the tests fail on the branch itself too: test again before landing

    @property
    def landing(self) -> Landing:
        """The landing that is intended, with its draft receipt."""
        return Landing(
            unit=self.unit, branch=self.branch, base=self.old, commit=self.new, receipt=self.receipt
        )


class UnitLanded(Fact, frozen=True, kw_only=True):
    """The target branch holds a unit's commit. Recorded by the worker that moved the branch.

    A worker or a supervisor that finds an intended landing in git after a crash records it too.
    """

    kind = "unit_landed"
    run_id: str
    lane: str
    unit: str
    branch: str
    base: str
    commit: str
    recognised: bool = False  # found in git after a crash, not moved by this worker

    @property
    def landing(self) -> Landing:
        """The landing, without a receipt: that is recorded by an event of its own."""
        return Landing(unit=self.unit, branch=self.branch, base=self.base, commit=self.commit)

    def entry(self, at: datetime, claim: str = "") -> LandingEntry:
        """Return the landing as a line of a unit's history; `claim` is what the agent said."""
        return LandingEntry(
            landing=self.landing,
            at=at,
            lane=self.lane,
            run_id=self.run_id,
            claim=claim,
            recognised=self.recognised,
        )


class LandingRefused(Fact, frozen=True, kw_only=True):
    """A worker could not land a unit: conflict, failing test, stale fence, rejected push."""

    kind = "landing_refused"
    run_id: str
    lane: str
    unit: str
    reason: str


class UnitAttempted(Fact, frozen=True, kw_only=True):
    """An attempt on a unit ended, however it ended; failed ones put the unit on cooldown.

    Recorded by a worker, and by `dos attempt` for a loop that is not a worker of dos.
    """

    kind = "unit_attempted"
    unit: str
    outcome: str
    lane: str = ""
    run_id: str = ""
    loop_ts: str = ""
    host: str = ""
    text: str = ""  # the unit's fingerprint: after its text changes, it counts as another unit


class IterationCommitted(Fact, frozen=True, kw_only=True):
    """A worker finished an iteration and decided what comes next.

    It is the commit point: what came before it is not done again, what follows may be. `state`,
    `judged` and `decision` are what `dos replay` decides on again.
    """

    kind = "iteration_committed"
    run_id: str
    lane: str
    iteration: int
    unit: str
    outcome: str
    action: str
    reason: str
    attempt: int = 1  # at the same iteration, after a retry or a wait
    state: dict[str, Any] | None = None  # the loop's state before it, with the evidence
    judged: dict[str, Any] | None = None  # the outcome that was decided on
    decision: dict[str, Any] | None = None
    seconds: float = 0.0  # how long the agent ran
    usage: list[Usage] = field(default_factory=list)
    cost_usd: float | None = None


class RunStopped(Fact, frozen=True, kw_only=True):
    """A run stopped. Recorded by its worker; by a supervisor for one that died; by `dos decide`."""

    kind = "run_stopped"
    run_id: str
    lane: str
    stop_reason: str
    needs: str
    reason: str
    by_hand: bool = False  # the loop was run with `dos decide`, not by a worker


class IdAllocated(Fact, frozen=True, kw_only=True):
    """`dos id-alloc` gave out the next number of a scope."""

    kind = "id_allocated"
    scope: str
    id: int


class JournalPruned(Fact, frozen=True, kw_only=True):
    """`dos journal prune` removed superseded events. Recorded in the transaction that removes them.

    Gaps up to the position `through` are explained by it.
    """

    kind = "journal_pruned"
    through: int
    removed: int


class HookFault(Fact, frozen=True, kw_only=True):
    """A hook of an agent program could not answer, and let the agent continue.

    Recorded once for each session of the agent, with the session as its key.
    """

    kind = "hook_fault"
    moment: str  # the hook's name as the agent program gave it
    problem: str
    session: str = ""  # the agent program's own name for the conversation; empty: none given
