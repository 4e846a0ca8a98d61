"""What an iteration produced, what a loop remembers between two of them, and what is decided: the loop's records.

In JSON each is its fields by name, absent means the default, and a name that nobody knows is an error.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from dos.backlog.cooldown import Verdict as Cooldown
from dos.backlog.pickable import Verdict as Pickability
from dos.fields import PublicRecord
from dos.loop.gate import Gate, Mode
from dos.loop.improve import Verdict as Ratchet
from dos.loop.policy import Loop
from dos.loop.verdicts.convergence import Verdict as Convergence
from dos.loop.verdicts.liveness import Answer as Liveness
from dos.loop.verdicts.liveness import Verdict as LivenessVerdict
from dos.reasons.table import Needs
from dos.runs.complete import Verdict as Completion

Moment = Annotated[datetime, Meta(tz=True)]
Counted = Annotated[int, Meta(ge=0)]
Seconds = Annotated[float, Meta(ge=0, le=315_360_000)]  # ten years


class OutcomeKind(StrEnum):
    SHIPPED = "SHIPPED"  # a dispatch ran its workers and says that picks shipped
    GATE = "GATE"  # a dispatch launched nothing
    REPLAN_DONE = "REPLAN_DONE"
    UNCLEAR = "UNCLEAR"  # crashed, killed, hung: no terminal result
    RATE_LIMITED = "RATE_LIMITED"
    OVERLOADED = "OVERLOADED"
    LAUNCH_FAILED = "LAUNCH_FAILED"


class Productivity(StrEnum):
    PRODUCTIVE = "PRODUCTIVE"
    UNPRODUCTIVE = "UNPRODUCTIVE"


class DescendantProgress(StrEnum):
    """Did a child that outlived its parent land a commit? One that only writes to its log did not."""

    ADVANCING = "advancing"
    DEAD = "dead"
    NONE_OBSERVED = "none-observed"


class StopReason(StrEnum):
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
    """Why a worker ends a run that its loop would go on with. `decide` never gives one of these."""

    DRAIN_REQUESTED = "drain-requested"
    LEASE_LOST = "lease-lost"
    LANE_HELD = "lane-held"
    HALTED = "halted"
    DECISION_NEEDED = "decision-needed"
    NOT_READY = "not-ready"
    JOURNAL_AWAY = "journal-away"


class Action(StrEnum):
    CONTINUE = "continue"
    STOP = "stop"
    RETRY = "retry-same-iter"
    WAIT = "wait"


class _Kind(PublicRecord, frozen=True):
    """Apart, so that it can be given without its name."""

    kind: OutcomeKind


class IterationOutcome(
    _Kind, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    verdict: Gate | None = None
    replan_productivity: Productivity | None = None
    packet_judge: str | None = None  # SHIPPED-CLEAN, SHIPPED-DIRTY, STALLED, BLOCKED-OUTCOME
    ship_count: Annotated[int, Meta(ge=0)] | None = None  # measured, never told
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


class LoopState(PublicRecord, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Counters with their limits; below them what was seen, which is read once and never carried on."""

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
    liveness: Liveness | LivenessVerdict | None = None
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
    action: Action
    next_mode: str = ""  # dispatch or replan, when it goes on
    reconcile: bool = False  # put the stamps right before the next dispatch
    stop_reason: StopReason | None = None
    surface: bool = False  # somebody or something is needed
    needs: Needs = Needs.NOBODY
    backoff_seconds: float = 0
    until: Moment | None = None
    reason: str = ""
    ladder: tuple[str, ...] = ()  # the rungs that were considered; the last one decided
    next_state: LoopState
