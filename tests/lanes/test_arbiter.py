"""Which lane may be worked on, given what is asked for and what is live?"""

import msgspec
import pytest
from arbiter_workspace import ALL, API, GLOBAL, TREES, ask, live, roster

from dos.lanes import admission, arbitrate


def granted(lane, *, kind="cluster", auto=False, substituted=False):
    return {
        "outcome": "acquire",
        "lane": lane,
        "lane_kind": kind,
        "auto_picked": auto,
        "substituted": substituted,
        "exit": 0,
    }


def refused(reason_class, *, free=None, exit_code=1):
    expected = {"outcome": "refuse", "lane": "", "reason_class": reason_class, "exit": exit_code}
    return expected if free is None else expected | {"free_clusters": free}


@pytest.mark.parametrize(
    ("asked", "leases", "expected", "fragments"),
    [
        pytest.param(
            ask(),
            [],
            granted("api", auto=True),
            ["bare"],
            id="no lane named: the first of autopick",
        ),
        pytest.param(
            ask("api", "cluster"), [], granted("api"), [], id="a free lane is granted as named"
        ),
        pytest.param(
            ask("worker", "cluster"), API, granted("worker"), [], id="a free lane beside another"
        ),
        pytest.param(
            ask("api", "cluster"),
            API,
            granted("docs", auto=True, substituted=True),
            ["'api' was busy", "already held"],
            id="a held lane is replaced, and the reason says by what and why",
        ),
        pytest.param(
            ask("api"),
            API,
            granted("docs", auto=True, substituted=True),
            ["'api' was busy"],
            id="without a kind a held lane is replaced as well",
        ),
        pytest.param(
            ask("worker"),
            API,
            granted("worker"),
            [],
            id="without a kind a free lane is granted as named",
        ),
        pytest.param(
            ask("api"),
            [],
            granted("api"),
            ["granted as asked"],
            id="nothing is called busy in an idle world",
        ),
        pytest.param(
            ask("nosuch"),
            API,
            refused("UNKNOWN_LANE", exit_code=2),
            ["UNKNOWN_LANE", "is not a lane in this workspace", "api, docs, global, worker"],
            id="an unknown lane is an error, not another lane",
        ),
        pytest.param(
            ask("nosuch", "keyword"),
            API,
            refused("UNKNOWN_LANE", exit_code=2),
            ["UNKNOWN_LANE"],
            id="an unknown keyword",
        ),
        pytest.param(
            ask("nosuch", "cluster"),
            API,
            refused("UNKNOWN_LANE", exit_code=2),
            ["UNKNOWN_LANE"],
            id="an unknown cluster",
        ),
        pytest.param(
            ask("nosuch", "cluster"),
            [],
            refused("UNKNOWN_LANE", exit_code=2),
            [],
            id="an unknown cluster, nothing live",
        ),
        pytest.param(
            ask("api", "keyword"),
            API,
            refused("LANE_HELD", free=["docs", "worker"]),
            ["already held", "free now: docs, worker"],
            id="a keyword for a held lane is refused",
        ),
        pytest.param(
            ask("docs", "keyword"),
            API,
            granted("docs", kind="keyword"),
            [],
            id="a keyword for a free lane",
        ),
        pytest.param(
            ask("hot", "keyword", "api/x.py"),
            API,
            refused("REGION_OVERLAP"),
            ["cannot share live lane 'api'", "1 of 1", "free now: docs, worker"],
            id="a tree of its own that meets a live one",
        ),
        pytest.param(
            ask("hot", "keyword", "api/x.py", "lib/**", "docs/a"),
            API,
            refused("REGION_OVERLAP"),
            ["'api/x.py'"],
            id="other globs do not buy an overlap",
        ),
        pytest.param(
            ask("global"),
            API,
            refused("LANE_EXCLUSIVE", free=["docs", "worker"]),
            ["exclusive"],
            id="an exclusive lane beside a live one",
        ),
        pytest.param(
            ask("global"),
            [],
            granted("global", kind="global"),
            [],
            id="an exclusive lane in an idle world",
        ),
        pytest.param(
            ask("", "global"),
            [],
            granted("global", kind="global"),
            [],
            id="the kind alone names the declared lane",
        ),
        pytest.param(
            ask("api"),
            GLOBAL,
            refused("LANE_EXCLUSIVE", free=[]),
            ["exclusive"],
            id="nothing beside a live exclusive lane",
        ),
        pytest.param(
            ask("api", force=True),
            GLOBAL,
            refused("LANE_EXCLUSIVE", free=[]),
            ["force cannot override"],
            id="force does not override an exclusive lane",
        ),
        pytest.param(
            ask("api", "cluster", force=True),
            API,
            granted("api") | {"reason_class": "LANE_HELD"},
            ["FORCED", "already held"],
            id="force takes a held lane and says over what",
        ),
        pytest.param(
            ask("api", force=True),
            API,
            granted("api", kind="keyword"),
            ["FORCED"],
            id="force without a kind is a keyword",
        ),
        pytest.param(
            ask(force=True),
            API,
            granted("docs", auto=True),
            ["bare"],
            id="force means nothing without a lane",
        ),
        pytest.param(
            ask(), ALL, refused("NO_FREE_LANE", free=[]), ["already held"], id="every lane is held"
        ),
        pytest.param(
            ask(),
            [live("big", "**/*")],
            refused("NO_FREE_LANE"),
            ["'big'"],
            id="one lease covers everything",
        ),
        pytest.param(
            ask(),
            [live("big")],
            refused("NO_FREE_LANE"),
            ["EMPTY"],
            id="a lease with an empty tree is in everybody's way",
        ),
        pytest.param(
            ask(),
            [live("API", "API/**")],
            granted("docs", auto=True),
            [],
            id="lane names are compared in any case",
        ),
    ],
)
def test_arbitrate(asked, leases, expected, fragments):
    decision = arbitrate.judge(asked, leases, roster())
    shown = decision.to_json() | {"exit": decision.exit_code}
    assert {key: shown[key] for key in expected} == expected
    assert decision.requested_lane == asked.lane
    if decision.outcome == "acquire":
        assert shown["tree"] == list(TREES[decision.lane])
    for fragment in fragments:
        assert fragment in decision.reason


