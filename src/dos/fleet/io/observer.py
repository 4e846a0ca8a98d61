"""Looks at a fleet: the journal, git, the plans, the settings and the processes of this system, as one value.

A supervisor looks before every tick, a verb once. Both see the same: nothing is decided here, and nothing is written.
"""

import time
from collections.abc import Callable

from msgspec import structs

from dos.agents.adapter import Ending
from dos.agents.io import candidates
from dos.approval.io.plans import PlanTexts
from dos.approval.io.settings import SettingsText
from dos.backlog.attempts import Attempts
from dos.backlog.io import survey
from dos.backlog.io.target import TargetState
from dos.baseline import gate
from dos.baseline.gate import Baselines, check_questions
from dos.baseline.io.check import BaselineCommands
from dos.config.schema import Config
from dos.fleet import lane_entries
from dos.fleet.choose_agent import lanes_without_agent
from dos.fleet.effects import Backlog, CannotStart
from dos.fleet.io import launches
from dos.fleet.lane_entries import LaneHolders
from dos.fleet.observation import Observation
from dos.fleet.population.lease_health import LeaseHealth, lease_health
from dos.fleet.state.fleet import FleetState
from dos.fleet.state.live import LiveState
from dos.journal import fold, streams
from dos.journal.store import Store
from dos.landing.target import TargetView
from dos.lease import Lease
from dos.limits import quota
from dos.limits.quota import AgentCandidate, Limit
from dos.limits.state.quota import ProviderLimits
from dos.limits.state.spend import Spend
from dos.loop.io import liveness as progress
from dos.loop.verdicts.liveness import Answer
from dos.machine import process
from dos.questions.state import Decisions
from dos.units.unit import Unit
from dos.workspace import Workspace

STATES = (
    FleetState,
    ProviderLimits,
    Spend,
    Decisions,
    Baselines,
    Attempts,
    LiveState,
)  # that its watch folds


