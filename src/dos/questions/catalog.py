"""The union of all questions, and how each is written to the journal and read from it."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any, ClassVar, Self

from msgspec import ValidationError, convert, structs

from dos.choices import ChoiceName
from dos.questions import subject
from dos.questions.agent_requests import ToolRequested
from dos.questions.changed_tests import TestsChanged
from dos.questions.documents import PlanChanged, SettingsChanged
from dos.questions.lanes import LaneFailed, LaneStopped, UnitsFailed
from dos.questions.question import Choice, Question, Record, question_id
from dos.questions.resources import BaselineFailed, BudgetSpent, LimitDoubted, LimitReached
from dos.questions.runs import HaltProposed, RunStopped, Spinning
from dos.questions.subject import Subject
from dos.questions.units import Incident, LandingBlocked, LandingConflict, UnitHeld, UnitUndone


class Added(Question, frozen=True, kw_only=True):
    """A question that a script added with `dos decisions add`. Nothing waits for the answer.

    Adding the same text again changes nothing until the question is answered.
    """

    about: ClassVar[str] = "added"
    detail_keys: ClassVar[tuple[str, ...]] = ("kind", "lane", "command")
    kind: str
    command: str = ""

    @classmethod
    def ask(
        cls, kind: str, lane: str, text: str, command: str, *, answered: Collection[str]
    ) -> Self:
        """Return the question. `answered` are the ids of the questions that were answered."""
        subject = f"{lane}-{sha256(text.encode()).hexdigest()[:8]}"
        ordinal = 1
        while question_id(kind.lower(), subject, ordinal) in answered:
            ordinal += 1
        return cls(
            id=question_id(kind.lower(), subject, ordinal),
            text=text,
            kind=kind.upper(),
            lane=lane,
            command=command,
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        return (
            Choice(name=ChoiceName.DONE, meaning="you have done it"),
            Choice(name=ChoiceName.DISMISS, meaning="nothing needs to be done"),
        )

    @property
    def proposed_command(self) -> str:
        return self.command


class UnknownQuestion(Question, frozen=True, kw_only=True):
    """A question that another version of dos asked.

    What waits for it is held; any answer releases it.
    """

    record: Record

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The stored choices; what they would do is not known, so each releases."""
        offered = self.record.choices.items()
        return tuple(Choice(name=name, meaning=meaning, releases=True) for name, meaning in offered)

    @property
    def otherwise(self) -> str:
        """As the record has it."""
        return self.record.otherwise

    @property
    def kind(self) -> str:
        """The stored name of the question."""
        return self.record.about.upper()

    @property
    def token(self) -> str:
        """The stored name of the question."""
        return self.record.about.upper()

    @property
    def detail(self) -> dict[str, Any]:
        """As the record has it."""
        return dict(self.record.detail)


AnyQuestion = (
    LaneFailed
    | LaneStopped
    | UnitsFailed
    | LandingConflict
    | LandingBlocked
    | TestsChanged
    | UnitUndone
    | UnitHeld
    | Incident
    | Spinning
    | HaltProposed
    | RunStopped
    | PlanChanged
    | SettingsChanged
    | BaselineFailed
    | LimitReached
    | LimitDoubted
    | BudgetSpent
    | ToolRequested
    | Added
    | UnknownQuestion
)

_BY_ABOUT: Mapping[str, type[AnyQuestion]] = {
    kind.about: kind
    for kind in (
        LaneFailed,
        LaneStopped,
        LandingConflict,
        LandingBlocked,
        TestsChanged,
        UnitUndone,
        UnitHeld,
        Incident,
        Spinning,
        HaltProposed,
        RunStopped,
        PlanChanged,
        SettingsChanged,
        BaselineFailed,
        LimitReached,
        LimitDoubted,
        BudgetSpent,
        ToolRequested,
        Added,
    )
}


def encode(question: AnyQuestion) -> Record:
    """Return the record that the journal stores. `decode` returns an equal question."""
    if isinstance(question, UnknownQuestion):
        return question.record
    return Record(
        id=question.id,
        about=question.about,
        question=question.text,
        choices={choice.name: choice.meaning for choice in question.choices},
        waits=subject.to_words(question.waits),
        expires_ms=question.expires_ms,
        otherwise=question.otherwise,
        until_start=question.until_start,
        detail=question.detail,
    )


def decode(record: Record) -> AnyQuestion:
    """Return the question of a record.

    A record that its class cannot hold is an UnknownQuestion.
    """
    waits = tuple(map(subject.parse, record.waits))
    kind = _class_of(record, waits)
    question = _unrecognised(record)
    if kind is not None:
        with suppress(ValidationError):
            question = convert({**_heading(record), **kind.fields_of(record)}, kind)
    return structs.replace(question, waits=waits)


def _unrecognised(record: Record) -> AnyQuestion:
    """The record as a question that is shown and can be answered."""
    lane = str(record.detail.get("lane", ""))
    run_id = str(record.detail.get("run_id", ""))
    return UnknownQuestion(**_heading(record), lane=lane, run_id=run_id, record=record)


def _class_of(record: Record, waits: Iterable[Subject]) -> type[AnyQuestion] | None:
    """The class of a record. Two share one name: in `UnitsFailed` only the failed units wait."""
    if record.about == LaneStopped.about and subject.unit_names(waits):
        return UnitsFailed
    return _BY_ABOUT.get(record.about)


def _heading(record: Record) -> dict[str, Any]:
    """The fields that all questions share."""
    return {
        "id": record.id,
        "text": record.question,
        "expires_ms": record.expires_ms,
        "until_start": record.until_start,
    }
