"""Can a run go on, and from which commit?"""

import msgspec
import pytest
from amounts import EXAMPLES
from declared_runs import declared, done, gone, open_step, runs, said
from hypothesis import given, settings
from hypothesis import strategies as st

from dos.runs import complete, resume
from dos.runs.resume import Answer, Evidence, Policy, judge
from dos.runs.steps import is_done
from dos.unknown import Unknown

TWO = declared(done("s1"), open_step("s2"))


@pytest.mark.parametrize(
    ("run", "more", "answer", "sha", "residual"),
    [
        (TWO, {}, Answer.RESUMABLE, "s1-sha", ("s2",)),
        (declared(done("s1")), {}, Answer.COMPLETE, "s1-sha", ()),
        (declared(open_step("s1"), done("s2")), {}, Answer.RESUMABLE, "start", ("s1", "s2")),
        (declared(said("s1")), {}, Answer.RESUMABLE, "start", ("s1",)),
        (declared(gone("s1")), {}, Answer.RESUMABLE, "start", ("s1",)),
        (declared(said("s1"), start_reachable=False), {}, Answer.RESUMABLE, "", ("s1",)),
        (declared(), {}, Answer.RESUMABLE, "start", ("g",)),
        (TWO, {"diverged": "others"}, Answer.DIVERGED, "s1-sha", ("s2",)),
        (declared(done("s1")), {"diverged": "others"}, Answer.COMPLETE, "s1-sha", ()),
        (TWO, {"diverged": Unknown("no git")}, Answer.UNKNOWN, "s1-sha", ("s2",)),
        (declared(done("s1")), {"diverged": Unknown("no git")}, Answer.COMPLETE, "s1-sha", ()),
        (declared(done("s1"), start_reachable=Unknown("no git")), {}, Answer.UNKNOWN, "", ()),
        (declared(has_intent=False), {}, Answer.UNRESUMABLE, "", ()),
        (declared(done("s1"), unreadable_newer=True), {}, Answer.UNRESUMABLE, "", ()),
        (TWO, {"result": "abandoned"}, Answer.UNRESUMABLE, "s1-sha", ("s2",)),
        (TWO, {"result": "failed"}, Answer.RESUMABLE, "s1-sha", ("s2",)),
        (TWO, {"result": "complete"}, Answer.RESUMABLE, "s1-sha", ("s2",)),
        (declared(done("s1")), {"result": "abandoned"}, Answer.COMPLETE, "s1-sha", ()),
    ],
)
def test_answer(run, more, answer, sha, residual):
    verdict = judge(Evidence(declared=run, **more))
    assert (verdict.answer, verdict.resume_sha, verdict.residual) == (answer, sha, residual)


def test_a_strict_reader_trusts_no_ledger_with_lines_that_cannot_be_read():
    broken = declared(open_step("s1"), unreadable_lines=1)
    assert judge(Evidence(declared=broken)).answer is Answer.RESUMABLE
    assert judge(Evidence(declared=broken), Policy(strict=True)).answer is Answer.UNRESUMABLE


@pytest.mark.parametrize(
    ("more", "proposed"),
    [({}, False), ({"proposed": True}, True), ({"successor": "S"}, True)],
    ids=str,
)
def test_what_was_proposed_or_taken_over_is_said(more, proposed):
    assert judge(Evidence(declared=TWO, **more)).already_proposed == proposed


def test_json_has_the_keys_that_callers_know():
    keys = {
        "verdict", "reason", "run_id", "resume_sha", "residual", "verified", "predecessor_run_id",
        "already_proposed",
    }  # fmt: skip
    assert msgspec.to_builtins(judge(Evidence(declared=TWO))).keys() == keys
    assert msgspec.convert({"verdict": "DIVERGED"}, resume.Verdict).answer is Answer.DIVERGED


def check(run, diverged, result):
    verdict = judge(Evidence(declared=run, diverged=diverged, result=result))
    whole = complete.judge(complete.Evidence(declared=run))
    # Both questions agree on what is finished; and the way on starts where the first hole is.
    assert (verdict.answer is Answer.COMPLETE) == (whole.answer is complete.Answer.COMPLETE)
    if verdict.answer not in (Answer.UNRESUMABLE, Answer.UNKNOWN) and run.steps:
        prefix = [step.id for step in run.steps[: len(verdict.verified)]]
        assert list(verdict.verified) == prefix and set(verdict.verified) <= set(whole.verified)
        assert [*verdict.verified, *verdict.residual] == [step.id for step in run.steps]
        assert not verdict.residual or not is_done(run.steps[len(prefix)])
    # What could not be read, or is not to be, never authorises going on.
    if verdict.answer is Answer.RESUMABLE:
        assert (
            run.has_intent and not run.unreadable_newer and diverged == "" and result != "abandoned"
        )


histories = {
    "run": runs,
    "diverged": st.sampled_from(["", "others", Unknown("no git")]),
    "result": st.sampled_from(["", "complete", "failed", "abandoned"]),
}


@given(**histories)
def test_it_goes_on_where_the_first_hole_is_and_only_when_that_is_known(run, diverged, result):
    check(run, diverged, result)


@pytest.mark.soak
@settings(max_examples=EXAMPLES, deadline=None)
@given(**histories)
def test_it_goes_on_where_the_first_hole_is_however_it_stands(run, diverged, result):
    check(run, diverged, result)
