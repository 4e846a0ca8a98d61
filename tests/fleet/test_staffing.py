"""Who is started, who is reaped, who is flagged, who is given up on."""

from hypothesis import given
from hypothesis import strategies as st

from dos import regions
from dos.backlog.waiting import WaitsOn
from dos.fleet.population import placement
from dos.fleet.population.reconcile import Flag, GiveUp, Reap, Spawn, plan
from dos.fleet.population.supervise import supervise
from dos.fleet.population.types import LaneLiveness, SuperviseEvidence, SupervisePolicy
from dos.questions.lanes import LaneFailed


def lane(name: str, *globs: str, **more) -> LaneLiveness:
    return LaneLiveness(lane=name, tree=globs or (f"{name}/**",), **more)


def actions(
    *lanes: LaneLiveness, target: int = 2, policy: SupervisePolicy = SupervisePolicy()
) -> list:
    return list(plan(lanes, target, policy).actions)


def test_free_lanes_are_filled_up_to_the_target():
    assert actions(lane("a"), lane("b"), lane("c")) == [Spawn("a"), Spawn("b")]


def test_a_lane_that_waits_gets_no_worker_and_the_plan_says_for_what():
    planned = plan((lane("a", waits="paused"), lane("b")), 2)
    assert list(planned.actions) == [Spawn("b")]
    assert [(row.lane, row.reason) for row in planned.verdict.blocked] == [("a", "paused")]
    assert planned.verdict.admissible == 2, "there is room for it all the same"


def test_a_held_and_a_pending_lane_count_and_keep_their_region():
    assert actions(lane("a", liveness="ADVANCING"), lane("b", pending=True), lane("c")) == []
    assert actions(
        lane("a", "src/**", liveness="ADVANCING"), lane("b", "src/api/**"), lane("c")
    ) == [Spawn("c")]


def test_the_dead_are_reaped_and_their_lane_is_filled_at_once():
    dead = lane("a", liveness="STALLED", why="its process is gone")
    assert actions(dead) == [Reap("a", "its process is gone"), Spawn("a")]


def test_the_dead_are_reaped_also_where_nobody_may_follow():
    dead = lane("a", liveness="STALLED", why="its lease is over", waits="paused")
    assert actions(dead) == [Reap("a", "its lease is over")]


def test_a_lane_that_runs_alone_waits_until_nobody_works_and_lets_nobody_in():
    whole = lane("all", "**/*", is_exclusive=True)
    assert actions(lane("a", liveness="ADVANCING"), whole) == []
    assert actions(lane("a"), lane("all", "**/*", is_exclusive=True, liveness="ADVANCING")) == []
    assert actions(whole) == [Spawn("all")]


def test_a_lane_whose_workers_keep_dying_is_given_up_on():
    question = LaneFailed.ask("a", "they die")
    planned = plan((lane("a", waits="they die"),), 1, failing=[question])
    assert list(planned.actions) == [GiveUp(question)]


def test_a_persons_lease_keeps_its_region_and_fills_no_place():
    mine = lane("a", "src/**", liveness="ADVANCING", is_person=True)
    assert actions(mine, lane("b", "src/api/**"), lane("c"), lane("d"), target=1) == [Spawn("c")]


def test_a_broad_lane_does_not_keep_two_narrow_ones_from_working():
    lanes = (lane("all", "src/**"), lane("a", "src/a/**"), lane("b", "src/b/**"))
    assert actions(*lanes) == [Spawn("a"), Spawn("b")]


def test_an_unknown_region_is_never_placed_beside_anything():
    assert actions(lane("a", liveness="ADVANCING"), LaneLiveness(lane="x")) == []


def test_a_halt_is_proposed_at_once_or_after_the_time_that_is_configured():
    spins = lane("a", liveness="SPINNING", spinning_age_ms=60_000)
    for after_ms, asks in ((None, True), (60_000, True), (60_001, False)):
        (action,) = actions(spins, target=1, policy=SupervisePolicy(spin_halt_after_ms=after_ms))
        assert isinstance(action, Flag) and action.asks is asks


TREES = st.lists(st.sampled_from(["a/**", "a/b/**", "b/**", "c/**", "**/*"]), max_size=2).map(tuple)
LANES = st.lists(
    st.builds(
        LaneLiveness,
        lane=st.uuids().map(str),
        tree=TREES,
        is_exclusive=st.booleans(),
        liveness=st.sampled_from([None, "ADVANCING", "SPINNING", "STALLED", "UNKNOWN"]),
        pending=st.booleans(),
        waits=st.sampled_from(["", "paused"]),
        is_person=st.booleans(),
    ),
    max_size=8,
).map(tuple)


