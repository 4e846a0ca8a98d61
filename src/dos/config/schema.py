"""The schema of `dos.toml`: every table as a record, with its keys, defaults and ranges.

Most tables are the policy classes of their rules, and are declared beside them. The string below a
field describes the setting; `show.descriptions` reads it.
"""

from collections.abc import Collection
from typing import Any, Literal

from msgspec import field

from dos.agenthooks.intervention import BUILT_IN_RUNGS, Rung
from dos.agenthooks.marker import Marker
from dos.agenthooks.precursor import Precursor
from dos.agenthooks.tool_stream import ToolStream
from dos.agents.policy import Agent
from dos.backlog import cooldown
from dos.fields import BadValue, Table, check_name, check_not_blank
from dos.fleet.population.types import Supervise
from dos.fleet.population.workers import Workers
from dos.journal.settings import Retention, Store
from dos.lanes.leases import Leases
from dos.lanes.policy import DEFAULT_LANES, ConcurrencyClass, Lanes, Overlap, Protect
from dos.limits.policy import Budgets, Quota, TokenPrice
from dos.loop import improve
from dos.loop.gate import Loop
from dos.loop.verdicts import breaker, efficiency, liveness, noop_budget, productivity
from dos.outward.settings import Notify
from dos.permission.policy import Enforcement
from dos.reasons.policy import MORPHOLOGY, MorphologyRule, Reason, built_in_tokens
from dos.regions import Region
from dos.sandbox.settings import Sandbox
from dos.server.settings import Server
from dos.units.policy import DeclaredUnit, Grammar, Lifecycle, Plans, Transition
from dos.verify import red_before
from dos.verify.policy import Policy, Stamp
from dos.witness.policy import Ci, Evidence, Judges

# The policies of rules that are named after their tables.
Cooldown = cooldown.Policy
Improve = improve.Policy
Breaker = breaker.Policy
Efficiency = efficiency.Policy
Liveness = liveness.Policy
NoopStreak = noop_budget.Policy
Productivity = productivity.Policy
Enumerate = Grammar
Verify = Policy
Landing = red_before.Policy


__all__ = [
    "BUILT_IN_RUNGS",
    "DEFAULT_LANES",
    "MORPHOLOGY",
    "Agent",
    "Breaker",
    "Budgets",
    "Ci",
    "ConcurrencyClass",
    "Config",
    "Cooldown",
    "DataClass",
    "DeclaredUnit",
    "Efficiency",
    "Enforcement",
    "Enumerate",
    "Evidence",
    "Improve",
    "Judges",
    "Landing",
    "Lanes",
    "Leases",
    "Lifecycle",
    "Liveness",
    "Loop",
    "Marker",
    "MorphologyRule",
    "NoopStreak",
    "Notify",
    "Overlap",
    "Paths",
    "Plans",
    "Precursor",
    "Productivity",
    "Protect",
    "Quota",
    "Reason",
    "Retention",
    "Rung",
    "Sandbox",
    "Server",
    "Stamp",
    "Store",
    "Supervise",
    "TokenPrice",
    "ToolStream",
    "Transition",
    "Verify",
    "Workers",
]

Words = tuple[str, ...]


