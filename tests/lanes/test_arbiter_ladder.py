"""The arbiter with a caller's own order, ranks, counts and siblings."""

import pytest
from arbiter_workspace import API, ask, live, roster
from hypothesis import given
from hypothesis import strategies as st

from dos import regions
from dos.lanes import arbitrate, preference
from dos.lanes.admission import AdmissionVerdict
from dos.lanes.preference import LaneCandidate, Preferences
from dos.lease import Refusal, RefusalReason

P1 = ("p1", "priority", ["p1/**"])
P2 = ("p2", "priority", ["p2/**"])
SIDE = ("side", "chore", ["side/**"])
ORDER = (P1, P2, SIDE)
P1_LIVE = [live("p1", "p1/**", kind="priority")]


def climbed(order=ORDER, leases=(), *, asked=None, budgets=None, predicates=(), **wishes):
    rules = roster(budgets=budgets or {})
    preferences = Preferences(auto_pick_order=order, **wishes)
    return arbitrate.judge(
        asked or ask(), leases, rules, predicates=predicates, preferences=preferences
    )


def counted(**counts):
    return lambda name, _kind, _tree: counts.get(name)


def failing(*_given):
    raise ValueError("no reading")


def test_the_first_candidate_that_fits_is_granted():
    decision = climbed()
    assert (decision.lane, decision.lane_kind, decision.tree) == ("p1", "priority", ("p1/**",))
    assert (decision.auto_picked, decision.pick_count) == (True, None)
    assert "from priority ladder" in decision.reason


def test_a_full_class_is_refused_with_its_count_and_no_new_plan_is_asked_for():
    decision = climbed((P1, P2), P1_LIVE, budgets={"priority": 1})
    assert (decision.outcome, decision.reason_class) == ("refuse", "CLASS_BUDGET_EXHAUSTED")
    assert "priority (1/1)" in decision.reason
    assert "a new plan would not change that" in decision.reason


def test_a_candidate_of_another_class_passes_a_full_one():
    assert climbed(ORDER, P1_LIVE, budgets={"priority": 1}).lane == "side"


def test_a_full_class_is_not_the_cause_when_another_candidate_was_in_play():
    decision = climbed(ORDER, P1_LIVE, budgets={"priority": 1}, pick_oracle=counted(side=0))
    assert (decision.reason_class, decision.pick_count) == ("NO_FREE_LANE", 0)


def test_a_full_class_is_the_cause_although_other_lanes_are_held_or_empty():
    order = (P2, SIDE, ("blank", "chore", []))
    decision = climbed(order, [*P1_LIVE, live("side", "side/**")], budgets={"priority": 1})
    assert decision.reason_class == "CLASS_BUDGET_EXHAUSTED"
    assert "side" not in decision.reason


def test_a_full_class_is_the_cause_although_a_region_is_taken_too():
    decision = climbed((P2,), [*P1_LIVE, live("hot", "p2/x")], budgets={"priority": 1})
    assert decision.reason_class == "CLASS_BUDGET_EXHAUSTED"


def test_lanes_in_which_nothing_is_left_to_pick_are_refused_with_a_count_of_zero():
    decision = climbed(pick_oracle=counted(p1=0, p2=0, side=0))
    assert (decision.outcome, decision.pick_count) == ("refuse", 0)
    assert "nothing to pick" in decision.reason


def test_the_first_lane_with_something_to_pick_is_granted_with_its_count():
    decision = climbed(pick_oracle=counted(p1=0, p2=3, side=0))
    assert (decision.lane, decision.pick_count) == ("p2", 3)


def test_an_oracle_that_cannot_say_admits_a_lane_without_a_count():
    decision = climbed(pick_oracle=counted(p1=0))
    assert (decision.lane, decision.pick_count) == ("p2", None)


def test_a_named_lane_of_which_the_oracle_cannot_say_anything_is_passed_over():
    order = (("n", "named", ["n/**"]), SIDE)
    assert climbed(order, pick_oracle=counted()).lane == "side"
    assert climbed(order).lane == "n"


