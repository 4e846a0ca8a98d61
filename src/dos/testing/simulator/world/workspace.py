"""The simulated workspace: its configuration, and the plan and settings files of each host.

Lanes, units and limits are drawn from the seed. Plans and settings are edited only in worlds with
more questions to people; which version of a file counts is decided by the product's own code.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache, partial
from pathlib import Path
from random import Random

from msgspec import Struct, structs

from dos.approval.io.documents import PlanTexts, SettingsText
from dos.config.load import FILE_NAME, parse
from dos.config.schema import Config, Cooldown
from dos.fleet import worker_health
from dos.fleet.population.types import Supervise
from dos.fleet.population.workers import Workers
from dos.fleet.worker.start_state import new_state
from dos.journal.store import Admit, Store
from dos.lanes import admission
from dos.lanes.leases import Leases
from dos.lanes.policy import ConcurrencyClass, Lanes
from dos.limits.policy import Budget, Budgets, Quota
from dos.limits.quota import AgentCandidate
from dos.loop.gate import Loop
from dos.loop.types import LoopState
from dos.questions.catalog import AnyQuestion
from dos.questions.state import Decisions
from dos.regions import Region, region
from dos.testing.simulator.world.repository import Repository
from dos.units.io import documents
from dos.units.portfolio import Portfolio, assemble
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

    config: Config  # with a lane for each part of a repeatable lane
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
    shared: Config | None = None  # the settings with repeatable lanes, without their parts

    def admission_rules(self) -> Admit:
        """Return the rules by which the store grants a lease here."""
        most_parts = self.config.supervise.max_concurrency
        return partial(admission.judge, budgets=self.budgets, most_parts=most_parts)

    def config_now(self, units: Sequence[Unit], landed: Collection[str]) -> Config:
        """Return the settings as a supervisor uses them while these units have landed."""
        if self.shared is None:
            return self.config
        return worker_health.with_parts(self.shared, units, landed)


def draw_workspace(random: Random, *, is_checked: bool = False) -> SimulatedWorkspace:
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
        is_checked=is_checked,
    )


def _agents(random: Random, max_usd: float | None) -> tuple[AgentCandidate, ...]:
    """Draw the agents: one, or sometimes a second that takes over at the first one's limit."""
    agents: tuple[AgentCandidate, ...] = (FIRST,)
    if random.random() < 0.2:
        agents = (FIRST, SECOND)
    return tuple(structs.replace(agent, max_usd=max_usd) for agent in agents)


@cache
def _config(
    lanes: int, overlap: bool, cap: int, ttl: float, gate: str, budget: str
) -> tuple[Config, LoopState]:
    """Return the settings and the first loop state; cached, since few combinations exist."""
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
            title = f"unit {number} of lane {lane}"
            units.append(declared_unit(f"{lane.upper()}{number}", title, lane, tuple(depends)))
        first_of_lane_before = f"PLAN/{lane.upper()}1" if count else ""
    return tuple(units)


def declared_unit(unit_id: str, title: str, lane: str, depends: tuple[str, ...] = ()) -> Unit:
    """Return a unit of the plan, with an acceptance command of its own."""
    return Unit(
        plan="PLAN",
        id=unit_id,
        title=title,
        lane=lane,
        acceptance=f"{CHECK}PLAN/{unit_id}",
        depends=depends,
    )


def unit_of_check(command: str) -> str:
    """Return the unit that an acceptance command is about."""
    return command.removeprefix(CHECK)


CHECK = "check "  # how the acceptance command of a unit begins; its name follows
PLAN = "docs/plan.md"
UNUSABLE = "[workers]\nmax_iterations = -1\n"
ADDED = 8  # number of a unit that a person adds to a lane


class HostDocument:
    """A document in the checkout of a host; `writes` counts its edits.

    It is what the product's approval code reads, in place of the disk and of git: `read` is the
    text on disk, `blobs` and `text` are the committed one.
    """

    def __init__(self, name: str, host: str, repository: Repository) -> None:
        self.name = name
        self.where = f"{host}:/checkout"
        self.on_disk = repository.documents[name]
        self._repository = repository
        self.writes = 0

    def write(self, text: str) -> None:
        """Edit the document on disk."""
        self.on_disk = text
        self.writes += 1

    def stamps(self) -> list[object]:
        """Return what changes when the document does, in place of the file's time and size."""
        return [self.writes]

    def names(self) -> list[str]:
        """Return the one document of this kind."""
        return [self.name]

    def read(self, name: str) -> str:  # noqa: ARG002
        return self.on_disk

    def tip(self) -> str:
        """Return the commit that the target branch is at."""
        return self._repository.target

    def blobs(self, names: Iterable[str]) -> dict[str, str]:
        """Return the committed texts; a text is its own object id."""
        committed = self._repository.documents
        return {name: committed[name] for name in names if name in committed}

    def text(self, blob: str) -> str:
        return blob


