"""Which lane may be worked on, given what is asked for and what is live?

A lane that is named, free and admissible is granted. One that is not is replaced by a free one, and the decision says
so and why; an exact request is never replaced.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

from msgspec import DecodeError, Meta, Struct, ValidationError, convert, json, structs

from dos import regions
from dos.errors import BadInput
from dos.lanes import admission, preference
from dos.lanes.admission import Predicate
from dos.lanes.preference import Fit, LaneCandidate, NoFit, Preferences
from dos.lanes.roster import GLOBAL, Roster
from dos.lease import Lease, Refusal, RefusalReason
from dos.regions import Mode, Region
from dos.text import comparison_key, did_you_mean, join_some, quote, validated_name

CLUSTER = "cluster"
KEYWORD = "keyword"


class ArbiterRequest(Struct, frozen=True, kw_only=True):
    lane: str = ""
    kind: str = ""
    tree: tuple[str, ...] = ()  # empty: the tree that the lane is declared with
    mode: Mode = Mode.EXCLUSIVE
    exact: bool = False  # this lane or none
    force: bool = False


class LiveLease(Struct, frozen=True, kw_only=True):
    """A live lease, as a caller writes it in JSON. Keys that are not here are left alone."""

    lane: Annotated[str, Meta(min_length=1)]
    lane_kind: str = ""
    tree: tuple[str, ...] = ()  # empty: unknown, so it is in everybody's way
    loop_ts: str = ""
    holder: str = ""
    fence: int | None = None
    mode: Mode = Mode.EXCLUSIVE
    exclusive: bool = False


class Answer(StrEnum):
    ACQUIRE = "acquire"
    REFUSE = "refuse"


class Decision(Struct, frozen=True, kw_only=True):
    outcome: Answer
    lane: str = ""
    lane_kind: str = ""
    tree: tuple[str, ...] = ()
    auto_picked: bool = False
    reason: str
    free_clusters: tuple[
        str, ...
    ] = ()  # with a refusal: the autopick lanes that nobody holds by name
    pick_count: int | None = None
    requested_lane: str = ""
    substituted: bool = False  # another lane than the one that was named
    reason_class: str = ""  # why what was asked for was not simply granted

    @property
    def exit_code(self) -> int:
        if self.outcome is Answer.ACQUIRE:
            return 0
        return 2 if self.reason_class == RefusalReason.UNKNOWN_LANE else 1

    def to_json(self) -> dict[str, object]:
        """Ready to be written, its keys in order of the alphabet."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in sorted(structs.asdict(self).items())
        }


def live_lease(lease: Lease) -> LiveLease:
    """A lane's lease from the journal, as the arbiter sees it."""
    return LiveLease(
        lane=lease.lane,
        lane_kind=lease.kind,
        tree=lease.region.globs,
        loop_ts=lease.loop_ts,
        holder=lease.holder,
        fence=lease.fence,
        mode=lease.mode,
        exclusive=lease.exclusive,
    )


def live_leases_from_json(text: str) -> list[LiveLease]:
    """The live leases that a caller wrote down. What cannot be read is never an empty world."""
    try:
        return json.decode(text, type=list[LiveLease])
    except (DecodeError, UnicodeError, RecursionError) as error:
        raise _unusable(error) from error


def live_leases_from_rows(rows: object) -> list[LiveLease]:
    """The same, from JSON that is parsed already."""
    try:
        return convert(rows, type=list[LiveLease])
    except (ValidationError, RecursionError) as error:
        raise _unusable(error) from error


def judge(
    request: ArbiterRequest,
    live: Sequence[LiveLease],
    roster: Roster,
    *,
    predicates: Sequence[Predicate] = (),
    config: object = None,
    preferences: Preferences = Preferences(),
) -> Decision:
    case = _Case(
        asked=request,
        live=tuple(_standing(lease, roster) for lease in live),
        roster=roster,
        predicates=tuple(predicates),
        config=config,
        preferences=preferences,
    )
    if request.lane.strip() and not request.tree and roster.canonical(request.lane) is None:
        return _unknown_lane(case)
    if alone := next((lease for lease in case.live if lease.exclusive), None):
        return _beside_exclusive(case, alone)
    wanted = _wanted(request, roster)
    if wanted is None:
        return _pick(case)
    refusal = case.admit(wanted)
    if request.force and request.lane.strip():
        return _forced(case, wanted, refusal)
    if refusal is None:
        return case.grant(wanted, f"lane {wanted.lane!r} is free: granted as asked")
    if request.exact or not _replaceable(wanted, refusal, case):
        return case.refuse(refusal.reason, f"{refusal.detail}; {_free_now(case)}")
    return _pick(case, wanted, refusal)


class _Standing(Struct, frozen=True, kw_only=True):
    """A live lease, with what the roster knows of its lane."""

    lane: str
    kind: str
    region: Region
    mode: Mode
    exclusive: bool
    holder: str
    fence: int | None
    loop_ts: str
    is_lock: bool = False


