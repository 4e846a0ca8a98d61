"""Is a lane worth launching on?"""

import json

import msgspec
import pytest

from dos.lanes import launch_health
from dos.lanes.launch_health import UNANSWERED_STOP, Action, Evidence, LaneRun, Policy
from dos.lanes.leases import LiveLease
from dos.loop import released_texts
from dos.regions import region

SHIPPED = LaneRun(label="s", shipped=True)
ACTED = LaneRun(label="o", operator_acted=True)
STOPPED = LaneRun(label="x", cause="consecutive-dirty-zero", needs_fix=True)
OTHER = LaneRun(label="d")


def blocked(cause="blocked", *, replan=False, recurrence=1):
    return LaneRun(label=f"b {cause}", cause=cause, replan_clears=replan, recurrence=recurrence)


def planned(*runs, live=(), tree=("api/**",), **changes):
    policy = changes.pop("policy", Policy())
    evidence = Evidence(lane="api", region=region(tree), live=tuple(live), runs=runs, **changes)
    return launch_health.judge(evidence, policy)


@pytest.mark.parametrize(
    ("live", "tree", "overlap"),
    [
        ([], ["api/**"], ""),
        ([LiveLease(lane="web", tree=("web/**",))], ["api/**"], ""),
        (
            [LiveLease(lane="web", tree=("web/**",)), LiveLease(lane="x", tree=("api/deep/**",))],
            ["api/**"],
            "x",
        ),
        ([LiveLease(lane="api", tree=("api/**",))], ["api/**"], ""),
        ([LiveLease(lane="API", tree=("api/**",))], ["api/**"], ""),
        ([LiveLease(lane="x", tree=("api/**",), loop_ts="mine")], ["api/**"], ""),
        ([LiveLease(lane="x", tree=("api/**",), loop_ts="theirs")], ["api/**"], "x"),
        # What nobody knows meets everything.
        ([LiveLease(lane="x")], ["api/**"], "x"),
        ([LiveLease(lane="x", tree=("web/**",))], [], "x"),
        ([LiveLease(lane="x", tree=("web/**",), exclusive=True)], ["api/**"], "x"),
    ],
)
def test_another_lane_that_meets_the_region_is_in_the_way(live, tree, overlap):
    verdict = planned(SHIPPED, live=live, tree=tree, own_loop_ts="mine")
    assert verdict.answer is (Action.OVERLAP_BLOCK if overlap else Action.PROCEED)
    assert (verdict.overlap_lane, verdict.should_proceed) == (overlap, not overlap)


@pytest.mark.parametrize(
    ("runs", "action", "cause", "blockers"),
    [
        ([], Action.PROCEED, "", 0),
        ([SHIPPED], Action.PROCEED, "", 0),
        ([STOPPED], Action.ROUTE_UNSTICK, UNANSWERED_STOP, 1),
        ([OTHER, STOPPED], Action.ROUTE_UNSTICK, UNANSWERED_STOP, 1),
        ([SHIPPED, STOPPED], Action.PROCEED, "", 1),
        ([ACTED, STOPPED], Action.PROCEED, "", 1),
        ([blocked(), blocked()], Action.PROCEED, "", 2),
        ([blocked(), blocked(), blocked()], Action.ROUTE_UNSTICK, "blocked", 3),
        ([blocked(replan=True)] * 3, Action.ROUTE_REPLAN, "blocked", 3),
        ([blocked(), blocked("other"), blocked()], Action.PROCEED, "", 3),
        ([blocked("other"), *[blocked()] * 3], Action.ROUTE_UNSTICK, "blocked", 4),
        ([SHIPPED, *[blocked()] * 3], Action.PROCEED, "", 3),
        ([blocked(), SHIPPED, blocked(), blocked()], Action.ROUTE_UNSTICK, "blocked", 3),
        ([OTHER, *[blocked()] * 3], Action.ROUTE_UNSTICK, "blocked", 3),
        ([blocked(recurrence=6)], Action.ROUTE_UNSTICK, "blocked", 1),
        ([blocked(recurrence=2), blocked()], Action.PROCEED, "", 2),
        ([*[OTHER] * 12, *[blocked()] * 3], Action.PROCEED, "", 0),
        ([*[OTHER] * 9, *[blocked()] * 3], Action.ROUTE_UNSTICK, "blocked", 3),
    ],
)
def test_the_history_of_a_lane_speaks_for_or_against_it(runs, action, cause, blockers):
    verdict = planned(*runs)
    assert (verdict.answer, verdict.cause_key, verdict.blocker_runs) == (action, cause, blockers)
    assert verdict.should_proceed == (action is Action.PROCEED)
    assert verdict.runs_considered == min(len(runs), 12)
    assert bool(verdict.evidence) == (action is not Action.PROCEED)