def test_a_class_budget_refuses_a_request_that_names_no_lane():
    decision = arbitrate.judge(ask(), [live("docs")], roster(budgets={"cluster": 1}))
    assert (decision.outcome, decision.reason_class) == ("refuse", "CLASS_BUDGET_EXHAUSTED")
    assert "cluster (1/1)" in decision.reason


@pytest.mark.parametrize(
    "asked", [ask("api"), ask("api", "cluster"), ask("api", "cluster", exact=True)]
)
def test_a_class_budget_refuses_a_request_that_names_a_lane(asked):
    decision = arbitrate.judge(asked, [live("docs", kind="")], roster(budgets={"cluster": 1}))
    assert decision.reason_class == "CLASS_BUDGET_EXHAUSTED"


def test_a_class_budget_binds_its_own_kind_only():
    rules = roster(budgets={"keyword": 1})
    holds = [live("hot", "hot/**", kind="keyword")]
    assert arbitrate.judge(ask("api"), holds, rules).lane == "api"
    assert (
        arbitrate.judge(ask("api", "keyword"), holds, rules).reason_class
        == "CLASS_BUDGET_EXHAUSTED"
    )


@pytest.mark.parametrize(
    ("asked", "rules"),
    [
        pytest.param(ask("global"), roster(), id="the exclusive lane"),
        pytest.param(
            ask("main", "cluster"),
            roster(concurrent=("main",), autopick=("main",), trees={"main": ("**/*",)}),
            id="the only lane",
        ),
        pytest.param(
            ask("main", "cluster"),
            roster(concurrent=("main", "api"), trees=TREES | {"main": ("**/*",)}),
            id="no other instead",
        ),
        pytest.param(
            ask(),
            roster(concurrent=("main",), autopick=("main",), trees={"main": ("**/*",)}),
            id="no lane named",
        ),
    ],
)
def test_a_lane_that_covers_the_kernel_is_refused(asked, rules):
    decision = arbitrate.judge(
        asked, [], msgspec.structs.replace(rules, protected=admission.KERNEL_FILES)
    )
    assert (decision.outcome, decision.reason_class, decision.exit_code) == (
        "refuse",
        "SELF_MODIFY",
        1,
    )
    assert "SELF_MODIFY" in decision.reason


