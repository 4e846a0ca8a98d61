"""The account of the units: each in exactly one place, and one answer for all of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.backlog.account import Answer, Evidence, judge
from dos.unknown import Unknown

TWO = ("P/1", "P/2")


@pytest.mark.parametrize(
    ("seen", "answer"),
    [
        (Evidence(declared=(), landed=()), Answer.EMPTY),
        (Evidence(declared=TWO, landed=TWO), Answer.SETTLED),
        (Evidence(declared=TWO, landed=("P/1",)), Answer.OPEN),
        (Evidence(declared=TWO, landed=("P/1",), in_flight={"P/2": "R"}), Answer.OPEN),
        (Evidence(declared=TWO, landed=("P/1",), interrupted={"P/2": "R"}), Answer.OPEN),
        (Evidence(declared=TWO, landed=("P/1",), held={"P/2": "DRAFT_CLASS"}), Answer.STUCK),
        (Evidence(declared=TWO, landed=("P/1",), resting=("P/2",)), Answer.STUCK),
        (
            Evidence(
                declared=TWO,
                landed=("P/1",),
                interrupted={"P/2": "R"},
                held={"P/2": "OPERATOR_GATED"},
            ),
            Answer.STUCK,
        ),
        (Evidence(declared=TWO, landed=Unknown("git is away")), Answer.UNKNOWN),
        # What landed without a plan settles nothing of the plan.
        (Evidence(declared=TWO, landed=("P/1", "X/1"), undeclared=("X/1",)), Answer.OPEN),
    ],
)
def test_the_answer_is_that_of_the_table(seen, answer):
    assert judge(seen).answer is answer


names = st.sampled_from([f"P/{number}" for number in range(6)])
some = st.sets(names)
runs = st.dictionaries(names, st.just("R"))


@given(st.lists(names, unique=True).map(tuple), some, runs, runs, runs, some)
def test_every_declared_unit_stands_in_exactly_one_place(
    declared, landed, in_flight, interrupted, held, resting
):
    evidence = Evidence(
        declared=declared,
        landed=landed,
        in_flight=in_flight,
        interrupted=interrupted,
        held=held,
        resting=resting,
    )
    verdict = judge(evidence)
    places = [
        *verdict.landed,
        *verdict.in_flight,
        *verdict.interrupted,
        *verdict.held,
        *verdict.resting,
        *verdict.open,
    ]
    assert sorted(places) == sorted(declared)
    assert verdict.declared == len(declared)
