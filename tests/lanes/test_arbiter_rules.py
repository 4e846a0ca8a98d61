"""Lane names, exclusive lanes, force, modes and predicates in the arbiter."""

import pytest
from arbiter_workspace import API, GLOBAL, TREES, ask, live, roster

from dos.errors import NameInvalid, RegionInvalid
from dos.lanes import arbitrate
from dos.lanes.admission import AdmissionVerdict
from dos.lease import RefusalReason
from dos.regions import Mode


def test_an_alias_leads_to_its_lane():
    decision = arbitrate.judge(ask("SVC", exact=True), [], roster(aliases={"svc": "Api"}))
    assert (decision.lane, decision.lane_kind, decision.tree) == ("api", "cluster", ("api/**",))
    assert (decision.requested_lane, decision.substituted) == ("SVC", False)


def test_a_lease_on_an_alias_holds_its_lane():
    decision = arbitrate.judge(
        ask("api", exact=True), [live("svc", "x/**")], roster(aliases={"svc": "api"})
    )
    assert decision.reason_class == "LANE_HELD"


def test_an_alias_of_no_lane_is_an_unknown_lane():
    decision = arbitrate.judge(ask("svc"), [], roster(aliases={"svc": "gone"}))
    assert decision.exit_code == 2
    assert "alias of 'gone'" in decision.reason


@pytest.mark.parametrize("name", [" api ", "svc", " SVC"])
def test_spaces_around_a_name_are_not_part_of_it(name):
    assert arbitrate.judge(ask(name), [], roster(aliases={"svc": " api "})).lane == "api"


def test_a_lane_that_is_held_in_another_case_or_by_its_alias_is_not_listed_as_free():
    holds = [live("API", "x/**"), live("text", "y/**")]
    rules = roster(aliases={"text": "docs"}, autopick=("Api", "docs", "worker"))
    assert arbitrate.judge(ask("api", exact=True), holds, rules).free_clusters == ("worker",)


def test_an_unknown_lane_is_told_the_nearest_known_one():
    decision = arbitrate.judge(ask("Workr"), [], roster())
    assert "did you mean 'worker'?" in decision.reason


def test_an_unknown_lane_is_an_error_even_while_an_exclusive_lane_is_live_and_under_force():
    assert arbitrate.judge(ask("nosuch", force=True), GLOBAL, roster()).exit_code == 2


def test_a_lane_of_the_callers_own_is_known_by_its_tree():
    decision = arbitrate.judge(ask("hot", "", "hot/**"), API, roster())
    assert (decision.outcome, decision.lane, decision.lane_kind) == ("acquire", "hot", "keyword")


@pytest.mark.sampled(3)
def test_a_name_that_cannot_be_stored_is_an_error():
    with pytest.raises(NameInvalid):
        arbitrate.judge(ask("hot\x00", "", "hot/**"), [], roster())


def test_a_tree_that_leads_out_is_an_error():
    with pytest.raises(RegionInvalid):
        arbitrate.judge(ask("hot", "", "../x"), [], roster())


def test_a_declared_lane_without_a_tree_is_not_granted():
    decision = arbitrate.judge(ask("empty", exact=True), [], roster(concurrent=("empty",)))
    assert (decision.outcome, decision.reason_class) == ("refuse", "REGION_UNKNOWN")
    assert "EMPTY tree" in decision.reason


def test_an_autopick_lane_without_a_tree_is_passed_over():
    assert arbitrate.judge(ask(), [], roster(autopick=("ghost", "docs"))).lane == "docs"


@pytest.mark.parametrize(
    "lease",
    [
        pytest.param(live("global", "**/*", kind=""), id="by its name, without a kind"),
        pytest.param(live("GLOBAL", "x/**", kind="cluster"), id="by its name, in another case"),
        pytest.param(live("api", "api/**", kind="Global"), id="by its kind, in another case"),
        pytest.param(live("infra", kind=""), id="by its name, without a tree"),
        pytest.param(live("odd", "odd/**", exclusive=True), id="because it was granted as such"),
    ],
)
@pytest.mark.parametrize("force", [False, True])
def test_a_live_exclusive_lane_refuses_everything(lease, force):
    rules = roster(exclusive=("global", "infra"), trees=TREES | {"infra": ("infra/**",)})
    decision = arbitrate.judge(ask("docs", force=force), [lease], rules)
    assert (decision.reason_class, decision.free_clusters) == ("LANE_EXCLUSIVE", ())


def test_the_kind_of_an_exclusive_grant_is_the_lane_so_that_its_lease_blocks_later():
    rules = roster(exclusive=("Infra",), trees=TREES | {"Infra": ("infra/**",)})
    decision = arbitrate.judge(ask("infra", "cluster"), [], rules)
    assert (decision.lane, decision.lane_kind) == ("Infra", "infra")
    lease = live(decision.lane, *decision.tree, kind=decision.lane_kind)
    assert arbitrate.judge(ask("api"), [lease], rules).reason_class == "LANE_EXCLUSIVE"


def test_the_kind_global_uses_the_first_exclusive_lane_where_no_lane_is_called_global():
    rules = roster(exclusive=("infra",), trees={"infra": ("infra/**",)})
    decision = arbitrate.judge(ask("", "global"), [], rules)
    assert (decision.lane, decision.tree, decision.auto_picked) == ("infra", ("infra/**",), False)


