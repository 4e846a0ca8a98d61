"""Decide whether a lane may be granted beside the live leases.

One rule serves every caller: the journal before it grants a lease, and the arbiter before it
names a lane. Budgets and predicates come after it and can only refuse more.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, Self

from msgspec import Struct

from dos import regions
from dos.lease import Refusal, RefusalReason
from dos.regions import Mode, Region
from dos.text import comparison_key
from dos.unknown import Unknown, call_or_unknown

SOFT_OVERLAP_CEILING = 1 / 3  # no setting tolerates more than this share of a request

# The files of dos-kernel that decide; a caller protects those that its own workspace has.
KERNEL_FILES = tuple(
    f"src/dos/{name}.py"
    for name in (
        "arbiter",
        "admission",
        "self_modify",
        "lane_overlap",
        "_tree",
        "gate_classify",
        "loop_decide",
        "tokens",
        "wedge_reason",
        "reasons",
        "config",
    )
)

Budgets = Mapping[str, int]


class RequestedLane(Protocol):
    """A lane that is asked for; `lease.Request` is one."""

    @property
    def lane(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def region(self) -> Region: ...
    @property
    def mode(self) -> Mode: ...
    @property
    def exclusive(self) -> bool: ...
    @property
    def is_lock(self) -> bool: ...
    @property
    def part_of(self) -> str: ...


class HeldLane(RequestedLane, Protocol):
    """A lane that is held; `lease.Lease` is one."""

    @property
    def holder(self) -> str: ...
    @property
    def fence(self) -> int | None: ...
    @property
    def loop_ts(self) -> str: ...


class PredicateRequest(Struct, frozen=True, kw_only=True):
    """A requested lane as a predicate sees it."""

    lane: str
    kind: str
    tree: tuple[str, ...]


class AdmissionVerdict(Struct, frozen=True, kw_only=True):
    """What a predicate answers. It can refuse or admit; it cannot overrule another refusal."""

    admitted: bool
    reason: str = ""
    reason_class: str = ""

    @classmethod
    def admit(cls) -> Self:
        """The answer of a predicate that has no objection."""
        return cls(admitted=True)

    @classmethod
    def refuse(cls, reason: str, reason_class: str = "") -> Self:
        """The answer of a predicate that objects; `reason_class` is a token for machines."""
        return cls(admitted=False, reason=reason, reason_class=reason_class)


# Called with the request, a live lease as JSON ({} if none is live) and the configuration.
Predicate = Callable[[PredicateRequest, Mapping[str, object], object], AdmissionVerdict]


def judge(  # noqa: PLR0913
    request: RequestedLane,
    live: Sequence[HeldLane],
    budgets: Budgets | None = None,
    predicates: Sequence[Predicate] = (),
    *,
    protected: Sequence[str] = (),
    ratio_max: float = 0.0,
    most_parts: int | None = None,
    config: object = None,
) -> Refusal | None:
    """Decide whether a lane may be granted: None if it may, else the first refusal.

    First comes what waiting cannot change, then the leases that block it, then the caps.
    `most_parts` is how many parts of one repeatable lane may be held; None: any number.
    """
    if request.is_lock:
        return _judge_lock(request, live)
    lanes = [lease for lease in live if not lease.is_lock]
    if not request.region.is_known:
        return Refusal(
            reason=RefusalReason.REGION_UNKNOWN,
            detail=(
                f"lane {request.lane!r} has an EMPTY tree:"
                " its region is unknown, and unknown overlaps everything"
            ),
        )
    if refusal := _judge_protected(request, protected):
        return refusal
    for lease in lanes:
        if refusal := judge_pair(request, lease, ratio_max):
            return refusal
    if refusal := judge_budget(request, lanes, budgets or {}):
        return refusal
    if refusal := judge_parts(request, lanes, most_parts):
        return refusal
    return run_predicates(predicates, request, lanes, config)


def judge_pair(request: RequestedLane, lease: HeldLane, ratio_max: float = 0.0) -> Refusal | None:
    """Decide whether a requested and a held lane may be live at once; None if they may.

    Two lanes with overlapping regions may, if their modes do not conflict, or if the overlap is
    within the tolerated share of the request.
    """
    is_same_lane = comparison_key(lease.lane) == comparison_key(request.lane)
    if is_same_lane and regions.modes_conflict(request.mode, lease.mode):
        detail = f"lane {request.lane!r} is already held{_by(lease)}"
        return _refusal(RefusalReason.LANE_HELD, detail, lease)
    held = f"live lane {lease.lane!r} (held{_by(lease)})"
    if lease.exclusive:
        detail = f"{held} is exclusive: nothing runs beside it"
        return _refusal(RefusalReason.LANE_EXCLUSIVE, detail, lease)
    if request.exclusive:
        detail = f"lane {request.lane!r} is exclusive and cannot run beside {held}"
        return _refusal(RefusalReason.LANE_EXCLUSIVE, detail, lease)
    if not regions.conflict(request.region, request.mode, lease.region, lease.mode):
        return None
    tolerated = min(ratio_max, SOFT_OVERLAP_CEILING)
    score = regions.score(request.region.globs, lease.region.globs, tolerated)
    if score.admissible:
        return None
    detail = f"cannot share {held}: {_collision(request.region, lease.region)}; {score.reason}"
    return _refusal(RefusalReason.REGION_OVERLAP, detail, lease)


def judge_budget(
    request: RequestedLane, lanes: Sequence[HeldLane], budgets: Budgets
) -> Refusal | None:
    """Refuse if as many leases of this kind are live as [concurrency] allows."""
    cap = budgets.get(request.kind, 0)
    count = sum(lease.kind == request.kind for lease in lanes)
    if isinstance(cap, bool) or not 0 < cap <= count:
        return None
    return Refusal(
        reason=RefusalReason.CLASS_BUDGET_EXHAUSTED,
        detail=(
            f"CLASS_BUDGET_EXHAUSTED: {request.kind} ({count}/{cap});"
            " a new plan would not change that, wait"
        ),
    )


def judge_parts(
    request: RequestedLane, lanes: Sequence[HeldLane], most: int | None
) -> Refusal | None:
    """Refuse if as many parts of the same repeatable lane are held as [supervise] allows."""
    if most is None or not request.part_of:
        return None
    key = comparison_key(request.part_of)
    count = sum(comparison_key(lease.part_of) == key for lease in lanes)
    if count < most:
        return None
    return Refusal(
        reason=RefusalReason.CLASS_BUDGET_EXHAUSTED,
        detail=(
            f"lane {request.part_of!r} has as many parts held ({count})"
            " as [supervise] max_concurrency allows; wait until one is free"
        ),
    )


def run_predicates(
    predicates: Sequence[Predicate],
    request: RequestedLane,
    live: Sequence[HeldLane],
    config: object = None,
) -> Refusal | None:
    """The first refusal of a predicate; None if all admit.

    Each predicate runs once even if no lease is live: what it protects may not be a lease.
    """
    shown = PredicateRequest(lane=request.lane, kind=request.kind, tree=request.region.globs)
    for lease in live or (None,):
        if lease is None:
            row = {}
        else:
            row = _row(lease)
        for predicate in predicates:
            if refusal := _run_predicate(predicate, shown, row, config):
                return refusal
    return None


def _run_predicate(
    predicate: Predicate, request: PredicateRequest, lease: Mapping[str, object], config: object
) -> Refusal | None:
    """Run a plugin's predicate. One that raises or answers something else refuses."""
    default_name = getattr(predicate, "__name__", type(predicate).__name__)
    name = str(getattr(predicate, "name", "") or default_name)
    answer: object = call_or_unknown(lambda: predicate(request, lease, config))
    if isinstance(answer, Unknown):
        detail = f"predicate {name!r} raised {answer.why} (fail-closed)"
    elif not isinstance(answer, AdmissionVerdict):
        detail = (
            f"predicate {name!r} answered {type(answer).__name__},"
            " which is not an AdmissionVerdict (fail-closed)"
        )
    elif answer.admitted:
        return None
    else:
        if answer.reason_class:
            label = f"{answer.reason_class}: "
        else:
            label = ""
        detail = f"predicate {name!r}: {label}{answer.reason}"
    fence = lease.get("fence")
    if isinstance(fence, int):
        blocked_by = fence
    else:
        blocked_by = None
    return Refusal(reason=RefusalReason.PREDICATE, detail=detail, blocked_by=blocked_by)


