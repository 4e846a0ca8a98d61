"""Only the dead are reaped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.lanes.leases import HolderEvidence, HolderState, judge_holder


@pytest.mark.parametrize(
    ("seen", "answer"),
    [
        (HolderEvidence(left_ms=1), HolderState.HELD),
        (HolderEvidence(left_ms=0), HolderState.LAPSED),
        (HolderEvidence(left_ms=-5000), HolderState.LAPSED),
        (HolderEvidence(left_ms=60_000, process_gone=True, pid=7), HolderState.PROCESS_GONE),
        (HolderEvidence(left_ms=60_000, restarted=True), HolderState.RESTARTED),
        (HolderEvidence(left_ms=-5000, restarted=True), HolderState.RESTARTED),
        (HolderEvidence(left_ms=-5000, process_gone=True, pid=7), HolderState.PROCESS_GONE),
        (
            HolderEvidence(left_ms=-5000, restarted=True, process_gone=True, pid=7),
            HolderState.PROCESS_GONE,
        ),
    ],
)
def test_the_answer(seen, answer):
    assert judge_holder(seen).answer is answer
    assert judge_holder(seen).abandoned is (answer is not HolderState.HELD)


def test_the_reason_says_what_was_seen():
    assert judge_holder(HolderEvidence(left_ms=-5000)).reason == "it expired 5 s ago"
    assert (
        judge_holder(HolderEvidence(left_ms=60_000, process_gone=True, pid=7)).reason
        == "its process 7 has exited"
    )
    assert judge_holder(HolderEvidence(left_ms=60_000)).reason == "it expires in 60 s"


@given(left_ms=st.integers(min_value=1), pid=st.none() | st.integers(1))
def test_a_holder_of_whom_nothing_bad_is_known_keeps_its_lease(left_ms, pid):
    assert not judge_holder(HolderEvidence(left_ms=left_ms, pid=pid)).abandoned