class Paths(Table, frozen=True, kw_only=True):
    """[paths]: where the workspace keeps its documents, relative to its root."""

    plans_glob: str = "docs/**/*-plan.md"
    """Glob of the plan documents."""
    execution_state: str = "dos.state.yaml"
    """Run registry of dos-kernel in YAML; `dos verify` inspects the commits that it names."""
    findings_queue: str = "dos.findings.md"
    """Not read by this version; accepted because dos-kernel files may set it."""
    fanout_runs: str = ".dos/runs"
    """Not read by this version; accepted because dos-kernel files may set it."""
    dispatch_loops: str = ".dos/runs"
    """Not read by this version; accepted because dos-kernel files may set it."""
    chained_runs: str = ".dos/runs"
    """Not read by this version; accepted because dos-kernel files may set it."""
    next_packets: str = ".dos/verdicts"
    """Folder that `dos packet --write` stores packets in; no plan is read from it."""
    replan_dir: str = ".dos/replan"
    """Not read by this version; accepted because dos-kernel files may set it."""
    soaks_index: str = ".dos/soaks/index.yaml"
    """Index of soaks in YAML; a unit whose soak is in progress has not shipped, and is held."""
    picker_audits: str = ".dos/picker_audits"
    """Not read by this version; accepted because dos-kernel files may set it."""
    archive_lock: str = ".dos/leases/.archive.lock"
    """Not read by this version; accepted because dos-kernel files may set it."""
    lane_journal: str = ".dos/lane-journal.jsonl"
    """Not read by this version; accepted because dos-kernel files may set it."""
    verdict_journal: str = ".dos/verdict-journal.jsonl"
    """Not read by this version; accepted because dos-kernel files may set it."""
    leases_dir: str = ".dos/leases"
    """Not read by this version; accepted because dos-kernel files may set it."""
    project_card: str = ".dos/project.json"
    """Not read by this version; accepted because dos-kernel files may set it."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            check_not_blank(getattr(self, name), (name,))


class DataClass(Table, frozen=True, kw_only=True):
    """[data_class] of dos-kernel: which files are scratch, reports, baselines or the product."""

    trajectory_patterns: Words = (
        ".dos/runs",
        ".dos/fanout_runs",
        ".dos/chained_runs",
        ".dos/dispatch_loops",
        ".dos/verdicts",
    )
    """Not read by this version; accepted because dos-kernel files may set it."""
    audit_patterns: Words = (".dos/audits", ".dos/picker_audits", ".dos/**/*.verdict-*.json")
    """Not read by this version; accepted because dos-kernel files may set it."""
    baseline_patterns: Words = (".dos/baselines",)
    """Not read by this version; accepted because dos-kernel files may set it."""
    product_patterns: Words = ()
    """Not read by this version; accepted because dos-kernel files may set it."""
    default_class: Literal["TRAJECTORY", "AUDIT", "BASELINE", "PRODUCT"] = "PRODUCT"
    """Not read by this version; accepted because dos-kernel files may set it."""


class Config(Table, frozen=True, kw_only=True):
    """The whole of `dos.toml`. A table that is not in the file has its defaults."""

    workspace: str = "."
    """Not read by this version; accepted because dos-kernel files may set it."""
    lanes: Lanes = DEFAULT_LANES
    paths: Paths = Paths()
    overlap: Overlap = Overlap()
    concurrency_class: tuple[ConcurrencyClass, ...] = ()
    """Caps on the number of live leases of one kind of lane."""
    supervise: Supervise = Supervise()
    workers: Workers = Workers()
    sandbox: Sandbox = Sandbox()
    agents: dict[str, Agent] = field(default_factory=dict)
    """Agent programs by the name that [workers] agent and plans use."""
    quota: Quota = Quota()
    budgets: Budgets = Budgets()
    prices: dict[str, TokenPrice] = field(default_factory=dict)
    """Prices of models, by model name, for agents that do not report their cost."""
    loop: Loop = Loop()
    liveness: Liveness = Liveness()
    productivity: Productivity = Productivity()
    efficiency: Efficiency = Efficiency()
    improve: Improve = Improve()
    breaker: Breaker = Breaker()
    leases: Leases = Leases()
    store: Store = Store()
    protect: Protect = Protect()
    retention: Retention = Retention()
    data_class: DataClass = DataClass()
    stamp: Stamp = Stamp()
    plans: Plans = Plans()
    enumerate: Enumerate = Enumerate()
    cooldown: Cooldown = Cooldown()
    lifecycle: Lifecycle = Lifecycle()
    reasons: dict[str, Reason] = field(default_factory=dict)
    """Refusal reasons of this workspace, by token."""
    morphology: tuple[MorphologyRule, ...] = MORPHOLOGY
    """How undeclared reason tokens are classified. Also written as [[reasons.morphology]]."""
    intervention: dict[str, Rung] = field(default_factory=dict)
    """More rungs on the ladder of interventions of `dos hook-exit`, by token."""
    tool_stream: ToolStream = ToolStream()
    marker: Marker = Marker()
    noop_streak: NoopStreak = NoopStreak()
    precursor: Precursor = Precursor()
    verify: Verify = Verify()
    landing: Landing = Landing()
    units: dict[str, DeclaredUnit] = field(default_factory=dict)
    """Paths, acceptance and kind of single units, by unit name."""
    ci: Ci = Ci()
    evidence: Evidence = Evidence()
    judges: Judges = Judges()
    enforcement: Enforcement = Enforcement()
    notify: Notify = Notify()
    server: Server = Server()

    def __post_init__(self) -> None:
        if self.reasons:
            _check_tokens("reasons", self.reasons, built_in_tokens())
        _check_tokens("intervention", self.intervention, BUILT_IN_RUNGS)
        ranks = {rank: token for token, rank in BUILT_IN_RUNGS.items()}
        for token, rung in self.intervention.items():
            other = ranks.setdefault(rung.rank, token)
            if other != token:
                raise BadValue(
                    ("intervention", token, "rank"),
                    f"rank {rung.rank} is taken by {other}",
                    "Choose a number that no other rung has.",
                )

    def roster(self) -> list[str]:
        """Return the lanes that workers are placed on: concurrent, then exclusive, each once."""
        return self.lanes.roster()

    def known_lanes(self) -> list[str]:
        """Return every name that leads to a lane, sorted: declared lanes and working aliases."""
        names = set(self.lanes.declared())
        for alias in self.lanes.aliases:
            if self.lanes.canonical(alias) is not None:
                names.add(alias)
        return sorted(names)

    def canonical_lane(self, name: str) -> str | None:
        """Return the declared name of a lane, for a name in any case or an alias.

        None: no lane has it.
        """
        return self.lanes.canonical(name)

    def lane_region(self, name: str) -> Region | None:
        """Return the lane's region, which is unknown without a tree.

        None: there is no such lane.
        """
        return self.lanes.region(name)

    def is_exclusive(self, name: str) -> bool:
        """Whether the lane runs alone."""
        return self.lanes.canonical(name) in self.lanes.exclusive

    def agent_names(self, lane: str, unit_agent: str = "") -> tuple[str, ...]:
        """Return the agents that may work on a lane, in order; empty if none is configured.

        A unit's agent comes before that of its lane, and that before the one of [workers]. The
        others take over while the first one is limited.
        """
        first = unit_agent or self.lanes.agent(lane) or self.workers.agent
        if not first:
            return ()
        return tuple(dict.fromkeys((first, *self.workers.fallback)))

    def named_agents(self) -> tuple[str, ...]:
        """Return every agent that the file names, the default one first."""
        named = (self.workers.agent, *self.workers.fallback, *self.lanes.agents.values())
        return tuple(dict.fromkeys(name for name in named if name))

    def class_budgets(self) -> dict[str, int]:
        """Return the kinds of lanes that have a cap. Of two entries for one kind the last wins."""
        caps = {budget.name: budget.max_concurrent for budget in self.concurrency_class}
        return {kind: cap for kind, cap in caps.items() if cap > 0}


def _check_tokens(table: str, declared: dict[str, Any], built_in: Collection[str]) -> None:
    """Raise BadValue for a token that is built in, or that two entries share but for case."""
    spellings: dict[str, str] = {}
    for token in declared:
        check_name(token, (table, token), "token")
        if token.upper() in built_in:
            message = f"{token} is built in and cannot be declared again"
            raise BadValue((table, token), message, "Choose another token.")
        other = spellings.setdefault(token.upper(), token)
        if other != token:
            message = f"the tokens {other} and {token} differ only by case"
            raise BadValue((table, token), message, "Keep one of the two.")