def test_protected_files_do_not_stop_a_lane_that_does_not_reach_them():
    assert arbitrate.judge(ask(), [], roster(protected=admission.KERNEL_FILES)).lane == "api"


@pytest.mark.parametrize(
    ("leases", "cause"),
    [(API, "LANE_HELD"), ([live("hot", "api/x")], "REGION_OVERLAP")],
)
def test_an_exact_request_is_refused_and_told_what_is_free(leases, cause):
    decision = arbitrate.judge(ask("api", "cluster", exact=True), leases, roster())
    assert (decision.outcome, decision.exit_code, decision.reason_class) == ("refuse", 1, cause)
    assert "free now: docs, worker" in decision.reason
    assert set(decision.free_clusters) >= {"docs", "worker"}


def test_an_exact_request_for_a_free_lane_is_granted():
    assert arbitrate.judge(ask("docs", exact=True), API, roster()).lane == "docs"


def test_what_is_called_free_now_can_be_granted_now():
    decision = arbitrate.judge(
        ask("api", exact=True), [live("api"), live("hot", "docs/a")], roster()
    )
    assert "free now: worker" in decision.reason
    assert decision.free_clusters == ("docs", "worker")


def test_a_lane_that_overlaps_a_live_one_is_replaced_and_not_called_busy():
    decision = arbitrate.judge(ask("api"), [live("hot", "api/x")], roster())
    assert (decision.lane, decision.auto_picked, decision.substituted) == ("docs", True, True)
    assert "cannot be granted" in decision.reason
    assert "was busy" not in decision.reason
    assert decision.reason_class == "REGION_OVERLAP"


def test_a_refused_lane_is_never_its_own_replacement():
    decision = arbitrate.judge(
        ask("api", "cluster", "docs/a"), [live("hot", "docs/**")], roster(autopick=("api",))
    )
    assert (decision.outcome, decision.reason_class) == ("refuse", "REGION_OVERLAP")


def test_when_nothing_else_fits_the_cause_of_the_named_lane_stays_the_answer():
    decision = arbitrate.judge(ask("api"), ALL, roster())
    assert (decision.outcome, decision.reason_class) == ("refuse", "LANE_HELD")
    assert "no other lane fits" in decision.reason


def test_an_exclusive_lane_is_never_the_replacement():
    rules = roster(
        autopick=("api", "infra"),
        exclusive=("infra",),
        trees={"api": ("api/**",), "infra": ("infra/**",)},
    )
    decision = arbitrate.judge(
        ask("api"), [], msgspec.structs.replace(rules, trees={"infra": ("infra/**",)})
    )
    assert (decision.outcome, decision.reason_class) == ("refuse", "REGION_UNKNOWN")


def test_a_tree_of_the_callers_own_is_never_replaced():
    decision = arbitrate.judge(ask("hot", "cluster", "api/x"), API, roster())
    assert (decision.outcome, decision.reason_class) == ("refuse", "REGION_OVERLAP")


def test_a_keyword_lane_without_a_tree_is_replaced_because_it_matched_nothing():
    decision = arbitrate.judge(ask("bare", "keyword"), [], roster(concurrent=("api", "bare")))
    assert (decision.lane, decision.lane_kind, decision.auto_picked) == ("api", "cluster", True)
    assert "matched no live plan" in decision.reason
