"""May this be granted beside what is live?

One rule for every pair of claims, whoever asks: the journal before it grants a lease, the arbiter before it names a
lane. Budgets and predicates stand on top of it and can only refuse more.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, Self, TypeVar

from msgspec import Struct

from dos import regions
from dos.lease import Refusal, RefusalReason
from dos.regions import Mode, Region
from dos.text import comparison_key
from dos.unknown import Unknown, call_or_unknown

SOFT_OVERLAP_CEILING = 1 / 3  # no setting tolerates more than this share of a request

# What decides in a workspace that is itself a referee; a caller protects those of them that its workspace has.
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

Given = TypeVar("Given")
Budgets = Mapping[str, int]


class RequestedLane(Protocol):
    """A lane that somebody asks for; `lease.Request` is one."""

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


class HeldLane(RequestedLane, Protocol):
    """A lane that somebody has; `lease.Lease` is one."""

    @property
    def holder(self) -> str: ...
    @property
    def fence(self) -> int | None: ...
    @property
    def loop_ts(self) -> str: ...


class PredicateRequest(Struct, frozen=True, kw_only=True):
    """A claim as a predicate is shown it."""

    lane: str
    kind: str
    tree: tuple[str, ...]


class AdmissionVerdict(Struct, frozen=True, kw_only=True):
    """What a predicate answers. It can refuse or stand aside; it cannot overrule another refusal."""

    admitted: bool
    reason: str = ""
    reason_class: str = ""

    @classmethod
    def admit(cls) -> Self:
        return cls(admitted=True)

    @classmethod
    def refuse(cls, reason: str, reason_class: str = "") -> Self:
        return cls(admitted=False, reason=reason, reason_class=reason_class)


# The claim, a live lease as JSON has it ({} in an empty world), and whatever configuration the caller hands on.
Predicate = Callable[[PredicateRequest, Mapping[str, object], object], AdmissionVerdict]


def judge(
    request: RequestedLane,
    live: Sequence[HeldLane],
    budgets: Budgets | None = None,
    predicates: Sequence[Predicate] = (),
    *,
    protected: Sequence[str] = (),
    ratio_max: float = 0.0,
    config: object = None,
) -> Refusal | None:
    """None when it may; else the first refusal: what waiting cannot change, then who is in the way, then the caps."""
    if request.is_lock:
        return _judge_lock(request, live)
    lanes = [lease for lease in live if not lease.is_lock]
    if not request.region.is_known:
        return Refusal(
            reason=RefusalReason.REGION_UNKNOWN,
            detail=f"lane {request.lane!r} has an EMPTY tree: its region is unknown, and unknown overlaps everything",
        )
    if refusal := _judge_protected(request, protected):
        return refusal
    for lease in lanes:
        if refusal := judge_pair(request, lease, ratio_max):
            return refusal
    return judge_budget(request, lanes, budgets or {}) or run_predicates(
        predicates, request, lanes, config
    )


def judge_pair(asked: RequestedLane, lease: HeldLane, ratio_max: float = 0.0) -> Refusal | None:
    """May these two be live at once?"""
    if comparison_key(lease.lane) == comparison_key(asked.lane) and regions.modes_conflict(
        asked.mode, lease.mode
    ):
        return _refusal(
            RefusalReason.LANE_HELD, f"lane {asked.lane!r} is already held{_by(lease)}", lease
        )
    held = f"live lane {lease.lane!r} (held{_by(lease)})"
    if lease.exclusive:
        return _refusal(
            RefusalReason.LANE_EXCLUSIVE, f"{held} is exclusive: nothing runs beside it", lease
        )
    if asked.exclusive:
        detail = f"lane {asked.lane!r} is exclusive and cannot run beside {held}"
        return _refusal(RefusalReason.LANE_EXCLUSIVE, detail, lease)
    if regions.conflict(asked.region, asked.mode, lease.region, lease.mode):
        score = regions.score(
            asked.region.globs, lease.region.globs, min(ratio_max, SOFT_OVERLAP_CEILING)
        )
        if not score.admissible:
            detail = (
                f"cannot share {held}: {_collision(asked.region, lease.region)}; {score.reason}"
            )
            return _refusal(RefusalReason.REGION_OVERLAP, detail, lease)
    return None


def judge_budget(
    asked: RequestedLane, lanes: Sequence[HeldLane], budgets: Budgets
) -> Refusal | None:
    """Are there already as many leases of this kind as may be?"""
    cap = budgets.get(asked.kind, 0)
    count = sum(lease.kind == asked.kind for lease in lanes)
    if isinstance(cap, bool) or not 0 < cap <= count:
        return None
    return Refusal(
        reason=RefusalReason.CLASS_BUDGET_EXHAUSTED,
        detail=f"CLASS_BUDGET_EXHAUSTED: {asked.kind} ({count}/{cap}); a new plan would not change that, wait",
    )


def run_predicates(
    predicates: Sequence[Predicate],
    asked: RequestedLane,
    live: Sequence[HeldLane],
    config: object = None,
) -> Refusal | None:
    """The first refusal. In an empty world each predicate still runs once: what it protects may not be a lease."""
    shown = PredicateRequest(lane=asked.lane, kind=asked.kind, tree=asked.region.globs)
    for lease in live or (None,):
        row = {} if lease is None else _row(lease)
        for predicate in predicates:
            if refusal := _run_predicate(predicate, shown, row, config):
                return refusal
    return None


def _run_predicate(
    predicate: Predicate, asked: PredicateRequest, lease: Mapping[str, object], config: object
) -> Refusal | None:
    name = str(
        getattr(predicate, "name", "") or getattr(predicate, "__name__", type(predicate).__name__)
    )
    answer: object = call_or_unknown(lambda: predicate(asked, lease, config))
    if isinstance(answer, Unknown):
        detail = f"predicate {name!r} raised {answer.why} (fail-closed)"
    elif not isinstance(answer, AdmissionVerdict):
        detail = f"predicate {name!r} answered {type(answer).__name__}, which is not an AdmissionVerdict (fail-closed)"
    elif answer.admitted:
        return None
    else:
        label = f"{answer.reason_class}: " if answer.reason_class else ""
        detail = f"predicate {name!r}: {label}{answer.reason}"
    fence = lease.get("fence")
    blocked_by = fence if isinstance(fence, int) else None
    return Refusal(reason=RefusalReason.PREDICATE, detail=detail, blocked_by=blocked_by)


def _judge_lock(asked: RequestedLane, live: Sequence[HeldLane]) -> Refusal | None:
    for lease in live:
        if lease.is_lock and comparison_key(lease.lane) == comparison_key(asked.lane):
            return _refusal(
                RefusalReason.LANE_HELD,
                f"lock {asked.lane!r} is already held by {lease.holder!r}",
                lease,
            )
    return None


def _judge_protected(asked: RequestedLane, protected: Sequence[str]) -> Refusal | None:
    if not protected:  # an empty list of globs is a region of which nothing is known
        return None
    pair = regions.first_collision(asked.region, regions.region(protected))
    if pair is None:
        return None
    detail = f"SELF_MODIFY: {pair[0]!r} of lane {asked.lane!r} reaches the protected {pair[1]!r}"
    return Refusal(reason=RefusalReason.SELF_MODIFY, detail=detail)


def _collision(asked: Region, held: Region) -> str:
    mine, theirs = regions.first_collision(asked, held) or ("", "")
    if not theirs:
        return "its tree is EMPTY, so its region is unknown, and unknown overlaps everything"
    return f"{mine!r} meets {theirs!r}"


def _by(lease: HeldLane) -> str:
    if lease.fence is None:
        return f" by {lease.holder!r}" if lease.holder else ""
    return f" by {lease.holder!r}, fence {lease.fence}"


def _row(lease: HeldLane) -> dict[str, object]:
    return {
        "lane": lease.lane,
        "lane_kind": lease.kind,
        "tree": list(lease.region.globs),
        "loop_ts": lease.loop_ts,
        "holder": lease.holder,
        "fence": lease.fence,
    }


def _refusal(reason: RefusalReason, detail: str, lease: HeldLane) -> Refusal:
    return Refusal(reason=reason, detail=detail, blocked_by=lease.fence)