class _Case(Struct, frozen=True, kw_only=True):
    """One request and all that it is judged by."""

    asked: ArbiterRequest
    live: tuple[_Standing, ...]
    roster: Roster
    predicates: tuple[Predicate, ...]
    config: object
    preferences: Preferences

    def admit(self, candidate: LaneCandidate) -> Refusal | None:
        return admission.judge(
            candidate,
            self.live,
            self.roster.budgets,
            self.predicates,
            protected=self.roster.protected,
            ratio_max=self.roster.ratio_max,
            config=self.config,
        )

    def admit_by_budget_first(self, candidate: LaneCandidate) -> Refusal | None:
        """In a walk a full class is the cause that counts: no other lane of it would do either."""
        return admission.judge_budget(candidate, self.live, self.roster.budgets) or self.admit(
            candidate
        )

    def free_names(self) -> tuple[str, ...]:
        taken = {comparison_key(lease.lane) for lease in self.live}
        return tuple(
            name
            for name in self.roster.autopick
            if comparison_key(self.roster.canonical(name) or name) not in taken
        )

    def candidate(self, name: str, kind: str, tree: Sequence[str]) -> LaneCandidate:
        alone = self.roster.runs_alone(name)
        lane = self.roster.canonical(name) or name
        return LaneCandidate(
            lane=lane,
            kind=comparison_key(lane) if alone else kind,
            region=regions.region(tree),
            mode=self.asked.mode,
            exclusive=alone,
        )

    def autopick(self) -> list[LaneCandidate]:
        return [
            self.candidate(name, CLUSTER, self.roster.tree(name)) for name in self.roster.autopick
        ]

    def grant(
        self, chosen: LaneCandidate, reason: str, *, picks: int | None = None, auto: bool = False
    ) -> Decision:
        return Decision(
            outcome=Answer.ACQUIRE,
            lane=chosen.lane,
            lane_kind=chosen.kind,
            tree=chosen.region.globs,
            auto_picked=auto,
            reason=reason,
            pick_count=picks,
            requested_lane=self.asked.lane,
        )

    def refuse(self, cause: RefusalReason, reason: str, *, picks: int | None = None) -> Decision:
        return Decision(
            outcome=Answer.REFUSE,
            reason=reason,
            free_clusters=self.free_names(),
            pick_count=picks,
            requested_lane=self.asked.lane,
            reason_class=cause.value,
        )


def _standing(lease: LiveLease, roster: Roster) -> _Standing:
    alone = lease.exclusive or roster.runs_alone(lease.lane)
    return _Standing(
        lane=roster.canonical(lease.lane) or lease.lane,
        kind=lease.lane_kind or CLUSTER,
        region=regions.region(lease.tree),
        mode=lease.mode,
        exclusive=alone
        or comparison_key(lease.lane_kind) == GLOBAL
        or roster.runs_alone(lease.lane_kind),
        holder=lease.holder,
        fence=lease.fence,
        loop_ts=lease.loop_ts,
    )


def _wanted(asked: ArbiterRequest, roster: Roster) -> LaneCandidate | None:
    """What is asked for by name or by a kind that runs alone; None for a request that leaves the choice open."""
    name = asked.lane.strip()
    lane = roster.canonical(name) if name else None
    alone = (
        asked.kind == GLOBAL
        or asked.kind in roster.exclusive
        or (lane is not None and roster.runs_alone(lane))
    )
    if not name and not alone:
        return None
    if alone:
        named = lane or (
            validated_name(name, "lane name") if name else _exclusive_lane(asked.kind, roster)
        )
        kind = comparison_key(named) if roster.runs_alone(named) else asked.kind
    else:
        named = lane or validated_name(name, "lane name")
        kind = asked.kind or (KEYWORD if lane is None else CLUSTER)
    globs = asked.tree or roster.tree(named)
    return LaneCandidate(
        lane=named, kind=kind, region=regions.region(globs), mode=asked.mode, exclusive=alone
    )


def _exclusive_lane(kind: str, roster: Roster) -> str:
    if kind in roster.exclusive or roster.tree(kind) or not roster.exclusive:
        return roster.canonical(kind) or kind
    return roster.exclusive[0]


def _replaceable(wanted: LaneCandidate, refusal: Refusal, case: _Case) -> bool:
    """Would another lane do? Not for a tree of the caller's own, for the whole repository, or for protected files."""
    if (
        wanted.exclusive
        or refusal.reason is RefusalReason.SELF_MODIFY
        or case.roster.canonical(wanted.lane) is None
    ):
        return False
    return wanted.kind != KEYWORD or refusal.reason is RefusalReason.REGION_UNKNOWN


