"""What all questions to a person have in common: what waits, the choices, and what each answer brings about."""

from collections.abc import Collection, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import Any, ClassVar

from msgspec import Struct

from dos.backlog.waiting import WaitsOn
from dos.choices import ChoiceName
from dos.limits.quota import Key
from dos.questions import subject
from dos.questions.subject import Subject

LONGEST = 200


class ClearLane(Struct, frozen=True, kw_only=True):
    """What the lane was given up on for, or stopped for, holds it no longer."""

    lane: str


class ClearUnit(Struct, frozen=True, kw_only=True):
    """The cooldown of the unit is over. Only a person's answer does this, never a question that expires."""

    unit: str
    lane: str


class LiftLimit(Struct, frozen=True, kw_only=True):
    """The provider is used again at once."""

    key: Key


class HaltRun(Struct, frozen=True, kw_only=True):
    """The worker of the run and its agent stop; `reason` is what they are told."""

    run_id: str
    reason: str


Consequence = ClearLane | ClearUnit | LiftLimit | HaltRun


class SetAside(StrEnum):
    """How long nobody works on the units of a question after an answer."""

    FOR_GOOD = "for good"
    UNTIL_START = "until the next start"
    UNTIL_START_OR_CHANGE = "until the next start, or until a unit is cleared or rewritten"


class Choice(Struct, frozen=True, kw_only=True):
    """One answer, and all that follows from it."""

    name: str
    meaning: str
    releases: bool = (
        False  # what waited for the answer is released; after any other answer it stays as it is
    )
    effects: tuple[Consequence, ...] = ()  # written in the same transaction as the answer
    sets_aside: SetAside | None = None

    @property
    def clears(self) -> tuple[str, ...]:
        """The units whose cooldown is over with it."""
        return tuple(each.unit for each in self.effects if isinstance(each, ClearUnit))

    def consequences(self, *, by_person: bool) -> list[Consequence]:
        """What is written with the answer, by a person or by a question that expires."""
        return [each for each in self.effects if by_person or not isinstance(each, ClearUnit)]


class Record(Struct, frozen=True, kw_only=True):
    """A question as the journal holds it."""

    id: str
    about: str
    question: str
    choices: dict[str, str] = {}  # what can be answered, and what it means
    waits: list[str] = []
    expires_ms: int | None = None
    otherwise: str = ""
    until_start: bool = False
    detail: dict[str, Any] = {}


class Question(Struct, frozen=True, kw_only=True):
    """The id is made of what is asked about and of which time it is, so that asking twice is asking once.

    The text is part of the question: it says more than the fields do, and it is shown as it was asked.
    """

    about: ClassVar[str] = ""  # the kind of question, as the journal names it
    detail_keys: ClassVar[
        tuple[str, ...]
    ] = ()  # the fields and properties that `detail` holds, in this order
    is_urgent: ClassVar[bool] = False  # it costs money as long as it is open
    waits_on: ClassVar[WaitsOn] = (
        WaitsOn.PERSON
    )  # what keeps the subjects that wait from being worked on

    id: str
    text: str
    waits: tuple[Subject, ...] = ()
    expires_ms: int | None = None
    until_start: bool = False  # it expires when the fleet is started again
    lane: str = ""  # that it is about
    run_id: str = ""  # that it is about

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Without any, it is not cleared by an answer."""
        return ()

    @property
    def otherwise(self) -> str:
        """The choice that is taken when it expires; where it never does, what holds until it is answered."""
        return ""

    @property
    def settled_choice(self) -> str:
        """What is written down as its answer once its cause is gone."""
        return self.choices[0].name

    @property
    def closes(self) -> str:
        """When it closes without an answer, for people; empty: see when it expires."""
        return ""

    @property
    def kind(self) -> str:
        """The released name of what it is, for JSON."""
        return self.about.upper()

    @property
    def token(self) -> str:
        """The released name of why it is asked, for JSON."""
        return self.about.upper()

    @property
    def command(self) -> str:
        """What to type where an answer alone would not help."""
        return ""

    @property
    def answer_command(self) -> str:
        """What to type for the first choice; without any, to look at it."""
        if not self.choices:
            return f"dos decisions show {self.id}"
        return f"dos decide-for {self.id} {self.choices[0].name}"

    @property
    def source(self) -> str:
        """The document and line that it comes from."""
        return ""

    @property
    def output(self) -> Sequence[str]:
        """The last lines of the command that it is about."""
        return ()

    @property
    def unit(self) -> str:
        """The one unit that it is about; the newest answer about it is never forgotten."""
        return ""

    @property
    def units(self) -> tuple[str, ...]:
        """The units that it is about: those that wait for the answer, and those that a retry would try."""
        return tuple(subject.unit_names(self.waits))

    @property
    def subjects(self) -> frozenset[Subject]:
        """What waits for the answer, and the lane of that."""
        if self.waits and self.lane:
            return frozenset((*self.waits, subject.Lane(self.lane)))
        return frozenset(self.waits)

    @property
    def detail(self) -> dict[str, Any]:
        """As the journal holds it."""
        return {key: _plain(getattr(self, key)) for key in self.detail_keys}

    @classmethod
    def fields_of(cls, record: Record) -> dict[str, Any]:
        """The fields that `detail` holds; one that it lacks has its default."""
        stored = [key for key in cls.detail_keys if key in cls.__struct_fields__]
        return {key: record.detail[key] for key in stored if key in record.detail}

    def choice(self, name: str) -> Choice | None:
        """None for an answer that it does not offer, such as the one that is written when its cause is gone."""
        return next((each for each in self.choices if each.name == name), None)

    def unit_fingerprint(self, unit: str) -> str:
        """The fingerprint of a unit when it was asked about; empty: it does not matter."""
        return ""

    def choice_without_answer(self, resting: Collection[str]) -> str:
        """The choice that is taken when nobody answers; `resting` are the units that are on cooldown then.

        A start retries what was asked about before it, but clears no cooldown: what still rests is left.
        """
        if self.leaves_units_on_cooldown and not set(self.units).isdisjoint(resting):
            return ChoiceName.LEAVE
        return self.otherwise

    @property
    def leaves_units_on_cooldown(self) -> bool:
        """Whether it is closed with `leave` while one of its units is on cooldown."""
        return self.until_start and bool(self.units) and self.choice(ChoiceName.LEAVE) is not None


def _plain(value: Any) -> Any:
    """As JSON gives it back."""
    return list(value) if isinstance(value, tuple) else value


def clear_units(names: Sequence[str], lane: str) -> tuple[ClearUnit, ...]:
    """Whoever wants a unit to be tried again wants it now."""
    return tuple(ClearUnit(unit=name, lane=lane) for name in dict.fromkeys(names))


def question_id(about: str, subject: str, ordinal: int) -> str:
    """For example `lane-failed-api-1`: it can be typed, and two subjects never share one."""
    typed = "".join(
        c if c.isascii() and (c.isalnum() or c in "-._/:@+") else f"%{ord(c):x}." for c in subject
    )
    short = (
        typed
        if len(typed) <= LONGEST
        else f"{typed[:60]}%{sha256(subject.encode()).hexdigest()[:32]}"
    )
    return f"{about.replace('_', '-')}-{short}-{ordinal}"
