"""Messages of people for agents: which of them no agent was told yet, by lane.

A message belongs to a lane, so that one whose agent or worker died goes to the next agent there.
It is recorded as delivered before the agent is told, so that no crash makes it arrive twice.
"""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from msgspec import Struct, field

from dos.journal.events.doors import RunSteered, SteerDelivered
from dos.journal.events.envelope import Event
from dos.journal.events.reader import select

LONGEST_MESSAGE = 10_000  # characters
MOST_PENDING = 20  # messages of one lane that no agent was told


class Message(Struct, frozen=True, kw_only=True):
    """What a person said, and while which unit was in work."""

    id: str
    text: str
    unit: str = ""


class Steering(Struct, kw_only=True):
    """The messages that no agent was told, oldest first. A fold over the journal."""

    name: ClassVar[str] = "steering"

    pending: dict[str, list[Message]] = field(default_factory=dict)  # by lane

    def apply(self, event: Event) -> None:
        """Change the state by one event; events of other kinds change nothing."""
        for _, fact in select([event], RunSteered, SteerDelivered):
            if isinstance(fact, RunSteered):
                message = Message(id=fact.id, text=fact.message, unit=fact.unit)
                self.pending.setdefault(fact.lane, []).append(message)
            else:
                self._deliver(fact)

    def _deliver(self, fact: SteerDelivered) -> None:
        rest = [message for message in self.pending.get(fact.lane, []) if message.id != fact.id]
        if rest:
            self.pending[fact.lane] = rest
        else:
            self.pending.pop(fact.lane, None)

    def of_lane(self, lane: str) -> tuple[Message, ...]:
        """Return the messages that wait for an agent of the lane."""
        return tuple(self.pending.get(lane, ()))


def delivery_key(message: Message) -> str:
    """Return the key of the event that a message was delivered: it is written once."""
    return f"told/{message.id}"


def prompt_notes(messages: Iterable[Message], unit: str) -> Sequence[str]:
    """Return the messages as a prompt has them; those about other work say so."""
    notes = []
    for message in messages:
        note = message.text
        if message.unit and message.unit != unit:
            note = f"(while {message.unit} was in work) {note}"
        notes.append(note)
    return notes
