"""Planted bugs of the conversation between a worker and its agent.

Each function changes one rule of the product for one simulation. Its docstring says what the broken
product does; the table names the invariant that has to notice it.
"""

from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

from dos.agents.conversation import Asks
from dos.agents.conversations.dialogue import Dialogue
from dos.fleet import asking_people
from dos.fleet.agent_talk import AgentTalk
from dos.fleet.asking_people import AskingPeople
from dos.permission.ask import Allow, Deny
from dos.testing.simulator.talks import talks


def answered_twice(_simulation: object, patches: ExitStack) -> None:
    """A request that a program repeats under the same name is answered again."""

    def after(self: Dialogue, turn: Any) -> Any:
        self._seen.clear()
        return followed(self, turn)

    followed = Dialogue._after
    patches.enter_context(patch.object(Dialogue, "_after", after))


def asked_for_ever(_simulation: object, patches: ExitStack) -> None:
    """A request that nobody answers stays open."""

    def waits(self: AskingPeople, waiting: Any, question: Any, store: Any) -> None:
        """Look for no answer."""

    patches.enter_context(patch.object(AskingPeople, "_look_for_answer", waits))


def region_forgotten(_simulation: object, patches: ExitStack) -> None:
    """Every write of a holder is allowed, wherever it is."""
    patches.enter_context(patch.object(talks, "judge", lambda _ask: Allow()))


def silence_allows(_simulation: object, patches: ExitStack) -> None:
    """A question that nobody answered in time counts as an allowance."""
    patches.enter_context(patch.object(asking_people, "_refusal", lambda _answered: None))


def nobody_asked(_simulation: object, patches: ExitStack) -> None:
    """What needs a person is allowed at once."""

    def allowed(self: talks.SimulatedJudge, asked: Asks, via: str = "") -> Allow | Deny:  # noqa: ARG001
        return self.after_person(asked, None)

    patches.enter_context(patch.object(talks.SimulatedJudge, "__call__", allowed))


def waiting_is_silence(_simulation: object, patches: ExitStack) -> None:
    """The clock of silence runs while a person is asked."""
    patches.enter_context(patch.object(AgentTalk, "is_asking_person", False))


def told_before_recorded(_simulation: object, patches: ExitStack) -> None:
    """A message is sent without the record that it was."""

    def steer(self: Dialogue, message: str, _record: Any) -> Any:
        return told(self, message, lambda: None)

    told = Dialogue.steer
    patches.enter_context(patch.object(Dialogue, "steer", steer))


def told_to_nobody(_simulation: object, patches: ExitStack) -> None:
    """A message is recorded as delivered, and never sent."""

    def steer(self: Dialogue, message: str, record: Any) -> Any:
        lines = told(self, message, record)
        return lines and ()

    told = Dialogue.steer
    patches.enter_context(patch.object(Dialogue, "steer", steer))
