"""Every table of `dos.toml` as a record: its keys, their defaults and what they may hold."""

from collections.abc import Collection
from datetime import timedelta
from typing import Annotated, Any, Literal

from msgspec import Meta, field
from msgspec.structs import force_setattr

from dos.config.checks import (
    BadValue,
    Count,
    Hours,
    Key,
    Milliseconds,
    Minutes,
    Positive,
    Table,
    check_name,
    check_not_blank,
)
from dos.config.fleet import Leases, Liveness, Protect, Retention, Store, Supervise, Workers
from dos.config.lanes import DEFAULT as DEFAULT_LANES
from dos.config.lanes import ConcurrencyClass, Lanes, Overlap
from dos.records.regions import Region

__all__ = [
    "BUILT_IN_REASONS",
    "BUILT_IN_RUNGS",
    "DEFAULT_LANES",
    "MORPHOLOGY",
    "ConcurrencyClass",
    "Config",
    "Cooldown",
    "DataClass",
    "Enforcement",
    "Enumerate",
    "Lanes",
    "Leases",
    "Lifecycle",
    "Liveness",
    "Marker",
    "MorphologyRule",
    "NoopStreak",
    "Overlap",
    "Paths",
    "Precursor",
    "Protect",
    "Reason",
    "Retention",
    "Rung",
    "Stamp",
    "Store",
    "Supervise",
    "ToolStream",
    "Transition",
    "Verify",
    "Workers",
]

Words = tuple[str, ...]
Category = Literal["TRUE_DRAIN", "OPERATOR_GATE", "STALE_CLAIM", "MISROUTE", "UNCLASSIFIED"]


class Paths(Table, frozen=True, kw_only=True):
    """Where the workspace keeps its documents; relative to its root."""

    plans_glob: str = "docs/**/*-plan.md"
    execution_state: str = "dos.state.yaml"
    findings_queue: str = "dos.findings.md"
    fanout_runs: str = ".dos/runs"
    dispatch_loops: str = ".dos/runs"
    chained_runs: str = ".dos/runs"
    next_packets: str = ".dos/verdicts"
    replan_dir: str = ".dos/replan"
    soaks_index: str = ".dos/soaks/index.yaml"
    picker_audits: str = ".dos/picker_audits"
    archive_lock: str = ".dos/leases/.archive.lock"
    lane_journal: str = ".dos/lane-journal.jsonl"
    verdict_journal: str = ".dos/verdict-journal.jsonl"
    leases_dir: str = ".dos/leases"
    project_card: str = ".dos/project.json"

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            check_not_blank(getattr(self, name), (name,))


class DataClass(Table, frozen=True, kw_only=True):
    """Which files are scratch, reports, anchors or the product itself; the first that matches wins."""

    trajectory_patterns: Words = (
        ".dos/runs",
        ".dos/fanout_runs",
        ".dos/chained_runs",
        ".dos/dispatch_loops",
        ".dos/verdicts",
    )
    audit_patterns: Words = (".dos/audits", ".dos/picker_audits", ".dos/**/*.verdict-*.json")
    baseline_patterns: Words = (".dos/baselines",)
    product_patterns: Words = ()
    default_class: Literal["TRAJECTORY", "AUDIT", "BASELINE", "PRODUCT"] = "PRODUCT"


class Stamp(Table, frozen=True, kw_only=True):
    """How a commit subject says that a unit shipped."""

    style: str = "grep"
    subject_dirs: Words = ()
    summary_bundle_prefixes: Words = ()
    bookkeeping_prefixes: Words = ()
    code_dirs: Words = ()
    infra_basenames: Words = ()
    infra_doc_basenames: Words = ()
    progress_markers: Words = ()
    sub_phase_parent_fallback: bool = False
    trailer_stamp: bool = False


class Enumerate(Table, frozen=True, kw_only=True):
    """How the units of a plan document are found."""

    heading_levels: tuple[Annotated[int, Meta(ge=1, le=6)], ...] = (2, 3, 4, 5, 6)
    scan_tables: bool = True
    generic_numeric_table: bool = False
    bare_phase_fallback: bool = True
    rollup_parents: bool = False
    style: str = "generic"


class Cooldown(Table, frozen=True, kw_only=True):
    """How long a unit rests after an attempt that did not land. Where both units are written, ms wins."""

    window_ms: Milliseconds | None = None
    window_hours: Hours = 6.0
    error_window_ms: Milliseconds | None = None
    error_window_minutes: Minutes = 30.0

    @property
    def window(self) -> timedelta:
        return timedelta(
            milliseconds=round(self.window_hours * 3_600_000 if self.window_ms is None else self.window_ms)
        )

    @property
    def error_window(self) -> timedelta:
        written = self.error_window_ms
        return timedelta(milliseconds=round(self.error_window_minutes * 60_000 if written is None else written))


