"""A change is kept only when witnesses passed it and it is better; what its author says is carried,
never read.
"""

import msgspec
import pytest
from amounts import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from dos.loop.improve import Answer, Evidence, Policy, Verdict, judge


def seen(suite=True, truth=True, base=4, work=5, reverts=0, tokens=0, narrated=""):
    return Evidence(
        suite_passed=suite,
        truth_clean=truth,
        baseline_work=base,
        work=work,
        consecutive_reverts=reverts,
        tokens=tokens,
        narrated=narrated,
    )


@pytest.mark.parametrize(
    ("evidence", "policy", "expected"),
    [
        (seen(reverts=2), {}, ("KEEP", None, "NONE", 0)),
        (seen(suite=False), {}, ("REVERT", "regressed", "NONE", 1)),
        (seen(truth=False), {}, ("REVERT", "regressed", "NONE", 1)),
        (seen(work=4, reverts=2), {}, ("ESCALATE", "no-improvement", "HUMAN", 3)),
        (seen(work=4, reverts=1), {}, ("REVERT", "no-improvement", "NONE", 2)),
        (seen(work=3), {}, ("REVERT", "no-improvement", "NONE", 1)),
        (seen(suite=False, work=9, reverts=2), {}, ("ESCALATE", "regressed", "HUMAN", 3)),
        (seen(tokens=5000), {"efficiency_floor": 0.01}, ("REVERT", "wasteful", "NONE", 1)),
        (
            seen(tokens=5000, reverts=2),
            {"efficiency_floor": 0.01},
            ("ESCALATE", "wasteful", "HUMAN", 3),
        ),
        (seen(tokens=100), {"efficiency_floor": 0.01}, ("KEEP", None, "NONE", 0)),
        (
            seen(tokens=999),
            {"efficiency_floor": 0.01},
            ("KEEP", None, "NONE", 0),
        ),  # too cheap to price
        (seen(work=4, reverts=9), {}, ("ESCALATE", "no-improvement", "HUMAN", 10)),
        (seen(work=4), {"max_consecutive_reverts": 1}, ("ESCALATE", "no-improvement", "HUMAN", 1)),
    ],
)
def test_the_answer(evidence, policy, expected):
    verdict = judge(evidence, Policy(**policy))
    found = (
        verdict.answer,
        verdict.revert_cause,
        verdict.escalation,
        verdict.next_consecutive_reverts,
    )
    assert found == expected


def test_the_tests_are_named_before_the_claims():
    assert judge(seen(suite=False, truth=False)).reason.startswith("the tests")
    assert judge(seen(truth=False)).reason.startswith("not everything")
    assert "1/3" in judge(seen(truth=False)).reason


def test_the_json_has_the_known_keys():
    shown = msgspec.to_builtins(judge(seen(narrated="great")))
    assert shown.keys() == {
        "verdict",
        "revert_cause",
        "escalation",
        "next_consecutive_reverts",
        "reason",
        "evidence",
    }
    assert shown["evidence"] == {
        "suite_passed": True,
        "truth_clean": True,
        "work": 5,
        "baseline_work": 4,
        "tokens": 0,
        "consecutive_reverts": 0,
        "narrated": "great",
        "delta": 1,
        "improved": True,
    }


def test_the_token_alone_is_a_verdict():
    assert msgspec.json.decode(b'{"verdict":"ESCALATE"}', type=Verdict).answer is Answer.ESCALATE


@pytest.mark.parametrize(
    "refused",
    [
        lambda: seen(work=-1),
        lambda: seen(base=-1),
        lambda: seen(tokens=-1),
        lambda: seen(reverts=-1),
        lambda: Policy(max_consecutive_reverts=0),
        lambda: Policy(efficiency_floor=-1),
        lambda: Policy(efficiency_floor=float("nan")),
        lambda: Policy(min_tokens_for_efficiency=-1),
    ],
)
def test_impossible_numbers_are_refused(refused):
    with pytest.raises(ValueError, match=" is "):
        refused()


changes = st.builds(
    seen,
    suite=st.booleans(),
    truth=st.booleans(),
    base=st.integers(0, 9),
    work=st.integers(0, 9),
    reverts=st.integers(0, 6),
    tokens=st.integers(0, 5000),
    narrated=st.text(max_size=9),
)
limits = st.builds(
    Policy, max_consecutive_reverts=st.integers(1, 5), efficiency_floor=st.floats(0, 0.01)
)


def the_laws(evidence, policy, words):
    verdict = judge(evidence, policy)
    same = judge(structs.replace(evidence, narrated=words), policy)
    assert (same.answer, same.reason) == (verdict.answer, verdict.reason)
    if verdict.answer is Answer.KEEP:
        assert (
            evidence.suite_passed
            and evidence.truth_clean
            and evidence.work > evidence.baseline_work
        )
        assert verdict.next_consecutive_reverts == 0
    else:
        assert verdict.next_consecutive_reverts == evidence.consecutive_reverts + 1
        limit = verdict.next_consecutive_reverts >= policy.max_consecutive_reverts
        assert (verdict.answer is Answer.ESCALATE) == limit
    assert (verdict.escalation == "HUMAN") == (verdict.answer is Answer.ESCALATE)


@given(evidence=changes, policy=limits, words=st.text(max_size=9))
def test_nothing_is_kept_without_witnesses_or_on_its_authors_word(evidence, policy, words):
    the_laws(evidence, policy, words)


@pytest.mark.soak
@settings(max_examples=EXAMPLES, deadline=None)
@given(evidence=changes, policy=limits, words=st.text(max_size=9))
def test_nothing_is_kept_without_witnesses_for_long(evidence, policy, words):
    the_laws(evidence, policy, words)
