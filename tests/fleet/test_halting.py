"""When a halt is due."""

import pytest

from dos.fleet.worker_health import HaltCandidate, HaltPolicy, is_due, within_budget
from dos.loop.verdicts.liveness import Answer, Evidence, Verdict

MINUTE = 60_000
NOW = 1_000 * MINUTE


def run(answer: str, age_minutes: int = 60, **more) -> HaltCandidate:
    evidence = Evidence(
        run_started_ms=NOW - age_minutes * MINUTE,
        now_ms=NOW,
        commits_since_start=0,
        progress_age_ms=more.pop("progress_age_ms", None),
    )
    return HaltCandidate(
        run_id="RID-0MC0FFEE00000AB",
        verdict=Verdict(answer=Answer(answer)),
        evidence=evidence,
        **more,
    )


BUDGET = HaltPolicy(budget_ms=60 * MINUTE)


@pytest.mark.parametrize(
    ("watched", "policy", "due", "spared"),
    [
        (run("ADVANCING"), HaltPolicy(), False, False),
        (run("UNKNOWN"), HaltPolicy(), False, False),
        (run("SPINNING"), HaltPolicy(), True, False),
        (run("SPINNING", 1), BUDGET, True, False),
        (run("STALLED"), HaltPolicy(), True, False),
        (run("STALLED", 59), BUDGET, False, True),
        (run("STALLED", 60), BUDGET, True, False),
        (run("STALLED", ended=True), HaltPolicy(), False, False),
        (run("SPINNING", proposed_ms=(NOW - 29 * MINUTE,)), HaltPolicy(), False, False),
        (run("SPINNING", proposed_ms=(NOW - 30 * MINUTE,)), HaltPolicy(), True, False),
        (
            run("SPINNING", proposed_ms=(NOW - 90 * MINUTE, NOW - MINUTE)),
            HaltPolicy(),
            False,
            False,
        ),
        (run("SPINNING", proposed_ms=(NOW - MINUTE,)), HaltPolicy(repropose_ms=0), True, False),
    ],
)
def test_a_halt_is_due_once_for_each_time_and_again_after_a_while(watched, policy, due, spared):
    assert (is_due(watched, policy), within_budget(watched, policy)) == (due, spared)


def test_the_time_since_a_run_moved_is_named_by_when_it_did():
    assert run("SPINNING").moved_ms == NOW - 60 * MINUTE
    assert run("SPINNING", progress_age_ms=7).moved_ms == NOW - 7


@pytest.mark.parametrize("fields", [{"budget_ms": -1}, {"repropose_ms": -1}])
def test_times_below_zero_are_refused(fields):
    with pytest.raises(ValueError):
        HaltPolicy(**fields)