def test_an_oracle_that_fails_grants_nothing_and_its_words_are_in_the_reason():
    decision = climbed(pick_oracle=failing)
    assert (decision.outcome, decision.pick_count) == ("refuse", None)
    assert "no reading" in decision.reason


@pytest.mark.parametrize(
    ("ranks", "lane", "how"),
    [
        pytest.param(
            {"p1": 1.0, "p2": 9.0, "side": 5.0}, "p2", "by value-aware rank", id="the highest first"
        ),
        pytest.param({"side": -1.0}, "side", "by value-aware rank", id="any rank before none"),
        pytest.param(
            {"p1": 2.0, "p2": 2.0}, "p1", "by value-aware rank", id="a tie keeps the order"
        ),
        pytest.param(
            {"p1": float("nan"), "p2": 0},
            "p2",
            "by value-aware rank",
            id="what is no number is no rank",
        ),
        pytest.param(
            {"p1": float("-inf"), "p2": None},
            "p1",
            "by value-aware rank",
            id="the lowest rank before none",
        ),
        pytest.param({}, "p1", "from priority ladder", id="no ranks at all"),
    ],
)
def test_candidates_are_tried_by_rank(ranks, lane, how):
    decision = climbed(rank_key=counted(**ranks))
    assert decision.lane == lane
    assert how in decision.reason


def test_a_rank_that_fails_leaves_the_order_as_it_is():
    decision = climbed(rank_key=failing)
    assert decision.lane == "p1"
    assert "from priority ladder" in decision.reason


@pytest.mark.parametrize(
    ("order", "leases"),
    [
        pytest.param((("p1", "priority", []), P2), (), id="an empty tree"),
        pytest.param((P1, P2), [live("P1", "else/**")], id="a live name in another case"),
        pytest.param((P1, P2), [live("hot", "p1/x")], id="a region that is taken"),
    ],
)
def test_a_candidate_that_cannot_be_granted_is_passed_over(order, leases):
    assert climbed(order, leases).lane == "p2"


def test_a_candidate_that_a_predicate_refuses_is_passed_over():
    def not_first(asked, _lease, _config):
        return AdmissionVerdict.refuse("no") if asked.lane == "p1" else AdmissionVerdict.admit()

    assert climbed(predicates=[not_first]).lane == "p2"


def test_an_exhausted_ladder_says_why_each_rung_failed():
    decision = climbed((P1, P2), [live("hot", "p1/x"), live("p2", "other/**")])
    assert decision.reason_class == "NO_FREE_LANE"
    assert "priority ladder exhausted" in decision.reason
    assert "'p1/**' meets 'p1/x'" in decision.reason
    assert "lane 'p2' is already held" in decision.reason


def test_an_empty_ladder_is_exhausted_and_autopick_is_not_walked_instead():
    decision = climbed(())
    assert (decision.outcome, decision.reason_class) == ("refuse", "NO_FREE_LANE")


SIBLINGS = {"mine": ["p1/x"], "blank": [], "far": ["far/**"]}


@pytest.mark.parametrize(
    ("siblings", "lane", "apart"),
    [
        pytest.param(["mine"], "p2", True, id="a candidate apart from the sibling is preferred"),
        pytest.param(["far"], "p1", True, id="a distant sibling changes nothing"),
        pytest.param(
            ["blank"], "p1", False, id="an empty sibling touches everything, and refuses nothing"
        ),
        pytest.param([""], "p1", False, id="so does one without a name"),
        pytest.param(["lost"], "p1", False, id="so does one whose tree cannot be looked up"),
        pytest.param([], "p1", False, id="no siblings, no filter"),
    ],
)
def test_siblings_are_a_preference_and_never_a_refusal(siblings, lane, apart):
    decision = climbed(live_siblings=siblings, sibling_tree_lookup=SIBLINGS.__getitem__)
    assert decision.lane == lane
    assert ("disjoint from all live siblings" in decision.reason) is apart


def test_siblings_without_a_lookup_are_not_asked_about():
    decision = climbed(live_siblings=["mine"])
    assert decision.lane == "p1"


# Requests that do not climb


def test_a_named_lane_that_is_free_does_not_climb():
    assert climbed(asked=ask("worker"), leases=API).lane == "worker"