def test_what_is_in_the_way_goes_before_the_history():
    assert (
        planned(STOPPED, live=[LiveLease(lane="x", tree=("api/**",))]).answer
        is Action.OVERLAP_BLOCK
    )


def test_a_window_that_sees_nothing_is_an_error():
    with pytest.raises(ValueError, match="window"):
        Policy(window=0)


def test_the_json_has_the_published_keys():
    shown = json.loads(msgspec.json.encode(planned(STOPPED)))
    assert list(shown) == [
        "action", "should_proceed", "reason", "cause_key",
        "runs_considered", "blocker_runs", "overlap_lane", "evidence",
    ]  # fmt: skip
    assert shown["action"] == "route_unstick"


@pytest.mark.parametrize(
    ("subject", "shown"),
    [
        ("dispatch: api LIVE 2 picks", LaneRun(label="", shipped=True)),
        ("dispatch: api SHIPPED-CLEAN", LaneRun(label="", shipped=True)),
        ("dispatch: API SHIPPED", LaneRun(label="", shipped=True)),
        ("dispatch: api DRAIN", LaneRun(label="")),
        ("dispatch: api SHIPPED-DIRTY", LaneRun(label="")),
        ("dispatch: api BLOCKED claims of 3 units", LaneRun(label="", cause="claims of units")),
        ("dispatch: api WEDGE [cause:stale_claim]", LaneRun(label="", cause="stale_claim")),
        ("dispatch: api ERROR", LaneRun(label="", cause="ERROR")),
        ("0a1b2c3d dispatch: api STALLED x", LaneRun(label="", cause="x")),
        (
            "dispatch: api BLOCKED on a soak",
            LaneRun(label="", cause="on a soak", replan_clears=True),
        ),
        (
            "dispatch: api BLOCKED 6th consecutive",
            LaneRun(label="", cause="consecutive", recurrence=6),
        ),
        (
            "dispatch: api BLOCKED-OUTCOME 3rd recurrence",
            LaneRun(label="", cause="recurrence", recurrence=3),
        ),
        ("loop: api STOP, run /unstick", LaneRun(label="", needs_fix=True)),
        ("docs: operator-action: freed the claims", LaneRun(label="", operator_acted=True)),
        ("dispatch: web BLOCKED x", None),
        ("dispatch: api-two BLOCKED x", None),
        ("api: fix a bug", None),
        ("api: unblock things", None),
        ("", None),
    ],
)
def test_a_subject_of_an_archive_commit_tells_of_a_run(subject, shown):
    lane_runs = released_texts.lane_runs([subject], "api")
    assert [msgspec.structs.replace(run, label="") for run in lane_runs] == (
        [shown] if shown else []
    )


def test_causes_that_differ_only_in_numbers_are_one_cause():
    subjects = [
        f"dispatch: api BLOCKED claim of unit {number} since 2026-01-0{number}"
        for number in (1, 2, 3)
    ]
    assert planned(*released_texts.lane_runs(subjects, "api")).answer is Action.ROUTE_UNSTICK
