"""What a worker says to one running agent: answers to its requests, and messages of people.

A request is answered at once, or waits for a person (`fleet/asking_people.py`). A message is
recorded as delivered before it is sent, so that no agent is told it twice. The threads and the pipe
are those of `agents/io/conversation_monitor.py`; the simulator drives the same object.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager

from dos.agents.adapter import Settings, StreamState
from dos.agents.conversation import Asks
from dos.agents.conversations.dialogue import Dialogue, Exchange
from dos.fleet.asking_people import AskingPeople, Judge
from dos.fleet.effects import RunAgent
from dos.fleet.state.steering import Message, Steering, delivery_key
from dos.journal import streams
from dos.journal.backend import Entry
from dos.journal.events.doors import SteerDelivered
from dos.journal.events.envelope import Event
from dos.journal.store import Store
from dos.permission.ask import PIPE, Answer, AskPerson


class AgentTalk:
    """The conversation of one start of an agent. Its methods may be called from any thread."""

    def __init__(
        self,
        dialogue: Dialogue,
        effect: RunAgent,
        judge: Judge,
        *,
        send: Callable[[str], object],
        answer_seconds: float,
        lock: AbstractContextManager[object],
    ) -> None:
        """`send` writes a line to the agent; a person has `answer_seconds` to answer.

        Whoever reads the agent and whoever answers it change one dialogue: `lock`, which one thread
        may take several times, keeps them apart.
        """
        self._dialogue = dialogue
        self._effect = effect
        self._send = send
        self._lock = lock
        self._people = AskingPeople(
            effect,
            judge,
            via=PIPE,
            is_open=self._is_open,
            answer=self.answer,
            answer_seconds=answer_seconds,
        )
        self._steering = Steering()

    @property
    def state(self) -> StreamState:
        """What the program has reported so far."""
        return self._dialogue.state

    @property
    def is_over(self) -> bool:
        """Whether the program's work has ended."""
        return self._dialogue.is_over

    @property
    def is_asking_person(self) -> bool:
        """Whether a request waits for a person, so that the agent's silence says nothing."""
        return self._people.is_waiting

    def begin(self, prompt: str, settings: Settings) -> tuple[Asks, ...]:
        """Say the first words; returns what is to be judged."""
        with self._lock:
            return self._follow(self._dialogue.begin(prompt, settings))

    def on_line(self, line: str) -> tuple[Asks, ...]:
        """Take in one line of the program; returns what is to be judged."""
        with self._lock:
            return self._follow(self._dialogue.on_line(line))

    def _follow(self, exchange: Exchange) -> tuple[Asks, ...]:
        for line in exchange.replies:
            self._send(line)
        return exchange.asks

    def answer(self, asked: Asks, answer: Answer) -> None:
        """Tell the program the answer; what needs a person is kept open until `poll` has one."""
        with self._lock:
            if isinstance(answer, AskPerson):
                self._people.ask(asked)
                return
            for line in self._dialogue.answer(asked, answer):
                self._send(line)

    def read(self, events: Iterable[Event]) -> None:
        """Take in new events of the run: what people have to say."""
        for event in events:
            self._steering.apply(event)

    def poll(self, store: Store) -> None:
        """Ask people, pass on what they answered, and tell the agent their messages.

        Raises StoreFailed and Fenced; what was not done then is done by the next call.
        """
        self._people.poll(store)
        for message in self._steering.of_lane(self._effect.run_lease.lane):
            if not self._tell(message, store):
                return  # it takes none now; the order stays

    def close(self, store: Store) -> None:
        """Close the questions of a program that has ended. Nothing is sent any more."""
        self._people.close(store)

    def _is_open(self, asked: Asks) -> bool:
        """Whether the program still waits for the answer to a request."""
        with self._lock:
            if self._dialogue.is_over:
                return False
            return any(asked.id == each.id for each in self._dialogue.open_requests)

    def _tell(self, message: Message, store: Store) -> bool:
        """Hand the program one message; False where it takes none now."""
        effect = self._effect
        told = _delivery(effect, message)

        def record() -> None:
            event = store.record(
                streams.run(effect.run_id),
                told,
                key=delivery_key(message),
                fence=effect.run_lease.fence,
            )
            self._steering.apply(event)

        with self._lock:
            lines = self._dialogue.steer(message.text, record)
            for line in lines or ():
                self._send(line)
        return lines is not None


def tell_in_prompt(effect: RunAgent, messages: Sequence[Message], store: Store) -> None:
    """Record that an agent is told these messages with its prompt, all of them or none."""
    entries = []
    for message in messages:
        told = _delivery(effect, message, in_prompt=True)
        entries.append(
            Entry(
                stream=streams.run(effect.run_id),
                kind=told.kind,
                body=told,
                key=delivery_key(message),
                fence=effect.run_lease.fence,
            )
        )
    if entries:
        store.append_all(entries)


def _delivery(effect: RunAgent, message: Message, *, in_prompt: bool = False) -> SteerDelivered:
    return SteerDelivered(
        run_id=effect.run_id,
        lane=effect.run_lease.lane,
        id=message.id,
        unit=effect.unit.name,
        agent=effect.agent,
        in_prompt=in_prompt,
    )
