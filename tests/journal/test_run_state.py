"""A run, folded from its own stream."""

import pytest
from amounts import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import json

from dos.errors import NameInvalid
from dos.journal import run_state
from dos.journal.backends.memory import MemoryBackend
from dos.journal.events import fleet, runs
from dos.journal.fold import fold
from dos.journal.run_state import Checkpoint, RunState, VerifiedStep
from dos.journal.store import Store

ID = "RID-000000001000002"
STEPS = ("s1", "s2", "s3", "s4")


def store_of(*facts) -> Store:
    store = Store(MemoryBackend())
    for fact in facts:
        store.record(run_state.stream(ID), fact)
    return store


def folded(*facts) -> RunState:
    return run_state.read(store_of(*facts), ID)


def declared(*steps, **more):
    return runs.IntentDeclared(run_id=ID, steps=list(steps), **more)


def changed(*steps, by=""):
    return runs.ExtentChanged(run_id=ID, steps=list(steps), regions={}, approved_by=by)


SUSPENDED = runs.RunSuspended(
    run_id=ID, reason="night", transcript_digest="d", checkpoint_turn=3, transcript="t"
)
PROPOSED = runs.ResumeProposed(run_id=ID)


def resumed(successor):
    return runs.RunResumed(run_id=ID, successor=successor)


def test_what_was_said_last_counts_and_what_is_empty_says_nothing():
    run = folded(declared("s1", goal="a", plan="P"), declared(goal="b", phase="F"), declared())
    assert (run.goal, run.plan, run.phase, run.steps) == ("b", "P", "F", ["s1"])


@pytest.mark.parametrize(
    "first",
    [declared(start_sha="a"), fleet.RunBegun(run_id=ID, lane="api", host="h", start_sha="a")],
)
def test_where_it_began_is_not_moved(first):
    assert folded(first, declared(goal="g", start_sha="b")).start_sha == "a"


@pytest.mark.parametrize(
    ("facts", "steps"),
    [
        ([declared("s1", "s2"), declared("s1", "s2", "s3")], ["s1", "s2", "s3"]),
        ([declared("s1", "s2"), declared("s2")], ["s2", "s1"]),
        ([declared("s1", "s2"), changed("s2")], ["s2", "s1"]),
        ([declared("s1", "s2"), changed("s2", by="W")], ["s2"]),
        ([declared("s1", "s2"), changed("s2", by="W"), declared("s2")], ["s2"]),
        ([declared("s1"), declared("s2", "s1")], ["s2", "s1"]),
        ([declared("s1", "s1")], ["s1"]),
    ],
)
def test_the_extent_grows_freely_and_shrinks_by_leave(facts, steps):
    assert folded(*facts).steps == steps


def test_a_step_that_was_declared_keeps_its_region():
    first = declared("s1", regions={"s1": ["api/**"]})
    wider = declared("s1", "s2", regions={"s1": ["**/*"], "s2": ["docs/**"]})
    assert folded(first, wider).regions == {"s1": ["api/**"], "s2": ["docs/**"]}


def test_suspending_keeps_a_checkpoint_and_declaring_again_drops_it():
    run = folded(declared("s1"), SUSPENDED)
    assert run.suspended and run.checkpoint == Checkpoint(turn=3, digest="d", transcript="t")
    again = folded(declared("s1"), SUSPENDED, declared("s1"))
    assert not again.suspended and again.checkpoint is None
    without = folded(declared("s1"), SUSPENDED, runs.RunSuspended(run_id=ID))
    assert without.suspended and without.checkpoint is None


@pytest.mark.parametrize(
    ("then", "proposed"),
    [([], True), ([SUSPENDED], False), ([declared("s1")], False), ([SUSPENDED, PROPOSED], True)],
)
def test_a_proposal_stands_until_the_run_is_suspended_or_declared_again(then, proposed):
    assert folded(declared("s1"), PROPOSED, *then).proposed == proposed


def test_the_first_successor_stays():
    assert (
        folded(declared("s1"), resumed("A"), resumed("B"), SUSPENDED, declared("s1")).successor
        == "A"
    )


def test_claims_and_verifications_are_kept_apart():
    claim = runs.StepClaimed(run_id=ID, step="s1", sha="a")
    found = runs.StepVerified(run_id=ID, step="s2", sha="b", via="file-path")
    run = folded(declared("s1", "s2"), claim, found)
    assert run.claimed == {"s1": "a"} and run.verified == {"s2": VerifiedStep("b", "file-path")}


