"""Observes a fleet: the journal, git, the plans, the settings and the processes of this system.

A supervisor observes before every tick, a verb once, and both see the same. Nothing is decided
here, and nothing is written.
"""

import time
from collections.abc import Callable

from msgspec import Struct, structs

from dos.agents.adapter import Ending
from dos.agents.io import candidates
from dos.approval.io.documents import PlanTexts, SettingsText
from dos.backlog.attempts import Attempts
from dos.backlog.io import survey
from dos.backlog.io.target import TargetState
from dos.baseline import gate
from dos.baseline.gate import Baselines, check_questions
from dos.baseline.io.check import BaselineCommands
from dos.config.schema import Config
from dos.fleet import worker_health
from dos.fleet.choose_agent import lanes_without_agent
from dos.fleet.effects import Backlog, CannotStart
from dos.fleet.io import launches
from dos.fleet.observation import Observation
from dos.fleet.state.fleet import FleetState
from dos.fleet.state.live import LiveState, Parked
from dos.fleet.worker_health import EXITED, EXPIRED, LaneHolders, LeaseHealth, lease_health
from dos.journal import fold, streams
from dos.journal.store import Store
from dos.landing.target import TargetView
from dos.lease import Lease
from dos.limits import quota
from dos.limits.quota import AgentCandidate, Limit
from dos.limits.state.quota import ProviderLimits
from dos.limits.state.spend import FleetSpend
from dos.loop.io.liveness import StoreClock, lease_evidence
from dos.loop.verdicts.liveness import Answer
from dos.machine import process
from dos.questions.state import Decisions
from dos.units.unit import Unit
from dos.workspace import Workspace

# The states that the watch of an observer has to fold.
STATES = (FleetState, ProviderLimits, FleetSpend, Decisions, Baselines, Attempts, LiveState)


class Sources(Struct, frozen=True, kw_only=True):
    """What an observer reads.

    A supervisor and a read-only verb differ in their sources only: a supervisor fetches from the
    remote and owns its watch, a verb takes what was fetched last.
    """

    workspace: Workspace
    config: Config
    store: Store
    watch: fold.Watch
    plan_texts: PlanTexts
    settings: SettingsText
    on_target: TargetState
    target: TargetView
    branch: Callable[[], str]  # the target branch
    commit: Callable[[], str]  # the commit that the branch is at, or was a short while ago


