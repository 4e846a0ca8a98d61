"""After an answer the question is closed, and exactly what its class declares was written, released
and cleared.
"""

import pytest
from any_question import BY_CLASS, questions
from hypothesis import assume, given
from hypothesis import strategies as st

from dos.backlog.attempts import Attempts
from dos.backlog.cooldown import judge
from dos.backlog.io import attempts
from dos.fleet.state.fleet import FleetState
from dos.journal import fold, streams
from dos.journal.backends.memory import MemoryBackend
from dos.journal.events import limits
from dos.journal.events.fleet import UnitAttempted
from dos.journal.store import Store
from dos.questions import subject
from dos.questions.answer import answer, find_question
from dos.questions.question import ClearLane, ClearUnit, HaltRun, LiftLimit
from dos.questions.state import (
    AnsweredQuestion,
    Decisions,
    OpenQuestion,
    answer_entries,
    raise_entry,
    raised_event,
    waiting_subjects,
)

BY = "ann"
every_class = pytest.mark.parametrize("kind", BY_CLASS, ids=lambda kind: kind.__name__)


def opened(*asked):
    store = Store(MemoryBackend(), actor="fleet")
    for question in asked:
        store.append_all([raise_entry(question)])
    return store


def state(store):
    return fold.current(store, Decisions)[0]


def drawn(data, kind):
    """A question of the class, and one of its choices."""
    question = data.draw(BY_CLASS[kind])
    assume(question.choices)
    return question, data.draw(st.sampled_from(question.choices))


def expected(brought):
    """The fact that is to be written, as far as the answer decides it."""
    match brought:
        case ClearLane(lane=lane):
            return limits.LaneCleared(lane=lane, by=BY)
        case ClearUnit(unit=unit, lane=lane):
            return limits.UnitCleared(unit=unit, lane=lane, by=BY)
        case HaltRun(run_id=run_id, reason=reason):
            return limits.HaltRequested(run_id=run_id, by=BY, reason=reason)
        case LiftLimit(key=key):
            named = {"vendor": key.vendor, "account": key.account, "model": key.model}
            return limits.LimitLifted(**named, reason=f"lifted by {BY}", at_once=True)


@every_class
@given(data=st.data())
def test_an_answer_closes_the_question_and_releases_what_waited_for_no_other(kind, data):
    question, choice = drawn(data, kind)
    other = data.draw(questions)
    assume(other.id != question.id)
    store = opened(question, other)
    done = answer(store, find_question(store, question.id), choice.name, by=BY)
    left = state(store)
    assert done.ours and done.answered.taken == choice
    assert list(left.open) == [other.id] and left.answered[question.id].question == question
    assert waiting_subjects(left) == set(other.waits), (
        "what waited is not held by this question any more"
    )
    released = set(question.waits) - set(other.waits) if choice.releases else set()
    assert done.released == sorted(subject.to_words(released))


@every_class
@given(data=st.data(), is_written=st.booleans(), expired=st.booleans())
def test_an_answer_writes_the_facts_that_its_class_declares(kind, data, is_written, expired):
    """Also of a question that is not written, because its cause is in the journal or in a plan."""
    question, choice = drawn(data, kind)
    open_question = OpenQuestion(raised=raised_event(question), at_ms=1, version=int(is_written))
    entries = answer_entries(open_question, choice.name, by=BY, expired=expired)
    bodies = [entry.body for entry in entries if not isinstance(entry.body, limits.DecisionRaised)]
    brought = [
        effect for effect in choice.effects if not (expired and isinstance(effect, ClearUnit))
    ]
    expected_answer = limits.DecisionAnswered(
        id=question.id, choice=choice.name, by=BY, expired=expired
    )
    assert bodies == [expected_answer, *map(expected, brought)]
    store = opened(question) if is_written else opened()
    store.append_all(entries)
    assert isinstance(find_question(store, question.id), AnsweredQuestion) and not state(store).open


@every_class
@given(data=st.data(), expired=st.booleans())
def test_after_a_persons_retry_no_cooldown_holds_its_units(kind, data, expired):
    """A question that only expires clears none."""
    question, choice = drawn(data, kind)
    store = opened(question)
    for unit in question.units:
        store.record(streams.unit(unit), UnitAttempted(unit=unit, outcome="drained"))
    assert cooling(store, question.units) == set(question.units)
    store.append_all(
        answer_entries(find_question(store, question.id), choice.name, by=BY, expired=expired)
    )
    cleared = set() if expired else set(choice.clears)
    assert cooling(store, question.units) == set(question.units) - cleared
    tries_again = choice.name in ("retry", "again", "accept")
    assert set(choice.clears) == (set(question.units) if tries_again else set())
    let_go = {effect.lane for effect in choice.effects if isinstance(effect, ClearLane)}
    assert let_go >= (set(subject.lane_names(question.waits)) if tries_again else set()), (
        "a lane that waits is let go"
    )


def cooling(store, units):
    tried, _ = fold.current(store, Attempts)
    now_ms = store.now_ms()
    return {
        unit
        for unit in units
        if judge(attempts.unit_evidence(unit, None, FleetState(), tried, now_ms=now_ms)).held
    }
