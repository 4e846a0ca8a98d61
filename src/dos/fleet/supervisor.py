"""The supervisor of a fleet: observe, plan, act and record, tick by tick.

A tick depends on no earlier one, so that any tick may be the first and a missed one changes
nothing. Like a worker, a supervisor only yields effects. Workers outlive it: the next supervisor
finds them by their leases.
"""

from enum import StrEnum

from msgspec import Struct, structs

from dos.agents import logins
from dos.backlog import waiting
from dos.errors import BadInput, Conflict, Fenced, GitFailed
from dos.fleet import effects, incidents
from dos.fleet.effect import Steps, do
from dos.fleet.population import reconcile
from dos.fleet.population.types import SupervisePolicy
from dos.fleet.tick import (
    CheckBaseline,
    ExpireQuestion,
    FleetSnapshot,
    MintRun,
    ObserveFleet,
    RevokeLease,
    SpawnWorker,
    Warn,
)
from dos.journal import streams
from dos.journal.backend import Entry
from dos.journal.events import envelope, fleet, limits
from dos.lease import Lease, Refusal
from dos.limits.state import quota
from dos.questions import runs, state
from dos.questions.catalog import AnyQuestion
from dos.questions.lanes import LaneFailed
from dos.version import VERSION


class SupervisorExit(StrEnum):
    """Why a supervisor ends."""

    IDLE = "idle"
    WORK_LEFT = "work-left"  # idle, and units wait for something that no worker can do
    DRAINED = "drained"
    SECOND = "already-running"
    LOST = "lease-lost"


class SupervisorResult(Struct, frozen=True):
    """How a supervisor ended, and the sentence for people."""

    exit: SupervisorExit
    text: str


class SupervisorProcess(Struct, frozen=True, kw_only=True):
    """Where a supervisor runs, and with which version of dos."""

    host: str  # as people know it
    system: str  # unique: two machines may have the same host name
    pid: int
    version: str = VERSION  # workers of another version drain
    sandbox: str = ""  # what walls agents get here


