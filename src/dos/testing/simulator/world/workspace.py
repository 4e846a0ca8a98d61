"""The simulated workspace: its lanes, units and configuration, drawn from the seed."""

from functools import cache
from random import Random

from msgspec import Struct, structs

from dos.config.schema import Config, Cooldown
from dos.fleet.population.policy import Leases, Workers
from dos.fleet.population.types import Supervise
from dos.fleet.worker.start_state import new_state
from dos.lanes.policy import ConcurrencyClass, Lanes
from dos.limits.policy import Budget, Budgets, Quota
from dos.limits.quota import AgentCandidate
from dos.loop.policy import Loop
from dos.loop.types import LoopState
from dos.regions import Region, region
from dos.units.unit import Unit

HOSTS = ("north", "south")
FIRST = AgentCandidate(name="first", vendor="vendor-one", account="shared", model="large")
SECOND = AgentCandidate(name="second", vendor="vendor-two", account="shared")
COST_USD = 1.0  # average cost of an agent
# Whether units depend on the one before in their lane, and on another lane's.
CHAINS = ((False, False), (True, False), (False, True))
SILENCE_SECONDS = 90
WALL_SECONDS = 240
ITERATIONS = 6


class SimulatedWorkspace(Struct, frozen=True, kw_only=True):
    """What the seed decided about the workspace."""

    config: Config
    agents: tuple[AgentCandidate, ...]
    units: tuple[Unit, ...]
    target: int
    tick_seconds: float
    ttl_ms: int
    state: LoopState
    regions: dict[str, Region]
    budgets: dict[str, int]  # most leases, by class
    has_budget: bool  # spending is limited
    plans_outside_lanes: bool  # the plan documents are in no lane
    is_checked: bool = False  # each host checks the target branch before it starts workers


def draw_workspace(random: Random) -> SimulatedWorkspace:
    """Draw a workspace. The order of the draws is part of what a seed means."""
    lanes = random.choice((2, 3, 3, 4))
    overlap = random.random() < 0.3
    cap = 2 if random.random() < 0.15 else 0
    ttl = random.choice((50.0, 80.0, 120.0))
    empty = 2 if lanes > 2 and random.random() < 0.2 else 0  # lanes without any unit yet
    units = tuple(0 if lane < empty else random.choice((1, 1, 1, 2, 3)) for lane in range(lanes))
    budget = random.choice(("run", "lane", "day", "day")) if random.random() < 0.2 else ""
    max_usd = COST_USD if random.random() < 0.5 else None
    config, state = _config(lanes, overlap, cap, ttl, random.choice(("soft", "hard")), budget)
    return SimulatedWorkspace(
        config=config,
        agents=_agents(random, max_usd),
        units=_units(units, *random.choices(CHAINS, (3, 1, 1))[0]),
        target=random.choice((2, lanes, lanes)),
        tick_seconds=random.choice((10.0, 20.0, 30.0)),
        ttl_ms=int(ttl * 1000),
        state=state,
        regions={name: config.lane_region(name) or region([]) for name in config.roster()},
        budgets=config.class_budgets(),
        has_budget=bool(budget),
        plans_outside_lanes=random.random() < 0.5,
    )


def _agents(random: Random, max_usd: float | None) -> tuple[AgentCandidate, ...]:
    agents: tuple[AgentCandidate, ...] = (FIRST,)
    if random.random() < 0.2:
        agents = (FIRST, SECOND)
    return tuple(structs.replace(agent, max_usd=max_usd) for agent in agents)


@cache
def _config(
    lanes: int, overlap: bool, cap: int, ttl: float, gate: str, budget: str
) -> tuple[Config, LoopState]:
    names = tuple("abcd"[:lanes])
    trees: dict[str, tuple[str, ...]] = {name: (f"src/{name}/**",) for name in names}
    if overlap:
        trees[names[-1]] = ("src/a/inner/**",)
    config = Config(
        lanes=Lanes(concurrent=names, trees=trees),
        concurrency_class=(ConcurrencyClass(name="cluster", max_concurrent=cap),) if cap else (),
        supervise=Supervise(),
        workers=Workers(
            silence_seconds=SILENCE_SECONDS, wall_seconds=WALL_SECONDS, max_iterations=ITERATIONS
        ),
        quota=Quota(backoff_seconds=(30.0, 60.0, 120.0), jitter_seconds=10.0, probe_seconds=300.0),
        budgets=structs.replace(
            Budgets(), **({budget: Budget(usd=2 * COST_USD)} if budget else {})
        ),
        leases=Leases(ttl_seconds=ttl),
        loop=Loop(gate_mode=gate),  # type: ignore[arg-type]
        cooldown=Cooldown(window_ms=60_000, error_window_ms=30_000),
    )
    return config, new_state(config)


@cache
def _units(counts: tuple[int, ...], chained: bool, across: bool) -> tuple[Unit, ...]:
    """Declare the units of each lane.

    With `chained`, each unit of a lane depends on the one before it; with `across`, the last unit
    of a lane depends on the first one of the lane before.
    """
    units = []
    first_of_lane_before = ""
    for lane, count in zip("abcd", counts, strict=False):
        for number in range(1, count + 1):
            depends = []
            if chained and number > 1:
                depends.append(f"PLAN/{lane.upper()}{number - 1}")
            if across and first_of_lane_before and number == count:
                depends.append(first_of_lane_before)
            unit = Unit(
                plan="PLAN",
                id=f"{lane.upper()}{number}",
                title=f"unit {number} of lane {lane}",
                lane=lane,
                depends=tuple(depends),
            )
            units.append(unit)
        first_of_lane_before = f"PLAN/{lane.upper()}1" if count else ""
    return tuple(units)
