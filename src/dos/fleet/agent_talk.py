"""What a worker says to one running agent: answers to its requests, and messages of people.

Whether a request is answered, and by whom, is decided here; `agents/io/conversation_monitor.py`
adds the threads and the pipe, and the simulator drives the same object. A request that needs a
person stays open, as a question in the journal, until it is answered, withdrawn, or its time is
over; then it is denied. The first answer in the journal counts. A message is recorded as delivered
before it is sent, so that no agent is told it twice.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import Struct

from dos.agents.adapter import Settings, StreamState
from dos.agents.conversation import Asks
from dos.agents.conversations.dialogue import Dialogue, Exchange
from dos.choices import ChoiceName
from dos.errors import Conflict
from dos.fleet.effects import RunAgent
from dos.fleet.state.steering import Message, Steering, delivery_key
from dos.journal import fold, streams
from dos.journal.backend import Entry
from dos.journal.events.doors import SteerDelivered
from dos.journal.events.envelope import Event, Fact
from dos.journal.events.limits import RunParked, RunUnparked
from dos.journal.store import Store
from dos.permission import refusals
from dos.permission.ask import Allow, Answer, AskPerson, Deny
from dos.questions import state
from dos.questions.agent_requests import AGENT_ENDED, ToolRequested
from dos.questions.state import AnsweredQuestion, Decisions, OpenQuestion

WITHDRAWN = "the agent does not ask any more"


class Judge(Protocol):
    """Says whether an agent may use a tool. It may be called from any thread."""

    def __call__(self, asked: Asks, via: str = ...) -> Answer:
        """The answer to a request; a refusal is recorded."""

    def after_person(self, asked: Asks, refusal: Deny | None) -> Allow | Deny:
        """The answer after a person's: their refusal, or what still speaks against it by now."""

    def allow_for_run(self, tool: str) -> None:
        """No person is asked about this tool any more, as long as the run lasts."""


class _Waiting(Struct, kw_only=True):
    """A request that waits for a person, with its question."""

    asked: Asks
    question: ToolRequested | None = None  # None: it is not in the journal yet


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
        self._judge = judge
        self._send = send
        self._answer_seconds = answer_seconds
        self._lock = lock
        self._waiting: list[_Waiting] = []
        self._asked_people = 0
        self._parked_ms: int | None = None  # since when people are asked; None: they are not
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
        with self._lock:
            return bool(self._still_waiting())

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
                self._waiting.append(_Waiting(asked=asked))
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
        for waiting in list(self._waiting):
            if waiting.question is None:
                self._ask(waiting, store)
            else:
                self._look_for_answer(waiting, waiting.question, store)
        self._unpark(store)
        for message in self._steering.of_lane(self._effect.run_lease.lane):
            if not self._tell(message, store):
                return  # it takes none now; the order stays

    def close(self, store: Store) -> None:
        """Close the questions of a program that has ended. Nothing is sent any more."""
        for waiting in list(self._waiting):
            if waiting.question is not None:
                self._close(waiting, waiting.question, store, AGENT_ENDED)
        self._unpark(store)

    def _still_waiting(self) -> list[_Waiting]:
        """Those that wait for a person and were not withdrawn."""
        still_open = {asked.id for asked in self._dialogue.open_requests}
        return [waiting for waiting in self._waiting if waiting.asked.id in still_open]

    def _is_open(self, waiting: _Waiting) -> bool:
        with self._lock:
            return waiting in self._still_waiting() and not self._dialogue.is_over

    def _ask(self, waiting: _Waiting, store: Store) -> None:
        """Write the question to the journal, unless the program has withdrawn the request."""
        if not self._is_open(waiting):
            self._waiting.remove(waiting)
            return
        effect = self._effect
        question = ToolRequested.ask(
            effect.run_id,
            f"{effect.iteration}.{effect.attempt}",
            waiting.asked,
            lane=effect.run_lease.lane,
            unit=effect.unit.name,
            agent=effect.agent,
            expires_ms=store.now_ms() + round(self._answer_seconds * 1000),
            ordinal=self._asked_people + 1,
        )
        entries = [state.raise_entry(question)]
        now_ms = store.now_ms()
        if self._parked_ms is None:
            parked = RunParked(
                run_id=effect.run_id,
                lane=effect.run_lease.lane,
                why="decision",
                detail=question.text,
                until_ms=question.expires_ms,
                agent=effect.agent,
            )
            entries.append(self._run_entry(parked))
        store.append_all(entries)
        self._asked_people += 1
        waiting.question = question
        if self._parked_ms is None:
            self._parked_ms = now_ms

    def _unpark(self, store: Store) -> None:
        """Record that the run waits for nobody any more, once that is so."""
        if self._parked_ms is None or any(waiting.question for waiting in self._waiting):
            return
        fact = RunUnparked(
            run_id=self._effect.run_id,
            lane=self._effect.run_lease.lane,
            seconds=max(0, store.now_ms() - self._parked_ms) / 1000,
            agent=self._effect.agent,
        )
        store.append_all([self._run_entry(fact)])
        self._parked_ms = None

    def _run_entry(self, fact: Fact) -> Entry:
        """The entry of a fact of the run, written once for each question."""
        effect = self._effect
        return Entry(
            stream=streams.run(effect.run_id),
            kind=fact.kind,
            body=fact,
            key=f"{fact.kind}/{effect.iteration}.{effect.attempt}.{self._asked_people}",
            fence=effect.run_lease.fence,
        )

    def _look_for_answer(self, waiting: _Waiting, question: ToolRequested, store: Store) -> None:
        """Pass on the answer that counts, or close the question when nobody waits any more."""
        found = _recorded(store, question.id)
        if isinstance(found, AnsweredQuestion):
            self._pass_on(waiting, found)
        elif not self._is_open(waiting):
            self._close(waiting, question, store, WITHDRAWN)
        elif found is not None and (found.raised.expires_ms or 0) <= store.now_ms():
            try:
                store.append_all(state.expiry_entries(found))
            except Conflict:
                return  # somebody was quicker: the next call reads it
            self._look_for_answer(waiting, question, store)

    def _pass_on(self, waiting: _Waiting, answered: AnsweredQuestion) -> None:
        """Answer the request as the journal has it; once, and only if it is still open."""
        refusal = _refusal(answered)
        is_open = self._is_open(waiting)
        if is_open and answered.choice == ChoiceName.ALLOW_RUN:
            self._judge.allow_for_run(waiting.asked.tool)
        if is_open:
            self.answer(waiting.asked, self._judge.after_person(waiting.asked, refusal))
        self._waiting.remove(waiting)

    def _close(self, waiting: _Waiting, question: ToolRequested, store: Store, reason: str) -> None:
        """Close a question that no answer can help any more."""
        found = _recorded(store, question.id)
        if isinstance(found, OpenQuestion):
            try:
                store.append_all(state.expiry_entries(found, reason=reason))
            except Conflict:
                pass  # a person was quicker; nobody waits for it
        self._waiting.remove(waiting)

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


def _recorded(store: Store, question: str) -> OpenQuestion | AnsweredQuestion | None:
    """The question as its own stream has it."""
    known = fold.fold(Decisions(), store.load(streams.decision(question)))
    return known.open.get(question) or known.answered.get(question)


def _refusal(answered: AnsweredQuestion) -> Deny | None:
    """What a person's answer refuses; None: it allows."""
    if not answered.expired and answered.choice in (ChoiceName.ALLOW, ChoiceName.ALLOW_RUN):
        return None
    if answered.expired:
        return refusals.NOT_ANSWERED
    return refusals.denied_by(answered.by)