@given(LANES, st.integers(0, 5))
def test_what_is_started_overlaps_nothing_and_never_exceeds_the_target(lanes, target):
    started = [action.lane for action in plan(lanes, target).actions if isinstance(action, Spawn)]
    by_name = {found.lane: found for found in lanes}
    busy = [found for found in lanes if found.pending or found.liveness not in (None, "STALLED")]
    workers = [found for found in busy if found.pending or not found.is_person]
    assert len(workers) + len(started) <= max(target, len(workers))
    for place, name in enumerate(started):
        others = [*busy, *(by_name[other] for other in started[:place])]
        region = placement.region_of(by_name[name].tree)
        assert all(regions.disjoint(region, placement.region_of(other.tree)) for other in others)
        assert not others or not by_name[name].is_exclusive
        assert not by_name[name].waits


@given(LANES, st.integers(0, 5))
def test_the_actions_are_those_of_the_population_plan(lanes, target):
    verdict = supervise(SuperviseEvidence(lanes=lanes, target=target))
    found = plan(lanes, target).actions
    assert [each.lane for each in found if isinstance(each, Spawn)] == [
        row.lane for row in verdict.spawn
    ]
    assert [each.lane for each in found if isinstance(each, Reap)] == [
        row.lane for row in verdict.reap
    ]
    excess = {row.lane for row in verdict.flag if row.reason.startswith("one of")}
    flagged = {each.lane for each in found if isinstance(each, Flag)}
    assert flagged == {row.lane for row in verdict.flag} - excess


@given(LANES, st.integers(0, 5))
def test_every_lane_that_could_be_started_is_or_has_something_in_its_way(lanes, target):
    planned = plan(lanes, target)
    free = {each.lane for each in lanes if not (each.liveness or each.pending or each.waits)}
    started = {action.lane for action in planned.actions if isinstance(action, Spawn)}
    told = {obstacle.lane: obstacle.waits_on for obstacle in planned.obstacles}
    assert free - started <= told.keys()
    assert set(told.values()) <= {WaitsOn.REGION_HELD, WaitsOn.EXCLUSIVE, WaitsOn.HOST_FULL}


def part(lane_name: str, unit: str, **more) -> LaneLiveness:
    name = f"{lane_name}/{unit}"
    return LaneLiveness(lane=name, tree=(f"{name}.py",), part_of=lane_name, **more)


def test_workers_share_a_repeatable_lane_and_the_whole_of_it_waits_for_them():
    lanes = (part("a", "1"), part("a", "2"), lane("a", waits="no unit is left"), lane("b"))
    assert actions(*lanes, target=3) == [Spawn("a/1"), Spawn("a/2"), Spawn("b")]
    busy = (part("a", "1", liveness="ADVANCING"), lane("a"))
    planned = plan(busy, 2)
    assert list(planned.actions) == []
    assert planned.obstacles[0].reason == "it overlaps lane a/1"


def test_of_two_parts_that_overlap_one_waits():
    same = LaneLiveness(lane="a/2", tree=("a/1.py",), part_of="a")
    assert actions(part("a", "1"), same, part("a", "3")) == [Spawn("a/1"), Spawn("a/3")]


def test_a_repeatable_lane_gets_no_more_workers_than_it_may_have():
    two = SupervisePolicy(max_concurrency=2)
    lanes = (part("a", "1"), part("a", "2"), part("a", "3"), part("c", "1"), lane("b"))
    started = [Spawn("a/1"), Spawn("a/2"), Spawn("c/1"), Spawn("b")]
    assert actions(*lanes, target=5, policy=two) == started
    held = (part("a", "1", liveness="ADVANCING"), part("a", "2", pending=True), part("a", "3"))
    planned = plan((*held, lane("b")), 4, two)
    assert list(planned.actions) == [Spawn("b")]
    (enough,) = planned.obstacles
    assert (enough.lane, enough.waits_on) == ("a/3", WaitsOn.HOST_FULL)
    assert enough.reason == "lane a has 2 workers: [supervise] max_concurrency allows no more"
    assert planned.verdict.admissible == 3


def test_a_part_that_is_blocked_gives_its_place_in_the_lane_to_another():
    wide = LaneLiveness(lane="d", tree=("a/1.py",), liveness="ADVANCING")
    one = SupervisePolicy(max_concurrency=1)
    assert actions(wide, part("a", "1"), part("a", "2"), policy=one) == [Spawn("a/2")]