class FleetObserver:
    """Reads the sources and returns what they say as one `Observation`.

    What is expensive is kept from one look to the next: folded states, and the progress of workers
    as git shows it.
    """

    def __init__(
        self, sources: Sources, baseline: BaselineCommands, *, liveness_seconds: float = 0.0
    ) -> None:
        """Read the progress of workers from git at most every `liveness_seconds`."""
        self.workspace = sources.workspace
        self.config = sources.config
        self.store = sources.store
        self.watch = sources.watch
        self.plan_texts = sources.plan_texts
        self.settings = sources.settings
        self.on_target = sources.on_target
        self.baseline = baseline
        self._target = sources.target
        self._branch = sources.branch
        self._commit = sources.commit
        self._liveness_seconds = liveness_seconds
        self._progress_read_at = -liveness_seconds
        self._progress: dict[int, LeaseHealth] = {}  # by fence

    def observe(
        self, *, now_ms: int | None = None, on_answers: Callable[[Decisions], None] | None = None
    ) -> Observation:
        """Observe the fleet now, or as if it were `now_ms`; processes are always looked at now.

        `on_answers` is called with the answers of people before anything else is read.
        """
        live, lapsed = self._leases(now_ms)
        state = self.watch.state(FleetState)
        answers = self.watch.state(Decisions)
        if on_answers:
            on_answers(answers)
        if now_ms is None:
            # The clock that wrote the times in the journal; this host's may differ.
            now_ms = self.store.now_ms()
        self.settings.effective_text(self.store, answers)  # reads what is on disk
        units = self.plan_texts.units(self.store, answers)
        runs = {lease.run_id for lease in live} - {""}
        on_target = state
        if units:
            on_target = self.on_target.correct_fleet(
                state, units, self._target, self._branch(), answers, runs
            )
        config = self._config_with_parts(units, on_target)
        leases = worker_health.leases_by_lane(config, live)
        backlogs = self._backlogs(config, units, on_target, answers, leases, now_ms)
        live_state = self.watch.state(LiveState)
        agents = self._agents(units)
        cannot_start: dict[str, CannotStart] = {}
        baseline = gate.Plan(step=gate.Step.CLEAR)
        holders = self._holders(live, lapsed, state, now_ms)
        if agents:
            cannot_start = self._lanes_without_agent(backlogs, leases, now_ms)
            baseline = self._baseline_plan(state, answers)
        new_logins = self._new_logins(units)
        changed_texts = [*self.settings.questions(answers), *self.plan_texts.questions(answers)]
        return Observation(
            config=config,
            state=state,
            on_target=on_target,
            units=units,
            unapproved=self.plan_texts.unapproved,
            target_problem=self.on_target.read_error if units else "",
            answers=answers,
            leases=leases,
            holders=holders,
            parked=_parked_runs(live_state),
            pauses=live_state.pauses,
            backlogs=backlogs,
            cannot_start=cannot_start,
            limits=self.watch.state(ProviderLimits).limits,
            agents=agents,
            new_logins=new_logins,
            changed_texts=changed_texts,
            where=self.settings.where,
            now_ms=now_ms,
            is_gone=process.holder_has_exited,
            baseline=baseline,
            has_no_plans=not units,
        )

    def _config_with_parts(self, units: list[Unit], state: FleetState) -> Config:
        """Return the settings with the parts of repeatable lanes that workers are placed on."""
        landed = {name for name, unit in state.units.items() if unit.landed}
        return worker_health.with_parts(self.config, units, landed)

    def _backlogs(
        self,
        config: Config,
        units: list[Unit],
        state: FleetState,
        answers: Decisions,
        leases: dict[str, Lease],
        now_ms: int,
    ) -> dict[str, Backlog]:
        """Return the backlog of each lane of the roster. A unit without a lane is in none."""
        units_by_lane: dict[str, list[Unit]] = {name: [] for name in config.roster()}
        for unit in units:
            lane = worker_health.lane_of(unit, config) or ""
            units_by_lane.setdefault(lane, []).append(unit)
        attempts = self.watch.state(Attempts)
        backlogs = {}
        for lane in config.roster():
            others = {lease.run_id for name, lease in leases.items() if name != lane} - {""}
            backlogs[lane] = survey.survey(
                units_by_lane[lane],
                config,
                state,
                lane,
                others,
                tried=attempts,
                now_ms=now_ms,
                answers=answers,
            )
        return backlogs

    # Agents that may start

    def _agents(self, units: list[Unit]) -> list[AgentCandidate]:
        """Return the agents that the lanes may use; empty where workers bring their own."""
        if not self.config.named_agents():
            return []
        return [agent.candidate for agent in candidates.agents_in_use(self.config, units)]

    def _lanes_without_agent(
        self, backlogs: dict[str, Backlog], leases: dict[str, Lease], now_ms: int
    ) -> dict[str, CannotStart]:
        """Return the lanes with work, and without a worker, on which no agent may start."""
        agents: dict[str, list[list[AgentCandidate]]] = {}
        for lane, backlog in backlogs.items():
            if not backlog.open or lane in leases:
                continue
            names = dict.fromkeys(unit.agent for unit in backlog.open)
            agents[lane] = [self._candidates(lane, name) for name in names]
        return lanes_without_agent(
            self.config,
            agents,
            self.watch.state(ProviderLimits),
            self.watch.state(FleetSpend),
            self.watch.state(FleetState),
            now_ms=now_ms,
        )

    def _candidates(self, lane: str, unit_agent: str) -> list[AgentCandidate]:
        """Return the agents of a lane for a unit that asks for one, the preferred one first."""
        configured = candidates.configured_agents(self.config, lane, unit_agent)
        return [agent.candidate for agent in configured]

    def _new_logins(self, units: list[Unit]) -> list[Limit]:
        """Return the login limits whose credentials have changed on this host since."""
        if not self.config.named_agents():
            return []
        limits = self.watch.state(ProviderLimits).limits
        renewed: dict[str, Limit] = {}
        for agent in candidates.agents_in_use(self.config, units):
            for limit in quota.limits_met_by(limits, [agent.candidate]):
                if limit.ending != Ending.AUTH:
                    continue
                if candidates.credentials_renewed(limit.login, agent.credentials()):
                    renewed[limit.key.path] = limit
        return list(renewed.values())

    def _baseline_plan(self, state: FleetState, answers: Decisions) -> gate.Plan:
        """Return whether the test of the target branch has to run before a worker starts here."""
        commit = self._commit()
        if not commit or not self.baseline.is_enabled:
            return gate.Plan(step=gate.Step.CLEAR)
        baselines = self.watch.state(Baselines)
        host = process.host()
        return gate.plan(
            self.baseline.subject(commit),
            baselines.by_subject(),
            check_questions(answers),
            newest=baselines.newest(host, self.baseline.commands),
            started_ms=state.started_ms,
            cleared=self._has_started(state, host),
        )

    def _has_started(self, state: FleetState, host: str) -> bool:
        """Whether the supervisor that runs here has started workers.

        From then on every landing is tested, so that the baseline needs no other check.
        """
        lock_name = streams.supervisor(process.system())
        locks = [lock for lock in self.watch.locks if lock.lane == lock_name]
        if not locks:
            return False
        since_ms = locks[0].granted_ms
        return any(
            starts.host == host and starts.at_ms >= since_ms for starts in state.starts.values()
        )

    # Workers

    def _leases(self, now_ms: int | None) -> tuple[list[Lease], list[Lease]]:
        """Return the leases that have not expired at the moment, and those that have."""
        live = self.watch.refresh()
        lapsed = self.watch.lapsed
        if now_ms is None:
            return live, lapsed
        with self.store.backend.read() as view:
            clock = StoreClock(view, now_ms)
        held = [*live, *lapsed]
        lapsed = [lease for lease in held if lease.has_lapsed(clock.lease_ms, clock.boot)]
        return [lease for lease in held if lease not in lapsed], lapsed

    def _holders(
        self, live: list[Lease], lapsed: list[Lease], state: FleetState, now_ms: int
    ) -> LaneHolders:
        """Return the leases that count, with the health of each.

        An expired lease whose process still runs does not count: the next worker may take it.
        Where nobody reaps, no expired lease counts, because it would block its lane for ever.
        """
        dead: list[Lease] = []
        if self.config.supervise.reap_stalled:
            dead = [lease for lease in lapsed if process.holder_is_running(lease) is not True]
        self._read_progress(live, now_ms)
        health = {lease.fence: self._health(lease, state) for lease in live}
        health |= {lease.fence: EXPIRED for lease in dead}
        launched = launches.lanes_awaiting_worker(state, self.workspace.state, now_ms)
        return LaneHolders(leases=[*live, *dead], health=health, launched=launched)

    def _read_progress(self, live: list[Lease], now_ms: int) -> None:
        """Read from git how far the holders came, unless that was done a short while ago."""
        if not live or time.monotonic() - self._progress_read_at < self._liveness_seconds:
            return
        self._progress_read_at = time.monotonic()
        policy = self.config.liveness
        found = lease_evidence(self.store, self.workspace, live, now_ms=now_ms)
        self._progress = {}
        for fence, evidence in found.items():
            # Whether a lease has expired is read at each look: it may be renewed before the next.
            in_time = structs.replace(evidence, lapsed=False)
            self._progress[fence] = lease_health(in_time, policy)

    def _health(self, lease: Lease, state: FleetState) -> LeaseHealth:
        """Return the health by the last look at git, and by whether its process runs now."""
        if process.holder_has_exited(lease):
            return EXITED
        advancing = LeaseHealth(answer=Answer.ADVANCING)
        health = self._progress.get(lease.fence, advancing)
        run = state.runs.get(lease.run_id)
        is_parked = run is not None and run.parked
        if health.answer is Answer.SPINNING and is_parked:
            return advancing  # it waits, and its reason is recorded
        return health


def _parked_runs(state: LiveState) -> dict[str, Parked]:
    """Return what each run, or its agent, waits for."""
    parked = {run_id: run.parked or run.provider for run_id, run in state.runs.items()}
    return {run_id: reason for run_id, reason in parked.items() if reason}
