"""Is the whole of what a run declared done?"""

import msgspec
import pytest
from amounts import EXAMPLES
from declared_runs import UNREAD, declared, done, gone, open_step, runs, said
from hypothesis import given, settings
from hypothesis import strategies as st

from dos.runs.complete import Answer, Evidence, Policy, Verdict, judge
from dos.runs.steps import NOT_FORGEABLE, Step

FORGED = done("s1", via="direct")


@pytest.mark.parametrize(
    ("run", "more", "answer", "residual"),
    [
        (declared(done("s1"), done("s2")), {}, Answer.COMPLETE, ()),
        (declared(done("s1"), open_step("s2")), {}, Answer.INCOMPLETE, ("s2",)),
        (declared(open_step("s1"), done("s2")), {}, Answer.INCOMPLETE, ("s1",)),
        (declared(said("s1")), {}, Answer.INCOMPLETE, ("s1",)),
        (declared(gone("s1")), {}, Answer.INCOMPLETE, ("s1",)),
        (declared(FORGED), {}, Answer.INCOMPLETE, ("s1",)),
        (declared(done("s1", via="registry")), {}, Answer.COMPLETE, ()),
        (declared(), {}, Answer.INCOMPLETE, ("g",)),
        (declared(goal="", plan="P", phase="F"), {}, Answer.INCOMPLETE, ("P F",)),
        (declared(has_intent=False), {}, Answer.INDETERMINATE, ()),
        (declared(done("s1"), unreadable_newer=True), {}, Answer.INDETERMINATE, ()),
        (
            declared(Step(id="s1", verified="x", via="file-path", now=UNREAD)),
            {},
            Answer.INDETERMINATE,
            (),
        ),
        (declared(done("s1")), {"diverged": "others"}, Answer.COMPLETE, ()),
        (declared(open_step("s1")), {"diverged": "others"}, Answer.INCOMPLETE, ("s1",)),
        (declared(done("s1")), {"objections": ("the plan has s2",)}, Answer.UNDERDECLARED, ()),
        (
            declared(open_step("s1")),
            {"objections": ("the plan has s2",)},
            Answer.INCOMPLETE,
            ("s1",),
        ),
    ],
)
def test_answer(run, more, answer, residual):
    verdict = judge(Evidence(declared=run, **more))
    assert (verdict.answer, verdict.residual) == (answer, residual)
    assert verdict.is_done == (answer is Answer.COMPLETE)


def test_a_word_that_git_did_not_give_counts_only_where_that_is_allowed():
    lax = Policy(require_nonforgeable_rung=False)
    assert judge(Evidence(declared=declared(FORGED)), lax).answer is Answer.COMPLETE


def test_only_the_answer_is_needed_to_read_a_verdict():
    assert msgspec.json.decode(b'{"state": "COMPLETE"}', type=Verdict).answer is Answer.COMPLETE


def test_json_is_the_verdict():
    verdict = judge(Evidence(declared=declared(done("s1"), open_step("s2"), open_step("s3"))))
    assert msgspec.to_builtins(verdict) == {
        "state": "INCOMPLETE", "reason": verdict.reason, "run_id": "R", "residual": ("s2", "s3"),
        "verified": ("s1",),
        "declared": ("s1", "s2", "s3"), "is_done": False, "fraction_done": 0.3333,
    }  # fmt: skip
    assert "fraction_done" not in msgspec.to_builtins(judge(Evidence(declared=declared())))


def check(run, objections):
    verdict = judge(Evidence(declared=run, objections=objections))
    steps = {step.id: step for step in run.steps}
    # A claim proves nothing: git confirms each step now, in a way that cannot be forged.
    for name in verdict.verified:
        step = steps[name]
        assert step.verified and step.now and step.now.done and step.via in NOT_FORGEABLE
    if verdict.answer in (Answer.COMPLETE, Answer.UNDERDECLARED):
        assert steps and set(verdict.verified) == set(steps) and not verdict.residual
    if verdict.answer is Answer.COMPLETE:
        assert not objections and run.has_intent and not run.unreadable_newer
    if verdict.answer is not Answer.INDETERMINATE and steps:
        assert sorted([*verdict.verified, *verdict.residual]) == sorted(steps)


objections = st.sampled_from([(), ("more",)])


@given(run=runs, objections=objections)
def test_nothing_is_done_by_being_said(run, objections):
    check(run, objections)


@pytest.mark.soak
@settings(max_examples=EXAMPLES, deadline=None)
@given(run=runs, objections=objections)
def test_nothing_is_done_by_being_said_however_often(run, objections):
    check(run, objections)