class HostTexts:
    """The plan and the dos.toml of one host, and which versions count there."""

    def __init__(self, host: str, repository: Repository) -> None:
        self.plan = HostDocument(PLAN, host, repository)
        self.dos_toml = HostDocument(FILE_NAME, host, repository)
        self.plan_texts = PlanTexts(self.plan, self._read)
        self.settings = SettingsText(self.dos_toml, Path(FILE_NAME), journal=Config().store.url)
        self.approved_ms = 0  # when a person last ran `dos up` here
        self._units: list[Unit] = []
        self._units_basis: object = None  # what the units were read from
        self._confirmed_basis: object = None

    @property
    def where(self) -> str:
        """The checkout, as questions name it."""
        return self.settings.where

    def on_disk(self, name: str) -> str:
        """Return the text of the named document on this host's disk."""
        if name == PLAN:
            return self.plan.on_disk
        return self.dos_toml.on_disk

    def approve(self, store: Store, now_ms: int) -> None:
        """Approve the texts on disk, as `dos up` does; an unusable dos.toml is fixed first."""
        if self.dos_toml.on_disk == UNUSABLE:
            self.dos_toml.write(settings_text(ITERATIONS))
        self.settings.approve(store, parse(self.dos_toml.on_disk, Path(FILE_NAME)), by="person")
        self.plan_texts.approve(store, by="person")
        self.approved_ms = now_ms

    def units(self, store: Store, answers: Decisions, news: int) -> list[Unit]:
        """Return the units of the plan that counts; `news` is the number of text events so far."""
        basis = self._basis(news)
        if basis != self._units_basis:
            self._units = self.plan_texts.units(store, answers)
            self._units_basis = basis
        return self._units

    def keep_confirmed(self, store: Store, answers: Decisions, news: int) -> None:
        """Keep the texts that people confirmed, as a supervisor does before it observes."""
        basis = self._basis(news)
        if basis != self._confirmed_basis:
            self.settings.update(store, answers)
            self.plan_texts.keep_confirmed(store, answers)
            self._confirmed_basis = basis

    def _basis(self, news: int) -> object:
        """Return what the answers rest on: while it is the same, so are they."""
        return news, self.plan.writes, self.dos_toml.writes, self.plan.tip()

    def questions(self, answers: Decisions) -> list[AnyQuestion]:
        """Return the questions about edits that are not approved."""
        return [*self.settings.questions(answers), *self.plan_texts.questions(answers)]

    def _read(self, texts: Mapping[str, str | None] | None) -> Portfolio:
        """Return the units that the texts declare; None stands for the text on disk."""
        if texts is None:
            return portfolio(self.plan.on_disk)
        return portfolio(texts.get(PLAN) or "")


@lru_cache(maxsize=256)
def portfolio(text: str) -> Portfolio:
    """Return the units that a plan declares, by the product's grammar."""
    units: list[Unit] = []
    for document in documents.read_documents(Path(), "", texts={PLAN: text}):
        assert not isinstance(document, tuple), document
        units += document.units
    return assemble(units)


def plan_text(units: Sequence[Unit]) -> str:
    """Return a plan that declares the units."""
    return "# Plan\n" + "".join(map(_section, units))


def _section(unit: Unit) -> str:
    """Return the unit's section of a plan."""
    lines = ["", f"## {unit.id}: {unit.title}", f"- lane: {unit.lane}"]
    lines.append(f"- acceptance: `{unit.acceptance}`")
    if unit.depends:
        lines.append(f"- depends: {', '.join(unit.depends)}")
    if unit.gated:
        lines.append(f"- gated: {unit.gated}")
    return "\n".join(lines) + "\n"


def settings_text(max_iterations: int) -> str:
    """Return a dos.toml with this limit."""
    return f"[workers]\nmax_iterations = {max_iterations}\n"


def first_state(text: str, config: Config) -> LoopState:
    """Return the first loop state of a worker with these settings."""
    workers = structs.replace(config.workers, max_iterations=_iterations(text))
    return new_state(structs.replace(config, workers=workers))


@lru_cache(maxsize=64)
def _iterations(text: str) -> int:
    """Return the limit that the settings set."""
    return parse(text, Path(FILE_NAME)).config.workers.max_iterations


def edited_plan(text: str, random: Random) -> str:
    """Return the plan after a person gated, ungated, rewrote, added or removed a unit."""
    units = list(portfolio(text).units)
    lanes = sorted({unit.lane for unit in units})
    if not units:
        return text
    index = random.randrange(len(units))
    unit = units[index]
    match random.choice(("gate", "gate", "rewrite", "add", "remove")):
        case "gate":
            gated = "" if unit.gated else "a person decides"
            units[index] = structs.replace(unit, gated=gated)
        case "rewrite":
            units[index] = structs.replace(unit, title=f"{unit.title} anew")
        case "add":
            lane = random.choice(lanes)
            added = declared_unit(f"{lane.upper()}{ADDED}", "added by a person", lane)
            if all(declared.name != added.name for declared in units):
                units.append(added)
        case "remove":
            del units[index]
    return plan_text(units)


def edited_settings(random: Random) -> str:
    """Return a dos.toml that a person wrote, one in five of them unusable."""
    if random.random() < 0.2:
        return UNUSABLE
    return settings_text(random.randint(4, 9))
