"""Choose among candidate lanes in order of preference, and note why each other was skipped.

A caller in the same process may bring its own order, ranks and counts of work. Its functions run
guarded: one that raises skips a lane or loses its rank, and never breaks the decision.
"""

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
# A lane that is held, or whose files are not known, was never a candidate for a choice.
NEVER_IN_PLAY = frozenset({RefusalReason.LANE_HELD, RefusalReason.REGION_UNKNOWN})
SHOWN_SKIPS = 4  # in the reason


class LaneCandidate(Struct, frozen=True, kw_only=True):
    """A lane that could be granted."""

    lane: str
    kind: str
    region: Region
    mode: Mode = Mode.EXCLUSIVE
    exclusive: bool = False
    is_lock: bool = False
    part_of: str = ""  # the repeatable lane that it is a part of


class Preferences(Struct, frozen=True, kw_only=True):
    """What a caller in the same process may add to the order of the configuration."""

    # In place of the configured order, for requests that name no lane.
    auto_pick_order: Sequence[LadderRow] | None = None
    rank_key: Callable[[str, str, Tree], float | None] | None = None  # the highest first
    # How many units a lane has to pick; it returns None if it cannot say.
    pick_oracle: Callable[[str, str, Tree], int | None] | None = None
    named_lanes: Mapping[str, Tree] = {}
    derived_lanes: Mapping[str, Tree] = {}
    live_siblings: Sequence[str] = ()  # lanes of loops that take no lease
    sibling_tree_lookup: Callable[[str], Tree] | None = None


class Skip(Struct, frozen=True, kw_only=True):
    """A candidate that was passed over."""

    lane: str
    why: str
    reason: RefusalReason | None = None  # None: it was admissible, and the oracle skipped it
    picks: int | None = None


class Fit(Struct, frozen=True, kw_only=True):
    """The candidate that was chosen, and how."""

    candidate: LaneCandidate
    picks: int | None
    how: str


class NoFit(Struct, frozen=True, kw_only=True):
    """No candidate fits; why each was skipped."""

    skips: tuple[Skip, ...]

    def only_for(self, reason: RefusalReason) -> bool:
        """Whether this reason alone skipped every candidate that was in play."""
        return {skip.reason for skip in self.skips} - NEVER_IN_PLAY == {reason}

    @property
    def nothing_to_pick(self) -> bool:
        """Whether some lanes could have been granted, and the oracle counted no work in any."""
        admissible = [skip for skip in self.skips if skip.reason is None]
        return bool(admissible) and all(skip.picks is not None for skip in admissible)

    def describe_skips(self, reason: RefusalReason | None = None) -> str:
        """Why each candidate was skipped, or those for one reason; the first few of many."""
        unique: dict[str, None] = {}
        for skip in self.skips:
            if reason in (None, skip.reason):
                unique[skip.why] = None
        whys = list(unique)
        if not whys:
            return "there is no candidate"
        shown = whys[:SHOWN_SKIPS]
        if len(whys) > SHOWN_SKIPS:
            shown.append(f"and {len(whys) - SHOWN_SKIPS} more")
        return "; ".join(shown)


def first_fit(
    candidates: Iterable[LaneCandidate], admit: Admit, preferences: Preferences
) -> Fit | NoFit:
    """The first candidate that is admitted and has something to do."""
    return _first_admitted(candidates, admit, preferences, "first free lane of autopick")


def best_ranked(
    candidates: Sequence[LaneCandidate], admit: Admit, preferences: Preferences
) -> Fit | NoFit:
    """The best candidate by rank that is admitted and has something to do.

    One that is disjoint from every sibling is preferred; none is refused for a sibling.
    """
    ranked = [(_rank(candidate, preferences), candidate) for candidate in candidates]
    ranked.sort(key=_descending)
    ordered = [candidate for _, candidate in ranked]
    if all(rank is None for rank, _ in ranked):
        how = "from priority ladder"
    else:
        how = "by value-aware rank"
    if preferences.live_siblings and preferences.sibling_tree_lookup is not None:
        disjoint = []
        for candidate in ordered:
            if is_disjoint_from_siblings(candidate.region, preferences):
                disjoint.append(candidate)
        by_rank = f"{how}, disjoint from all live siblings"
        found = _first_admitted(disjoint, admit, preferences, by_rank)
        if isinstance(found, Fit):
            return found
    return _first_admitted(ordered, admit, preferences, how)


def is_disjoint_from_siblings(region: Region, preferences: Preferences) -> bool:
    """Whether a region overlaps no sibling. One whose tree is unknown overlaps everything."""
    for sibling in preferences.live_siblings:
        lookup = partial(_sibling_region, sibling, preferences.sibling_tree_lookup)
        theirs = call_or_unknown(lookup)
        if isinstance(theirs, Unknown) or regions.overlaps(region, theirs):
            return False
    return True


def _sibling_region(sibling: str, lookup: Callable[[str], Tree] | None) -> Region:
    """The region of a sibling; unknown if its tree cannot be looked up."""
    if not sibling or lookup is None:
        return regions.region(())
    return regions.region(lookup(sibling))


def _first_admitted(
    candidates: Iterable[LaneCandidate], admit: Admit, preferences: Preferences, how: str
) -> Fit | NoFit:
    """The first candidate that is admitted and has work, or why there is none."""
    skips: list[Skip] = []
    for candidate in candidates:
        if refusal := admit(candidate):
            skips.append(Skip(lane=candidate.lane, why=refusal.detail, reason=refusal.reason))
            continue
        answer = _ask_oracle(candidate, preferences)
        if isinstance(answer, Skip):
            skips.append(answer)
            continue
        return Fit(candidate=candidate, picks=answer, how=how)
    return NoFit(skips=tuple(skips))


def _ask_oracle(candidate: LaneCandidate, preferences: Preferences) -> int | Skip | None:
    """How many units a lane has to pick; None if unknown; a Skip if it has none."""
    oracle = preferences.pick_oracle
    lane = candidate.lane
    if oracle is None:
        return None
    answer = call_or_unknown(lambda: oracle(lane, candidate.kind, candidate.region.globs))
    if isinstance(answer, Unknown):
        return Skip(lane=lane, why=f"lane {lane!r}: the pick oracle raised {answer.why}")
    if answer is None and candidate.kind == "named":
        why = f"lane {lane!r}: the pick oracle cannot say what there is to do in a named lane"
        return Skip(lane=lane, why=why)
    if answer is not None and answer <= 0:
        return Skip(lane=lane, why=f"lane {lane!r} has nothing to pick", picks=answer)
    return answer


def _rank(candidate: LaneCandidate, preferences: Preferences) -> float | None:
    """The rank of a candidate; None if the caller's function gives no number."""
    key = preferences.rank_key
    if key is None:
        return None
    rank = call_or_unknown(lambda: key(candidate.lane, candidate.kind, candidate.region.globs))
    if isinstance(rank, Unknown) or not isinstance(rank, int | float) or isnan(rank):
        return None
    return rank


def _descending(ranked: tuple[float | None, LaneCandidate]) -> tuple[bool, float]:
    """The sort key: the highest rank first, candidates without a rank last."""
    rank, _ = ranked
    if rank is None:
        return True, 0.0
    return False, -rank
