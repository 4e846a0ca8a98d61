"""What all questions to a person share: what waits, the choices, and the effect of each."""

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
    """Clear the failure or the stop that keeps workers off the lane."""

    lane: str


class ClearUnit(Struct, frozen=True, kw_only=True):
    """End the cooldown of a unit.

    Only a person's answer does this, never a question that expires.
    """

    unit: str
    lane: str


class LiftLimit(Struct, frozen=True, kw_only=True):
    """Use the provider again at once."""

    key: Key


class HaltRun(Struct, frozen=True, kw_only=True):
    """Stop the worker and the agent of a run. The worker records `reason` as why it stopped."""

    run_id: str
    reason: str


Consequence = ClearLane | ClearUnit | LiftLimit | HaltRun


class SetAside(StrEnum):
    """How long an answer keeps workers off the units of its question."""

    FOR_GOOD = "for good"
    UNTIL_START = "until the next start"
    UNTIL_START_OR_CHANGE = "until the next start, or until a unit is cleared or rewritten"


class Choice(Struct, frozen=True, kw_only=True):
    """One answer that a question offers, and its effects."""

    name: str
    meaning: str
    releases: bool = False  # what waited for the answer may start; otherwise it stays as it is
    effects: tuple[Consequence, ...] = ()  # written in the same transaction as the answer
    sets_aside: SetAside | None = None

    @property
    def clears(self) -> tuple[str, ...]:
        """The units whose cooldown this answer ends."""
        return tuple(effect.unit for effect in self.effects if isinstance(effect, ClearUnit))

    def consequences(self, *, by_person: bool) -> list[Consequence]:
        """The effects to write with the answer. A question that expires ends no cooldown."""
        if by_person:
            return list(self.effects)
        return [effect for effect in self.effects if not isinstance(effect, ClearUnit)]


class Record(Struct, frozen=True, kw_only=True):
    """A question as the journal stores it."""

    id: str
    about: str
    question: str
    choices: dict[str, str] = {}  # the meaning of each answer, by its name
    waits: list[str] = []
    expires_ms: int | None = None
    otherwise: str = ""
    until_start: bool = False
    detail: dict[str, Any] = {}


