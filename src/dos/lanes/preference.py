"""Which of several lanes fits first? Candidates in order of preference, and what each one was passed over for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import isnan

from msgspec import Struct

from dos import regions
from dos.lease import Refusal, RefusalReason
from dos.regions import Mode, Region
from dos.unknown import Unknown, call_or_unknown

Tree = Sequence[str]
LadderRow = tuple[str, str, Tree]  # name, kind, tree
Admit = Callable[["LaneCandidate"], Refusal | None]
NEVER_IN_PLAY = frozenset({RefusalReason.LANE_HELD, RefusalReason.REGION_UNKNOWN})
SHOWN_SKIPS = 4


class LaneCandidate(Struct, frozen=True, kw_only=True):
    """A lane that could be granted."""

    lane: str
    kind: str
    region: Region
    mode: Mode = Mode.EXCLUSIVE
    exclusive: bool = False
    is_lock: bool = False


class Preferences(Struct, frozen=True, kw_only=True):
    """What a caller in the same process may add to the order of the configuration."""

    auto_pick_order: Sequence[LadderRow] | None = (
        None  # instead of the configured order, for requests that name no lane
    )
    rank_key: Callable[[str, str, Tree], float | None] | None = None  # the highest first
    pick_oracle: Callable[[str, str, Tree], int | None] | None = (
        None  # how much there is to do; None: it cannot say
    )
    named_lanes: Mapping[str, Tree] = {}
    derived_lanes: Mapping[str, Tree] = {}
    live_siblings: Sequence[str] = ()  # lanes of loops that take no lease
    sibling_tree_lookup: Callable[[str], Tree] | None = None


class Skip(Struct, frozen=True, kw_only=True):
    lane: str
    why: str
    reason: RefusalReason | None = None  # None: it was admissible, and the oracle passed over it
    picks: int | None = None


class Fit(Struct, frozen=True, kw_only=True):
    candidate: LaneCandidate
    picks: int | None
    how: str


class NoFit(Struct, frozen=True, kw_only=True):
    skips: tuple[Skip, ...]

    def only_for(self, reason: RefusalReason) -> bool:
        """Everything that was in play stopped at this."""
        return {skip.reason for skip in self.skips} - NEVER_IN_PLAY == {reason}

    @property
    def nothing_to_pick(self) -> bool:
        """Some lanes could have been granted, and the oracle counted no work in any."""
        asked = [skip for skip in self.skips if skip.reason is None]
        return bool(asked) and all(skip.picks is not None for skip in asked)

    def describe_skips(self, reason: RefusalReason | None = None) -> str:
        """Why each was passed over, or those that were for one reason; cut where nobody reads on."""
        whys = list(dict.fromkeys(skip.why for skip in self.skips if reason in (None, skip.reason)))
        more = [f"and {len(whys) - SHOWN_SKIPS} more"] if len(whys) > SHOWN_SKIPS else []
        return "; ".join(whys[:SHOWN_SKIPS] + more) or "there is no candidate"


def first_fit(
    candidates: Iterable[LaneCandidate], admit: Admit, wishes: Preferences
) -> Fit | NoFit:
    """The first that is admitted and has something to do."""
    return _pass(candidates, admit, wishes, "first free lane of autopick")


def best_ranked(
    candidates: Sequence[LaneCandidate], admit: Admit, wishes: Preferences
) -> Fit | NoFit:
    """The best by rank. One that is apart from every sibling is preferred; none is refused for a sibling."""
    ranked = sorted(
        ((_rank(candidate, wishes), candidate) for candidate in candidates), key=_descending
    )
    ordered = [candidate for _, candidate in ranked]
    how = (
        "from priority ladder" if all(rank is None for rank, _ in ranked) else "by value-aware rank"
    )
    if wishes.live_siblings and wishes.sibling_tree_lookup is not None:
        apart = [
            candidate
            for candidate in ordered
            if is_disjoint_from_siblings(candidate.region, wishes)
        ]
        found = _pass(apart, admit, wishes, f"{how}, disjoint from all live siblings")
        if isinstance(found, Fit):
            return found
    return _pass(ordered, admit, wishes, how)


def is_disjoint_from_siblings(region: Region, wishes: Preferences) -> bool:
    """Does it touch none of them? A sibling whose tree cannot be told touches everything."""
    for sibling in wishes.live_siblings:
        theirs = call_or_unknown(partial(_region_of, sibling, wishes.sibling_tree_lookup))
        if isinstance(theirs, Unknown) or regions.overlaps(region, theirs):
            return False
    return True


def _region_of(sibling: str, lookup: Callable[[str], Tree] | None) -> Region:
    return regions.region(lookup(sibling) if sibling and lookup is not None else ())


def _pass(
    candidates: Iterable[LaneCandidate], admit: Admit, wishes: Preferences, how: str
) -> Fit | NoFit:
    skips: list[Skip] = []
    for candidate in candidates:
        if refusal := admit(candidate):
            skips.append(Skip(lane=candidate.lane, why=refusal.detail, reason=refusal.reason))
            continue
        answer = _ask_oracle(candidate, wishes)
        if isinstance(answer, Skip):
            skips.append(answer)
            continue
        return Fit(candidate=candidate, picks=answer, how=how)
    return NoFit(skips=tuple(skips))


def _ask_oracle(candidate: LaneCandidate, wishes: Preferences) -> int | Skip | None:
    oracle, lane = wishes.pick_oracle, candidate.lane
    if oracle is None:
        return None
    answer = call_or_unknown(lambda: oracle(lane, candidate.kind, candidate.region.globs))
    if isinstance(answer, Unknown):
        return Skip(lane=lane, why=f"lane {lane!r}: the pick oracle raised {answer.why}")
    if answer is None and candidate.kind == "named":
        return Skip(
            lane=lane,
            why=f"lane {lane!r}: the pick oracle cannot say what there is to do in a named lane",
        )
    if answer is not None and answer <= 0:
        return Skip(lane=lane, why=f"lane {lane!r} has nothing to pick", picks=answer)
    return answer


def _rank(candidate: LaneCandidate, wishes: Preferences) -> float | None:
    key = wishes.rank_key
    if key is None:
        return None
    rank = call_or_unknown(lambda: key(candidate.lane, candidate.kind, candidate.region.globs))
    if isinstance(rank, Unknown) or not isinstance(rank, int | float) or isnan(rank):
        return None
    return rank


def _descending(ranked: tuple[float | None, LaneCandidate]) -> tuple[bool, float]:
    rank, _ = ranked
    return (True, 0.0) if rank is None else (False, -rank)
