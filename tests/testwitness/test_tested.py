"""Is a test evidence for a change? Told outcomes can only speak against it.

What a runner saw can speak for it.
"""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs, to_builtins

from dos.testwitness.verdict import (
    Answer,
    Cell,
    Evidence,
    Matrix,
    SuiteOutcome,
    SuiteRun,
    judge,
    judge_matrix,
    remaining_runs,
)
from dos.witness.accountability import Accountability

PASS, FAIL, ERROR, NOT_RUN = (
    SuiteOutcome.PASS,
    SuiteOutcome.FAIL,
    SuiteOutcome.ERROR,
    SuiteOutcome.NOT_RUN,
)
SEEN = Accountability.OS_RECORDED


@pytest.mark.parametrize(
    ("baseline", "candidate", "seen", "told"),
    [
        (PASS, PASS, Answer.VACUOUS, Answer.VACUOUS),
        (PASS, FAIL, Answer.REGRESSIVE, Answer.REGRESSIVE),
        (PASS, ERROR, Answer.REGRESSIVE, Answer.REGRESSIVE),
        (FAIL, PASS, Answer.DISCRIMINATES, Answer.ABSTAIN),
        (FAIL, FAIL, Answer.UNSATISFIED, Answer.UNSATISFIED),
        (FAIL, ERROR, Answer.UNSATISFIED, Answer.UNSATISFIED),
        (ERROR, PASS, Answer.DISCRIMINATES, Answer.ABSTAIN),
        (ERROR, FAIL, Answer.UNSATISFIED, Answer.UNSATISFIED),
        (ERROR, ERROR, Answer.UNSATISFIED, Answer.UNSATISFIED),
        *((outcome, NOT_RUN, Answer.ABSTAIN, Answer.ABSTAIN) for outcome in SuiteOutcome),
        *(
            (NOT_RUN, outcome, Answer.ABSTAIN, Answer.ABSTAIN)
            for outcome in SuiteOutcome
            if outcome is not NOT_RUN
        ),
    ],
)
def test_every_pair_of_outcomes_has_its_answer_seen_and_told(baseline, candidate, seen, told):
    assert judge(Evidence(baseline=baseline, candidate=candidate, rung=SEEN)).answer is seen
    assert judge(Evidence(baseline=baseline, candidate=candidate)).answer is told
    assert (
        judge(Evidence(baseline=baseline, candidate=candidate), disowned=True).answer
        is Answer.ABSTAIN
    )


def test_an_assertion_that_fails_says_more_than_a_test_that_breaks_off():
    assert judge(Evidence(baseline=FAIL, candidate=PASS, rung=SEEN)).assert_level
    assert not judge(Evidence(baseline=ERROR, candidate=PASS, rung=SEEN)).assert_level


def test_nothing_that_is_only_told_is_a_witness():
    for baseline, candidate, disowned in itertools.product(
        SuiteOutcome, SuiteOutcome, (False, True)
    ):
        verdict = judge(Evidence(baseline=baseline, candidate=candidate), disowned=disowned)
        assert verdict.answer is not Answer.DISCRIMINATES
        assert not verdict.witnesses and not verdict.assert_level and verdict.reason


def test_the_keys_are_those_that_scripts_read():
    data = to_builtins(judge(Evidence(baseline=FAIL, candidate=PASS, rung=SEEN)))
    assert set(data) == {"verdict", "reason", "witnesses", "assert_level", "evidence"}
    assert data["evidence"] == {"baseline": "fail", "candidate": "pass", "rung": "OS_RECORDED"}


def runs(*outcomes, tests=None):
    return tuple(SuiteRun(outcome=outcome, tests=tests) for outcome in outcomes)


GOOD = Matrix(
    old_tests_old_code=runs(PASS),
    old_tests_new_code=runs(PASS),
    new_tests_old_code=runs(FAIL, FAIL),
    new_tests_new_code=runs(PASS, PASS),
    rung=SEEN,
)


def matrix(**other):
    return structs.replace(GOOD, **other)


