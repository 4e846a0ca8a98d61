"""What holds of every population plan."""

import builtins
import random
import socket
import subprocess
import time
from itertools import combinations

import pytest
from amounts import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import json, structs

from dos import regions
from dos.fleet.population import placement
from dos.population import (
    LaneLiveness,
    SuperviseEvidence,
    SupervisePolicy,
    SuperviseVerdict,
    supervise,
)
from dos.regions import Region

GLOBS = (
    "a/**",
    "a/b/**",
    "a/b/c/**",
    "b/**",
    "c/**",
    "**/*",
    "d/x.py",
    "/not/inside",
    "a/b/c/d/**",
    "b/a/**",
)
STATES = st.sampled_from([None, None, "ADVANCING", "SPINNING", "STALLED", "UNKNOWN"])


@st.composite
def ticks(draw: st.DrawFn) -> tuple[SuperviseEvidence, SupervisePolicy]:
    count = draw(st.integers(0, 10) | st.integers(17, 24))
    roles = draw(
        st.lists(
            st.sampled_from(["", "", "", "repeatable", "is_exclusive", "off_roster"]), min_size=1
        )
    )
    lanes = []
    for _ in range(count):
        number = draw(st.integers(0, count))
        role = roles[number % len(roles)]
        entry = LaneLiveness(
            lane=f"l{number}",
            liveness=draw(STATES),
            tree=tuple(draw(st.lists(st.sampled_from(GLOBS), max_size=2))),
            pending=draw(st.integers(0, 4)) == 0,
            spinning_age_ms=draw(st.none() | st.integers(0, 100)),
            **({role: True} if role else {}),
        )
        lanes.append(entry)
    policy = SupervisePolicy(
        count_spinning_as_alive=draw(st.booleans()),
        reap_stalled=draw(st.booleans()),
        spin_halt_after_ms=draw(st.none() | st.integers(0, 100)),
        max_concurrency=draw(st.none() | st.integers(1, 6)),
    )
    return SuperviseEvidence(lanes=tuple(lanes), target=draw(st.integers(0, 12))), policy


def region_of(entry: LaneLiveness) -> Region:
    return placement.region_of(entry.tree)


def repeats(lane: list[LaneLiveness], policy: SupervisePolicy) -> bool:
    return lane[0].repeatable and policy.max_concurrency is not None


def stays(entry: LaneLiveness, policy: SupervisePolicy) -> bool:
    """Somebody is there after the tick who was there before it."""
    dead = entry.liveness == "STALLED" and policy.reap_stalled
    return entry.pending or (entry.liveness is not None and not dead)


def stands_for_none(lane: list[LaneLiveness], policy: SupervisePolicy) -> bool:
    """A name that workers share and that has no region of its own: what they take is leased under
    other names.
    """
    return repeats(lane, policy) and not all(region_of(entry).is_known for entry in lane)


def check(seen: SuperviseEvidence, policy: SupervisePolicy) -> None:
    verdict = supervise(seen, policy)
    check_places(verdict, seen, policy)
    check_counts(verdict, seen, policy)
    check_unknown(verdict, seen, policy)
    check_next_tick(verdict, seen, policy)
    assert supervise(seen, policy) == verdict, "the same evidence gives the same plan"
    assert json.decode(json.encode(verdict), type=SuperviseVerdict) == verdict


def check_places(
    verdict: SuperviseVerdict, seen: SuperviseEvidence, policy: SupervisePolicy
) -> None:
    """Who is started overlaps nobody who stays and nobody else who is started; who runs alone, runs
    alone.
    """
    by_name: dict[str, list[LaneLiveness]] = {}
    for entry in seen.lanes:
        by_name.setdefault(entry.lane, []).append(entry)
    started = [by_name[row.lane] for row in verdict.spawn]
    fixed = [lane for lane in started if not repeats(lane, policy)]
    held = [
        entry
        for entry in seen.lanes
        if stays(entry, policy) and not stands_for_none(by_name[entry.lane], policy)
    ]
    for lane in fixed:
        for entry in lane:
            assert all(regions.disjoint(region_of(entry), region_of(other)) for other in held)
    for one, other in combinations(fixed, 2):
        assert all(
            regions.disjoint(region_of(mine), region_of(its)) for mine in one for its in other
        )
    there = [entry for entry in seen.lanes if stays(entry, policy)]
    assert not started or not any(
        entry.is_exclusive and not (entry.liveness == "STALLED" and not entry.pending)
        for entry in there
    )
    if any(entry.is_exclusive for lane in started for entry in lane):
        assert len(started) == 1 and not there


def check_counts(
    verdict: SuperviseVerdict, seen: SuperviseEvidence, policy: SupervisePolicy
) -> None:
    assert verdict.alive + len(verdict.spawn) <= max(seen.target, verdict.alive)
    assert verdict.alive + len(verdict.spawn) <= max(verdict.admissible, verdict.alive)
    assert len(verdict.hold) + len(verdict.reap) + free(seen) == len(seen.lanes), (
        "every entry is in one of three"
    )
    assert len(verdict.flag) >= sum(e.liveness == "SPINNING" and not e.pending for e in seen.lanes)
    assert verdict.blocked == () or verdict.alive + len(verdict.spawn) < seen.target
    order = {entry.lane: place for place, entry in reversed(list(enumerate(seen.lanes)))}
    repeats = {
        entry.lane
        for entry in seen.lanes
        if entry.repeatable and policy.max_concurrency is not None
    }
    repeats -= {entry.lane for entry in seen.lanes if entry.is_exclusive}
    shared = [row.lane in repeats for row in verdict.spawn]
    assert shared == sorted(shared), "lanes come first, then names that workers share"
    places = [order[row.lane] for row in verdict.spawn if row.lane not in repeats]
    assert places == sorted(places)


