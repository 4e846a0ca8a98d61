"""Decide which lane may be worked on, given what is asked for and what is live.

The decision is advice: the journal judges again, by the same rules, in the transaction that grants
the lease. So two callers that are advised the same lane cannot both get it.
"""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct, structs

from dos import regions
from dos.lanes import admission, preference
from dos.lanes.admission import Predicate
from dos.lanes.leases import LiveLease
from dos.lanes.preference import Fit, LaneCandidate, NoFit, Preferences
from dos.lanes.roster import GLOBAL, Roster
from dos.lease import Refusal, RefusalReason
from dos.regions import Mode, Region
from dos.text import comparison_key, did_you_mean, join_some, quote, validated_name

CLUSTER = "cluster"
KEYWORD = "keyword"


class ArbiterRequest(Struct, frozen=True, kw_only=True):
    """What a caller asks for. Without a lane the choice is left to the arbiter."""

    lane: str = ""
    kind: str = ""
    tree: tuple[str, ...] = ()  # empty: the tree that the lane is declared with
    mode: Mode = Mode.EXCLUSIVE
    exact: bool = False  # this lane or none
    force: bool = False


class Answer(StrEnum):
    """Whether a lane is granted."""

    ACQUIRE = "acquire"
    REFUSE = "refuse"


class Decision(Struct, frozen=True, kw_only=True):
    """The lane that is granted, or why none is."""

    outcome: Answer
    lane: str = ""
    lane_kind: str = ""
    tree: tuple[str, ...] = ()
    auto_picked: bool = False
    reason: str
    free_clusters: tuple[str, ...] = ()  # with a refusal: the autopick lanes that are not held
    pick_count: int | None = None
    requested_lane: str = ""
    substituted: bool = False  # another lane than the one that was named
    reason_class: str = ""  # why what was asked for was not simply granted

    @property
    def exit_code(self) -> int:
        if self.outcome is Answer.ACQUIRE:
            return 0
        if self.reason_class == RefusalReason.UNKNOWN_LANE:
            return 2
        return 1

    def to_json(self) -> dict[str, object]:
        """The decision ready to be written, its keys sorted."""
        fields = {}
        for name, value in sorted(structs.asdict(self).items()):
            fields[name] = list(value) if isinstance(value, tuple) else value
        return fields


def judge(
    request: ArbiterRequest,
    live: Sequence[LiveLease],
    roster: Roster,
    *,
    predicates: Sequence[Predicate] = (),
    config: object = None,
    preferences: Preferences = Preferences(),
) -> Decision:
    """Decide which lane may be worked on, given a request and the live leases.

    A lane that is named, free and admissible is granted. Otherwise a free one is granted in its
    place, and the decision says so and why; an exact request is never replaced.
    """
    case = _Case(
        request=request,
        live=tuple(_resolve_lease(lease, roster) for lease in live),
        roster=roster,
        predicates=tuple(predicates),
        config=config,
        preferences=preferences,
    )
    if request.lane.strip() and not request.tree and roster.canonical(request.lane) is None:
        return _unknown_lane(case)
    if exclusive := next((lease for lease in case.live if lease.exclusive), None):
        return _beside_exclusive(case, exclusive)
    requested = _requested_candidate(request, roster)
    if requested is None:
        return _pick(case)
    refusal = case.admit(requested)
    if request.force and request.lane.strip():
        return _forced(case, requested, refusal)
    if refusal is None:
        return case.grant(requested, f"lane {requested.lane!r} is free: granted as asked")
    if request.exact or not _is_replaceable(requested, refusal, case):
        return case.refuse(refusal.reason, f"{refusal.detail}; {_free_now(case)}")
    return _pick(case, requested, refusal)


class _ResolvedLease(Struct, frozen=True, kw_only=True):
    """A live lease with what the roster declares about its lane."""

    lane: str
    kind: str
    region: Region
    mode: Mode
    exclusive: bool
    holder: str
    fence: int | None
    loop_ts: str
    part_of: str
    is_lock: bool = False


