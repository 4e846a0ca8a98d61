"""Talk with a running agent: its requests are judged beside the thread that reads its output.

Whatever keeps an answer away, the agent does not get what it asked for: a judge that fails denies,
and a worker that dies takes the pipe with it.
"""

import queue
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from dos.agents.adapter import Settings, Usage
from dos.agents.conversation import Asks
from dos.agents.conversations.dialogue import Dialogue, Exchange
from dos.agents.io.monitor import AgentMonitor
from dos.agents.registry import SafeConversation
from dos.fleet.effects import RunAgent
from dos.machine.streams import ProgramInput
from dos.permission.ask import Allow, Answer, AskPerson, Deny
from dos.unknown import Unknown, call_or_unknown

Judge = Callable[..., Answer]  # of an Asks, and by which way it came

NO_JUDGE = "The request could not be judged, so it is refused"
NOBODY_THERE = Deny(
    reason="Only a person can allow this, and nobody is there.",
    hint="Work without it, or finish and say what you would have needed.",
    reason_class="NEEDS_PERSON",
)


class ConversationMonitor(AgentMonitor):
    """Watches an agent that asks, and answers it."""

    def __init__(
        self,
        conversation: SafeConversation,
        effect: RunAgent,
        overspent: Callable[[Sequence[Usage]], str],
        judge: Judge,
        **journal: Any,
    ) -> None:
        super().__init__(conversation, effect, overspent, **journal)
        self._dialogue = Dialogue(conversation)
        self._judge = judge
        self._input = ProgramInput(stays_open=True)
        self._talking = threading.Lock()  # the reader and the judge change the same dialogue
        self._requests: queue.SimpleQueue[Asks | None] = queue.SimpleQueue()
        self._judging = threading.Thread(target=self._answer_all, name="judge", daemon=True)

    def begin(self, prompt: str, settings: Settings) -> ProgramInput:
        """Say the first words, and begin to judge."""
        self._judging.start()
        with self._talking:
            self._follow(self._dialogue.begin(prompt, settings))
        return self._input

    def on_line(self, line: str) -> None:
        """Take in one line. Nothing here waits for an answer, so that reading goes on."""
        with self._talking:
            self._follow(self._dialogue.on_line(line))

    def is_over(self) -> bool:
        """Whether the agent's work has ended, by what it said."""
        return self._dialogue.is_over

    def __exit__(self, *ended: object) -> None:
        self._requests.put(None)
        super().__exit__(*ended)

    def _follow(self, exchange: Exchange) -> None:
        """Send what is to be sent, hand on what is to be judged, and end the input in time."""
        self.take_in(self._dialogue.state)
        for line in exchange.replies:
            self._input.send(line)
        for asked in exchange.asks:
            self._requests.put(asked)
        if self._dialogue.is_over:
            self._input.close()

    def _answer_all(self) -> None:
        """Judge one request after the other, in a thread of its own."""
        while (asked := self._requests.get()) is not None:
            answer = self._judged(asked)
            if isinstance(answer, AskPerson):
                answer = NOBODY_THERE
            self._reply(asked, answer)

    def _judged(self, asked: Asks) -> Answer:
        """The judge's answer; a judge that fails denies."""
        answer = call_or_unknown(partial(self._judge, asked))
        if isinstance(answer, Unknown):
            return Deny(reason=f"{NO_JUDGE}: {answer.why}.", reason_class="NOT_JUDGED")
        return answer

    def _reply(self, asked: Asks, answer: Allow | Deny) -> None:
        with self._talking:
            for line in self._dialogue.answer(asked, answer):
                self._input.send(line)
            self.take_in(self._dialogue.state)
