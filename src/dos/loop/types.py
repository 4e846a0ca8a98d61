"""The records of a loop: the outcome of an iteration, the state between two, and the decision.

In JSON each record is an object of its fields. An absent field has its default, and an unknown one
is an error.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from dos.backlog import cooldown, pickable
from dos.fields import PublicRecord
from dos.loop import improve
from dos.loop.gate import Gate, Loop, Mode
from dos.loop.verdicts import convergence, liveness
from dos.reasons.table import Needs
from dos.runs import complete

Moment = Annotated[datetime, Meta(tz=True)]
Counted = Annotated[int, Meta(ge=0)]
Seconds = Annotated[float, Meta(ge=0, le=315_360_000)]  # ten years


class OutcomeKind(StrEnum):
    """How an iteration ended."""

    SHIPPED = "SHIPPED"  # a dispatch ran its agent, which says that it is done
    GATE = "GATE"  # a dispatch started nothing
    REPLAN_DONE = "REPLAN_DONE"
    UNCLEAR = "UNCLEAR"  # crashed, killed or hung: no result
    RATE_LIMITED = "RATE_LIMITED"
    OVERLOADED = "OVERLOADED"
    LAUNCH_FAILED = "LAUNCH_FAILED"


class Productivity(StrEnum):
    """Whether a replan found work. None in an outcome counts as productive."""

    PRODUCTIVE = "PRODUCTIVE"
    UNPRODUCTIVE = "UNPRODUCTIVE"


class DescendantProgress(StrEnum):
    """Whether a child that outlived its parent lands commits; writing to a log does not count."""

    ADVANCING = "advancing"
    DEAD = "dead"
    NONE_OBSERVED = "none-observed"


class StopReason(StrEnum):
    """Why a loop stops.

    The table of reasons says what each means and who can clear it.
    """

    ITERATION_CAP = "iteration-cap"
    COMPLETE = "complete"
    DRAINED_TWICE = "drained-twice"
    LAUNCH_FAILED = "launch-failed"
    RATE_LIMITED = "rate-limited"
    CONSECUTIVE_OVERLOADED = "consecutive-overloaded"
    THRASHING = "thrashing"
    SPINNING = "spinning"
    NOT_RATCHETING = "not-ratcheting"
    PICK_HELD_INVARIANT = "pick-held-invariant"
    PICK_COOLDOWN = "pick-cooldown"
    CONSECUTIVE_UNCLEAR = "consecutive-unclear"
    UNMEASURED_SHIPPED = "unmeasured-shipped"
    CONSECUTIVE_DIRTY_ZERO = "consecutive-dirty-zero"
    REPLAN_STALLED = "replan-stalled"
    BLOCKED_REDISPATCH_INVARIANT = "blocked-redispatch-invariant"
    STALE_STAMP_UNRECONCILED = "stale-stamp-unreconciled"
    BENIGN_DRAIN = "benign-drain"
    DRAIN = "drain"
    BLOCKED = "blocked"
    WEDGE = "blocked"  # its former name


class WorkerStop(StrEnum):
    """Why a worker ends a run that its loop would continue. `decide` never returns one of these."""

    DRAIN_REQUESTED = "drain-requested"
    LEASE_LOST = "lease-lost"
    LANE_HELD = "lane-held"
    HALTED = "halted"
    DECISION_NEEDED = "decision-needed"
    NOT_READY = "not-ready"
    JOURNAL_AWAY = "journal-away"


class Action(StrEnum):
    """What a loop does next: another iteration, the same one again, a wait, or a stop."""

    CONTINUE = "continue"
    STOP = "stop"
    RETRY = "retry-same-iter"
    WAIT = "wait"


class _Kind(PublicRecord, frozen=True):
    """The kind alone, so that it can be given as a positional argument."""

    kind: OutcomeKind


class IterationOutcome(
    _Kind, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """How an iteration ended, and what was measured of it.

    Raises ValueError for fields that belong to another kind of outcome.
    """

    verdict: Gate | None = None
    replan_productivity: Productivity | None = None
    packet_judge: str | None = None  # SHIPPED-CLEAN, SHIPPED-DIRTY, STALLED, BLOCKED-OUTCOME
    ship_count: Annotated[int, Meta(ge=0)] | None = None  # measured, not reported by the agent
    measurement_expected: bool = False
    blocked_cause: str | None = None
    retry_after_seconds: Seconds | None = None
    resets_at: Moment | None = None
    ended_at: Moment | None = None  # from when `retry_after_seconds` counts

    def __post_init__(self) -> None:
        kind = self.kind
        if kind == OutcomeKind.GATE and self.verdict is None:
            raise ValueError(f"a GATE carries its gate verdict: one of {', '.join(Gate)}")
        if kind != OutcomeKind.GATE and self.verdict is not None:
            raise ValueError(f"a gate verdict belongs to a GATE; this is {kind}")
        if self.replan_productivity is not None and kind != OutcomeKind.REPLAN_DONE:
            raise ValueError(f"replan_productivity belongs to REPLAN_DONE; this is {kind}")
        if kind != OutcomeKind.SHIPPED and (
            self.packet_judge is not None or self.measurement_expected
        ):
            raise ValueError(
                f"packet_judge and measurement_expected belong to SHIPPED; this is {kind}"
            )
        if (self.packet_judge is None) != (self.ship_count is None):
            raise ValueError("packet_judge and ship_count come together or not at all")
        if self.blocked_cause is not None and self.verdict != Gate.BLOCKED:
            raise ValueError("blocked_cause belongs to a GATE that says BLOCKED")
        if self.retry_after_seconds is not None and kind != OutcomeKind.LAUNCH_FAILED:
            raise ValueError(f"retry_after_seconds belongs to LAUNCH_FAILED; this is {kind}")
        if self.resets_at is not None and kind != OutcomeKind.RATE_LIMITED:
            raise ValueError(f"resets_at belongs to RATE_LIMITED; this is {kind}")


_LIMITS = Loop()

# The verdicts that a state carries; its fields have the names of the modules.
Liveness = liveness.Answer | liveness.Verdict
Completion = complete.Verdict
Convergence = convergence.Verdict
Ratchet = improve.Verdict
Pickability = pickable.Verdict
Cooldown = cooldown.Verdict


class LoopState(PublicRecord, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The counters of a loop with their limits, and the evidence for the next decision.

    A decision reads the evidence once; the next state has none.
    """

    iteration: Counted = 1
    gate_mode: Mode = Mode(_LIMITS.gate_mode)
    max_iterations: int = 10
    consecutive_unclear: Counted = 0
    max_unclear: int = _LIMITS.max_unclear
    consecutive_dirty_zero: Counted = 0
    max_dirty_zero: int = _LIMITS.max_dirty_zero
    consecutive_overloaded: Counted = 0
    max_overloaded: int = _LIMITS.max_overloaded
    consecutive_stale_stamp: Counted = 0
    max_stale_stamp: int = _LIMITS.max_stale_stamp
    consecutive_unproductive_replan_drains: Counted = 0
    max_unproductive_replan_drains: int = _LIMITS.max_unproductive_replan_drains
    consecutive_unproductive_replan: Counted = 0
    max_unproductive_replan: int = _LIMITS.max_unproductive_replan
    consecutive_adopt_wait: Counted = 0
    max_adopt_wait: int = _LIMITS.max_adopt_wait
    consecutive_race: Counted = 0
    max_race: int = _LIMITS.max_race
    consecutive_wait: Counted = 0
    max_wait: int = _LIMITS.max_wait
    last_replan_drained: bool = False
    last_gate_was_drain: bool = False
    liveness: Liveness | None = None
    completion: Completion | None = None
    convergence: Convergence | None = None
    ratchet: Ratchet | None = None
    pickability: Pickability | None = None  # of the next unit
    cooldown: Cooldown | None = None  # of the next unit, once fresher ones were skipped
    descendant_progress: DescendantProgress | None = None

    def __post_init__(self) -> None:
        if self.gate_mode not in list(Mode):
            raise ValueError(f"gate_mode {self.gate_mode!r} is none of {', '.join(Mode)}")


EVIDENCE = (
    "liveness",
    "completion",
    "convergence",
    "ratchet",
    "pickability",
    "cooldown",
    "descendant_progress",
)


class LoopDecision(PublicRecord, frozen=True, kw_only=True):
    """What a loop does after an iteration, why, and its state for the next one.

    `ladder` are the rungs that were considered; the last one decided.
    """

    action: Action
    next_mode: str = ""  # dispatch or replan, when it continues
    reconcile: bool = False  # correct the stamps before the next dispatch
    stop_reason: StopReason | None = None
    surface: bool = False  # a person or something else is needed
    needs: Needs = Needs.NOBODY
    backoff_seconds: float = 0
    until: Moment | None = None
    reason: str = ""
    ladder: tuple[str, ...] = ()  # the rungs that were considered; the last one decided
    next_state: LoopState