class Supervisor:
    """Keeps `target` workers alive on the lanes of one workspace, from one host.

    Only one supervisor runs on a host, under a lock. Several hosts may supervise one workspace: the
    intent to start a worker is recorded first, so that of several supervisors one succeeds.
    """

    def __init__(
        self,
        process: SupervisorProcess,
        *,
        target: int,
        tick_seconds: float,
        until_idle: bool,
        policy: SupervisePolicy = SupervisePolicy(),
    ) -> None:
        self.host = process.host
        self.system = process.system
        self.pid = process.pid
        self.version = process.version
        self.sandbox = process.sandbox
        self.target = target
        self.tick_seconds = tick_seconds
        self.until_idle = until_idle
        self.policy = policy
        self.lease: Lease
        self._records = 0
        self._last_waits = ""  # the last warning about what all lanes wait for

    def supervise(self) -> Steps[SupervisorResult]:
        """Run until the fleet is drained, or with `until_idle` until no work is left."""
        lock = streams.supervisor(self.system)
        taken = yield from do(effects.TakeLease(lane=lock, run_id="", is_lock=True))
        if isinstance(taken, Refusal):
            return SupervisorResult(
                SupervisorExit.SECOND, f"another supervisor runs here: {taken.detail}"
            )
        self.lease = taken
        try:
            started = fleet.FleetStarted(
                host=self.host,
                pid=self.pid,
                target=self.target,
                system=self.system,
                version=self.version,
                sandbox=self.sandbox,
            )
            yield from self._record_here(started)
            result = yield from self._tick_until_done()
            yield from self._record_here(fleet.FleetStopped(host=self.host, reason=result.text))
            yield from do(effects.ReleaseLease(lease=taken, reason=result.text))
        except Fenced as lost:  # another supervisor has taken over and records what follows
            return SupervisorResult(SupervisorExit.LOST, f"the supervisor lost its lease: {lost}")
        return result

    def _tick_until_done(self) -> Steps[SupervisorResult]:
        """Tick until the fleet ends. Only the first observation has to succeed.

        When git or the plans cannot be read later on, the supervisor warns once and tries again.
        """
        is_first = True
        warned = ""
        while True:
            try:
                result = yield from self._tick(is_first=is_first)
            except (GitFailed, BadInput) as error:
                if is_first:
                    raise
                if warned != str(error):
                    warned = str(error)
                    yield from do(Warn(text=f"{warned}; trying again"))
            else:
                if result:
                    return result
                is_first = False
                warned = ""
            yield from do(effects.Pause(seconds=self.tick_seconds))

    def _tick(self, *, is_first: bool) -> Steps[SupervisorResult | None]:
        """Observe the fleet and act on it once; the result, when the fleet has ended."""
        snapshot = yield from do(ObserveFleet(lease=self.lease, is_first=is_first))
        findings = snapshot.findings
        if findings and not findings.is_empty:
            found = limits.FleetFound(host=self.host, **structs.asdict(findings))
            yield from self._record_here(found)
        yield from self._raise_questions(snapshot)
        if result := self._result(snapshot):
            return result
        is_draining = snapshot.drain_requested
        target = 0 if is_draining else self.target
        plan = reconcile.plan(snapshot.lanes, target, self.policy, failing=snapshot.failing_lanes)
        yield from self._act(plan, snapshot)
        if is_draining:
            return None
        yield from self._warn_of_waits(plan, snapshot)
        if snapshot.baseline_to_check:
            yield from self._check_baseline(snapshot.baseline_to_check)
        return None

    def _result(self, snapshot: FleetSnapshot) -> SupervisorResult | None:
        """Return how the fleet ends with this tick; None while it does not."""
        if snapshot.drain_requested and not snapshot.busy:
            return SupervisorResult(SupervisorExit.DRAINED, "drained on request")
        if not (self.until_idle and snapshot.idle):
            return None
        if snapshot.unfinished:
            remaining = waiting.describe_remaining_units(snapshot.unfinished)
            return SupervisorResult(SupervisorExit.WORK_LEFT, remaining)
        return SupervisorResult(SupervisorExit.IDLE, "nothing is left to do")

    def _act(self, plan: reconcile.Plan, snapshot: FleetSnapshot) -> Steps[None]:
        """Carry out the plan: reap, flag, disable lanes and start workers, in that order."""
        reaped: set[str] = set()
        refused: set[str] = set()  # lanes whose holder was alive after all; the next tick decides
        for action in plan.actions:
            # A reap adds one event to the lane's spawn stream.
            version = snapshot.versions.get(action.lane, 0) + (action.lane in reaped)
            match action:
                case reconcile.Reap(lane=lane, reason=reason):
                    is_reaped = yield from self._reap(lane, reason, snapshot)
                    if is_reaped:
                        reaped.add(lane)
                    else:
                        refused.add(lane)
                case reconcile.Flag():
                    yield from self._flag(action, snapshot)
                case reconcile.GiveUp(question=question):
                    yield from self._give_up(question, version)
                case reconcile.Spawn(lane=lane) if lane not in refused:
                    yield from self._spawn(lane, version)

    def _warn_of_waits(self, plan: reconcile.Plan, snapshot: FleetSnapshot) -> Steps[None]:
        """Warn once of what all lanes wait for, when no worker runs and none is started.

        A tick that ended one of the waits says nothing: the next one observes what is left.
        """
        has_ended_waits = snapshot.expired or snapshot.settled or snapshot.new_logins
        has_reaped = any(isinstance(action, reconcile.Reap) for action in plan.actions)
        is_active = (
            snapshot.busy
            or has_ended_waits
            or has_reaped
            or snapshot.starts_soon
            or snapshot.baseline_to_check
            or plan.verdict.spawn
        )
        text = ""
        if not is_active:
            text = "; ".join(_lane_waits(plan, snapshot))
        if text and text != self._last_waits:
            yield from do(Warn(text=f"waiting: {text}"))
        self._last_waits = text

    def _check_baseline(self, begun: limits.BaselineStarted) -> Steps[None]:
        """Test the target branch before the first worker starts, and record the result."""
        stream = streams.baseline(self.host)
        yield from self._record(stream, begun)
        checked = yield from do(CheckBaseline(lease=self.lease))
        if checked:
            yield from self._record(stream, checked)

    def _raise_questions(self, snapshot: FleetSnapshot) -> Steps[None]:
        """Close the questions that need no answer any more, and ask the new ones."""
        for closing in snapshot.expired:
            yield from do(
                ExpireQuestion(question=closing.asked, choice=closing.choice, reason=closing.reason)
            )
        for question in snapshot.settled:
            yield from self._record_once(state.settle_entry(question))
        for limit in snapshot.new_logins:
            reason = f"{logins.program_name(limit.key.vendor)} logged in"
            yield from self._record_once(quota.lift_entry(limit, reason=reason))
        for fact in snapshot.warnings:
            yield from self._record_here(fact)
        for incident in snapshot.incidents:
            yield from do(incidents.record(incident))
            yield from self._ask(incidents.ask_about(incident))
        for new_question in snapshot.questions:
            yield from self._ask(new_question)

    def _flag(self, flag: reconcile.Flag, snapshot: FleetSnapshot) -> Steps[None]:
        """Record once that a run spins, and ask whether to stop it where the policy says so."""
        run = snapshot.runs.get(flag.lane)
        if run is None:
            return  # a person's lease or a manual loop, which `dos loop` and `dos watch` show
        lease = run.lease
        if flag.asks and not run.is_asked_about:
            # Asked before it is flagged: a run that is flagged is not asked about later.
            question = runs.Spinning.ask(
                lease.run_id,
                lease.lane,
                flag.reason,
                ordinal=run.ordinal,
                expires_ms=run.expires_ms,
            )
            yield from self._ask(question)
        if not run.is_flagged:
            flagged = limits.SpinFlagged(
                lane=lease.lane, run_id=lease.run_id, lease=lease.fence, reason=flag.reason
            )
            key = f"spinning/{lease.fence}.{run.ordinal}"
            yield from do(effects.Record(stream=streams.run(lease.run_id), fact=flagged, key=key))

    def _reap(self, lane: str, reason: str, snapshot: FleetSnapshot) -> Steps[bool]:
        """Revoke the lease of a dead worker; False when it was renewed since the snapshot."""
        lease = snapshot.leases[lane]
        is_revoked = yield from do(RevokeLease(lease=lease, reason=reason))
        if not is_revoked:
            return False
        fact = fleet.WorkerReaped(lane=lane, run_id=lease.run_id, lease=lease.fence, reason=reason)
        yield from self._record(streams.spawn(lane), fact)
        return True

    def _give_up(self, question: LaneFailed, version: int) -> Steps[None]:
        """Disable a lane until a person answers."""
        # Asked first: a lane that is disabled without a question would wait for ever.
        yield from self._ask(question)
        fact = fleet.LaneFailed(lane=question.lane, reason=question.reason)
        try:
            yield from self._record(streams.spawn(question.lane), fact, expect=version)
        except Conflict:
            return  # another supervisor was first, or a person has answered meanwhile

    def _spawn(self, lane: str, version: int) -> Steps[None]:
        """Start a worker, after its intent is recorded: of several supervisors one succeeds."""
        run_id = yield from do(MintRun(process=f"worker-{lane}"))
        intent = fleet.SpawnIntended(
            lane=lane,
            run_id=run_id,
            host=self.host,
            system=self.system,
            supervisor=self.lease.fence,
        )
        try:
            yield from self._record(streams.spawn(lane), intent, expect=version)
        except Conflict:
            return
        started = yield from do(SpawnWorker(lane=lane, run_id=run_id))
        if started is None:
            return  # it counts as a worker that died, so that another one is started later
        fact = fleet.WorkerSpawned(
            lane=lane,
            run_id=run_id,
            host=self.host,
            pid=started.pid,
            pid_started=started.started,
            system=self.system,
        )
        yield from self._record(streams.spawn(lane), fact)

    def _ask(self, question: AnyQuestion) -> Steps[None]:
        """Ask a person; a question that was asked before is not asked again."""
        entry = state.raise_entry(question)
        yield from do(effects.Record(stream=entry.stream, fact=entry.body, key=state.RAISED))

    def _record_here(self, fact: envelope.Fact) -> Steps[None]:
        """Record in the stream of this system's supervisors.

        Each system has its own: in a shared stream the store would refuse the supervisor with the
        older lease, which would then believe its lease lost.
        """
        yield from self._record(streams.system(self.system), fact, fence=self.lease.fence)

    def _record_once(self, entry: Entry) -> Steps[None]:
        """Record what several supervisors see at the same time; the first one writes it."""
        key = f"{entry.kind}/{entry.expect}"
        try:
            yield from do(
                effects.Record(stream=entry.stream, fact=entry.body, key=key, expect=entry.expect)
            )
        except Conflict:
            pass  # another supervisor was first

    def _record(
        self,
        stream: str,
        fact: envelope.Fact,
        *,
        fence: int | None = None,
        expect: int | None = None,
    ) -> Steps[None]:
        self._records += 1
        key = f"{fact.kind}/{self.lease.fence}.{self._records}"
        yield from do(effects.Record(stream=stream, fact=fact, key=key, fence=fence, expect=expect))


def _lane_waits(plan: reconcile.Plan, snapshot: FleetSnapshot) -> list[str]:
    """Return what each lane with work waits for, in words."""
    lanes = snapshot.waits.lanes
    texts = [f"{lane}: {waits[0]}" for lane, waits in lanes.items() if waits]
    for obstacle in plan.obstacles:
        if obstacle.lane in lanes:
            texts.append(f"{obstacle.lane}: {obstacle.reason}")
    return texts
