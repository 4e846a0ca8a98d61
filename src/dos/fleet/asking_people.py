"""Requests of one running agent that only a person can allow.

Each stays open, as a question in the journal, until it is answered, withdrawn, or its time is over;
then it is denied. The first answer in the journal counts. How a program is told, by its pipe or by
its hook, is the matter of who keeps such requests.
"""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from dos.agents.conversation import Asks
from dos.choices import ChoiceName
from dos.errors import Conflict
from dos.fleet.effects import RunAgent
from dos.journal import fold, streams
from dos.journal.backend import Entry
from dos.journal.events.envelope import Fact
from dos.journal.events.limits import RunParked, RunUnparked
from dos.journal.store import Store
from dos.permission import refusals
from dos.permission.ask import Allow, Answer, Deny
from dos.questions import state
from dos.questions.agent_requests import AGENT_ENDED, ToolRequested
from dos.questions.state import AnsweredQuestion, Decisions, OpenQuestion

WITHDRAWN = "the agent does not ask any more"


class Judge(Protocol):
    """Says whether an agent may use a tool. It may be called from any thread."""

    def __call__(self, asked: Asks, via: str = ...) -> Answer:
        """The answer to a request; a refusal is recorded."""

    def after_person(self, asked: Asks, refusal: Deny | None, via: str = ...) -> Allow | Deny:
        """The answer after a person's: their refusal, or what still speaks against it by now."""

    def allow_for_run(self, tool: str) -> None:
        """No person is asked about this tool any more, as long as the run lasts."""


class _Waiting(Struct, kw_only=True):
    """A request that waits for a person, with its question."""

    asked: Asks
    question: ToolRequested | None = None  # None: it is not in the journal yet


class AskingPeople:
    """The requests of one start of an agent that wait for a person.

    `ask` and `is_waiting` may be called from any thread, `poll` and `close` from one.
    """

    def __init__(
        self,
        effect: RunAgent,
        judge: Judge,
        *,
        via: str,
        is_open: Callable[[Asks], bool],
        answer: Callable[[Asks, Allow | Deny], object],
        answer_seconds: float,
    ) -> None:
        """`is_open` says whether the program still waits, and `answer` tells it.

        `via` is how it asks, and a person has `answer_seconds` to answer.
        """
        self._effect = effect
        self._judge = judge
        self._via = via
        self._still_asks = is_open
        self._answer = answer
        self._answer_seconds = answer_seconds
        self._waiting: list[_Waiting] = []
        self._asked_people = 0
        self._parked_ms: int | None = None  # since when people are asked; None: they are not

    @property
    def is_waiting(self) -> bool:
        """Whether a request waits for a person."""
        return any(map(self._is_open, list(self._waiting)))

    def ask(self, asked: Asks) -> None:
        """Keep a request open until `poll` has an answer."""
        self._waiting.append(_Waiting(asked=asked))

    def poll(self, store: Store) -> None:
        """Ask people, and pass on what they answered.

        Raises StoreFailed and Fenced; what was not done then is done by the next call.
        """
        for waiting in list(self._waiting):
            if waiting.question is None:
                self._ask(waiting, store)
            else:
                self._look_for_answer(waiting, waiting.question, store)
        self._unpark(store)

    def close(self, store: Store) -> None:
        """Close the questions of a program that has ended. It is told nothing any more."""
        for waiting in list(self._waiting):
            if waiting.question is not None:
                self._close(waiting, waiting.question, store, AGENT_ENDED)
        self._unpark(store)

    def _is_open(self, waiting: _Waiting) -> bool:
        return self._still_asks(waiting.asked)

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
            answer = self._judge.after_person(waiting.asked, refusal, self._via)
            self._answer(waiting.asked, answer)
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