class FleetObserver:
    def __init__(
        self,
        workspace: Workspace,
        config: Config,
        store: Store,
        watch: fold.Watch,
        *,
        plan_texts: PlanTexts,
        settings: SettingsText,
        on_target: TargetState,
        target: TargetView,
        branch: Callable[[], str],
        commit: Callable[[], str],
        baseline: BaselineCommands,
        liveness_seconds: float = 0.0,
    ) -> None:
        """`commit` is that which the branch is at, or was a short while ago. How workers progress is read from git, and
        not more often than every `liveness_seconds`."""
        self.workspace = workspace
        self.config = config
        self.store = store
        self.watch = watch
        self.plan_texts = plan_texts
        self.settings = settings
        self.on_target = on_target
        self.baseline = baseline
        self._target = target
        self._branch = branch
        self._commit = commit
        self._liveness_seconds = liveness_seconds
        self._looked_at = -liveness_seconds
        self._progress: dict[int, LeaseHealth] = {}  # by fence

    def observe(
        self, *, now_ms: int | None = None, on_answers: Callable[[Decisions], None] | None = None
    ) -> Observation:
        """As of now, or as if it were `now_ms`; whether a process runs is always told as it is now.

        `heed` is called with the answers that people gave, before anything else is looked at.
        """
        live, over = self._leases(now_ms)
        leases = lane_entries.leases_by_lane(self.config, live)
        state, answers = self.watch.state(FleetState), self.watch.state(Decisions)
        if on_answers:
            on_answers(answers)
        # Of the clock that wrote the times in the journal: this host's may be another.
        now_ms = self.store.now_ms() if now_ms is None else now_ms
        self.settings.effective_text(self.store, answers)  # so that it knows what is on disk
        units = self.plan_texts.units(self.store, answers)
        runs = {lease.run_id for lease in live} - {""}
        on_target = state
        if units:
            on_target = self.on_target.correct_fleet(
                state, units, self._target, self._branch(), answers, runs
            )
        backlogs = self._backlogs(units, on_target, answers, leases, now_ms)
        agents, watching = self._agents(units), self.watch.state(LiveState)
        return Observation(
            config=self.config,
            state=state,
            on_target=on_target,
            units=units,
            unapproved=self.plan_texts.unapproved,
            target_problem=self.on_target.read_error if units else "",
            answers=answers,
            leases=leases,
            holders=self._staff(live, over, state, now_ms),
            parked={
                run_id: parked
                for run_id, run in watching.runs.items()
                if (parked := run.parked or run.provider)
            },
            pauses=watching.pauses,
            backlogs=backlogs,
            cannot_start=self._roomless(backlogs, leases, now_ms) if agents else {},
            limits=self.watch.state(ProviderLimits).limits,
            agents=agents,
            new_logins=self._logged_in(units),
            changed_texts=[*self.settings.questions(answers), *self.plan_texts.questions(answers)],
            where=self.settings.where,
            now_ms=now_ms,
            is_gone=process.holder_has_exited,
            baseline=self._baseline_plan(state, answers)
            if agents
            else gate.Plan(step=gate.Step.CLEAR),
            has_no_plans=not units,
        )

    def _backlogs(
        self,
        units: list[Unit],
        state: FleetState,
        answers: Decisions,
        leases: dict[str, Lease],
        now_ms: int,
    ) -> dict[str, Backlog]:
        by_lane: dict[str, list[Unit]] = {name: [] for name in self.config.roster()}
        for unit in units:
            by_lane.setdefault(lane_entries.lane_of(unit, self.config) or "", []).append(unit)
        tried = self.watch.state(Attempts)
        found = {}
        for lane in self.config.roster():
            others = {lease.run_id for name, lease in leases.items() if name != lane} - {""}
            found[lane] = survey.survey(
                by_lane[lane],
                self.config,
                state,
                lane,
                others,
                tried=tried,
                now_ms=now_ms,
                answers=answers,
            )
        return found

    # Who may be started

    def _agents(self, units: list[Unit]) -> list[AgentCandidate]:
        """Empty where none is configured: whoever works here starts agents of their own."""
        if not self.config.named_agents():
            return []
        return [each.candidate for each in candidates.agents_in_use(self.config, units)]

    def _roomless(
        self, backlogs: dict[str, Backlog], leases: dict[str, Lease], now_ms: int
    ) -> dict[str, CannotStart]:
        asked_for = {
            lane: [
                self._candidates(lane, agent)
                for agent in dict.fromkeys(unit.agent for unit in found.open)
            ]
            for lane, found in backlogs.items()
            if found.open and lane not in leases
        }
        state, spend = self.watch.state(FleetState), self.watch.state(Spend)
        return lanes_without_agent(
            self.config, asked_for, self.watch.state(ProviderLimits), spend, state, now_ms=now_ms
        )

    def _candidates(self, lane: str, unit_agent: str) -> list[AgentCandidate]:
        return [
            each.candidate for each in candidates.configured_agents(self.config, lane, unit_agent)
        ]

    def _logged_in(self, units: list[Unit]) -> list[Limit]:
        """What nobody was logged in for, and whose credentials have changed here since."""
        if not self.config.named_agents():
            return []
        limits = self.watch.state(ProviderLimits).limits
        found = {}
        for employed in candidates.agents_in_use(self.config, units):
            for limit in quota.limits_met_by(limits, [employed.candidate]):
                if limit.ending == Ending.AUTH and candidates.credentials_renewed(
                    limit.login, employed.credentials()
                ):
                    found[limit.key.path] = limit
        return list(found.values())

    def _baseline_plan(self, state: FleetState, answers: Decisions) -> gate.Plan:
        commit = self._commit()
        if not commit or not self.baseline.is_enabled:
            return gate.Plan(step=gate.Step.CLEAR)
        known, host = self.watch.state(Baselines), process.host()
        return gate.plan(
            self.baseline.subject(commit),
            known.by_subject(),
            check_questions(answers),
            newest=known.newest(host, self.baseline.commands),
            started_ms=state.started_ms,
            cleared=self._has_started(state, host),
        )

    def _has_started(self, state: FleetState, host: str) -> bool:
        """The supervisor that runs here has started workers: what lands from then on is tested by itself."""
        name = streams.supervisor(process.system())
        since_ms = next((lock.granted_ms for lock in self.watch.locks if lock.lane == name), None)
        if since_ms is None:
            return False
        return any(
            starts.host == host and starts.at_ms >= since_ms for starts in state.starts.values()
        )

    # Who works

    def _leases(self, now_ms: int | None) -> tuple[list[Lease], list[Lease]]:
        """Those whose time is not over at the moment, and those whose is."""
        live, over = self.watch.refresh(), self.watch.lapsed
        if now_ms is None:
            return live, over
        with self.store.backend.read() as view:
            moment = progress.StoreClock(view, now_ms)
        held = [*live, *over]
        over = [lease for lease in held if lease.has_lapsed(moment.lease_ms, moment.boot)]
        return [lease for lease in held if lease not in over], over

    def _staff(
        self, live: list[Lease], over: list[Lease], state: FleetState, now_ms: int
    ) -> LaneHolders:
        """The leases that count: one whose time is over while its process is there is left to whoever is first."""
        dead = [lease for lease in over if process.holder_is_running(lease) is not True]
        self._read_progress(live, now_ms)
        stands = {lease.fence: self._stands(lease, state) for lease in live}
        stands |= {
            lease.fence: LeaseHealth(answer=Answer.STALLED, why="its lease is over")
            for lease in dead
        }
        launched = launches.lanes_awaiting_worker(state, self.workspace.state, now_ms)
        return LaneHolders(leases=[*live, *dead], health=stands, launched=launched)

    def _read_progress(self, live: list[Lease], now_ms: int) -> None:
        if not live or time.monotonic() - self._looked_at < self._liveness_seconds:
            return
        self._looked_at = time.monotonic()
        policy = self.config.liveness
        found = progress.lease_evidence(self.store, self.workspace, live, now_ms=now_ms)
        # Whether its time is over is known of each look: one that was late for a moment is renewed before the next.
        in_time = {fence: structs.replace(each, lapsed=False) for fence, each in found.items()}
        self._progress = {fence: lease_health(each, policy) for fence, each in in_time.items()}

    def _stands(self, lease: Lease, state: FleetState) -> LeaseHealth:
        """By the last look at git; but whether its process is there, by the system now."""
        if process.holder_has_exited(lease):
            return LeaseHealth(answer=Answer.STALLED, why="its process is gone")
        found = self._progress.get(lease.fence, LeaseHealth(answer=Answer.ADVANCING))
        run = state.runs.get(lease.run_id)
        has_reason = run is not None and run.parked
        is_spinning = found.answer is Answer.SPINNING
        return LeaseHealth(answer=Answer.ADVANCING) if is_spinning and has_reason else found