def _judge_lock(request: RequestedLane, live: Sequence[HeldLane]) -> Refusal | None:
    """A lock has a name and no region: only a lock of the same name blocks it."""
    for lease in live:
        if lease.is_lock and comparison_key(lease.lane) == comparison_key(request.lane):
            detail = f"lock {request.lane!r} is already held by {lease.holder!r}"
            return _refusal(RefusalReason.LANE_HELD, detail, lease)
    return None


def _judge_protected(request: RequestedLane, protected: Sequence[str]) -> Refusal | None:
    """Refuse a lane that contains a protected path: no waiting changes that."""
    if not protected:  # an empty list of globs would be an unknown region, which overlaps all
        return None
    pair = regions.first_collision(request.region, regions.region(protected))
    if pair is None:
        return None
    detail = f"SELF_MODIFY: {pair[0]!r} of lane {request.lane!r} reaches the protected {pair[1]!r}"
    return Refusal(reason=RefusalReason.SELF_MODIFY, detail=detail)


def _collision(request: Region, held: Region) -> str:
    """The two globs that overlap, for people."""
    mine, theirs = regions.first_collision(request, held) or ("", "")
    if not theirs:
        return "its tree is EMPTY, so its region is unknown, and unknown overlaps everything"
    return f"{mine!r} meets {theirs!r}"


def _by(lease: HeldLane) -> str:
    """Who holds a lease, for the end of a sentence."""
    if lease.fence is None:
        if lease.holder:
            return f" by {lease.holder!r}"
        return ""
    return f" by {lease.holder!r}, fence {lease.fence}"


def _row(lease: HeldLane) -> dict[str, object]:
    """A lease as JSON, the way predicates of dos-kernel ≤ 0.30 expect it."""
    return {
        "lane": lease.lane,
        "lane_kind": lease.kind,
        "tree": list(lease.region.globs),
        "loop_ts": lease.loop_ts,
        "holder": lease.holder,
        "fence": lease.fence,
    }


def _refusal(reason: RefusalReason, detail: str, lease: HeldLane) -> Refusal:
    """A refusal that names the lease that blocks."""
    return Refusal(reason=reason, detail=detail, blocked_by=lease.fence)
