"""PID 1 of the fleet: look, plan, do, write down. Any tick may be the first one; a missed one changes nothing.

Like the worker it only yields effects. Workers outlive it: the next supervisor finds them by their leases.
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
from dos.journal.events import envelope, limits
from dos.journal.events import fleet as events
from dos.journal.store import Entry
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
    exit: SupervisorExit
    text: str


class Supervisor:
    def __init__(
        self,
        *,
        host: str,
        system: str,
        pid: int,
        target: int,
        tick_seconds: float,
        until_idle: bool,
        policy: SupervisePolicy = SupervisePolicy(),
        version: str = VERSION,
    ) -> None:
        self.host = host  # as people know it
        self.system = system  # as no other is called: two machines may have the same name
        self.pid = pid
        self.target = target
        self.tick_seconds = tick_seconds
        self.until_idle = until_idle
        self.policy = policy
        self.version = version  # workers of another one drain
        self.lease: Lease
        self._notes = 0
        self._told = ""  # what everything waited for, when that was last said

    def supervise(self) -> Steps[SupervisorResult]:
        """Runs until the fleet is drained, or idle where that is wanted."""
        lock = streams.supervisor(self.system)
        taken = yield from do(effects.TakeLease(lane=lock, run_id="", is_lock=True))
        if isinstance(taken, Refusal):
            return SupervisorResult(
                SupervisorExit.SECOND, f"another supervisor runs here: {taken.detail}"
            )
        self.lease = taken
        try:
            started = events.FleetStarted(
                host=self.host,
                pid=self.pid,
                target=self.target,
                system=self.system,
                version=self.version,
            )
            yield from self._say(started)
            ending = yield from self._ticks()
            yield from self._say(events.FleetStopped(host=self.host, reason=ending.text))
            yield from do(effects.ReleaseLease(lease=taken, reason=ending.text))
        except Fenced as lost:  # whoever takes it speaks for the fleet
            return SupervisorResult(SupervisorExit.LOST, f"the supervisor lost its lease: {lost}")
        return ending

    def _ticks(self) -> Steps[SupervisorResult]:
        """What cannot be looked at now is looked at in a while; only the first look has to succeed."""
        first, complaint = True, ""
        while True:
            try:
                ending = yield from self._tick(first=first)
            except (GitFailed, BadInput) as error:
                if first:
                    raise
                if complaint != str(error):
                    complaint = str(error)
                    yield from do(Warn(text=f"{complaint}; trying again"))
            else:
                if ending:
                    return ending
                first, complaint = False, ""
            yield from do(effects.Pause(seconds=self.tick_seconds))

    def _tick(self, *, first: bool) -> Steps[SupervisorResult | None]:
        """Look once and act on it; the ending, when the fleet has come to its end."""
        fleet = yield from do(ObserveFleet(lease=self.lease, is_first=first))
        if fleet.findings and not fleet.findings.is_empty:
            found = limits.FleetFound(host=self.host, **structs.asdict(fleet.findings))
            yield from self._say(found)
        yield from self._raise_questions(fleet)
        if fleet.drain_requested and not fleet.busy:
            return SupervisorResult(SupervisorExit.DRAINED, "drained on request")
        if self.until_idle and fleet.idle:
            if fleet.unfinished:
                return SupervisorResult(
                    SupervisorExit.WORK_LEFT, waiting.describe_remaining_units(fleet.unfinished)
                )
            return SupervisorResult(SupervisorExit.IDLE, "nothing is left to do")
        target = 0 if fleet.drain_requested else self.target
        plan = reconcile.plan(fleet.lanes, target, self.policy, failing=fleet.failing_lanes)
        yield from self._act(plan, fleet)
        if not fleet.drain_requested:
            yield from self._tell_of_waits(plan, fleet)
        if fleet.baseline_to_check and not fleet.drain_requested:
            yield from self._check_baseline(fleet.baseline_to_check)
        return None

    def _act(self, plan: reconcile.Plan, fleet: FleetSnapshot) -> Steps[None]:
        reaped: set[str] = set()
        refused: set[str] = (
            set()
        )  # their holders were not dead after all: the lanes are looked at again
        for action in plan.actions:
            match action:
                case reconcile.Reap(lane=lane, reason=reason):
                    is_dead = yield from self._reap(lane, reason, fleet)
                    (reaped if is_dead else refused).add(lane)
                case reconcile.Flag():
                    yield from self._flag(action, fleet)
                case reconcile.GiveUp(question=question, lane=lane):
                    yield from self._give_up(
                        question, fleet.versions.get(lane, 0) + (lane in reaped)
                    )
                case reconcile.Spawn(lane=lane) if lane not in refused:
                    # That its last worker was reaped is one more event of its stream.
                    yield from self._spawn(lane, fleet.versions.get(lane, 0) + (lane in reaped))

    def _tell_of_waits(self, plan: reconcile.Plan, fleet: FleetSnapshot) -> Steps[None]:
        """Said once, where nobody works and nobody is started: what everything waits for."""
        idles = not (
            fleet.busy or fleet.starts_soon or fleet.baseline_to_check or plan.verdict.spawn
        )
        lanes = [f"{lane}: {found[0]}" for lane, found in fleet.waits.lanes.items() if found]
        lanes += [
            f"{each.lane}: {each.reason}"
            for each in plan.obstacles
            if each.lane in fleet.waits.lanes
        ]
        told = "; ".join(lanes) if idles else ""
        if told and told != self._told:
            yield from do(Warn(text=f"waiting: {told}"))
        self._told = told

    def _check_baseline(self, begun: limits.BaselineStarted) -> Steps[None]:
        stream = streams.baseline(self.host)
        yield from self._note(stream, begun)
        checked = yield from do(CheckBaseline(lease=self.lease))
        if checked:
            yield from self._note(stream, checked)

    def _raise_questions(self, fleet: FleetSnapshot) -> Steps[None]:
        for closing in fleet.expired:
            yield from do(
                ExpireQuestion(question=closing.asked, choice=closing.choice, reason=closing.reason)
            )
        for asked in fleet.settled:
            yield from self._record_once(state.settle_entry(asked))
        for limit in fleet.new_logins:
            yield from self._record_once(
                quota.lift_entry(limit, reason=f"{logins.program_name(limit.key.vendor)} logged in")
            )
        for fact in fleet.warnings:
            yield from self._say(fact)
        for incident in fleet.incidents:
            yield from do(incidents.record(incident))
            yield from self._ask(incidents.ask_about(incident))
        for question in fleet.questions:
            yield from self._ask(question)

    def _flag(self, flag: reconcile.Flag, fleet: FleetSnapshot) -> Steps[None]:
        """Once for a run and each time that it spins; a halt is proposed where the policy says so."""
        run = fleet.runs.get(flag.lane)
        if run is None:
            return  # a person's lease, or a loop by hand: `dos loop` and `dos watch` tell of it
        lease = run.lease
        if flag.asks and not run.is_asked_about:
            # Asked first: a worker that is flagged and asked about is not looked at again.
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

    def _reap(self, lane: str, reason: str, fleet: FleetSnapshot) -> Steps[bool]:
        """Refused when the holder has moved since it was looked at: then it was not dead."""
        lease = fleet.leases[lane]
        if not (yield from do(RevokeLease(lease=lease, reason=reason))):
            return False
        fact = events.WorkerReaped(lane=lane, run_id=lease.run_id, lease=lease.fence, reason=reason)
        yield from self._note(streams.spawn(lane), fact)
        return True

    def _give_up(self, question: LaneFailed, version: int) -> Steps[None]:
        # Asked first: a lane that nobody is asked about would wait for ever.
        yield from self._ask(question)
        fact = events.LaneFailed(lane=question.lane, reason=question.reason)
        try:
            yield from self._note(streams.spawn(question.lane), fact, expect=version)
        except Conflict:
            return  # another host's supervisor was quicker, or a person who has answered meanwhile

    def _spawn(self, lane: str, version: int) -> Steps[None]:
        run_id = yield from do(MintRun(process=f"worker-{lane}"))
        intent = events.SpawnIntended(
            lane=lane,
            run_id=run_id,
            host=self.host,
            system=self.system,
            supervisor=self.lease.fence,
        )
        try:
            yield from self._note(streams.spawn(lane), intent, expect=version)
        except Conflict:
            return  # another host's supervisor was quicker
        started = yield from do(SpawnWorker(lane=lane, run_id=run_id))
        if started is None:
            return  # it counts as one that died; when it does not show up, another is started
        fact = events.WorkerSpawned(
            lane=lane,
            run_id=run_id,
            host=self.host,
            pid=started.pid,
            pid_started=started.started,
            system=self.system,
        )
        yield from self._note(streams.spawn(lane), fact)

    def _ask(self, question: AnyQuestion) -> Steps[None]:
        entry = state.raise_entry(question)
        yield from do(effects.Record(stream=entry.stream, fact=entry.body, key=state.RAISED))

    def _say(self, fact: envelope.Fact) -> Steps[None]:
        """In the stream of this system's supervisors alone. Of two that wrote to one stream, each under the fence of
        its own lease, the store would refuse the one whose lease is older, and that one would take itself for lost."""
        yield from self._note(streams.system(self.system), fact, fence=self.lease.fence)

    def _record_once(self, entry: Entry) -> Steps[None]:
        """What several supervisors see at the same time, one of them writes down."""
        key = f"{entry.kind}/{entry.expect}"
        try:
            yield from do(
                effects.Record(stream=entry.stream, fact=entry.body, key=key, expect=entry.expect)
            )
        except Conflict:
            pass  # another was quicker

    def _note(
        self,
        stream: str,
        fact: envelope.Fact,
        *,
        fence: int | None = None,
        expect: int | None = None,
    ) -> Steps[None]:
        self._notes += 1
        key = f"{fact.kind}/{self.lease.fence}.{self._notes}"
        yield from do(effects.Record(stream=stream, fact=fact, key=key, fence=fence, expect=expect))