def test_a_named_lane_that_is_held_walks_autopick_and_asks_the_oracle():
    decision = climbed(asked=ask("api"), leases=API, pick_oracle=counted(docs=0, worker=2))
    assert (decision.lane, decision.pick_count, decision.substituted) == ("worker", 2, True)


def test_a_named_lane_that_is_held_while_the_others_have_nothing_is_refused_with_a_count_of_zero():
    decision = climbed(asked=ask("api"), leases=API, pick_oracle=counted(docs=0, worker=0))
    assert (decision.reason_class, decision.pick_count) == ("LANE_HELD", 0)


def test_a_keyword_that_matched_nothing_climbs():
    rules = roster(concurrent=("bare",))
    decision = arbitrate.judge(
        ask("bare", "keyword"), [], rules, preferences=Preferences(auto_pick_order=ORDER)
    )
    assert (decision.lane, decision.substituted) == ("p1", True)


# Named and derived lanes, after autopick


def walked(leases=(), *, asked=None, **wishes):
    rules = roster(autopick=("api",))
    return arbitrate.judge(asked or ask(), leases, rules, preferences=Preferences(**wishes))


def test_named_then_derived_lanes_follow_when_autopick_is_taken():
    lanes = {"named_lanes": {"n": ["n/**"]}, "derived_lanes": {"d": ["d/**"]}}
    assert walked(**lanes).lane == "api"
    after = walked(API, **lanes)
    assert (after.lane, after.lane_kind, after.auto_picked) == ("n", "named", True)
    last = walked([*API, live("n", "n/**")], **lanes)
    assert (last.lane, last.lane_kind) == ("d", "derived")


def test_named_and_derived_lanes_without_a_tree_are_passed_over():
    assert walked(API, named_lanes={"n": []}, derived_lanes={"d": ["d/**"]}).lane == "d"


def test_a_request_that_names_a_lane_never_gets_a_named_or_derived_one():
    decision = walked(
        API, asked=ask("api"), named_lanes={"n": ["n/**"]}, derived_lanes={"d": ["d/**"]}
    )
    assert decision.outcome == "refuse"


# The walk itself


def test_why_many_lanes_were_passed_over_is_cut():
    skips = tuple(
        preference.Skip(lane=str(n), why=f"why {n}", reason=RefusalReason.LANE_HELD)
        for n in range(9)
    )
    told = preference.NoFit(skips=skips).describe_skips()
    assert told.endswith("and 5 more")
    assert "why 3" in told


CANDIDATES = st.lists(st.sampled_from("abcdef"), max_size=6, unique=True).map(
    lambda names: [
        LaneCandidate(lane=name, kind="priority", region=regions.region([f"{name}/**"]))
        for name in names
    ]
)


@given(
    CANDIDATES,
    st.dictionaries(st.sampled_from("abcdef"), st.none() | st.floats() | st.integers(-3, 3)),
)
def test_ranks_reorder_the_candidates_and_lose_none(candidates, ranks):
    tried = []

    def refuse(candidate):
        tried.append(candidate)
        return Refusal(reason=RefusalReason.PREDICATE, detail="no")

    preference.best_ranked(candidates, refuse, Preferences(rank_key=counted(**ranks)))
    assert sorted(each.lane for each in tried) == sorted(each.lane for each in candidates)
    numbers = [ranks.get(each.lane) for each in tried]
    ranked = [number for number in numbers if number is not None and number == number]
    assert ranked == sorted(ranked, reverse=True)
    assert [number for number in numbers if number is not None and number == number] == numbers[
        : len(ranked)
    ]


@given(CANDIDATES, st.lists(st.sampled_from(["a", "b", "zz", ""]), max_size=2))
def test_siblings_never_leave_a_request_without_a_lane(candidates, siblings):
    lookup = {"a": ["a/**"], "b": ["b/**"]}.__getitem__
    wishes = Preferences(live_siblings=siblings, sibling_tree_lookup=lookup)
    found = preference.best_ranked(candidates, lambda _candidate: None, wishes)
    assert isinstance(found, preference.Fit) == bool(candidates)
