"""What a trial of hooks shows: the disk decides, and nothing unclear counts as a success."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.conformance.hook_trial import (
    OWN_FILES,
    REFUSED_FILES,
    Evidence,
    Result,
    judge,
)

OWN = frozenset(OWN_FILES)
BOTH = frozenset(REFUSED_FILES)
GOOD = Evidence(written=OWN, told_refusals=2, calls=4)

CASES = {
    "both writes refused, and the model told": (GOOD, Result.WORKS),
    "the tool for files was not stopped": (
        Evidence(written=OWN | {REFUSED_FILES[0]}, told_refusals=1, calls=4),
        Result.INERT,
    ),
    "the shell was not stopped": (
        Evidence(written=OWN | {REFUSED_FILES[1]}, told_refusals=1, calls=4),
        Result.INERT,
    ),
    "no hook ran": (Evidence(written=OWN | BOTH, told_refusals=0, calls=4), Result.INERT),
    "written, and the program crashed": (
        Evidence(written=BOTH, told_refusals=0, calls=0, ending="it exited 1"),
        Result.INERT,
    ),
    "the program did nothing": (
        Evidence(written=frozenset(), told_refusals=0, calls=0, ending="it exited 41"),
        Result.FAILED,
    ),
    "everything was refused": (
        Evidence(written=frozenset(), told_refusals=4, calls=4),
        Result.FAILED,
    ),
    "refused without a reason": (
        Evidence(written=OWN, told_refusals=0, calls=4),
        Result.FAILED,
    ),
}


@pytest.mark.parametrize(("evidence", "result"), CASES.values(), ids=CASES.keys())
def test_what_a_trial_shows(evidence, result):
    assert judge(evidence)[0] is result


@given(
    st.builds(
        Evidence,
        written=st.frozensets(st.sampled_from([*OWN_FILES, *REFUSED_FILES])),
        told_refusals=st.integers(0, 5),
        calls=st.integers(0, 6),
        ending=st.sampled_from(["", "it exited 1"]),
    )
)
def test_hooks_work_only_where_nothing_forbidden_was_written_and_all_else_was(evidence):
    result, reason = judge(evidence)
    assert reason
    if BOTH & evidence.written:
        assert result is Result.INERT
    elif result is Result.WORKS:
        assert evidence.written == OWN and evidence.calls >= 4 and evidence.told_refusals >= 2
