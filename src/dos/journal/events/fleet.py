"""What is written down: the envelope every store keeps, and the facts that go into it.

A kind is written out: renaming a class changes nothing stored. Fields are added with a default, never taken away. Every
kind is in `journal/events/catalog.py`, and every reader of facts decides about it.
"""

from datetime import datetime
from typing import Any

from msgspec import field

from dos.agents.adapter import Usage
from dos.journal.events.envelope import Fact
from dos.units.unit import Landing, LandingEntry


class SpawnIntended(Fact, frozen=True, kw_only=True):
    """Written before a worker is started, so that two supervisors cannot both start one."""

    kind = "spawn_intended"
    lane: str
    run_id: str
    host: str
    holder: str = ""  # who intends it, where that is not a supervisor
    loop_ts: str = ""
    reason: str = ""
    system: str = ""  # where it is to run; empty: unknown
    supervisor: int = (
        0  # the fence of the supervisor that intends it; 0: none does, or it was not told
    )


class WorkerSpawned(Fact, frozen=True, kw_only=True):
    kind = "worker_spawned"
    lane: str
    run_id: str
    host: str
    pid: int
    pid_started: float
    system: str = ""  # in whose table of processes the pid is; empty: unknown


class WorkerReaped(Fact, frozen=True, kw_only=True):
    """A worker that is dead by the system's word, or whose lease lapsed; never one that is only slow."""

    kind = "worker_reaped"
    lane: str
    run_id: str
    lease: int
    reason: str


class LaneFailed(Fact, frozen=True, kw_only=True):
    """A lane whose workers keep dying is a person's decision, not a loop."""

    kind = "lane_failed"
    lane: str
    reason: str


class DrainRequested(Fact, frozen=True, kw_only=True):
    kind = "drain_requested"
    reason: str = ""


class FleetStarted(Fact, frozen=True, kw_only=True):
    """Recorded by a supervisor once it holds the lease of its host, before its first look at the fleet."""

    kind = "fleet_started"
    host: str
    pid: int
    target: int
    system: str = ""  # as no other machine is called; empty: an older version did not record it
    version: str = ""  # of dos; empty: an older version did not record it


class FleetStopped(Fact, frozen=True, kw_only=True):
    kind = "fleet_stopped"
    host: str
    reason: str


class DecisionForced(Fact, frozen=True, kw_only=True):
    """Somebody was told no and went on by force."""

    kind = "decision_forced"
    lane: str
    reason_class: str
    reason: str
    host: str


class RunMinted(Fact, frozen=True, kw_only=True):
    """Where a run comes from, written before it begins so that its children can find their root."""

    kind = "run_minted"
    run_id: str
    process_id: str
    parent_id: str | None
    root_id: str
    ts_ms: int


class RunBegun(Fact, frozen=True, kw_only=True):
    """Recorded by a worker once it holds its lane, before it looks at the backlog."""

    kind = "run_begun"
    run_id: str
    lane: str
    host: str
    start_sha: str
    version: str = ""  # of dos; empty: an older version did not record it


class UnitClaimed(Fact, frozen=True, kw_only=True):
    kind = "unit_claimed"
    run_id: str
    lane: str
    unit: str
    iteration: int
    repeated: bool = False  # the same unit was claimed by a run that died before it could finish


class UnitTaken(Fact, frozen=True, kw_only=True):
    """In the unit's own stream, with a claim: of two that take it at once, one finds that the other was quicker."""

    kind = "unit_taken"
    run_id: str
    lane: str
    unit: str


class WorkSalvaged(Fact, frozen=True, kw_only=True):
    kind = "work_salvaged"
    run_id: str
    lane: str
    ref: str
    commit: str
    why: str
    kept_for: str = ""  # the unit whose next attempt begins with these uncommitted files
    earlier: bool = False  # an earlier run did it, and this one only saved it