class Question(Struct, frozen=True, kw_only=True):
    """A question to a person.

    The id is made of the subject and an ordinal, so that asking the same thing twice writes one
    question. The text is stored as it was asked, because it says more than the fields do.
    """

    about: ClassVar[str] = ""  # the kind of question, as the journal names it
    # The fields and properties that `detail` holds, in this order.
    detail_keys: ClassVar[tuple[str, ...]] = ()
    is_urgent: ClassVar[bool] = False  # it costs money as long as it is open
    # What the waiting subjects are shown to wait for.
    waits_on: ClassVar[WaitsOn] = WaitsOn.PERSON

    id: str
    text: str
    waits: tuple[Subject, ...] = ()
    expires_ms: int | None = None
    until_start: bool = False  # it expires when the fleet is started again
    lane: str = ""  # that it is about
    run_id: str = ""  # that it is about

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The answers that it offers. A question without choices cannot be answered."""
        return ()

    @property
    def otherwise(self) -> str:
        """The choice that is taken when it expires.

        If it never expires: what holds until an answer.
        """
        return ""

    @property
    def settled_choice(self) -> str:
        """The choice that is recorded when its cause is gone before an answer."""
        return self.choices[0].name

    @property
    def closes(self) -> str:
        """When it closes by itself, in words. Empty: it only closes by an answer or by expiring."""
        return ""

    @property
    def kind(self) -> str:
        """Its kind in JSON, as released versions name it."""
        return self.about.upper()

    @property
    def token(self) -> str:
        """The reason token in JSON, as released versions name it."""
        return self.about.upper()

    @property
    def clearing_command(self) -> str:
        """Our command that clears the cause, where an answer alone does not help.

        It is shown as it is, for a person to type, so it is made of names that are quoted.
        """
        return ""

    @property
    def proposed_command(self) -> str:
        """A command that whoever asked proposes. It is shown as theirs, in quotes."""
        return ""

    @property
    def answer_command(self) -> str:
        """The command that takes the first choice; without choices, the one that shows it."""
        if not self.choices:
            return f"dos decisions show {self.id}"
        return f"dos decide-for {self.id} {self.choices[0].name}"

    @property
    def source(self) -> str:
        """The document and line that it comes from, if any."""
        return ""

    @property
    def output(self) -> Sequence[str]:
        """The last lines that the failed command printed, if it is about one."""
        return ()

    @property
    def unit(self) -> str:
        """The one unit that it is about. The newest answer about a unit is never forgotten."""
        return ""

    @property
    def units(self) -> tuple[str, ...]:
        """The units that wait for the answer, and those that a retry would start."""
        return tuple(subject.unit_names(self.waits))

    @property
    def subjects(self) -> frozenset[Subject]:
        """What waits for the answer, together with its lane."""
        if self.waits and self.lane:
            return frozenset((*self.waits, subject.Lane(self.lane)))
        return frozenset(self.waits)

    @property
    def detail(self) -> dict[str, Any]:
        """The part of the question that the journal stores under `detail`."""
        return {key: _plain(self._detail_of(key)) for key in self.detail_keys}

    def _detail_of(self, key: str) -> Any:
        """What the journal stores under a key; our own command is `command` there as well."""
        if key == "command" and key not in self.__struct_fields__:
            return self.clearing_command
        return getattr(self, key)

    @classmethod
    def fields_of(cls, record: Record) -> dict[str, Any]:
        """Return the fields that are stored under `detail`. A missing one gets its default."""
        stored = [key for key in cls.detail_keys if key in cls.__struct_fields__]
        return {key: record.detail[key] for key in stored if key in record.detail}

    def choice(self, name: str) -> Choice | None:
        """Return the choice of this name.

        None: it is not offered, as `settled_choice` may not be.
        """
        for choice in self.choices:
            if choice.name == name:
                return choice
        return None

    def unit_fingerprint(self, unit: str) -> str:  # noqa: ARG002
        """The fingerprint of a unit when the question was asked. Empty: it is not compared."""
        return ""

    def choice_without_answer(self, resting: Collection[str]) -> str:
        """The choice that is taken without an answer. `resting` are the units on cooldown then.

        A start retries what was asked about before it, but it ends no cooldown: a question about a
        unit that is still on cooldown is closed with `leave`.
        """
        if self.leaves_units_on_cooldown and not set(self.units).isdisjoint(resting):
            return ChoiceName.LEAVE
        return self.otherwise

    @property
    def leaves_units_on_cooldown(self) -> bool:
        """Whether a start closes it with `leave` while one of its units is on cooldown."""
        return self.until_start and bool(self.units) and self.choice(ChoiceName.LEAVE) is not None


def _plain(value: Any) -> Any:
    """The value as decoding its JSON would return it."""
    if isinstance(value, tuple):
        return list(value)
    return value


def clear_units(names: Sequence[str], lane: str) -> tuple[ClearUnit, ...]:
    """End the cooldown of each unit, so that a retry starts at once."""
    return tuple(ClearUnit(unit=name, lane=lane) for name in dict.fromkeys(names))


def question_id(about: str, subject: str, ordinal: int) -> str:
    """Return an id such as `lane-failed-api-1`.

    Two subjects never share one, and it can be typed.
    """
    typed = "".join(map(_id_character, subject))
    if len(typed) > LONGEST:
        typed = f"{typed[:60]}%{sha256(subject.encode()).hexdigest()[:32]}"
    return f"{about.replace('_', '-')}-{typed}-{ordinal}"


def _id_character(character: str) -> str:
    """The character itself where a shell takes it as it is, else its code."""
    if character.isascii() and (character.isalnum() or character in "-._/:@+"):
        return character
    return f"%{ord(character):x}."
