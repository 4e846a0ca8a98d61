"""The files of a simulated host: what is written there is what the product reads, and counts by its
rules."""

from random import Random

import pytest

from dos.approval.io.texts import document_digest
from dos.config.load import FILE_NAME
from dos.journal import fold
from dos.journal.backends.memory import MemoryBackend
from dos.journal.store import Store
from dos.questions import state
from dos.questions.state import Decisions
from dos.testing.simulator.world import workspace
from dos.testing.simulator.world.repository import Repository
from dos.testing.simulator.world.workspace import PLAN, HostTexts

SETTINGS = workspace.settings_text(workspace.ITERATIONS)


@pytest.mark.parametrize("seed", range(30))
def test_a_plan_declares_the_units_that_it_was_written_for_after_every_edit(seed):
    random = Random(seed)
    units = workspace.draw_workspace(random).units
    for _ in range(5):
        text = workspace.plan_text(units)
        found = workspace.portfolio(text)
        told = ("name", "title", "lane", "depends", "gated")
        assert [[getattr(unit, name) for name in told] for unit in found.units] == [
            [getattr(unit, name) for name in told] for unit in units
        ]
        units = workspace.portfolio(workspace.edited_plan(text, random)).units


class Seat:
    """A host that somebody has started the fleet on."""

    def __init__(self):
        self.repository = Repository()
        units = workspace.draw_workspace(Random(0)).units
        self.repository.documents = {PLAN: workspace.plan_text(units), FILE_NAME: SETTINGS}
        self.store = Store(MemoryBackend(), actor="person")
        self.host = HostTexts("north", self.repository)
        self.host.approve(self.store, 1)

    @property
    def answers(self):
        return fold.current(self.store, Decisions)[0]

    def counting(self):
        return self.host.settings.effective_text(self.store, self.answers)

    def answer(self, choice):
        self.counting()
        (question,) = self.host.questions(self.answers)
        self.store.append_all([state.raise_entry(question)])
        self.store.append_all(
            state.answer_entries(self.answers.open[question.id], choice, by="person")
        )
        self.host.keep_confirmed(self.store, self.answers, self.store.last())
        return question


@pytest.mark.parametrize("choice", ["use", "keep"])
def test_an_edit_counts_once_a_person_wants_it_used(choice):
    seat = Seat()
    edited = workspace.settings_text(9)
    seat.host.dos_toml.write(edited)
    assert seat.counting() == SETTINGS
    question = seat.answer(choice)
    assert question.digest == document_digest(edited)
    assert seat.counting() == (edited if choice == "use" else SETTINGS)


def test_a_text_that_cannot_be_used_is_not_asked_about():
    seat = Seat()
    seat.host.dos_toml.write(workspace.UNUSABLE)
    assert seat.counting() == SETTINGS and not seat.host.questions(seat.answers)


def test_an_edit_that_is_committed_counts_unasked():
    seat = Seat()
    edited = workspace.settings_text(9)
    seat.host.dos_toml.write(edited)
    seat.repository.commit_document(FILE_NAME, edited)
    assert seat.counting() == edited and not seat.host.questions(seat.answers)
