"""The fleet under faults: the same on every store and in every process; planted bugs are found."""

import os
import subprocess
import sys
from typing import get_args

import pytest
from amounts import long

from dos.errors import Internal
from dos.fleet import effects
from dos.questions.agent_requests import ToolRequested
from dos.questions.catalog import Added, AnyQuestion, UnknownQuestion
from dos.questions.changed_tests import TestsChanged
from dos.questions.documents import PlanChanged, SettingsChanged
from dos.questions.lanes import LaneFailed, LaneStopped, UnitsFailed
from dos.questions.resources import BaselineFailed, BudgetSpent, LimitDoubted, LimitReached
from dos.questions.runs import HaltProposed, RunStopped, Spinning
from dos.questions.units import Incident, LandingBlocked, LandingConflict, UnitHeld, UnitUndone
from dos.testing.simulator import batch
from dos.testing.simulator.batch import BatchRequest, Summary
from dos.testing.simulator.mutants import PLANTED
from dos.testing.simulator.simulation import Simulation, WorkerEffects
from dos.testing.simulator.world import faults, invariants
from dos.testing.simulator.world.invariants import INVARIANTS

JOBS = 2
MOST_SEEDS_FOR_A_BUG = 5_000


def run(**asked) -> Summary:
    *_, last = batch.run(BatchRequest(**{"jobs": JOBS, **asked}))
    return last


def shown(summary: Summary, **asked) -> str:
    return "\n".join(batch.failure_lines(summary, BatchRequest(**asked)))


def test_nothing_that_is_promised_breaks_in_many_seeds():
    summary = run(count=90)
    assert summary.seeds == 90
    assert not summary.failing, shown(summary)


@pytest.mark.soak
def test_nothing_that_is_promised_breaks_in_thousands_of_seeds():
    summary = run(count=long(1_500, 1_000_000))
    assert not summary.failing, shown(summary)
    assert (
        summary.never_happened == []
    )  # every fault struck and every refusal was given, or nothing was tested


@pytest.mark.sampled(12)
@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_found(bug):
    summary = run(
        count=MOST_SEEDS_FOR_A_BUG, plant=bug, jobs=1
    )  # it is found long before another process is up
    assert summary.failing, f"{bug} was not found in {summary.seeds} seeds"
    failure = summary.failures[0]
    assert failure.invariant == PLANTED[bug].breaks and failure.story
    again = batch.simulate(failure.seed, plant=bug)
    assert again.failure == failure  # the seed alone brings it back
    assert not batch.simulate(failure.seed).failure  # and without the bug there is nothing to find


# What comes up in a simulation, and how it can be answered.
ANSWERS = {
    Added: ["done", "dismiss"],
    BaselineFailed: ["retry", "start", "leave"],
    BudgetSpent: ["raise", "stop", "wait"],
    HaltProposed: ["halt", "done", "leave"],
    Incident: ["again", "keep"],
    LandingBlocked: ["retry", "drop"],
    LandingConflict: ["retry", "hold", "drop"],
    LaneFailed: ["retry", "leave"],
    LaneStopped: ["retry", "leave"],
    LimitDoubted: ["lift", "wait"],
    LimitReached: ["fixed", "leave"],
    PlanChanged: ["use", "keep"],
    RunStopped: ["done"],
    SettingsChanged: ["use", "keep"],
    Spinning: ["halt", "leave"],
    ToolRequested: ["allow", "allow-run", "deny"],
    TestsChanged: ["accept", "retry", "drop"],
    UnitHeld: ["retry"],
    UnitUndone: ["again", "leave"],
    UnitsFailed: ["retry", "leave"],
}


@pytest.mark.soak
def test_people_answer_each_kind_of_question_with_each_choice():
    missing = {
        faults.answer_name(kind, choice) for kind, choices in ANSWERS.items() for choice in choices
    }
    for first in range(0, MOST_SEEDS_FOR_A_BUG, 8):
        # Where agents ask, where more is asked, and where the target is checked.
        for seed in (first + 5, first + 6, first + 7):
            outcome = batch.simulate(seed)
            assert not outcome.failure, outcome.failure
            missing -= set(outcome.counts)
        if not missing:
            return
    assert not missing


def test_every_kind_of_question_but_what_other_versions_asked_comes_up():
    assert set(ANSWERS) == set(get_args(AnyQuestion)) - {UnknownQuestion}


def test_there_is_a_bug_for_every_promise():
    unbroken = set(INVARIANTS) - {bug.breaks for bug in PLANTED.values()}
    assert unbroken == {
        invariants.FENCES
    }  # a fence is a position, and those are found out of order before it


def same_everywhere(first: int, count: int) -> None:
    for seed in range(first, first + count):
        model = batch.simulate(seed, with_digest=True)
        real = batch.simulate(seed, store="sqlite", with_digest=True)
        assert (model.events, model.counts, model.digest) == (
            real.events,
            real.counts,
            real.digest,
        ), seed


def test_sqlite_writes_what_the_model_writes():
    same_everywhere(0, 6)


@pytest.mark.soak
def test_sqlite_writes_what_the_model_writes_for_many_seeds():
    same_everywhere(1_000, long(40, 2_000))


def digests(hash_seed: str) -> str:
    script = (
        "from dos.testing.simulator.batch import simulate\n"
        "import sys\n"
        "for seed in range(12): sys.stdout.write(simulate(seed, with_digest=True).digest + ' ')"
    )
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True
    ).stdout


def test_a_seed_is_the_same_whatever_the_hash_seed():
    one, other = digests("1"), digests("2")
    assert one == other
    assert len(set(one.split())) == 12


def test_seeds_do_the_same_on_one_process_and_on_two():
    one, two = run(count=30, jobs=1), run(count=30)
    for name in ("seeds", "events", "effects", "virtual_seconds"):
        assert getattr(one, name) == pytest.approx(getattr(two, name)), name
    assert one.counts == two.counts


def test_a_run_in_which_something_never_happened_says_so():
    counts = dict.fromkeys((*faults.FAULTS, *faults.REFUSALS), 1)
    assert Summary(seeds=batch.ENOUGH, counts=counts).never_happened == []
    assert Summary(seeds=batch.ENOUGH, counts={**counts, faults.DRAIN: 0}).never_happened == [
        faults.DRAIN
    ]
    assert Summary(seeds=batch.ENOUGH - 1).never_happened == []


def test_an_effect_that_the_simulator_does_not_know_fails_with_its_name(monkeypatch):
    tables = WorkerEffects.table
    monkeypatch.setattr(
        WorkerEffects,
        "table",
        lambda self: {
            kind: act for kind, act in tables(self).items() if kind is not effects.MeasureWork
        },
    )
    with pytest.raises(Internal, match="MeasureWork"):
        for seed in range(20):
            batch.simulate(seed)


def test_every_effect_of_the_product_has_its_performer():
    """An effect says in its docstring what the answer is; everything else there is an answer."""
    wanted = {
        found
        for found in vars(effects).values()
        if isinstance(found, type)
        and found.__module__ == effects.__name__
        and (found.__doc__ or "").startswith("→")
    }
    simulation = Simulation(
        0, batch.MemoryBackend(clock=batch.VirtualClock()), batch.VirtualClock()
    )
    assert wanted <= set(simulation.supervisors.table())