@pytest.mark.parametrize(
    ("seen", "answer"),
    [
        (GOOD, Answer.DISCRIMINATES),
        (matrix(new_tests_old_code=runs(ERROR, ERROR)), Answer.DISCRIMINATES),
        (
            matrix(has_old_tests=False, old_tests_old_code=(), old_tests_new_code=()),
            Answer.DISCRIMINATES,
        ),
        (matrix(rung=Accountability.AGENT_AUTHORED), Answer.ABSTAIN),
        (matrix(hindrance="it has no parent"), Answer.ABSTAIN),
        (matrix(old_tests_old_code=runs(FAIL, FAIL)), Answer.ABSTAIN),
        (matrix(old_tests_old_code=runs(ERROR, ERROR)), Answer.ABSTAIN),
        (matrix(old_tests_old_code=runs(NOT_RUN)), Answer.ABSTAIN),
        (matrix(old_tests_old_code=()), Answer.ABSTAIN),
        (matrix(old_tests_new_code=runs(FAIL, FAIL)), Answer.REGRESSIVE),
        (matrix(old_tests_new_code=runs(ERROR, ERROR)), Answer.REGRESSIVE),
        (matrix(old_tests_new_code=runs(NOT_RUN)), Answer.ABSTAIN),
        (matrix(new_tests_old_code=runs(PASS, PASS)), Answer.VACUOUS),
        (matrix(new_tests_old_code=runs(NOT_RUN)), Answer.ABSTAIN),
        (matrix(new_tests_new_code=runs(FAIL, FAIL)), Answer.UNSATISFIED),
        (matrix(new_tests_new_code=runs(ERROR, ERROR)), Answer.UNSATISFIED),
        (matrix(new_tests_new_code=runs(NOT_RUN)), Answer.ABSTAIN),
        (matrix(new_tests_new_code=()), Answer.ABSTAIN),
        (
            matrix(new_tests_old_code=runs(PASS, PASS), new_tests_new_code=runs(FAIL, FAIL)),
            Answer.REGRESSIVE,
        ),
        (matrix(old_tests_old_code=runs(FAIL, PASS)), Answer.FLAKY),
        (matrix(old_tests_new_code=runs(FAIL, PASS)), Answer.FLAKY),
        (matrix(new_tests_old_code=runs(FAIL, PASS)), Answer.FLAKY),
        (matrix(new_tests_old_code=runs(FAIL, ERROR)), Answer.FLAKY),
        (matrix(new_tests_new_code=runs(PASS, FAIL)), Answer.FLAKY),
        (matrix(weakened=("tests/test_a.py: an assertion is gone",)), Answer.ABSTAIN),
        (
            matrix(weakened=("tests/test_a.py",), new_tests_old_code=runs(PASS, PASS)),
            Answer.VACUOUS,
        ),
        # Code that ends its own process with 0 is green, and its test runner has said nothing.
        (matrix(old_tests_old_code=runs(PASS, tests=3)), Answer.ABSTAIN),
    ],
)
def test_every_matrix_has_its_answer(seen, answer):
    verdict = judge_matrix(seen)
    assert verdict.answer is answer and verdict.reason
    assert verdict.witnesses is (answer is Answer.DISCRIMINATES)


def test_a_reason_names_the_cell_that_decided():
    assert (
        "new tests on new code" in judge_matrix(matrix(new_tests_new_code=runs(PASS, FAIL))).reason
    )
    assert "an assertion is gone" in judge_matrix(matrix(weakened=("an assertion is gone",))).reason
    slow = (SuiteRun(outcome=NOT_RUN, why="no end within 5 s"),)
    assert "no end within 5 s" in judge_matrix(matrix(new_tests_old_code=slow)).reason


some_runs = st.lists(
    st.builds(SuiteRun, outcome=st.sampled_from(SuiteOutcome), tests=st.sampled_from([None, 0, 3])),
    max_size=3,
).map(tuple)
matrices = st.builds(
    Matrix,
    **{cell.value: some_runs for cell in Cell},
    has_old_tests=st.booleans(),
    hindrance=st.sampled_from(["", "no parent"]),
    weakened=st.sampled_from([(), ("a test",)]),
    rung=st.sampled_from(Accountability),
)


@given(matrices)
def test_only_red_to_green_that_a_runner_saw_and_nothing_speaks_against_is_a_witness(seen):
    verdict = judge_matrix(seen)
    if verdict.witnesses or verdict.answer is Answer.DISCRIMINATES:
        assert not seen.rung.is_forgeable and not seen.hindrance and not seen.weakened
        assert {run.outcome for run in seen.new_tests_new_code} == {PASS}
        assert {run.outcome for run in seen.new_tests_old_code} in ({FAIL}, {ERROR})
        if seen.has_old_tests:
            assert {run.outcome for run in seen.old_tests_old_code + seen.old_tests_new_code} == {
                PASS
            }
    assert verdict.witnesses is (verdict.answer is Answer.DISCRIMINATES)
    assert not verdict.assert_level or verdict.evidence.baseline is FAIL


@given(st.integers(1, 4), st.booleans(), st.data())
def test_a_runner_that_makes_the_wanted_runs_ends_with_an_answer_that_names_no_missing_run(
    repeat, has_old, data
):
    seen, made = Matrix(has_old_tests=has_old, rung=SEEN), 0
    while left := remaining_runs(seen, repeat):
        cell = data.draw(st.sampled_from(left))
        seen, made = (
            seen.with_run(cell, SuiteRun(outcome=data.draw(st.sampled_from(SuiteOutcome)))),
            made + 1,
        )
        assert made <= 4 * repeat
    assert all(len(seen.runs(cell)) <= repeat for cell in Cell)
    verdict = judge_matrix(seen)
    assert not verdict.reason.endswith("not run")
    if verdict.answer is Answer.DISCRIMINATES:
        assert len(seen.new_tests_old_code) == len(seen.new_tests_new_code) == repeat


def test_what_is_red_is_asked_again_and_what_is_green_is_believed_in_the_old_row():
    assert remaining_runs(Matrix(), 3) == [Cell.OLD_OLD]
    assert remaining_runs(Matrix(old_tests_old_code=runs(FAIL)), 3) == [
        Cell.OLD_OLD,
        Cell.OLD_OLD,
    ]
    assert remaining_runs(Matrix(old_tests_old_code=runs(PASS)), 3) == [Cell.OLD_NEW]
    both = Matrix(old_tests_old_code=runs(PASS), old_tests_new_code=runs(PASS))
    assert remaining_runs(both, 2) == [
        Cell.NEW_OLD,
        Cell.NEW_OLD,
        Cell.NEW_NEW,
        Cell.NEW_NEW,
    ]
    assert remaining_runs(both.with_run(Cell.NEW_OLD, SuiteRun(outcome=NOT_RUN)), 2) == []
    assert remaining_runs(Matrix(hindrance="no parent"), 2) == []
