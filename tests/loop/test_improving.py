"""The loop that improves: only what is witnessed is merged, everything else is discarded, and it
ends.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.loop.improve import (
    Action,
    Candidate,
    CandidateMeasure,
    Context,
    Policy,
    StopReason,
    run_cycle,
    run_loop,
)

NOTHING = None


class Workshop:
    """Proposes changes with given results, and writes down what is done to them. NOTHING: there is
    none to propose.
    """

    def __init__(
        self,
        *results: CandidateMeasure | None,
        baseline: int = 4,
        tokens: int = 0,
        policy: Policy = Policy(),
    ) -> None:
        self.results = list(results)
        self.done: list[str] = []
        self.tokens = tokens
        self.proposed = -1
        self.context = Context(
            propose=self.propose,
            gather=lambda candidate: self.results[int(candidate.commit)],
            merge=lambda candidate: self.done.append(f"merge {candidate.commit}"),
            discard=lambda candidate: self.done.append(f"discard {candidate.commit}"),
            escalate=lambda verdict: self.done.append(f"escalate {verdict.revert_cause}"),
            baseline_work=baseline,
            policy=policy,
        )

    def propose(self) -> Candidate:
        self.proposed += 1
        present = self.results[self.proposed] is not NOTHING
        return Candidate(
            present=present,
            commit=str(self.proposed),
            narrated="the best change ever",
            tokens=self.tokens,
        )


def measured(work: int, *, suite: bool = True, truth: bool = True) -> CandidateMeasure:
    return CandidateMeasure(suite_passed=suite, truth_clean=truth, work=work)


RED = measured(9, suite=False)


@pytest.mark.parametrize(
    ("result", "reverts", "expected", "done"),
    [
        (measured(5), 2, (Action.MERGED, 5, 0), ["merge 0"]),
        (measured(4), 0, (Action.DISCARDED, 4, 1), ["discard 0"]),
        (RED, 0, (Action.DISCARDED, 4, 1), ["discard 0"]),
        (measured(9, truth=False), 1, (Action.DISCARDED, 4, 2), ["discard 0"]),
        (RED, 2, (Action.ESCALATED, 4, 3), ["discard 0", "escalate regressed"]),
        (NOTHING, 2, (Action.SKIPPED, 4, 2), []),
    ],
)
def test_one_cycle(result, reverts, expected, done):
    workshop = Workshop(result)
    cycle = run_cycle(workshop.context, 4, reverts)
    assert (cycle.action, cycle.baseline_work, cycle.consecutive_reverts) == expected
    assert workshop.done == done
    assert (cycle.verdict is None) == (result is NOTHING)


def test_what_is_kept_is_the_new_baseline():
    workshop = Workshop(measured(5), measured(5), measured(6))
    outcome = run_loop(workshop.context, 3)
    assert workshop.done == ["merge 0", "discard 1", "merge 2"]
    assert (outcome.cycles, outcome.kept, outcome.reverted, outcome.skipped) == (3, 2, 1, 0)
    assert (outcome.escalated, outcome.final_baseline, outcome.stop_reason) == (
        False,
        6,
        StopReason.MAX_CYCLES,
    )


def test_it_stops_when_a_person_is_asked():
    workshop = Workshop(RED, RED, RED, measured(5))
    outcome = run_loop(workshop.context, 4)
    assert workshop.done == ["discard 0", "discard 1", "discard 2", "escalate regressed"]
    assert (outcome.cycles, outcome.reverted, outcome.escalated) == (
        3,
        2,
        True,
    )  # the last is not counted as reverted
    assert (outcome.final_baseline, outcome.stop_reason) == (4, StopReason.ESCALATED)


def test_reverts_of_before_count():
    assert run_loop(Workshop(RED, RED).context, 2, consecutive_reverts=2).escalated


def test_nothing_to_improve_uses_cycles_up_and_never_asks():
    workshop = Workshop(*[NOTHING] * 9)
    outcome = run_loop(workshop.context, 9, consecutive_reverts=2)
    assert (outcome.cycles, outcome.skipped, outcome.escalated, workshop.done) == (9, 9, False, [])


def test_a_change_that_costs_too_much_is_discarded():
    workshop = Workshop(measured(5), tokens=5000, policy=Policy(efficiency_floor=0.01))
    assert run_loop(workshop.context, 1).reverted == 1


def test_every_cycle_is_told():
    told = []
    run_loop(
        Workshop(measured(5), NOTHING, RED).context,
        3,
        on_cycle=lambda cycle: told.append(cycle.action),
    )
    assert told == [Action.MERGED, Action.SKIPPED, Action.DISCARDED]


def test_no_cycles_do_nothing_and_fewer_are_refused():
    assert run_loop(Workshop().context, 0).cycles == 0
    with pytest.raises(ValueError, match="below 0"):
        run_loop(Workshop().context, -1)


def test_a_measurement_that_fails_merges_nothing():
    workshop = Workshop()
    workshop.results = [measured(9)]

    def fail(candidate: Candidate) -> CandidateMeasure:
        raise OSError("the disk is full")

    from msgspec import structs

    with pytest.raises(OSError, match="the disk is full"):
        run_loop(structs.replace(workshop.context, gather=fail), 1)
    assert workshop.done == []


results = st.lists(
    st.none() | st.builds(measured, st.integers(0, 9), suite=st.booleans(), truth=st.booleans()),
    max_size=12,
)


@given(results=results, limit=st.integers(1, 4))
def test_the_baseline_only_rises_and_every_change_has_one_end(results, limit):
    workshop = Workshop(*results, policy=Policy(max_consecutive_reverts=limit))
    told = []
    outcome = run_loop(workshop.context, len(results), on_cycle=told.append)
    rising = [workshop.context.baseline_work, *(cycle.baseline_work for cycle in told)]
    assert rising == sorted(rising)
    assert (
        outcome.kept + outcome.reverted + outcome.skipped + outcome.escalated
        == outcome.cycles
        <= len(results)
    )
    merged = [
        workshop.results[int(line.split()[1])] for line in workshop.done if line.startswith("merge")
    ]
    assert all(result.suite_passed and result.truth_clean for result in merged)
    ends = [line for line in workshop.done if not line.startswith("escalate")]
    assert len(ends) == outcome.cycles - outcome.skipped