def free(seen: SuperviseEvidence) -> int:
    return sum(entry.liveness is None and not entry.pending for entry in seen.lanes)


def check_unknown(
    verdict: SuperviseVerdict, seen: SuperviseEvidence, policy: SupervisePolicy
) -> None:
    unknown = {
        entry.lane for entry in seen.lanes if entry.liveness == "UNKNOWN" and not entry.pending
    }
    assert not unknown & {row.lane for row in verdict.spawn}
    dead = [entry.lane for entry in seen.lanes if entry.liveness == "STALLED" and not entry.pending]
    assert [row.lane for row in verdict.reap] == (dead if policy.reap_stalled else []), (
        "only the dead are reaped"
    )
    assert unknown <= {row.lane for row in verdict.hold}


def check_next_tick(
    verdict: SuperviseVerdict, seen: SuperviseEvidence, policy: SupervisePolicy
) -> None:
    """Done as it was planned, the plan is done: the next look starts nobody."""
    left = [
        entry if stays(entry, policy) else structs.replace(entry, liveness=None)
        for entry in seen.lanes
        if stays(entry, policy) or entry.off_roster is not True
    ]
    for row in verdict.spawn:
        first = next(number for number, entry in enumerate(left) if entry.lane == row.lane)
        launched = structs.replace(left[first], liveness=None, pending=True)
        if left[first].liveness is None and not left[first].pending:
            left[first] = launched
        else:
            left.append(launched)
    again = supervise(SuperviseEvidence(lanes=tuple(left), target=seen.target), policy)
    assert (again.spawn, again.reap) == ((), ())
    assert again.alive == verdict.alive + len(verdict.spawn)


@given(ticks())
def test_every_plan_is_safe_counted_and_done_once_it_is_done(tick):
    check(*tick)


@pytest.mark.soak
@settings(max_examples=EXAMPLES)
@given(ticks())
def test_every_plan_of_many_is_safe_counted_and_done_once_it_is_done(tick):
    check(*tick)


TREES = st.lists(st.lists(st.sampled_from(GLOBS), max_size=3).map(tuple), max_size=9)


@given(TREES, TREES, st.integers(0, 9))
def test_of_few_lanes_the_largest_set_that_comes_first_is_placed(lanes, held, most):
    """Against every subset there is."""
    candidates, taken = ([placement.region_of(tree) for tree in trees] for trees in (lanes, held))
    fitting = [
        subset
        for size in range(len(lanes) + 1)
        for subset in combinations(range(len(lanes)), size)
        if all(
            regions.disjoint(candidates[one], candidates[other])
            for one, other in combinations(subset, 2)
        )
    ]
    assert placement.capacity(candidates) == max(map(len, fitting))
    beside = [
        subset
        for subset in fitting
        if all(regions.disjoint(candidates[number], other) for number in subset for other in taken)
    ]
    size = min(most, max(map(len, beside)))
    placed = placement.place(candidates, taken, most)
    assert tuple(placed.chosen) == min(subset for subset in beside if len(subset) == size)
    everybody = [*taken, *candidates]
    for number, other in placed.blocked_by.items():
        assert regions.overlaps(candidates[number], everybody[other])
        assert other < len(taken) or other - len(taken) in placed.chosen


@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), min_size=17, max_size=40),
    st.integers(0, 40),
)
def test_of_many_lanes_with_one_folder_each_as_many_as_possible_are_placed(folders, most):
    """Where each lane is one folder, the folders with none inside are all that can be had."""
    candidates = [placement.region_of(("/".join(folder) + "/**",)) for folder in folders]
    innermost = {
        region.prefixes[0]
        for region in candidates
        if not any(
            other.prefixes[0].startswith(region.prefixes[0]) and other.prefixes != region.prefixes
            for other in candidates
        )
    }
    assert placement.capacity(candidates) == len(innermost)
    assert len(placement.place(candidates, [], most).chosen) == min(most, len(innermost))


def test_a_plan_asks_nothing_of_the_outside(monkeypatch):
    def outside(*words: object, **more: object) -> None:
        raise AssertionError("a plan reached the outside")

    lanes = tuple(
        LaneLiveness(
            lane=f"lane{n}", tree=(f"fresh{n}/**",), liveness="SPINNING" if n % 3 else None
        )
        for n in range(30)
    )
    with monkeypatch.context() as walls:
        walls.setattr(builtins, "open", outside)
        walls.setattr(time, "time", outside)
        walls.setattr(time, "time_ns", outside)
        walls.setattr(time, "monotonic", outside)
        walls.setattr(subprocess, "Popen", outside)
        walls.setattr(socket, "socket", outside)
        walls.setattr(random, "random", outside)
        verdict = supervise(SuperviseEvidence(lanes=lanes, target=30), SupervisePolicy())
    assert len(verdict.spawn) == 10
