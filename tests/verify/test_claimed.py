"""Does the truth stand behind the claim?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import convert, to_builtins

from dos.unknown import Unknown
from dos.verify.reconcile import Answer, Evidence, Verdict, judge, reconcile


@pytest.mark.parametrize(
    ("claimed", "shipped", "answer", "flag"),
    [
        (True, True, "VERIFIED", ""),
        (False, True, "VERIFIED", ""),
        (True, False, "QUIET_INCOMPLETE", "QUIET_INCOMPLETE"),
        (False, False, "HONEST_OPEN", ""),
    ],
)
def test_the_truth_table(claimed, shipped, answer, flag):
    assert to_builtins(reconcile("AUTH9", claimed, shipped)) == {
        "state": answer,
        "unit": "AUTH9",
        "claimed": claimed,
        "oracle_shipped": shipped,
        "keeps_in_residual": answer != "VERIFIED",
        "flag": flag,
        "reason": reconcile("AUTH9", claimed, shipped).reason,
    }


@given(st.booleans(), st.one_of(st.booleans(), st.builds(Unknown, st.text())))
def test_only_the_truth_takes_a_unit_off_the_list(claimed, shipped):
    verdict = judge(Evidence(unit="U", claimed=claimed, oracle_shipped=shipped))
    assert verdict.keeps_in_residual == (shipped is not True)
    assert (verdict.answer is Answer.UNKNOWN) == isinstance(shipped, Unknown)
    assert convert(to_builtins(verdict), Verdict) == verdict


def test_the_deciding_key_alone_is_a_verdict():
    assert convert({"state": "VERIFIED"}, Verdict).answer is Answer.VERIFIED
