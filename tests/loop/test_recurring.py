"""Has what stopped this run stopped others before?"""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.loop.verdicts.recurring import Hit, Policy, classify


def hit(run, cause, **more):
    return Hit(run=run, cause_key=cause, **more)


@pytest.mark.parametrize(
    ("keys", "prior", "expected"),
    [
        ((), [hit("a", "x"), hit("b", "x")], (False, "", 0)),
        (("", "  "), [hit("a", "x")], (False, "", 0)),
        (("x",), [], (False, "x", 1)),
        (("x",), [hit("a", "x")], (True, "x", 2)),
        (("x",), [hit("this", "x"), hit("this", "x")], (False, "x", 1)),  # one run, however often
        (
            ("x",),
            [hit("a", "y"), hit("b", "y"), hit("c", "y")],
            (False, "x", 1),
        ),  # what others met is not reported
        (("x", "y"), [hit("a", "y"), hit("b", "y"), hit("a", "x")], (True, "y", 3)),
        (
            ("x", "y"),
            [hit("a", "x", cost_usd=1.0), hit("a", "y", cost_usd=2.0)],
            (True, "y", 2),
        ),  # the dearer
        (
            ("x", "y"),
            [hit("a", "x", wall_min=9), hit("a", "y", wall_min=8)],
            (True, "x", 2),
        ),  # the longer
        (
            ("x", "y"),
            [hit("a", "x", cost_usd=99.0), hit("b", "y"), hit("c", "y")],
            (True, "y", 3),
        ),  # runs weigh most
    ],
)
def test_the_answer(keys, prior, expected):
    verdict = classify("this", keys, prior)
    assert (verdict.recurring, verdict.cause_key, verdict.runs_affected) == expected
    assert verdict.answer == ("RECURRING" if verdict.recurring else "NEW")


def test_it_adds_up_what_the_cause_has_cost():
    prior = [
        hit("a", "x", cost_usd=1.005, wall_min=1.26, example="first"),
        hit("b", "x", cost_usd=2.0, example="two"),
    ]
    verdict = classify("this", ["x"], prior)
    shown = msgspec.to_builtins(verdict)
    assert shown.pop("reason")
    assert shown == {
        "recurring": True,
        "cause_key": "x",
        "runs_affected": 3,
        "occurrences": 3,
        "cost_usd": 3.0,
        "wall_min": 1.3,
        "example": "first",
    }


def test_how_many_runs_make_it_recur_is_the_policys():
    assert not classify("this", ["x"], [hit("a", "x")], min_recurrence=3).recurring
    assert classify("this", ["x"], [], min_recurrence=1).recurring
    with pytest.raises(ValueError, match="at least 1"):
        Policy(min_recurrence=0)


@pytest.mark.parametrize("bad", [{"cost_usd": -1.0}, {"wall_min": float("nan")}, {"iter_n": -1}])
def test_impossible_costs_are_refused(bad):
    with pytest.raises(ValueError, match=" is "):
        hit("a", "x", **bad)


hits = st.lists(st.builds(hit, st.sampled_from("abc"), st.sampled_from("xyz")), max_size=9)


@given(keys=st.lists(st.sampled_from(["x", "y", ""]), max_size=3), prior=hits)
def test_only_what_this_run_met_is_reported_whatever_the_order(keys, prior):
    verdict = classify("this", keys, prior)
    assert verdict.cause_key in {*keys, ""}
    again = classify("this", keys, prior[::-1])
    assert (again.recurring, again.cause_key, again.runs_affected) == (
        verdict.recurring,
        verdict.cause_key,
        verdict.runs_affected,
    )
