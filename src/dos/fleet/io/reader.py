"""The fleet for verbs that only look: what a supervisor would see and do now, and what everything waits for."""

from functools import cached_property

from msgspec import Struct, structs

from dos.approval.io.plans import PlanTexts
from dos.approval.io.settings import SettingsText
from dos.backlog.io.target import TargetState
from dos.backlog.waiting import FleetWaits, Waiting, WaitsOn
from dos.baseline.io.check import BaselineCommands
from dos.errors import BadInput, DosError, GitFailed, StoreFailed
from dos.fleet import lane_entries, observe, waits
from dos.fleet.io import launches
from dos.fleet.io.observer import STATES, FleetObserver
from dos.fleet.lane_entries import LaneHolders
from dos.fleet.observation import Observation
from dos.fleet.population import reconcile
from dos.fleet.population.supervise import supervise
from dos.fleet.population.types import SuperviseEvidence, SupervisePolicy, SuperviseVerdict
from dos.git import target as target_branch
from dos.git.repository import Reader
from dos.journal import fold
from dos.landing.target import LastFetchedTarget
from dos.world import World


class Outlook(Struct, frozen=True, kw_only=True):
    """The fleet as it is seen now, the plan for it, and what everything waits for."""

    observation: Observation
    plan: reconcile.Plan
    waits: FleetWaits

    @property
    def handles(self) -> dict[str, str]:
        """What would have to be stopped on each lane that somebody holds."""
        held = lane_entries.leases_by_lane(self.observation.config, self.observation.holders.leases)
        return {
            lane: lease.run_id or str(lease.pid or lease.holder) for lane, lease in held.items()
        }


def plan(
    world: World, policy: SupervisePolicy, *, now_ms: int | None = None
) -> tuple[SuperviseVerdict, dict[str, str]]:
    """The population plan, and what would have to be stopped on each lane. What cannot be read is held."""
    try:
        found = FleetReader(world).outlook(policy, now_ms=now_ms)
    except (StoreFailed, GitFailed) as error:
        lanes = lane_entries.unreadable_entries(world.config, error)
        return supervise(SuperviseEvidence(lanes=lanes, target=policy.target), policy), {}
    return found.plan.verdict, found.handles


class FleetReader:
    """Over a world; whoever looks again and again reads only what is new."""

    def __init__(self, world: World, *, liveness_seconds: float = 0.0) -> None:
        """How workers progress is read from git not more often than every `liveness_seconds`."""
        self._world = world
        self._liveness_seconds = liveness_seconds

    def observe(self) -> Observation:
        return self._observer.observe()

    def outlook(
        self, policy: SupervisePolicy | None = None, *, now_ms: int | None = None
    ) -> Outlook:
        policy = policy or self._world.config.supervise.policy()
        repeats = policy.max_concurrency is not None
        seen = self._observer.observe(now_ms=now_ms)
        if repeats:
            seen = structs.replace(seen, holders=self._with_launches(seen))
        own = waits.own_waits(seen)
        lanes = observe.entries(seen, own, repeats=repeats)
        plan = reconcile.plan(
            lanes, policy.target, policy, failing=observe.failing_lanes(seen, own)
        )
        return Outlook(
            observation=seen, plan=plan, waits=waits.with_obstacles(seen, own, plan.obstacles)
        )

    def waits(self, *, now_ms: int | None = None) -> FleetWaits:
        """What lanes and units wait for; where that cannot be told, each lane with why not.

        Of a dos.toml with errors nobody knows the lanes, and outside of git nobody works: then nothing is said.
        """
        if self._world.loaded_config.problems or self._world.workspace.common is None:
            return FleetWaits()
        try:
            return self.outlook(now_ms=now_ms).waits
        except BadInput as error:
            return self._unknown(WaitsOn.PLAN_PROBLEM, error)
        except GitFailed as error:
            return self._unknown(WaitsOn.UNKNOWN, error)
        except StoreFailed as error:
            return self._unknown(WaitsOn.JOURNAL_AWAY, error)

    def _unknown(self, on: WaitsOn, error: DosError) -> FleetWaits:
        lanes = self._world.config.roster()
        return FleetWaits(
            lanes={lane: (Waiting(on=on, subject=lane, why=error.message),) for lane in lanes}
        )

    def _with_launches(self, seen: Observation) -> LaneHolders:
        """Under a name that repeats, several workers may be on their way."""
        names = lane_entries.repeatable_lanes(seen.config)
        with self._world.journal.backend.read() as view:
            launched = launches.count_launches(view, names, seen.holders.leases, seen.now_ms)
        others = {lane: count for lane, count in seen.holders.launched.items() if lane not in names}
        return structs.replace(seen.holders, launched=others | launched)

    @cached_property
    def _observer(self) -> FleetObserver:
        world = self._world
        place, config, git = world.workspace, world.config, Reader(world.workspace.root)
        target = LastFetchedTarget(git, config.workers.remote)

        def branch() -> str:
            return target_branch.branch(config, git)

        def commit() -> str:
            return target.newest(branch()) or ""

        return FleetObserver(
            place,
            config,
            world.journal,
            fold.Watch(world.journal, *STATES),
            plan_texts=PlanTexts.for_checkout(place, config, git, commit),
            settings=SettingsText.for_checkout(place, git, commit, journal=config.store.url),
            on_target=TargetState(place, config, is_watched=config.workers.isolation != "shared"),
            target=target,
            branch=branch,
            commit=commit,
            baseline=BaselineCommands(config, git),
            liveness_seconds=self._liveness_seconds,
        )
