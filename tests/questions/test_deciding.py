"""Questions for a person: asked once, answered once, and exactly what waited is let go."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from told_events import Teller

from dos.errors import BadInput, Conflict
from dos.journal import fold, streams
from dos.journal.backends.memory import MemoryBackend
from dos.journal.events.limits import HaltRequested, LaneCleared, LimitHit, LimitLifted
from dos.journal.store import Store
from dos.limits.accounts import Day, LaneDay, RunAccount
from dos.limits.budget import BudgetHistory, BudgetLine
from dos.limits.quota import Key, Limit
from dos.limits.state import quota
from dos.limits.state.quota import ProviderLimits
from dos.questions import answer, catalog
from dos.questions.lanes import LaneFailed, LaneStopped
from dos.questions.question import question_id
from dos.questions.resources import BudgetSpent, limit_question
from dos.questions.runs import Spinning
from dos.questions.state import (
    ANSWERED_KEPT,
    AnsweredQuestion,
    Decisions,
    OpenQuestion,
    answer_entries,
    consequence_facts,
    expired_questions,
    expiry_entries,
    raise_entry,
    released_by,
    waiting_subjects,
)
from dos.questions.subject import Lane
from dos.questions.units import LandingConflict, UnitUndone

LIMIT = Limit(
    key=Key(vendor="acme", account="work", model="large"), ending="auth", found="401", lifts=2
)
DAY = BudgetLine(account=Day(day="2027-01-15"), measure="usd", spent=10, limit=10)
LANE = BudgetLine(
    account=LaneDay(day="2027-01-15", lane="api"),
    measure="tokens",
    spent=10,
    limit=10,
    history=BudgetHistory(asked=1),
)
RUN = BudgetLine(account=RunAccount(run_id="RID-1"), measure="usd", spent=10, limit=10)

QUESTIONS = [
    (
        LaneFailed.ask("api", "exit 1", ordinal=2),
        "lane-failed-api-2",
        ["lane:api"],
        ["retry", "leave"],
    ),
    (
        LandingConflict.ask("AUTH/U1", ["red"], ordinal=1),
        "landing-conflict-AUTH/U1-1",
        ["unit:AUTH/U1"],
        ["retry", "hold", "drop"],
    ),
    (
        UnitUndone.ask("U1", commit="abcdef0123"),
        "unit-undone-U1-abcdef012-1",
        ["unit:U1"],
        ["again", "leave"],
    ),
    (
        limit_question(LIMIT),
        "limit-acme/work/large-3",
        ["limit:acme/work/large"],
        ["fixed", "leave"],
    ),
    (
        Spinning.ask("RID-1", "api", "an hour", expires_ms=5),
        "spinning-RID-1-1",
        [],
        ["halt", "leave"],
    ),
    (BudgetSpent.ask(DAY), "budget-day-2027-01-15-usd-1", ["fleet"], ["raise", "stop", "wait"]),
    (
        BudgetSpent.ask(LANE),
        "budget-lane-2027-01-15/api-tokens-2",
        ["lane:api"],
        ["raise", "stop", "wait"],
    ),
    (BudgetSpent.ask(RUN), "budget-run-RID-1-usd-1", ["run:RID-1"], ["raise", "stop"]),
]


@pytest.mark.parametrize(
    ("question", "name", "waits", "choices"), QUESTIONS, ids=[row[1] for row in QUESTIONS]
)
def test_questions(question, name, waits, choices):
    record = catalog.encode(question)
    assert (record.id, record.waits, list(record.choices)) == (name, waits, choices)
    assert record.otherwise in choices, "each says what happens without an answer"
    assert record.question


@given(st.text(max_size=300), st.text(max_size=300), st.integers(1, 99), st.integers(1, 99))
def test_two_subjects_never_share_an_id(one, other, first, second):
    same = question_id("lane_failed", one, first) == question_id("lane_failed", other, second)
    assert same == ((one, first) == (other, second))


def opened():
    return Store(MemoryBackend(), actor="fleet")


def state(store):
    return fold.current(store, Decisions)[0]


def test_asking_twice_is_asking_once():
    store = opened()
    for _ in range(3):
        store.append_all([raise_entry(LaneFailed.ask("api", "exit 1"))])
    assert list(state(store).open) == ["lane-failed-api-1"]
    assert store.last() == 1


def test_asking_again_after_the_answer_asks_nothing():
    store = opened()
    store.append_all([raise_entry(LaneFailed.ask("api", "exit 1"))])
    answer.answer(store, answer.find_question(store, "lane-failed-api-1"), "leave", by="ann")
    store.append_all([raise_entry(LaneFailed.ask("api", "exit 1"))])
    assert state(store).open == {}
    assert state(store).knows("lane-failed-api-1")


def test_the_answer_lets_go_exactly_what_waited():
    store = opened()
    for question in (
        LaneFailed.ask("api", "x"),
        LaneFailed.ask("docs", "x"),
        BudgetSpent.ask(LANE),
    ):
        store.append_all([raise_entry(question)])
    assert waiting_subjects(state(store)) == {Lane("api"), Lane("docs")}
    assert released_by(state(store), "lane-failed-docs-1") == {Lane("docs")}
    assert released_by(state(store), "lane-failed-api-1") == set(), (
        "the lane waits for its budget too"
    )
    done = answer.answer(
        store, answer.find_question(store, "lane-failed-docs-1"), "retry", by="ann"
    )
    assert (done.released, waiting_subjects(state(store))) == (
        ["lane:docs"],
        {Lane("api")},
    )


@pytest.mark.parametrize(("choice", "released"), [("retry", ["lane:api"]), ("leave", [])])
def test_only_an_answer_that_lets_it_go_on_says_so(choice, released):
    store = opened()
    store.append_all([raise_entry(LaneFailed.ask("api", "x"))])
    assert (
        answer.answer(
            store, answer.find_question(store, "lane-failed-api-1"), choice, by="ann"
        ).released
        == released
    )


def test_the_second_answer_is_told_the_first_and_writes_nothing():
    store = opened()
    store.append_all([raise_entry(LaneFailed.ask("api", "x"))])
    question = answer.find_question(store, "lane-failed-api-1")
    first = answer.answer(store, question, "retry", by="ann")
    written = store.last()
    for seen in (
        question,
        answer.find_question(store, "lane-failed-api-1"),
    ):  # who looked before, and who looks after
        second = answer.answer(store, seen, "leave", by="bob")
        assert (second.ours, second.answered) == (False, first.answered)
    assert first.ours
    assert (first.answered.choice, first.answered.by) == ("retry", "ann")
    assert store.last() == written


def test_what_cannot_be_answered_says_what_can():
    store = opened()
    store.append_all([raise_entry(LaneFailed.ask("api", "x"))])
    with pytest.raises(BadInput) as unknown:
        answer.find_question(store, "lane-failed-web-1")
    assert "lane-failed-api-1" in unknown.value.hint
    with pytest.raises(BadInput) as wrong:
        answer.answer(store, answer.find_question(store, "lane-failed-api-1"), "maybe", by="ann")
    assert "retry, leave" in wrong.value.hint
    assert store.last() == 1


def test_a_limit_that_is_put_right_is_lifted_in_the_same_transaction():
    store = opened()
    hit = LimitHit(vendor="acme", account="work", model="large", ending="auth", found="401")
    store.record(streams.limit(quota.limit_key(hit)), hit)
    (limit,) = fold.current(store, ProviderLimits)[0].limits.values()
    store.append_all([raise_entry(limit_question(limit))])
    question = answer.find_question(store, limit_question(limit).id)
    answer.answer(store, question, "fixed", by="ann")
    (lifted,) = fold.current(store, ProviderLimits)[0].limits.values()
    assert (lifted.ending, lifted.lifts) == ("", 1)
    assert limit_question(lifted).id != question.raised.id, "the next time it is another question"


@pytest.mark.parametrize(
    ("question", "choice", "kinds"),
    [
        (limit_question(LIMIT), "fixed", [LimitLifted]),
        (limit_question(LIMIT), "leave", []),
        (Spinning.ask("RID-1", "api", "x"), "halt", [HaltRequested]),
        (Spinning.ask("RID-1", "api", "x"), "leave", []),
        (LaneFailed.ask("api", "x"), "retry", [LaneCleared]),
        (LaneFailed.ask("api", "x"), "leave", []),
        (LaneStopped.ask("api", "RID-1", "x"), "retry", [LaneCleared]),
        (BudgetSpent.ask(RUN), "raise", []),
    ],
)
def test_what_follows_from_an_answer(question, choice, kinds):
    facts = consequence_facts(question, choice, by="ann")
    assert [type(fact) for _, fact in facts] == kinds


def test_when_nobody_answers_in_time_what_was_said_happens():
    store = opened()
    store.append_all([raise_entry(Spinning.ask("RID-1", "api", "x", expires_ms=5_000))])
    store.append_all([raise_entry(LaneFailed.ask("api", "x"))])
    assert expired_questions(state(store), 4_999) == []
    (over,) = expired_questions(state(store), 5_000)
    store.append_all(expiry_entries(over))
    with pytest.raises(Conflict):
        store.append_all(expiry_entries(over))
    told = state(store).answered["spinning-RID-1-1"]
    assert (told.choice, told.expired) == ("leave", True)
    assert expired_questions(state(store), 10**15) == []


def test_what_waits_until_the_fleet_is_started_again_is_over_then():
    store = opened()
    store.append_all([raise_entry(LaneStopped.ask("api", "RID-1", "x"))])
    (asked,) = state(store).open.values()
    assert expired_questions(state(store), 10**15, started_ms=asked.at_ms) == [], (
        "it was asked after that"
    )
    assert expired_questions(state(store), 0, started_ms=asked.at_ms + 1) == [asked]


@pytest.mark.soak
def test_what_a_person_wants_of_a_unit_is_never_forgotten():
    store = opened()
    for ordinal, choice in ((1, "retry"), (2, "drop")):
        question = LandingConflict.ask("AUTH/U1", ["red"], ordinal=ordinal)
        store.append_all([raise_entry(question)])
        answer.answer(store, answer.find_question(store, question.id), choice, by="ann")
    for number in range(ANSWERED_KEPT + 5):
        store.append_all([raise_entry(LaneFailed.ask(f"l{number}", "x"))])
        answer.answer(
            store, answer.find_question(store, f"lane-failed-l{number}-1"), "leave", by="ann"
        )
    kept = state(store).answered
    assert kept["landing-conflict-AUTH/U1-2"].choice == "drop"
    assert "landing-conflict-AUTH/U1-1" not in kept, "of each unit the newest"
    assert len(kept) == ANSWERED_KEPT + 1


@pytest.mark.soak
def test_an_old_answer_is_forgotten_by_the_list_and_not_by_the_journal():
    store = opened()
    for number in range(ANSWERED_KEPT + 5):
        store.append_all([raise_entry(LaneFailed.ask(f"l{number}", "x"))])
        answer.answer(
            store, answer.find_question(store, f"lane-failed-l{number}-1"), "leave", by="ann"
        )
    assert len(state(store).answered) == ANSWERED_KEPT
    assert isinstance(answer.find_question(store, "lane-failed-l0-1"), AnsweredQuestion)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=15), st.integers(0, 15))
def test_folding_in_two_parts_is_folding_at_once(steps, cut):
    teller = Teller()
    for number, (lane, answers) in enumerate(steps):
        question = LaneFailed.ask(lane, "x")
        waiting = fold.fold(Decisions(), teller.happened).open.get(question.id)
        if answers and isinstance(waiting, OpenQuestion):
            entry = answer_entries(waiting, "retry", by="ann")[0]
        else:
            entry = raise_entry(question)
        teller.tell(entry.stream, entry.body, number)
    kept = fold.decode(Decisions, fold.encode(fold.fold(Decisions(), teller.happened[:cut])))
    whole = fold.fold(Decisions(), teller.happened)
    assert fold.fold(kept, teller.happened[cut:]) == whole
    assert not set(whole.open) & set(whole.answered)