class _Case(Struct, frozen=True, kw_only=True):
    """One request and all that it is judged by."""

    request: ArbiterRequest
    live: tuple[_ResolvedLease, ...]
    roster: Roster
    predicates: tuple[Predicate, ...]
    config: object
    preferences: Preferences

    def admit(self, candidate: LaneCandidate) -> Refusal | None:
        """Judge a candidate by the rules of the journal; None if it may be granted."""
        return admission.judge(
            candidate,
            self.live,
            self.roster.budgets,
            self.predicates,
            protected=self.roster.protected,
            ratio_max=self.roster.ratio_max,
            most_parts=self.roster.most_parts,
            config=self.config,
        )

    def admit_by_budget_first(self, candidate: LaneCandidate) -> Refusal | None:
        """Judge the budget first: if it is exhausted, no other lane of the kind would do either."""
        refusal = admission.judge_budget(candidate, self.live, self.roster.budgets)
        return refusal or self.admit(candidate)

    def free_names(self) -> tuple[str, ...]:
        """The autopick lanes that no live lease names."""
        taken = {comparison_key(lease.lane) for lease in self.live}
        free = []
        for name in self.roster.autopick:
            lane = self.roster.canonical(name) or name
            if comparison_key(lane) not in taken:
                free.append(name)
        return tuple(free)

    def candidate(self, name: str, kind: str, tree: Sequence[str]) -> LaneCandidate:
        """A lane as a candidate; one that runs alone is a kind of its own."""
        runs_alone = self.roster.runs_alone(name)
        lane = self.roster.canonical(name) or name
        return LaneCandidate(
            lane=lane,
            kind=comparison_key(lane) if runs_alone else kind,
            region=regions.region(tree),
            mode=self.request.mode,
            exclusive=runs_alone,
        )

    def autopick(self) -> list[LaneCandidate]:
        """The autopick lanes as candidates, in their order."""
        names = self.roster.autopick
        return [self.candidate(name, CLUSTER, self.roster.tree(name)) for name in names]

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
            requested_lane=self.request.lane,
        )

    def refuse(self, cause: RefusalReason, reason: str, *, picks: int | None = None) -> Decision:
        return Decision(
            outcome=Answer.REFUSE,
            reason=reason,
            free_clusters=self.free_names(),
            pick_count=picks,
            requested_lane=self.request.lane,
            reason_class=cause.value,
        )


def _resolve_lease(lease: LiveLease, roster: Roster) -> _ResolvedLease:
    """A live lease with its lane's declared name, and whether it runs alone."""
    runs_alone = lease.exclusive or roster.runs_alone(lease.lane)
    is_alone_by_kind = comparison_key(lease.lane_kind) == GLOBAL or roster.runs_alone(
        lease.lane_kind
    )
    return _ResolvedLease(
        lane=roster.canonical(lease.lane) or lease.lane,
        kind=lease.lane_kind or CLUSTER,
        region=regions.region(lease.tree),
        mode=lease.mode,
        exclusive=runs_alone or is_alone_by_kind,
        holder=lease.holder,
        fence=lease.fence,
        loop_ts=lease.loop_ts,
        part_of=lease.part_of,
    )


def _requested_candidate(request: ArbiterRequest, roster: Roster) -> LaneCandidate | None:
    """What is asked for by name, or by a kind that runs alone; None if the choice is left open."""
    name = request.lane.strip()
    lane = roster.canonical(name) if name else None
    runs_alone = (
        request.kind == GLOBAL
        or request.kind in roster.exclusive
        or (lane is not None and roster.runs_alone(lane))
    )
    if not name and not runs_alone:
        return None
    if name:
        named = lane or validated_name(name, "lane name")
    else:
        named = _exclusive_lane(request.kind, roster)
    if runs_alone:
        kind = comparison_key(named) if roster.runs_alone(named) else request.kind
    else:
        kind = request.kind or (KEYWORD if lane is None else CLUSTER)
    return LaneCandidate(
        lane=named,
        kind=kind,
        region=regions.region(request.tree or roster.tree(named)),
        mode=request.mode,
        exclusive=runs_alone,
        part_of=roster.parts.get(named, ""),
    )


def _exclusive_lane(kind: str, roster: Roster) -> str:
    """The lane that a request for a kind that runs alone means."""
    if kind in roster.exclusive or roster.tree(kind) or not roster.exclusive:
        return roster.canonical(kind) or kind
    return roster.exclusive[0]


def _is_replaceable(requested: LaneCandidate, refusal: Refusal, case: _Case) -> bool:
    """Whether another lane would do.

    It would not for the caller's own tree, for the whole repository, or for protected files.
    """
    if requested.exclusive or refusal.reason is RefusalReason.SELF_MODIFY:
        return False
    if case.roster.canonical(requested.lane) is None:
        return False
    return requested.kind != KEYWORD or refusal.reason is RefusalReason.REGION_UNKNOWN


def _pick(
    case: _Case, requested: LaneCandidate | None = None, refusal: Refusal | None = None
) -> Decision:
    """Another lane than the one that was refused, or the first that fits an open request."""
    preferences = case.preferences
    is_open = requested is None or requested.kind == KEYWORD
    found: Fit | NoFit
    if is_open and preferences.auto_pick_order is not None:
        ladder = [case.candidate(*row) for row in preferences.auto_pick_order]
        found = preference.best_ranked(ladder, case.admit_by_budget_first, preferences)
    else:
        order = _alternatives(case, requested)
        if is_open:
            for name, tree in preferences.named_lanes.items():
                order.append(case.candidate(name, "named", tree))
            for name, tree in preferences.derived_lanes.items():
                order.append(case.candidate(name, "derived", tree))
        found = preference.first_fit(order, case.admit_by_budget_first, preferences)
    if isinstance(found, NoFit):
        return _nothing_fits(case, found, refusal)
    return _picked(case, found, requested, refusal)