class Transition(Table, frozen=True, kw_only=True):
    """A plan may move from one class to another."""

    from_class: str = field(name="from")
    to_class: str = field(name="to")
    trigger: str
    auto: bool = False


ALL_SHIPPED = (Transition(from_class="active", to_class="done", trigger="all_phases_shipped", auto=True),)


class Lifecycle(Table, frozen=True, kw_only=True):
    """The classes a plan goes through; the first is where it starts."""

    classes: Words = ("active", "done")
    transitions: tuple[Transition, ...] = ALL_SHIPPED
    veto_class: str = ""
    max_transitions_per_cycle: Count = 5
    per_plan_cooldown_hours: Hours = 72.0

    def __post_init__(self) -> None:
        if not self.classes:
            raise BadValue(("classes",), "classes is empty", 'Name at least one, as in classes = ["active", "done"].')
        for place, name in enumerate(self.classes):
            check_name(name, ("classes", place), "plan class")
            if name in self.classes[:place]:
                raise BadValue(("classes", place), f"the plan class {name!r} is written twice", "Keep one of them.")
        if self.transitions is ALL_SHIPPED and not {"active", "done"} <= set(self.classes):
            force_setattr(self, "transitions", ())  # the default moves between classes that this file does not have
        for place, move in enumerate(self.transitions):
            self._check_class(move.from_class, ("transitions", place, "from"))
            self._check_class(move.to_class, ("transitions", place, "to"))
        if self.veto_class:
            self._check_class(self.veto_class, ("veto_class",))

    def _check_class(self, name: str, key: Key) -> None:
        if name not in self.classes:
            known = ", ".join(self.classes)
            raise BadValue(key, f"{name!r} is not one of the plan classes {known}", f"Add {name!r} to classes.")


class Reason(Table, frozen=True, kw_only=True):
    """A refusal reason of the workspace's own."""

    category: Category
    refusal: bool = True
    fix: str = ""
    summary: str = ""
    see_also: Words = ()


class MorphologyRule(Table, frozen=True, kw_only=True):
    """An unknown reason token with this in it belongs to this category."""

    substring: Annotated[str, Meta(min_length=1)]
    category: Category


def _rules(category: Category, *substrings: str) -> tuple[MorphologyRule, ...]:
    return tuple(MorphologyRule(substring=substring, category=category) for substring in substrings)


MORPHOLOGY = (
    *_rules("STALE_CLAIM", "FALSE_SHIPPED", "FALSE_SHIP", "STALE_STAMP", "STAMP_DRIFT", "STAMPING_DRIFT"),
    *_rules("OPERATOR_GATE", "OPERATOR", "SOAK"),
    *_rules("STALE_CLAIM", "INFLIGHT", "IN_FLIGHT"),
    *_rules("OPERATOR_GATE", "LEASE_HELD", "GATE"),
    *_rules("TRUE_DRAIN", "DRAINED", "DRAIN", "NO_DISPATCHABLE"),
    *_rules("MISROUTE", "MISROUTE", "MIS_ROUT"),
)


class Rung(Table, frozen=True, kw_only=True):
    """One more rung on the ladder of interventions."""

    rank: Count
    summary: str = ""
    actuation: str = ""
    dispatches: bool = True
    returns_synthetic: bool = False
    see_also: Words = ()

    def __post_init__(self) -> None:
        if self.returns_synthetic and self.dispatches:
            raise BadValue(
                ("returns_synthetic",),
                "a call that is dispatched has a real result, not a synthetic one",
                "Add dispatches = false, or take returns_synthetic out.",
            )


class ToolStream(Table, frozen=True, kw_only=True):
    """After how many identical tool calls an agent repeats itself, and after how many it is stuck."""

    repeat_n: Positive = 3
    stall_n: Positive = 5
    ignore_tools: Words = ()

    def __post_init__(self) -> None:
        if self.stall_n < self.repeat_n:
            raise BadValue(
                ("stall_n",),
                f"stall_n is {self.stall_n}, less than repeat_n, which is {self.repeat_n}",
                "Make stall_n at least repeat_n.",
            )


class Marker(Table, frozen=True, kw_only=True):
    """How often a turn is held open to wait."""

    max_streak: Count = 4
    arm_on_env: Words = ("DOS_LOOP", "CID_RUN_ID")
    respect_stop_hook_active: bool = True


class NoopStreak(Table, frozen=True, kw_only=True):
    """How many turns in a row may do nothing."""

    max_streak: Count = 4


class Precursor(Table, frozen=True, kw_only=True):
    """Which tools have to look before which tools may change."""

    requires: dict[str, Words] = field(default_factory=dict)
    aliases: dict[str, Words] = field(default_factory=dict)