def test_a_kind_that_is_the_name_of_an_exclusive_lane_asks_for_that_lane():
    rules = roster(exclusive=("global", "infra"), trees=TREES | {"infra": ("infra/**",)})
    decision = arbitrate.judge(ask("", "infra"), [], rules)
    assert (decision.lane, decision.lane_kind, decision.tree) == ("infra", "infra", ("infra/**",))
    assert arbitrate.judge(ask("", "infra"), API, rules).reason_class == "LANE_EXCLUSIVE"


def test_the_name_global_runs_alone_even_where_it_is_not_declared():
    rules = roster(exclusive=())
    assert arbitrate.judge(ask("global", "", "x/**"), API, rules).reason_class == "LANE_EXCLUSIVE"
    assert (
        arbitrate.judge(ask("api"), [live("global", "x/**")], rules).reason_class
        == "LANE_EXCLUSIVE"
    )


def test_a_lane_called_global_that_is_declared_concurrent_runs_beside_others():
    rules = roster(
        exclusive=(),
        concurrent=("api", "global"),
        trees={"api": ("api/**",), "global": ("shared/**",)},
    )
    decision = arbitrate.judge(ask("global"), API, rules)
    assert (decision.outcome, decision.lane_kind) == ("acquire", "cluster")


def test_the_kind_global_without_any_exclusive_lane_has_no_region():
    decision = arbitrate.judge(
        ask("", "global"), [], roster(exclusive=(), trees={"api": ("api/**",)})
    )
    assert (decision.outcome, decision.reason_class) == ("refuse", "REGION_UNKNOWN")


def test_a_lane_taken_as_global_runs_alone_and_its_lease_says_so():
    decision = arbitrate.judge(ask("api", "global"), [], roster())
    assert (decision.lane, decision.lane_kind, decision.tree) == ("api", "global", ("api/**",))
    assert (
        arbitrate.judge(ask("api", "global"), [live("docs")], roster()).reason_class
        == "LANE_EXCLUSIVE"
    )


def test_a_kind_is_compared_to_the_letter():
    assert arbitrate.judge(ask("api", "Global"), [live("docs")], roster()).lane == "api"


def test_an_exclusive_lane_in_autopick_is_picked_only_alone():
    rules = roster(autopick=("global",))
    assert arbitrate.judge(ask(), [], rules).lane_kind == "global"
    assert arbitrate.judge(ask(), API, rules).outcome == "refuse"


def test_force_on_a_lane_without_a_tree_says_that_it_is_empty():
    decision = arbitrate.judge(
        ask("empty", force=True), [live("empty", "x/**")], roster(concurrent=("empty",))
    )
    assert (decision.outcome, decision.tree, decision.reason_class) == (
        "acquire",
        (),
        "REGION_UNKNOWN",
    )
    assert "EMPTY tree" in decision.reason
    assert "another lease on this lane is live" in decision.reason


def test_force_takes_an_exclusive_lane_as_exclusive():
    decision = arbitrate.judge(ask("global", force=True), API, roster())
    assert (decision.outcome, decision.lane_kind, decision.reason_class) == (
        "acquire",
        "global",
        "LANE_EXCLUSIVE",
    )


def test_force_means_nothing_for_a_kind_without_a_lane():
    decision = arbitrate.judge(ask("", "global", force=True), API, roster())
    assert (decision.outcome, decision.reason_class) == ("refuse", "LANE_EXCLUSIVE")


def test_force_that_overrides_nothing_has_no_reason_class():
    decision = arbitrate.judge(ask("api", force=True), [], roster())
    assert (decision.outcome, decision.reason_class) == ("acquire", "")


def test_readers_share_a_lane():
    reading = [live("api", mode=Mode.SHARED)]
    assert (
        arbitrate.judge(ask("api", mode=Mode.SHARED, exact=True), reading, roster()).outcome
        == "acquire"
    )
    assert arbitrate.judge(ask("api", exact=True), reading, roster()).outcome == "refuse"


def test_an_overlap_is_tolerated_only_by_an_explicit_ratio():
    asked = ask("hot", "keyword", "api/x.py", "lib/**", "docs/a")
    assert arbitrate.judge(asked, API, roster(ratio_max=1 / 3)).outcome == "acquire"
    assert arbitrate.judge(asked, API, roster(ratio_max=0.2)).outcome == "refuse"


def test_a_predicate_turns_a_request_away_from_a_lane():
    def not_api(asked, _lease, _config):
        return (
            AdmissionVerdict.refuse("freeze") if asked.lane == "api" else AdmissionVerdict.admit()
        )

    assert arbitrate.judge(ask(), [], roster(), predicates=[not_api]).lane == "docs"
    decision = arbitrate.judge(ask("api", exact=True), [], roster(), predicates=[not_api])
    assert (decision.reason_class, "freeze" in decision.reason) == (RefusalReason.PREDICATE, True)


def test_a_predicate_cannot_make_its_refusal_an_unknown_lane():
    def sly(_asked, _lease, _config):
        return AdmissionVerdict.refuse("no", "UNKNOWN_LANE")

    assert arbitrate.judge(ask("api"), [], roster(), predicates=[sly]).exit_code == 1


def test_a_tree_without_a_lane_is_not_used_and_the_reason_says_so():
    decision = arbitrate.judge(ask("", "", "lib/**"), [], roster())
    assert decision.tree == ("api/**",)
    assert "the tree is not used" in decision.reason