def test_lines_that_cannot_be_read_are_counted_and_a_newer_one_is_remembered():
    bad = runs.LedgerLineUnreadable(run_id=ID, file="f", line=1)
    newer = runs.LedgerLineUnreadable(run_id=ID, file="f", line=2, newer=True)
    run = folded(declared("s1"), bad, newer, bad)
    assert (run.unreadable_lines, run.unreadable_newer) == (3, True)


def test_what_others_write_in_the_stream_changes_nothing_but_the_version():
    store = store_of(declared("s1"))
    before = run_state.read(store, ID)
    store.append(run_state.stream(ID), "of_tomorrow", {"a": 1})
    after = run_state.read(store, ID)
    assert after.version == before.version + 1
    after.version = before.version
    assert after == before


def test_a_stream_of_no_run_is_not_read():
    with pytest.raises(NameInvalid):
        run_state.read(store_of(), "../x")


def test_a_change_is_decided_anew_when_another_was_quicker():
    store = store_of(declared("s1"))
    seen: list[int] = []

    def decide(run):
        seen.append(run.version)
        if len(seen) == 1:
            store.record(run_state.stream(ID), SUSPENDED)
        return [PROPOSED]

    assert run_state.change(store, ID, decide).version == 2
    assert seen == [1, 2]
    assert run_state.read(store, ID).proposed


def test_nothing_decided_is_nothing_written():
    store = store_of(declared("s1"))
    run_state.change(store, ID, lambda run: [])
    assert store.last() == 1


names = st.lists(st.sampled_from(STEPS), max_size=4, unique=True)
regions = st.dictionaries(st.sampled_from(STEPS), st.just(["api/**"]), max_size=2)
shas = st.sampled_from(["a", "b"])
facts = st.one_of(
    st.builds(runs.IntentDeclared, run_id=st.just(ID), goal=shas, start_sha=shas, steps=names,
        regions=regions),
    st.builds(runs.ExtentChanged, run_id=st.just(ID), steps=names, regions=regions,
        approved_by=st.just("")),
    st.builds(runs.StepClaimed, run_id=st.just(ID), step=st.sampled_from(STEPS), sha=shas),
    st.builds(runs.StepVerified, run_id=st.just(ID), step=st.sampled_from(STEPS), sha=shas,
        via=shas),
    st.builds(runs.RunEnded, run_id=st.just(ID), result=st.sampled_from(["failed", "abandoned"])),
    st.builds(fleet.LandingIntended, run_id=st.just(ID), lane=shas, unit=shas, iteration=st.just(1),
              branch=shas, old=shas, new=shas),
    st.sampled_from([SUSPENDED, PROPOSED, resumed("A"), resumed("B")]),
)  # fmt: skip
approved = st.builds(
    runs.ExtentChanged,
    run_id=st.just(ID),
    steps=names,
    regions=regions,
    approved_by=st.just("W"),
)


def check_parts(history, cut):
    happened = store_of(*history).load(run_state.stream(ID))
    at_once = fold(RunState(), happened)
    first = json.encode(fold(RunState(), happened[:cut]))
    assert fold(json.decode(first, type=RunState), happened[cut:]) == at_once


def check_extent(history):
    run = folded(*history)
    ever = {step for fact in history for step in getattr(fact, "steps", [])}
    assert set(run.steps) == ever


def check_successor(history):
    claims = [fact.successor for fact in history if isinstance(fact, runs.RunResumed)]
    assert folded(*history).successor == (claims[0] if claims else "")


@given(history=st.lists(facts | approved, max_size=12), cut=st.integers(0, 12))
def test_folding_in_two_parts_is_folding_at_once(history, cut):
    check_parts(history, cut)


@given(history=st.lists(facts, max_size=12))
def test_without_leave_no_step_that_was_ever_declared_goes_away(history):
    check_extent(history)


@given(history=st.lists(facts | approved, max_size=12))
def test_two_successors_never_both_win(history):
    check_successor(history)


@pytest.mark.soak
@settings(max_examples=EXAMPLES, deadline=None)
@given(history=st.lists(facts | approved, max_size=20), cut=st.integers(0, 20))
def test_the_laws_of_a_run_hold_for_long_histories(history, cut):
    check_parts(history, cut)
    check_successor(history)
    check_extent([fact for fact in history if getattr(fact, "approved_by", "") == ""])
