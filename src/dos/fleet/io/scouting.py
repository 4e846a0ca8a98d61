"""What decides the next activity, read from the journal, git and the plans."""

from collections.abc import Sequence

from dos.backlog.waiting import FleetWaits, WaitsOn
from dos.fleet.io.reader import FleetReader
from dos.fleet.observation import Observation
from dos.fleet.state.fleet import FleetRun
from dos.lanes import launch_health
from dos.lanes.io.launch import launch_evidence
from dos.lanes.launch_health import Action
from dos.loop.verdicts.scout import LaneTally, State
from dos.reasons import table
from dos.reasons.table import ClearsBy, Needs
from dos.text import comparison_key
from dos.world import World

_DAY_MS = 86_400_000
# What keeps every lane idle until something outside of the work changes.
_RESOURCES = frozenset(
    (
        WaitsOn.LIMIT,
        WaitsOn.BUDGET,
        WaitsOn.LOGIN,
        WaitsOn.PAUSE,
        WaitsOn.ENVIRONMENT,
        WaitsOn.JOURNAL_AWAY,
        WaitsOn.UNKNOWN,
    )
)
_OCCUPIED = frozenset((WaitsOn.REGION_HELD, WaitsOn.EXCLUSIVE, WaitsOn.HOST_FULL))


def scout_state(world: World, lane: str = "", *, now_ms: int | None = None) -> State:
    """Return the state of the workspace, for one lane or for the first that can work.

    Raises BadInput for a lane that is not declared.
    """
    outlook = FleetReader(world).outlook(now_ms=now_ms)
    observation = outlook.observation
    lanes = [lane] if lane else _lanes_with_work(observation)
    waits = {name: outlook.waits.lanes.get(name, ()) for name in lanes}
    free = [name for name, found in waits.items() if not found]
    scope = next(iter(free or lanes), "")
    first = [found[0] for found in waits.values() if found]
    blocked = bool(lanes) and not free and all(wait.on in _RESOURCES for wait in first)
    occupied = bool(lanes) and not free and any(wait.on in _OCCUPIED for wait in first)
    health = launch_health.Verdict(answer=Action.PROCEED)
    if scope:
        evidence = launch_evidence(world, lane=scope)
        health = launch_health.judge(evidence)
    runs = _ended_runs(observation)
    reason = table.find(health.cause_key)
    return State(
        scope=scope,
        resource_blocked=blocked,
        resource=str(first[0].on) if blocked else "",
        health=health.answer.value,
        cause_key=health.cause_key,
        cause_needs_operator=reason is not None and reason.needs is Needs.OPERATOR,
        unsticks_today=_stopped_today(runs, health.cause_key, observation.now_ms),
        lane_overlap=occupied,
        open_soaks=_soaks(outlook.waits),
        replan_due=not lanes and not observation.has_no_plans,
        lanes=tuple(_tally(name, runs) for name in observation.config.roster()),
        open_decisions=len(observation.answers.open),
        runs=len(runs),
        zero_ship_runs=sum(not run.landed for run in runs),
    )


def _lanes_with_work(observation: Observation) -> list[str]:
    """Return the lanes with units that have not landed; all of them where no plan declares one."""
    roster = observation.config.roster()
    if observation.has_no_plans:
        return roster
    return [lane for lane in roster if observation.open_units(lane)]


def _ended_runs(observation: Observation) -> list[FleetRun]:
    """Return the runs that ended since a person last started the fleet."""
    state = observation.state
    return [
        run for run in state.runs.values() if run.stop_reason and run.stopped_ms > state.started_ms
    ]


def _tally(lane: str, runs: Sequence[FleetRun]) -> LaneTally:
    own = [run for run in runs if comparison_key(run.lane) == comparison_key(lane)]
    return LaneTally(
        lane=lane,
        runs=len(own),
        shipped=sum(bool(run.landed) for run in own),
        drained=sum(_is_drained(run) for run in own),
    )


def _is_drained(run: FleetRun) -> bool:
    """Whether the run stopped because there was nothing to do."""
    reason = table.find(run.stop_reason)
    return reason is not None and reason.clears_by is ClearsBy.REPLAN


def _stopped_today(runs: Sequence[FleetRun], cause: str, now_ms: int) -> int:
    if not cause:
        return 0
    return sum(run.stop_reason == cause and run.stopped_ms > now_ms - _DAY_MS for run in runs)


def _soaks(waits: FleetWaits) -> int:
    """Return how many units wait for the end of a soak."""
    return sum(any(wait.on is WaitsOn.SOAK for wait in found) for found in waits.units.values())
