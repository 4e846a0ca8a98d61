"""The fleet uses the plans that a person approved; an edit counts once committed or answered."""

import pytest
from sample_repository import PLAN

from dos.approval.io.documents import PlanTexts
from dos.config.load import load
from dos.errors import BadInput
from dos.git.repository import Writer
from dos.journal import fold
from dos.questions import state
from dos.questions.documents import REMOVED
from dos.questions.state import Decisions
from dos.units.io import sources
from dos.workspace import find
from dos.world import open_journal

EASY = PLAN.replace("`test -s one/a.txt`", "`true`")  # what an agent would like to be judged by
NAME = "docs/demo-plan.md"


class Seat:
    """A supervisor's view of the plans, without a fleet around it."""

    def __init__(self, repository):
        self.repository, self.place = repository, find(repository.root)
        self.git = Writer(self.place.root)
        self.store = open_journal(self.place, "")
        self.texts = self.anew()

    def anew(self):
        target = lambda: self.git.commit_of("main")  # noqa: E731
        return PlanTexts.for_checkout(self.place, load(self.place.root).config, self.git, target)

    def answers(self):
        return fold.current(self.store, Decisions)[0]

    def acceptance(self, texts=None):
        units = (texts or self.texts).units(self.store, self.answers())
        return {unit.name: unit.acceptance for unit in units}.get("DEMO/A1")

    def edit(self, text, name=NAME):
        (self.repository.root / name).write_text(text)

    def questions(self):
        return self.texts.questions(self.answers())

    def answer(self, choice):
        (question,) = self.questions()
        raised = state.raise_entry(question)
        self.store.append_all([raised])
        (asked,) = self.answers().open.values()
        self.store.append_all(state.answer_entries(asked, choice, by="me"))


@pytest.fixture
def seat(repository):
    seat = Seat(repository)
    seat.texts.approve(seat.store, by="me")
    yield seat
    seat.store.close()


def test_what_lies_there_at_up_counts_also_when_it_is_not_committed(repository):
    seat = Seat(repository)
    seat.edit(EASY)
    seat.texts.approve(seat.store)
    assert seat.acceptance() == "true" and seat.questions() == []
    seat.edit(PLAN)  # the committed text is always fine
    assert seat.acceptance() == "test -s one/a.txt" and seat.questions() == []
    seat.store.close()


def test_an_edit_on_disk_changes_nothing_and_is_named(seat):
    assert seat.acceptance() == "test -s one/a.txt"
    seat.edit(EASY)
    assert seat.acceptance() == "test -s one/a.txt"
    assert [question.document for question in seat.questions()] == [NAME]
    assert seat.acceptance(seat.anew()) == "test -s one/a.txt"  # of a worker that is started now
    seat.edit(PLAN)
    assert seat.acceptance() == "test -s one/a.txt" and seat.questions() == []


def test_an_edit_counts_once_it_is_on_the_target_branch(seat):
    seat.edit(EASY)
    assert seat.acceptance() == "test -s one/a.txt"
    seat.repository.commit_all("Change the plan")
    assert seat.acceptance() == "true" and seat.questions() == []
    # What landed since counts before what was approved, when the disk differs from both.
    seat.edit(PLAN.replace("first", "third"))
    assert seat.acceptance() == "true" and len(seat.questions()) == 1


def test_an_edit_counts_once_a_person_says_so_and_goes_on_counting(seat):
    seat.edit(EASY)
    seat.acceptance()
    seat.answer("use")
    assert seat.acceptance() == "true" and seat.questions() == []
    seat.texts.keep_confirmed(seat.store, seat.answers())
    seat.edit("# Nothing\n")  # another edit is another question; what was answered stays
    assert seat.acceptance() == "true" and len(seat.questions()) == 1
    assert seat.acceptance(seat.anew()) == "true"


def test_an_edit_that_a_person_does_not_want_stays_without_effect(seat):
    seat.edit(EASY)
    seat.acceptance()
    seat.answer("keep")
    assert seat.acceptance() == "test -s one/a.txt" and len(seat.questions()) == 1


def test_a_document_that_is_removed_or_new_is_asked_about_too(seat):
    seat.edit("## MORE M1: more\n- lane: one\n", "docs/more-plan.md")
    (seat.repository.root / NAME).unlink()
    assert seat.acceptance() == "test -s one/a.txt"
    assert {question.document: question.digest for question in seat.questions()}[NAME] == REMOVED
    assert "MORE/M1" not in [unit.name for unit in seat.texts.units(seat.store, seat.answers())]
    seat.texts.approve(seat.store)  # `dos up` again
    assert seat.acceptance() is None and seat.questions() == []
    assert "MORE/M1" in [unit.name for unit in seat.texts.units(seat.store, seat.answers())]


def test_without_an_approval_the_disk_counts(repository):
    """A worker that a person or a test runs without `dos up`."""
    seat = Seat(repository)
    seat.edit(EASY)
    assert seat.acceptance() == "true" and seat.questions() == []
    seat.store.close()


def test_the_same_text_is_approved_once(seat):
    seat.texts.approve(seat.store)
    assert [event.kind for event in seat.store.load("approvals")] == ["plans_approved"]


def test_an_answer_holds_for_the_text_that_it_was_given_for_and_not_after_the_next_approval(seat):
    """What a person took once, and took back, is asked about again when an agent brings it back."""
    seat.edit(EASY)
    seat.acceptance()
    seat.answer("use")
    seat.texts.keep_confirmed(seat.store, seat.answers())
    seat.edit(PLAN.replace("first", "the first"))
    seat.texts.approve(seat.store)
    seat.edit(EASY)
    assert seat.acceptance() == "test -s one/a.txt" and len(seat.questions()) == 1
    assert not seat.answers().knows(seat.questions()[0].id)


def test_a_removal_that_a_person_said_yes_to_counts(seat):
    (seat.repository.root / NAME).unlink()
    assert seat.acceptance() == "test -s one/a.txt"
    seat.answer("use")
    seat.texts.keep_confirmed(seat.store, seat.answers())
    assert seat.acceptance() is None and seat.questions() == []


def test_only_the_texts_that_were_chosen_are_read(seat):
    """A document that exists only for a moment, before the units are read, declares nothing."""
    texts = {NAME: PLAN}
    seat.edit("## MORE M1: more\n- lane: one\n", "docs/more-plan.md")
    seat.edit(EASY)
    config = load(seat.place.root).config
    units = {
        unit.name: unit.acceptance for unit in sources.read(seat.place, config, texts=texts).units
    }
    assert units["DEMO/A1"] == "test -s one/a.txt" and "MORE/M1" not in units


def test_a_document_that_cannot_be_read_is_not_approved_and_holds_nothing_up_later(repository):
    seat = Seat(repository)
    (repository.root / "docs" / "more-plan.md").write_bytes(b"\0")
    with pytest.raises(BadInput, match="more-plan"):
        seat.texts.approve(seat.store)
    (repository.root / "docs" / "more-plan.md").unlink()
    seat.texts.approve(seat.store)
    (repository.root / NAME).write_bytes(b"\0")
    assert seat.acceptance() == "test -s one/a.txt"
    seat.store.close()
