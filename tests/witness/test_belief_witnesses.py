"""What checks, snapshots, citations and commands can show, and what they cannot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.unknown import Unknown
from dos.witness import ci, citation
from dos.witness.accountability import Accountability
from dos.witness.ci import Check, State
from dos.witness.citation import Citation, CitedWork
from dos.witness.fact import Stance, cannot_fail
from dos.witness.io import files

SYSTEM = Accountability.OS_RECORDED


def check(name="t", conclusion="success", status="completed"):
    return Check(name=name, status=status, conclusion=conclusion)


@pytest.mark.parametrize(
    ("checks", "required", "state"),
    [
        ([], (), "NO_SIGNAL"),
        ([], ("t",), "NO_SIGNAL"),
        ([check()], (), "GREEN"),
        ([check(), check("u", "skipped")], (), "GREEN"),
        ([check(), check("u", "neutral")], (), "GREEN"),
        ([check(conclusion="skipped")], (), "NO_SIGNAL"),
        ([check(conclusion="neutral"), check("u", "skipped")], (), "NO_SIGNAL"),
        *[
            ([check(), check("u", word)], (), "RED")
            for word in (
                "failure",
                "timed_out",
                "cancelled",
                "action_required",
                "stale",
                "startup_failure",
            )
        ],
        ([check(), check("u", "brand_new_word")], (), "PENDING"),
        ([check(), check("u", None)], (), "PENDING"),
        ([check(), check("u", None, "in_progress")], (), "PENDING"),
        ([check(), check("u", "success", "queued")], (), "PENDING"),
        ([check(), check("u", "failure", "in_progress")], (), "PENDING"),
        ([check(conclusion="failure"), check("u", None, "queued")], (), "RED"),
        ([check()], ("t", "missing"), "PENDING"),
        ([check("other")], ("t",), "PENDING"),
        ([check(), check("other", "failure")], ("t",), "GREEN"),
        ([check(conclusion="failure")], ("t", "missing"), "RED"),
        ([check(conclusion="skipped")], ("t",), "NO_SIGNAL"),
    ],
)
def test_the_state_of_the_checks(checks, required, state):
    verdict = ci.judge(checks, required)
    assert verdict.answer == state and verdict.reason


CHECKS = st.lists(
    st.builds(
        Check,
        name=st.sampled_from(["a", "b", "c"]),
        status=st.sampled_from(["completed", "queued", ""]),
        conclusion=st.sampled_from(
            [None, "success", "skipped", "failure", "stale", "startup_failure", "odd"]
        ),
    ),
    max_size=5,
)


@given(CHECKS, st.sets(st.sampled_from(["a", "b", "c", "d"])))
def test_green_needs_a_success_everything_required_and_no_failure(checks, required):
    gating = [each for each in checks if not required or each.name in required]
    if ci.judge(checks, sorted(required)).answer is State.GREEN:
        assert any(check.conclusion == "success" for check in gating)
        assert required <= {check.name for check in gating}
        assert all(
            check.status == "completed" and check.conclusion in ("success", "skipped")
            for check in gating
        )


@given(CHECKS)
def test_a_failed_check_more_is_red(checks):
    assert ci.judge([*checks, check("z", "failure")]).answer is State.RED


@pytest.mark.parametrize(
    ("before", "after", "deleted", "stance"),
    [
        ({}, {"k": 1}, False, Stance.ATTESTED),
        ({"k": 1}, {"k": 2}, False, Stance.ATTESTED),
        ({"k": 1}, {"k": True}, False, Stance.ATTESTED),
        ({"k": {"a": [1, 2]}}, {"k": {"a": [1, 3]}}, False, Stance.ATTESTED),
        ({"k": None}, {}, False, Stance.REFUTED),
        ({"k": 1}, {"k": 1.0}, False, Stance.REFUTED),
        ({"k": {"a": [1]}}, {"k": {"a": [1]}}, False, Stance.REFUTED),
        ({}, {}, False, Stance.REFUTED),
        ({"k": 1}, {}, True, Stance.ATTESTED),
        ({"k": 1}, {"k": 2}, True, Stance.REFUTED),
        ({}, {}, True, Stance.REFUTED),
    ],
)
def test_a_key_came_changed_or_went(before, after, deleted, stance):
    assert files.compare_snapshots(before, after, "k", SYSTEM, deleted=deleted).stance is stance


def test_snapshots_of_the_claimant_are_no_witness():
    with pytest.raises(ValueError, match="could have written"):
        files.compare_snapshots({}, {"k": 1}, "k", Accountability.AGENT_AUTHORED)


@given(st.dictionaries(st.sampled_from("abc"), st.integers()), st.sampled_from("abc"))
def test_nothing_that_stays_the_same_is_attested(state, key):
    for deleted in (False, True):
        assert (
            files.compare_snapshots(state, dict(state), key, SYSTEM, deleted=deleted).stance
            is Stance.REFUTED
        )


WORK = CitedWork(
    citations=("410 U.S. 113",),
    name="Roe v. Wade",
    text="the right of personal privacy",
    whole=True,
)
SNIPPET = CitedWork(citations=("410 U.S. 113",), name="Roe v. Wade", text="the right")


@pytest.mark.parametrize(
    ("asked", "found", "answer"),
    [
        (Citation(cite="410 U.S. 113"), [WORK], "RESOLVED_MATCH"),
        (Citation(cite=" 410  u.s. 113 "), [WORK], "RESOLVED_MATCH"),
        (Citation(cite="410 U.S. 113", name="Roe"), [WORK], "RESOLVED_MATCH"),
        (Citation(cite="410 U.S. 113", name="Marbury and Madison"), [WORK], "UNRESOLVED"),
        (Citation(cite="999 U.S. 1"), [WORK], "UNRESOLVED"),
        (Citation(cite="410 U.S. 113"), [], "UNRESOLVED"),
        (
            Citation(cite="410 U.S. 113", quote="Right of  PERSONAL privacy"),
            [WORK],
            "RESOLVED_MATCH",
        ),
        (
            Citation(cite="410 U.S. 113", quote="the right to bear arms"),
            [WORK],
            "RESOLVED_MISMATCH",
        ),
        (Citation(cite="410 U.S. 113", quote="bear arms"), [WORK], "RESOLVED_MATCH"),
        (
            Citation(cite="410 U.S. 113", quote="the right to bear arms"),
            [SNIPPET],
            "RESOLVED_MATCH",
        ),
        (
            Citation(cite="410 U.S. 113", quote="the right to bear arms"),
            [WORK, SNIPPET],
            "RESOLVED_MATCH",
        ),
        (Citation(cite="410 U.S. 113"), Unknown("nobody is there"), "ABSTAIN"),
        (Citation(cite=" "), [WORK], "ABSTAIN"),
    ],
)
def test_the_answer_about_a_citation(asked, found, answer):
    assert citation.judge(asked, found).answer == answer


def test_names_of_which_a_third_is_shared_are_the_same_work():
    many = CitedWork(citations=("c",), name="one two three")
    assert citation.judge(Citation(cite="c", name="one x y"), [many]).answer == "UNRESOLVED"  # 0.33
    assert citation.judge(Citation(cite="c", name="one x"), [many]).answer == "RESOLVED_MATCH"


def test_a_citation_is_packed_in_one_line():
    assert citation.parse_citation("a || b || c || d") == Citation(
        cite="a", name="b", quote="c || d"
    )
    assert citation.parse_citation("a") == Citation(cite="a")


@pytest.mark.parametrize(
    ("command", "idle"),
    [
        (["true"], True),
        (["/bin/true"], True),
        ([":"], True),
        (["echo", "ok"], True),
        (["sh", "-c", "exit 0"], True),
        (["bash", "-c", "make test; true"], True),
        (["sh", "-c", "make test || true"], True),
        (["sh", "-c", "true && echo ok"], True),
        (["sh", "-c", "make test && echo ok"], False),
        (["sh", "-c", "make test"], False),
        (["make", "test"], False),
        (["false"], False),
        ([], False),
    ],
)
def test_a_command_that_cannot_fail_is_known(command, idle):
    assert cannot_fail(command) is idle