class Verify(Table, frozen=True, kw_only=True):
    """What it takes to believe that a unit shipped."""

    require: Literal["named", "live", "witnessed", "attested"] = "live"
    ci: Literal["advise", "require"] = "advise"
    non_git_oracle: str = ""


class Enforcement(Table, frozen=True, kw_only=True):
    """What hooks do with a refusal."""

    posture: Literal["observe", "block", "gate", "assist"] = "block"


BUILT_IN_REASONS = frozenset(
    {
        "LANE_DRAINED",
        "LANE_BLOCKED_ON_SOAK_GATED_PHASES",
        "LANE_LEASE_HELD_BY_LIVE_DISPATCH_LOOP",
        "LANE_ALL_BLOCKED_OR_STALE_STAMP",
        "LANE_BLOCKED_ON_OPERATOR_DECISION",
        "LANE_ALL_INFLIGHT_OR_DEFERRED",
        "LANE_ALL_SHIPPED_INFLIGHT_OR_STALE_STAMP",
        "SELF_MODIFY",
        "SCHEMA_UNREADABLE",
        "UNKNOWN_LANE",
    }
)
BUILT_IN_RUNGS = {"OBSERVE": 0, "WARN": 10, "BLOCK": 20, "DEFER": 30}


class Config(Table, frozen=True, kw_only=True):
    """The whole of `dos.toml`."""

    workspace: str = "."
    lanes: Lanes = DEFAULT_LANES
    paths: Paths = Paths()
    overlap: Overlap = Overlap()
    concurrency_class: tuple[ConcurrencyClass, ...] = ()
    supervise: Supervise = Supervise()
    workers: Workers = Workers()
    liveness: Liveness = Liveness()
    leases: Leases = Leases()
    store: Store = Store()
    protect: Protect = Protect()
    retention: Retention = Retention()
    data_class: DataClass = DataClass()
    stamp: Stamp = Stamp()
    enumerate: Enumerate = Enumerate()
    cooldown: Cooldown = Cooldown()
    lifecycle: Lifecycle = Lifecycle()
    reasons: dict[str, Reason] = field(default_factory=dict)
    morphology: tuple[MorphologyRule, ...] = MORPHOLOGY  # also written as [[reasons.morphology]]
    intervention: dict[str, Rung] = field(default_factory=dict)
    tool_stream: ToolStream = ToolStream()
    marker: Marker = Marker()
    noop_streak: NoopStreak = NoopStreak()
    precursor: Precursor = Precursor()
    verify: Verify = Verify()
    ci: dict[str, Any] = field(default_factory=dict)
    enforcement: Enforcement = Enforcement()

    def __post_init__(self) -> None:
        _check_tokens("reasons", self.reasons, BUILT_IN_REASONS)
        _check_tokens("intervention", self.intervention, BUILT_IN_RUNGS)
        ranks = {rank: token for token, rank in BUILT_IN_RUNGS.items()}
        for token, rung in self.intervention.items():
            other = ranks.setdefault(rung.rank, token)
            if other != token:
                message = f"rank {rung.rank} is taken by {other}"
                raise BadValue(("intervention", token, "rank"), message, "Choose a number that no other rung has.")

    def roster(self) -> list[str]:
        """The lanes that workers are placed on: concurrent, then exclusive, each once."""
        return self.lanes.roster()

    def known_lanes(self) -> list[str]:
        """Every name that leads to a lane, sorted: the lanes declared anywhere, and the aliases that route."""
        words = (word for word in self.lanes.aliases if self.lanes.canonical(word) is not None)
        return sorted({*self.lanes.declared(), *words})

    def canonical_lane(self, name: str) -> str | None:
        """The lane as it is declared, for a name in any case or an alias of it; None for a name nobody declared."""
        return self.lanes.canonical(name)

    def lane_region(self, name: str) -> Region | None:
        """The lane's region (unknown where it has no tree); None when there is no such lane."""
        return self.lanes.region(name)

    def is_exclusive(self, name: str) -> bool:
        return self.lanes.canonical(name) in self.lanes.exclusive

    def class_budgets(self) -> dict[str, int]:
        """The lane kinds that have a cap. Of two entries for one kind the last wins."""
        caps = {budget.name: budget.max_concurrent for budget in self.concurrency_class}
        return {kind: cap for kind, cap in caps.items() if cap > 0}


def _check_tokens(table: str, declared: dict[str, Any], built_in: Collection[str]) -> None:
    seen: dict[str, str] = {}
    for token in declared:
        check_name(token, (table, token), "token")
        if token.upper() in built_in:
            message = f"{token} is built in and cannot be declared again"
            raise BadValue((table, token), message, "Choose another token.")
        other = seen.setdefault(token.upper(), token)
        if other != token:
            message = f"the tokens {other} and {token} differ only by case"
            raise BadValue((table, token), message, "Keep one of the two.")