def _pick(
    case: _Case, wanted: LaneCandidate | None = None, refusal: Refusal | None = None
) -> Decision:
    """Another lane than the one that was refused, or the first that fits a request that names none."""
    wishes = case.preferences
    open_choice = wanted is None or wanted.kind == KEYWORD
    if open_choice and wishes.auto_pick_order is not None:
        rows = [case.candidate(*row) for row in wishes.auto_pick_order]
        found = preference.best_ranked(rows, case.admit_by_budget_first, wishes)
    else:
        order = case.autopick()
        if wanted is not None:
            order = [
                each
                for each in order
                if not each.exclusive and comparison_key(each.lane) != comparison_key(wanted.lane)
            ]
        if open_choice:
            order += [
                case.candidate(name, "named", tree) for name, tree in wishes.named_lanes.items()
            ]
            order += [
                case.candidate(name, "derived", tree) for name, tree in wishes.derived_lanes.items()
            ]
        found = preference.first_fit(order, case.admit_by_budget_first, wishes)
    if isinstance(found, NoFit):
        return _nothing_fits(case, found, refusal)
    return _picked(case, found, wanted, refusal)


def _picked(
    case: _Case, found: Fit, wanted: LaneCandidate | None, refusal: Refusal | None
) -> Decision:
    lane = found.candidate.lane
    if wanted is None or refusal is None:
        unused = (
            "; the tree is not used, because no lane was named for it" if case.asked.tree else ""
        )
        reason = f"bare request: auto-picked {lane!r} ({found.how}){unused}"
        return case.grant(found.candidate, reason, picks=found.picks, auto=True)
    if refusal.reason is RefusalReason.LANE_HELD:
        why = "was busy"
    else:
        why = "matched no live plan" if wanted.kind == KEYWORD else "cannot be granted"
    reason = f"requested {case.asked.lane!r} {why}: {refusal.detail}; auto-picked {lane!r} instead ({found.how})"
    granted = case.grant(found.candidate, reason, picks=found.picks, auto=True)
    substituted = comparison_key(lane) != comparison_key(wanted.lane)
    return structs.replace(granted, substituted=substituted, reason_class=refusal.reason.value)


def _nothing_fits(case: _Case, found: NoFit, refusal: Refusal | None) -> Decision:
    picks = 0 if found.nothing_to_pick else None
    if refusal is not None:
        return case.refuse(
            refusal.reason,
            f"{refusal.detail}; no other lane fits: {found.describe_skips()}",
            picks=picks,
        )
    for cause in (RefusalReason.CLASS_BUDGET_EXHAUSTED, RefusalReason.SELF_MODIFY):
        if found.only_for(cause):
            return case.refuse(cause, found.describe_skips(cause))
    if found.nothing_to_pick:
        return case.refuse(
            RefusalReason.NO_FREE_LANE,
            f"no lane has anything to pick: {found.describe_skips()}",
            picks=0,
        )
    none = (
        "no free lane" if case.preferences.auto_pick_order is None else "priority ladder exhausted"
    )
    return case.refuse(RefusalReason.NO_FREE_LANE, f"{none}: {found.describe_skips()}")


def _forced(case: _Case, wanted: LaneCandidate, refusal: Refusal | None) -> Decision:
    kind = wanted.kind if wanted.exclusive else case.asked.kind or KEYWORD
    notes = [refusal.detail] if refusal else []
    if any(comparison_key(lease.lane) == comparison_key(wanted.lane) for lease in case.live):
        notes.append("somebody holds this lane beside it")
    over = f" over: {'; '.join(notes)}" if notes else ", and it would have been granted anyway"
    granted = case.grant(
        structs.replace(wanted, kind=kind), f"FORCED: lane {wanted.lane!r} is granted{over}"
    )
    return structs.replace(granted, reason_class=refusal.reason.value if refusal else "")


def _beside_exclusive(case: _Case, alone: _Standing) -> Decision:
    by = f" (held by {alone.holder!r})" if alone.holder else ""
    reason = f"live lane {alone.lane!r}{by} is exclusive: nothing runs beside it"
    if case.asked.force:
        reason += ", and force cannot override that"
    return structs.replace(case.refuse(RefusalReason.LANE_EXCLUSIVE, reason), free_clusters=())


def _unknown_lane(case: _Case) -> Decision:
    name, roster = case.asked.lane.strip(), case.roster
    target = next(
        (
            lane
            for word, lane in roster.aliases.items()
            if comparison_key(word) == comparison_key(name)
        ),
        None,
    )
    found = (
        quote(name) if target is None else f"{quote(name)} is an alias of {quote(target)}, which"
    )
    instead = did_you_mean(name, (*roster.known, *roster.aliases), "lanes")
    reason = f"UNKNOWN_LANE: {found} is not a lane in this workspace; {instead}"
    return case.refuse(RefusalReason.UNKNOWN_LANE, reason)


def _free_now(case: _Case) -> str:
    could = [each.lane for each in case.autopick() if case.admit_by_budget_first(each) is None]
    return f"free now: {join_some(could)}" if could else "no other lane is free now"


def _unusable(error: Exception) -> BadInput:
    return BadInput(
        f"the live leases cannot be used: {error}",
        hint='Give a JSON array of objects, as [{"lane": "api", "tree": ["api/**"]}]; [] is an empty world.',
    )
