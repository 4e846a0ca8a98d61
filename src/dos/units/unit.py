"""A unit of work as a plan states it, the problems of a plan, and the landing of a unit."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from msgspec import Struct, json

TESTS_MAY_CHANGE = "may-change"  # what a unit states under `tests`


class PlanClaim(StrEnum):
    """What a plan says about a unit. It is compared with git, and never taken for the truth."""

    SHIPPED = "shipped"
    BLOCKED = "blocked"
    OPEN = "open"
    NONE = ""


class Unit(Struct, frozen=True, kw_only=True):
    """A unit of work, as its plan states it."""

    plan: str
    id: str
    title: str
    text: str = ""
    lane: str = ""
    agent: str = ""  # the agent to do it; empty: the lane's, else the workspace's
    paths: tuple[str, ...] = ()
    acceptance: str = ""
    tests_may_change: bool = False  # its commits may remove or loosen tests
    depends: tuple[str, ...] = ()  # names of units, as PLAN/ID
    plan_class: str = ""
    gated: str = ""  # what a person has to decide first
    soak_until: str = ""
    claimed: str = PlanClaim.NONE
    # What in its plan may mean something else than it says: no worker takes it meanwhile.
    unparseable: str = ""
    document: str = ""
    line: int = 0

    @property
    def name(self) -> str:
        """The name by which everything else refers to the unit: PLAN/ID."""
        return f"{self.plan}/{self.id}"

    @property
    def fingerprint(self) -> str:
        """A digest of what an agent is asked to do; it changes if the unit is rewritten.

        Attempts and approvals are recorded with it, so that they do not count for another text.
        """
        from hashlib import sha256  # at use: most verbs need no fingerprint

        task: tuple[object, ...] = (
            self.title, self.text, self.lane, self.paths, self.acceptance,
        )  # fmt: skip
        if self.tests_may_change:  # only then: older fingerprints stay as they are
            task = (*task, TESTS_MAY_CHANGE)
        return sha256(json.encode(task)).hexdigest()[:16]


class ProblemKind(StrEnum):
    """What is wrong with a plan, as a token for machines."""

    UNREADABLE = "PLAN_UNREADABLE"
    NOT_CLOSED = "PLAN_NOT_CLOSED"  # a code fence or a comment without an end hides the rest
    RANGE = "UNIT_RANGE"
    DUPLICATE = "UNIT_DUPLICATE"
    UNMARKED = "UNIT_UNMARKED"  # a heading that looks like a unit's, and declares none
    LANE_UNKNOWN = "UNIT_LANE_UNKNOWN"
    AGENT_UNKNOWN = "UNIT_AGENT_UNKNOWN"
    CLASS_UNKNOWN = "UNIT_CLASS_UNKNOWN"
    KEY_MISTYPED = "UNIT_KEY_MISTYPED"
    PATHS_OUTSIDE_LANE = "UNIT_PATHS_OUTSIDE_LANE"
    ACCEPTANCE_PROGRAM_MISSING = "UNIT_ACCEPTANCE_PROGRAM_MISSING"
    SOAK_UNREADABLE = "UNIT_SOAK_UNREADABLE"
    DEPENDENCY_UNKNOWN = "UNIT_DEPENDENCY_UNKNOWN"
    DEPENDENCY_CYCLE = "UNIT_DEPENDENCY_CYCLE"


class Problem(Struct, frozen=True, kw_only=True):
    """One thing that is wrong with a plan, and where."""

    kind: ProblemKind
    what: str
    document: str = ""
    line: int = 0

    def __str__(self) -> str:
        if not self.document:
            return self.what
        if not self.line:
            return f"{self.document}: {self.what}"
        return f"{self.document}:{self.line}: {self.what}"


class Landing(Struct, frozen=True, kw_only=True):
    """A unit's commits on a branch, after the base up to the commit; intended or done."""

    unit: str
    branch: str
    base: str = ""  # where the branch was before; empty: not recorded
    commit: str
    receipt: dict[str, Any] | None = None  # drafted from what was checked, not signed yet


class LandingEntry(Struct, frozen=True, kw_only=True):
    """A landing that is done, with when and by which run, as the journal records it."""

    landing: Landing
    at: datetime
    lane: str
    run_id: str
    claim: str = ""  # what its agent said last, where that was looked up
    recognised: bool = False  # found in git after a crash


class PlanMove(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A transition that a plan could make in one cycle, and what became of it."""

    plan: str
    document: str
    from_class: str
    to_class: str
    trigger: str
    outcome: str  # moved, or why not: see `lifecycle.Outcome`
    reason: str = ""
