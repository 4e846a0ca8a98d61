"""Talk with a running agent: its requests are judged beside the thread that reads its output.

Whatever keeps an answer away, the agent does not get what it asked for: a judge that fails allows
only reads, and a worker that dies takes the pipe with it. What is said, and who answers, is the
matter of `fleet/agent_talk.py`; here are its threads.
"""

import queue
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from dos.agents.adapter import Settings, Usage
from dos.agents.conversation import Asks
from dos.agents.conversations.dialogue import Dialogue
from dos.agents.io.agent_monitor import AgentMonitor
from dos.agents.registry import SafeConversation
from dos.fleet.agent_talk import AgentTalk
from dos.fleet.asking_people import Judge
from dos.fleet.effects import RunAgent
from dos.journal.events.envelope import Event
from dos.journal.store import Store
from dos.machine.streams import ProgramInput
from dos.permission.ask import Answer
from dos.permission.refusals import answer_unjudged
from dos.unknown import Unknown, call_or_unknown


class ConversationMonitor(AgentMonitor):
    """Watches an agent that asks, answers it, and tells it what people have to say."""

    def __init__(
        self,
        conversation: SafeConversation,
        effect: RunAgent,
        overspent: Callable[[Sequence[Usage]], str],
        judge: Judge,
        *,
        answer_seconds: float,
        **journal: Any,
    ) -> None:
        super().__init__(conversation, effect, overspent, **journal)
        self._judge = judge
        self._input = ProgramInput(stays_open=True)
        self._taking_in = threading.Lock()  # so that no older state replaces a newer one
        self._talk = AgentTalk(
            Dialogue(conversation),
            effect,
            judge,
            send=self._input.send,
            answer_seconds=answer_seconds,
            lock=threading.RLock(),
        )
        self._requests: queue.SimpleQueue[Asks | None] = queue.SimpleQueue()
        self._judging = threading.Thread(target=self._answer_all, name="judge", daemon=True)

    def begin(self, prompt: str, settings: Settings) -> ProgramInput:
        """Say the first words, and begin to judge."""
        self._judging.start()
        self._follow(self._talk.begin(prompt, settings))
        return self._input

    def on_line(self, line: str) -> None:
        """Take in one line. Nothing here waits for an answer, so that reading goes on."""
        self._follow(self._talk.on_line(line))

    def is_asking_person(self) -> bool:
        """Whether a request waits for a person."""
        return self._talk.is_asking_person

    def is_over(self) -> bool:
        """Whether the agent's work has ended, by what it said."""
        return self._talk.is_over

    def read(self, events: Sequence[Event]) -> None:
        """Take in new events of the run, with what people have to say."""
        super().read(events)
        self._talk.read(events)

    def poll(self, store: Store) -> None:
        """Read the run's events; pass on what people answered and said, while the agent runs."""
        super().poll(store)
        if self._done.is_set():
            self._talk.close(store)
        else:
            self._talk.poll(store)
            self._take_in_state()

    def __exit__(self, *ended: object) -> None:
        self._requests.put(None)
        super().__exit__(*ended)

    def _follow(self, asks: Sequence[Asks]) -> None:
        """Hand on what is to be judged, and end the input in time."""
        self._take_in_state()
        for asked in asks:
            self._requests.put(asked)
        if self._talk.is_over:
            self._input.close()

    def _answer_all(self) -> None:
        """Judge one request after the other, in a thread of its own."""
        while (asked := self._requests.get()) is not None:
            self._talk.answer(asked, self._judged(asked))
            self._take_in_state()

    def _take_in_state(self) -> None:
        with self._taking_in:
            self.take_in(self._talk.state)

    def _judged(self, asked: Asks) -> Answer:
        """The judge's answer; where it fails, only a read is allowed."""
        answer = call_or_unknown(partial(self._judge, asked))
        if isinstance(answer, Unknown):
            return answer_unjudged(asked, answer.why)
        return answer