def _alternatives(case: _Case, requested: LaneCandidate | None) -> list[LaneCandidate]:
    """The autopick lanes; in place of a named one only those that are shared and another."""
    order = case.autopick()
    if requested is None:
        return order
    own = comparison_key(requested.lane)
    return [lane for lane in order if not lane.exclusive and comparison_key(lane.lane) != own]


def _picked(
    case: _Case, found: Fit, requested: LaneCandidate | None, refusal: Refusal | None
) -> Decision:
    """Grant a lane that the arbiter chose, and say in place of what."""
    lane = found.candidate.lane
    if requested is None or refusal is None:
        reason = f"bare request: auto-picked {lane!r} ({found.how})"
        if case.request.tree:
            reason += "; the tree is not used, because no lane was named for it"
        return case.grant(found.candidate, reason, picks=found.picks, auto=True)
    if refusal.reason is RefusalReason.LANE_HELD:
        why = "was busy"
    elif requested.kind == KEYWORD:
        why = "matched no live plan"
    else:
        why = "cannot be granted"
    reason = (
        f"requested {case.request.lane!r} {why}: {refusal.detail};"
        f" auto-picked {lane!r} instead ({found.how})"
    )
    granted = case.grant(found.candidate, reason, picks=found.picks, auto=True)
    substituted = comparison_key(lane) != comparison_key(requested.lane)
    return structs.replace(granted, substituted=substituted, reason_class=refusal.reason.value)


def _nothing_fits(case: _Case, found: NoFit, refusal: Refusal | None) -> Decision:
    """Refuse because no lane fits, with the reason that stands for all."""
    skips = found.describe_skips()
    if found.nothing_to_pick:
        picks = 0
    else:
        picks = None
    if refusal is not None:
        reason = f"{refusal.detail}; no other lane fits: {skips}"
        return case.refuse(refusal.reason, reason, picks=picks)
    for cause in (RefusalReason.CLASS_BUDGET_EXHAUSTED, RefusalReason.SELF_MODIFY):
        if found.only_for(cause):
            return case.refuse(cause, found.describe_skips(cause))
    if found.nothing_to_pick:
        reason = f"no lane has anything to pick: {skips}"
        return case.refuse(RefusalReason.NO_FREE_LANE, reason, picks=0)
    if case.preferences.auto_pick_order is None:
        none = "no free lane"
    else:
        none = "priority ladder exhausted"
    return case.refuse(RefusalReason.NO_FREE_LANE, f"{none}: {skips}")


def _forced(case: _Case, requested: LaneCandidate, refusal: Refusal | None) -> Decision:
    """Grant a lane that the caller forces, and say over which objections."""
    kind = requested.kind if requested.exclusive else case.request.kind or KEYWORD
    if refusal:
        notes = [refusal.detail]
    else:
        notes = []
    own = comparison_key(requested.lane)
    if any(comparison_key(lease.lane) == own for lease in case.live):
        notes.append("another lease on this lane is live")
    over = f" over: {'; '.join(notes)}" if notes else ", and it would have been granted anyway"
    reason = f"FORCED: lane {requested.lane!r} is granted{over}"
    granted = case.grant(structs.replace(requested, kind=kind), reason)
    return structs.replace(granted, reason_class=refusal.reason.value if refusal else "")


def _beside_exclusive(case: _Case, exclusive: _ResolvedLease) -> Decision:
    """Refuse because a live lane runs alone."""
    by = f" (held by {exclusive.holder!r})" if exclusive.holder else ""
    reason = f"live lane {exclusive.lane!r}{by} is exclusive: nothing runs beside it"
    if case.request.force:
        reason += ", and force cannot override that"
    return structs.replace(case.refuse(RefusalReason.LANE_EXCLUSIVE, reason), free_clusters=())


def _unknown_lane(case: _Case) -> Decision:
    """Refuse a name that is no lane, and suggest one that is."""
    name = case.request.lane.strip()
    roster = case.roster
    found = quote(name)
    for alias, target in roster.aliases.items():
        if comparison_key(alias) == comparison_key(name):
            found = f"{quote(name)} is an alias of {quote(target)}, which"
            break
    instead = did_you_mean(name, (*roster.known, *roster.aliases), "lanes")
    reason = f"UNKNOWN_LANE: {found} is not a lane in this workspace; {instead}"
    return case.refuse(RefusalReason.UNKNOWN_LANE, reason)


def _free_now(case: _Case) -> str:
    lanes = case.autopick()
    free = [lane.lane for lane in lanes if case.admit_by_budget_first(lane) is None]
    if not free:
        return "no other lane is free now"
    return f"free now: {join_some(free)}"
