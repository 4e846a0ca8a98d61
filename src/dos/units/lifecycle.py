"""Which plans may move to another class, by the transitions of [lifecycle].

A plan document has a class: what its front matter says under `classification`, else the first of
the declared classes. A transition is due when its trigger holds in git. One cycle moves a plan at
most once.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from operator import attrgetter

from msgspec import Struct, structs

from dos.text import comparison_key, join_some
from dos.times import format_duration
from dos.units.policy import Lifecycle, Transition
from dos.units.unit import PlanMove


class Outcome(StrEnum):
    """What became of a transition in one cycle."""

    MOVED = "moved"
    DUE = "due"  # nothing is in the way
    NOT_AUTO = "not_auto"  # a person moves the plan
    VETOED = "vetoed"
    COOLDOWN = "cooldown"
    LIMIT = "limit"
    UNKNOWN = "unknown"  # git cannot tell whether the trigger holds
    REFUSED = "refused"  # the document cannot be changed


# Those that are still to be done after a cycle.
OPEN = frozenset((Outcome.DUE, Outcome.NOT_AUTO, Outcome.LIMIT, Outcome.REFUSED))


class PlanState(Struct, frozen=True, kw_only=True):
    """A plan document, and which of its units are on the target branch."""

    plan: str
    document: str
    plan_class: str = ""  # as its front matter says; empty: it says nothing
    landed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()  # git could not be read


Trigger = Callable[[PlanState], bool | None]  # None: it cannot be known


def _all_shipped(plan: PlanState) -> bool | None:
    if plan.missing or not (plan.landed or plan.unknown):
        return False
    return None if plan.unknown else True


def _any_shipped(plan: PlanState) -> bool | None:
    if plan.landed:
        return True
    return None if plan.unknown else False


def _any_open(plan: PlanState) -> bool | None:
    if plan.missing:
        return True
    return None if plan.unknown else False


TRIGGERS: Mapping[str, Trigger] = {
    "all_phases_shipped": _all_shipped,
    "any_phase_shipped": _any_shipped,
    "any_phase_open": _any_open,
}


def class_of(plan: PlanState, policy: Lifecycle) -> str:
    """Return the class of a plan as [lifecycle] spells it; one that is not declared as it is."""
    if not plan.plan_class:
        return policy.classes[0]
    wanted = comparison_key(plan.plan_class)
    for name in policy.classes:
        if comparison_key(name) == wanted:
            return name
    return plan.plan_class


def cycle(
    plans: Iterable[PlanState],
    policy: Lifecycle,
    *,
    moved_ms: Mapping[str, int],
    now_ms: int,
) -> tuple[PlanMove, ...]:
    """Return every transition that is due or that cannot be decided, by plan.

    `moved_ms` says when documents were moved last. Only the first transition that holds counts for
    each plan, in the order of the settings.
    """
    moves = []
    automatic = 0
    for plan in sorted(plans, key=attrgetter("plan", "document")):
        move = _first_move(plan, policy)
        if move is None:
            continue
        if move.outcome == Outcome.DUE:
            move = _hindered(move, policy, moved_ms.get(plan.document), now_ms)
        if move.outcome == Outcome.DUE:
            automatic += 1
            if automatic > policy.max_transitions_per_cycle:
                reason = f"one cycle moves {policy.max_transitions_per_cycle} plans at most"
                move = structs.replace(move, outcome=Outcome.LIMIT.value, reason=reason)
        moves.append(move)
    return tuple(moves)


def _first_move(plan: PlanState, policy: Lifecycle) -> PlanMove | None:
    """Return the first transition whose trigger holds, else the first that cannot be decided."""
    undecided = None
    for transition in policy.transitions:
        if transition.from_class != class_of(plan, policy):
            continue
        holds = _holds(plan, transition)
        if holds:
            return _move(plan, transition, Outcome.DUE if transition.auto else Outcome.NOT_AUTO)
        if holds is None and undecided is None:
            undecided = _move(plan, transition, Outcome.UNKNOWN)
    return undecided


def _holds(plan: PlanState, transition: Transition) -> bool | None:
    """Return whether the trigger holds; None where it cannot be known, or is none of ours."""
    trigger = TRIGGERS.get(transition.trigger)
    return trigger(plan) if trigger else None


def _move(plan: PlanState, transition: Transition, outcome: Outcome) -> PlanMove:
    reason = ""
    if outcome is Outcome.NOT_AUTO:
        reason = "the transition is not automatic: a person edits `classification` in the document"
    elif outcome is Outcome.UNKNOWN and transition.trigger not in TRIGGERS:
        reason = f"dos does not know this trigger; it knows {', '.join(TRIGGERS)}"
    elif outcome is Outcome.UNKNOWN:
        reason = f"git cannot tell whether these landed: {join_some(list(plan.unknown))}"
    return PlanMove(
        plan=plan.plan,
        document=plan.document,
        from_class=transition.from_class,
        to_class=transition.to_class,
        trigger=transition.trigger,
        outcome=outcome.value,
        reason=reason,
    )


def _hindered(move: PlanMove, policy: Lifecycle, moved_ms: int | None, now_ms: int) -> PlanMove:
    """Return the move with what is in its way: the class that never moves, or its cooldown."""
    if policy.veto_class and move.from_class == policy.veto_class:
        reason = f"plans of the class {policy.veto_class} are not moved"
        return structs.replace(move, outcome=Outcome.VETOED.value, reason=reason)
    rest_ms = policy.per_plan_cooldown_hours * 3_600_000
    if moved_ms is not None and now_ms < moved_ms + rest_ms:
        left = format_duration((moved_ms + rest_ms - now_ms) / 1000)
        reason = f"it was moved a short time ago, and rests for {left} more"
        return structs.replace(move, outcome=Outcome.COOLDOWN.value, reason=reason)
    return move