class AgentStarted(Fact, frozen=True, kw_only=True):
    kind = "agent_started"
    run_id: str
    lane: str
    unit: str
    iteration: int
    agent: str
    base: str
    said: str = ""  # what a person should know of where it works


class AgentEnded(Fact, frozen=True, kw_only=True):
    """How the process ended, and what it said: the claim is kept beside the facts and never believed."""

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
    found: str = ""  # what the outcome was told by
    usage: list[Usage] = field(default_factory=list)
    cost_usd: float | None = None  # None: nobody knows the price
    session: str = ""  # the program's own name for the conversation


class WorkMeasured(Fact, frozen=True, kw_only=True):
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
    reconciled: str = ""  # what its agent claims by ending as it should, against what git shows


class LandingIntended(Fact, frozen=True, kw_only=True):
    """Written before the branch is moved: after a crash, git says whether it was."""

    kind = "landing_intended"
    run_id: str
    lane: str
    unit: str
    iteration: int
    branch: str
    old: str
    new: str
    receipt: dict[str, Any] | None = (
        None  # what was checked before it, to be signed once the branch holds the commit
    )
    untested: bool = (
        False  # the tests fail on the branch itself too: to be tested again before it lands
    )

    @property
    def landing(self) -> Landing:
        return Landing(
            unit=self.unit, branch=self.branch, base=self.old, commit=self.new, receipt=self.receipt
        )


class UnitLanded(Fact, frozen=True, kw_only=True):
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
        return Landing(unit=self.unit, branch=self.branch, base=self.base, commit=self.commit)

    def entry(self, at: datetime, claim: str = "") -> LandingEntry:
        return LandingEntry(
            landing=self.landing,
            at=at,
            lane=self.lane,
            run_id=self.run_id,
            claim=claim,
            recognised=self.recognised,
        )


class LandingRefused(Fact, frozen=True, kw_only=True):
    kind = "landing_refused"
    run_id: str
    lane: str
    unit: str
    reason: str


class UnitAttempted(Fact, frozen=True, kw_only=True):
    """A try at a unit is over, however it ended: who picks next can leave the unit alone for a while."""

    kind = "unit_attempted"
    unit: str
    outcome: str
    lane: str = ""
    run_id: str = ""
    loop_ts: str = ""
    host: str = ""
    text: str = ""  # the unit's fingerprint: a unit that was rewritten since is another one


class IterationCommitted(Fact, frozen=True, kw_only=True):
    """The commit point: what stands before it ran once, what comes after it may run again."""

    kind = "iteration_committed"
    run_id: str
    lane: str
    iteration: int
    unit: str
    outcome: str
    action: str
    reason: str
    attempt: int = 1  # at the same iteration, after a retry or a wait
    state: dict[str, Any] | None = (
        None  # of the loop before it, with the evidence that was decided on
    )
    judged: dict[str, Any] | None = None  # the outcome, as it was decided on
    decision: dict[str, Any] | None = None
    seconds: float = 0.0  # of its agent
    usage: list[Usage] = field(default_factory=list)
    cost_usd: float | None = None


class RunStopped(Fact, frozen=True, kw_only=True):
    kind = "run_stopped"
    run_id: str
    lane: str
    stop_reason: str
    needs: str
    reason: str
    by_hand: bool = False  # of a loop that somebody runs with `dos decide`, not of a worker


class IdAllocated(Fact, frozen=True, kw_only=True):
    kind = "id_allocated"
    scope: str
    id: int


class JournalPruned(Fact, frozen=True, kw_only=True):
    kind = "journal_pruned"
    through: int
    removed: int


class HookFault(Fact, frozen=True, kw_only=True):
    """A hook could not answer and let the agent continue; one of a session is written, with its session as the key."""

    kind = "hook_fault"
    moment: str  # as it was typed
    problem: str
    session: str = (
        ""  # the agent program's own name for the conversation; empty: the event names none
    )
