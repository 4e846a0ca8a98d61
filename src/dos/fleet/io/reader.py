"""The fleet for read-only verbs: what a supervisor would see and do now, and what all wait for.

`dos loop`, `dos status`, `dos top` and the questions read it, by the same code as a supervisor, so
that none of them contradicts what `dos up` does next.
"""

from functools import cached_property

from msgspec import Struct, structs

from dos.approval.io.documents import PlanTexts, SettingsText
from dos.backlog.io.target import TargetState
from dos.backlog.waiting import FleetWaits, Waiting, WaitsOn
from dos.baseline.io.check import BaselineCommands
from dos.errors import BadInput, DosError, GitFailed, StoreFailed
from dos.fleet import observe, waits, worker_health
from dos.fleet.io import launches
from dos.fleet.io.observer import STATES, FleetObserver, Sources
from dos.fleet.observation import Observation
from dos.fleet.population import reconcile
from dos.fleet.population.supervise import supervise
from dos.fleet.population.types import SuperviseEvidence, SupervisePolicy, SuperviseVerdict
from dos.fleet.worker_health import LaneHolders
from dos.git.repository import Reader
from dos.journal import fold
from dos.landing.target import LastFetchedTarget
from dos.unknown import Unknown
from dos.world import World


class Outlook(Struct, frozen=True, kw_only=True):
    """The fleet as it is now, the plan for it, and what lanes and units wait for."""

    observation: Observation
    plan: reconcile.Plan
    waits: FleetWaits

    @property
    def handles(self) -> dict[str, str]:
        """What would have to be stopped on each held lane: a run, a process or a holder."""
        leases = self.observation.holders.leases
        held = worker_health.leases_by_lane(self.observation.config, leases)
        return {
            lane: lease.run_id or str(lease.pid or lease.holder) for lane, lease in held.items()
        }


def plan(
    world: World, policy: SupervisePolicy, *, now_ms: int | None = None
) -> tuple[SuperviseVerdict, dict[str, str]]:
    """Return the population plan, and what would have to be stopped on each lane.

    When the journal or git cannot be read, every lane counts as held.
    """
    try:
        outlook = FleetReader(world).outlook(policy, now_ms=now_ms)
    except (StoreFailed, GitFailed) as error:
        lanes = worker_health.unreadable_entries(world.config, error)
        return supervise(SuperviseEvidence(lanes=lanes, target=policy.target), policy), {}
    return outlook.plan.verdict, outlook.handles


class FleetReader:
    """Reads the fleet of a world; the second look reads only what is new."""

    def __init__(self, world: World, *, liveness_seconds: float = 0.0) -> None:
        """Read the progress of workers from git at most every `liveness_seconds`."""
        self._world = world
        self._liveness_seconds = liveness_seconds

    def observe(self) -> Observation:
        """Return what the journal, git, the plans and the system say now."""
        return self._observer.observe()

    def outlook(
        self, policy: SupervisePolicy | None = None, *, now_ms: int | None = None
    ) -> Outlook:
        """Return the fleet as it is now, or as if it were `now_ms`, and the plan for it."""
        policy = policy or self._world.config.supervise.policy()
        repeats = policy.max_concurrency is not None
        observation = self._observer.observe(now_ms=now_ms)
        if repeats:
            observation = structs.replace(observation, holders=self._with_launches(observation))
        own = waits.own_waits(observation)
        lanes = observe.entries(observation, own, repeats=repeats)
        failing = observe.failing_lanes(observation, own)
        plan = reconcile.plan(lanes, policy.target, policy, failing=failing)
        all_waits = waits.with_obstacles(observation, own, plan.obstacles)
        return Outlook(observation=observation, plan=plan, waits=all_waits)

    def waits(self, *, now_ms: int | None = None) -> FleetWaits:
        """Return what lanes and units wait for.

        When that cannot be read, every lane waits for the problem. With errors in dos.toml the
        lanes are not known, and outside of git there are no workers: then nothing is returned.
        """
        waits, _ = self.waits_and_observation(now_ms=now_ms)
        return waits

    def waits_and_observation(
        self, *, now_ms: int | None = None
    ) -> tuple[FleetWaits, Observation | Unknown]:
        """Return what lanes and units wait for, and the observation behind it, or why not."""
        if self._world.loaded_config.problems:
            return FleetWaits(), Unknown("dos.toml has errors")
        if self._world.workspace.common is None:
            return FleetWaits(), Unknown(f"{self._world.workspace.root} is in no git repository")
        try:
            outlook = self.outlook(now_ms=now_ms)
            return outlook.waits, outlook.observation
        except BadInput as error:
            return self._all_wait(WaitsOn.PLAN_PROBLEM, error), Unknown(error.message)
        except GitFailed as error:
            return self._all_wait(WaitsOn.UNKNOWN, error), Unknown(error.message)
        except StoreFailed as error:
            return self._all_wait(WaitsOn.JOURNAL_AWAY, error), Unknown(error.message)

    def _all_wait(self, on: WaitsOn, error: DosError) -> FleetWaits:
        """Return that every lane waits for the same problem; of units nothing is known then."""
        lanes = self._world.config.roster()
        return FleetWaits(
            lanes={lane: (Waiting(on=on, subject=lane, why=error.message),) for lane in lanes}
        )

    def _with_launches(self, observation: Observation) -> LaneHolders:
        """Return the holders, with the number of launches under names that repeat."""
        holders = observation.holders
        names = worker_health.repeatable_lanes(observation.config)
        with self._world.journal.backend.read() as view:
            launched = launches.count_launches(view, names, holders.leases, observation.now_ms)
        others = {lane: count for lane, count in holders.launched.items() if lane not in names}
        return structs.replace(holders, launched=others | launched)

    @cached_property
    def _observer(self) -> FleetObserver:
        """The observer, which is made at first use: a journal that is away raises only then."""
        world = self._world
        workspace = world.workspace
        config = world.config
        git = Reader(workspace.root)
        fetched = LastFetchedTarget(git, config.workers.remote)

        def branch() -> str:
            return git.target_branch(config.workers.target_branch)

        def commit() -> str:
            return fetched.newest(branch()) or ""

        is_watched = config.workers.isolation != "shared"
        sources = Sources(
            workspace=workspace,
            config=config,
            store=world.journal,
            watch=fold.Watch(world.journal, *STATES),
            plan_texts=PlanTexts.for_checkout(workspace, config, git, commit),
            settings=SettingsText.for_checkout(workspace, git, commit, journal=config.store.url),
            on_target=TargetState(workspace, config, is_watched=is_watched),
            target=fetched,
            branch=branch,
            commit=commit,
        )
        baseline = BaselineCommands(config, git)
        return FleetObserver(sources, baseline, liveness_seconds=self._liveness_seconds)
