"""Who is started, who is reaped, who is given up on."""

from hypothesis import given
from hypothesis import strategies as st

from dos.plans.staffing import GiveUp, Lane, Reap, Spawn, plan
from dos.records import regions
from dos.records.regions import region


def lane(name: str, *globs: str, **more) -> Lane:
    return Lane(name=name, region=region(globs or [f"{name}/**"]), offerable=more.pop("offerable", 1), **more)


def test_free_lanes_with_work_are_filled_up_to_the_target():
    assert plan([lane("a"), lane("b"), lane("c")], 2) == [Spawn("a"), Spawn("b")]


def test_a_lane_without_work_gets_no_worker():
    assert plan([lane("a", offerable=0), lane("b")], 2) == [Spawn("b")]


def test_a_held_and_a_pending_lane_count_and_keep_their_region():
    assert plan([lane("a", held=True), lane("b", pending=True), lane("c")], 2) == []
    assert plan([lane("a", "src/**", held=True), lane("b", "src/api/**"), lane("c")], 2) == [Spawn("c")]


def test_the_dead_are_reaped_and_their_lane_is_filled_at_the_next_look():
    assert plan([lane("a", held=True, holder_gone=True)], 1) == [Reap("a", "its process is gone")]


def test_a_lane_that_runs_alone_waits_until_nobody_works_and_lets_nobody_in():
    whole = lane("all", "**/*", exclusive=True)
    assert plan([lane("a", held=True), whole], 2) == []
    assert plan([lane("a"), lane("all", "**/*", exclusive=True, held=True)], 2) == []
    assert plan([whole], 2) == [Spawn("all")]


def test_a_lane_whose_workers_keep_ending_is_given_up_on():
    [action] = plan([lane("a", recent_starts=3)], 1)
    assert isinstance(action, GiveUp)
    assert plan([lane("a", recent_starts=3, failed=True)], 1) == []


def test_a_persons_lease_keeps_its_region_and_fills_no_place():
    mine = lane("a", "src/**", held=True, ours=False)
    assert plan([mine, lane("b", "src/api/**"), lane("c"), lane("d")], 1) == [Spawn("c")]


def test_a_broad_lane_does_not_keep_two_narrow_ones_from_working():
    assert plan([lane("all", "src/**"), lane("a", "src/a/**"), lane("b", "src/b/**")], 2) == [Spawn("a"), Spawn("b")]


def test_an_unknown_region_is_never_placed_beside_anything():
    unknown = Lane(name="x", region=region([]), offerable=1)
    assert plan([lane("a", held=True), unknown], 2) == []


GLOBS = st.sampled_from(["a/**", "a/b/**", "b/**", "c/**", "**/*"])
LANES = st.builds(
    Lane,
    name=st.uuids().map(str),
    region=st.lists(GLOBS, max_size=2).map(region),
    exclusive=st.booleans(),
    offerable=st.integers(0, 2),
    held=st.booleans(),
    holder_gone=st.booleans(),
    pending=st.booleans(),
    failed=st.booleans(),
    recent_starts=st.integers(0, 4),
)


@given(st.lists(LANES, max_size=8), st.integers(0, 5))
def test_what_is_started_overlaps_nothing_and_never_exceeds_the_target(lanes, target):
    started = [action.lane for action in plan(lanes, target) if isinstance(action, Spawn)]
    by_name = {found.name: found for found in lanes}
    busy = [found for found in lanes if (found.held and not found.holder_gone) or found.pending]
    assert len(busy) + len(started) <= max(target, len(busy))
    for place, name in enumerate(started):
        others = [*busy, *(by_name[other] for other in started[:place])]
        assert all(regions.disjoint(by_name[name].region, other.region) for other in others)
        assert not others or not by_name[name].exclusive
    reaped = {action.lane for action in plan(lanes, target) if isinstance(action, Reap)}
    assert all(by_name[name].holder_gone for name in reaped), "only the dead are reaped"
