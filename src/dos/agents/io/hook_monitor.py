"""Watch an agent whose program asks by hooks, and answer them beside the thread that reads it.

Its program calls a command or a plugin of ours before it uses a tool, and that asks by a socket in
the agent's temporary folder. A hook whose call only a person can allow is held open until
`fleet/asking_people.py` has an answer. Whatever keeps an answer away, the call is refused.
"""

import itertools
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Self

from msgspec import Struct, json, structs

from dos.agenthooks import dialects, socket_protocol
from dos.agenthooks.events import HookEvent, HookVerdict, Moment
from dos.agenthooks.socket_protocol import Request
from dos.agenthooks.verdicts import verdict_of
from dos.agents.adapter import Adapter, Usage
from dos.agents.conversation import Asks
from dos.agents.conversations.dialogue import MOST_OPEN
from dos.agents.homes.hook_wiring import LONGEST_WAIT_SECONDS
from dos.agents.io.agent_monitor import AgentMonitor
from dos.agents.io.hook_socket import Caller, HookSocket
from dos.fleet.asking_people import AskingPeople, Judge
from dos.fleet.effects import RunAgent
from dos.journal.store import Store
from dos.permission.ask import HOOK, Allow, AskPerson, Deny
from dos.permission.refusals import NOT_ANSWERED, UNKNOWN_EVENT, answer_unjudged, too_many
from dos.unknown import Unknown, call_or_unknown

_STATUS = "session.status"  # of the plugin for opencode: what the program does not print


# Records a call that was made; the answer may tell the agent that it is stuck.
Memory = Callable[[HookEvent], HookVerdict]


class _Held(Struct, kw_only=True):
    """A hook that is held open until a person has answered."""

    asked: Asks
    caller: Caller
    answers: queue.SimpleQueue[Allow | Deny]


class HookedMonitor(AgentMonitor):
    """Watches an agent that asks by hooks, and answers it."""

    def __init__(
        self,
        adapter: Adapter,
        effect: RunAgent,
        overspent: Callable[[Sequence[Usage]], str],
        judge: Judge,
        remember: Memory,
        socket: Path,
        *,
        answer_seconds: float,
        **journal: Any,
    ) -> None:
        super().__init__(adapter, effect, overspent, **journal)
        self._judge = judge
        self._remember = remember
        self._folding = threading.Lock()  # lines and hooks change the same state
        self._open = 0  # requests that are being judged
        self._counting = threading.Lock()
        self._ids = itertools.count(1)
        self._held: dict[str, _Held] = {}
        self._holds = True  # hooks; False: the agent has ended
        self._holding = threading.Lock()
        self._people = AskingPeople(
            effect,
            judge,
            via=HOOK,
            is_open=self._is_open,
            answer=self._release,
            answer_seconds=min(answer_seconds, LONGEST_WAIT_SECONDS),
        )
        self._socket = HookSocket(socket, self._answer)

    def __enter__(self) -> Self:
        self._socket.__enter__()
        return super().__enter__()

    def __exit__(self, *ended: object) -> None:
        with self._holding:
            self._holds = False
        super().__exit__(*ended)
        self._let_go(self._all_held)
        self._socket.__exit__(*ended)

    def on_line(self, line: str) -> None:
        with self._folding:
            super().on_line(line)

    def is_asking_person(self) -> bool:
        """Whether a request is open, so that the agent's silence says nothing."""
        return self._open > 0 or self._people.is_waiting

    def poll(self, store: Store) -> None:
        """Read the run's events, and pass on what people answered, while the agent runs."""
        self._let_go([held for held in self._all_held if not held.caller.is_there()])
        super().poll(store)
        if self._done.is_set():
            self._people.close(store)
        else:
            self._people.poll(store)

    def _answer(self, request: Request, caller: Caller) -> bytes:
        """The line for one request. Raises BadInput for one that is not understood."""
        if request.ask != "hook":
            raise socket_protocol.unknown_ask(request.ask, ["hook"])
        if request.event.get("hook_event_name") == _STATUS:
            self._report(request.event)
            return socket_protocol.hook_reply("", "")
        event = dialects.parse(request.dialect, request.moment, request.event)
        said = b""
        verdict = self._verdict(request.moment, event, caller)
        if verdict is not None:
            said = dialects.render(request.dialect, request.moment, verdict)
        return socket_protocol.hook_reply(said.decode(), "")

    def _report(self, event: dict[str, Any]) -> None:
        """Fold what a hook reports of its program as a line that the program did not print."""
        self.on_line(json.encode({"type": _STATUS, "status": event.get("status")}).decode())

    def _verdict(self, moment: str, event: HookEvent, caller: Caller) -> HookVerdict | None:
        """What is said to a hook, about a call that is about to be made or that was made.

        None: nothing. What an agent says when it stops is not checked here: git is, after it.
        """
        if moment == Moment.PRETOOL:
            if event.moment != moment or not event.tool:
                return verdict_of(UNKNOWN_EVENT)
            return self._judged(event, caller)
        if moment == event.moment == Moment.POSTTOOL:
            verdict = call_or_unknown(partial(self._remember, event))
            if isinstance(verdict, HookVerdict):
                return verdict
        return None

    @contextmanager
    def _asking(self) -> Iterator[None]:
        with self._counting:
            self._open += 1
        try:
            yield
        finally:
            with self._counting:
                self._open -= 1

    def _judged(self, event: HookEvent, caller: Caller) -> HookVerdict:
        """The judge's answer, or a person's; where the judge fails, only a read is allowed."""
        call = event.call()
        asked = Asks(**structs.asdict(call), id=str(next(self._ids)))
        with self._asking():
            answer = call_or_unknown(partial(self._judge, asked, HOOK))
            held = self._hold(asked, caller) if isinstance(answer, AskPerson) else None
        if held is not None:
            with caller.waiting():
                answer = held.answers.get()
        if isinstance(answer, Unknown):
            answer = answer_unjudged(call, answer.why)
        return verdict_of(answer)

    @property
    def _all_held(self) -> list[_Held]:
        return list(self._held.copy().values())

    def _hold(self, asked: Asks, caller: Caller) -> _Held:
        """Hold a hook open until it is let go, and have a person asked; one too many is refused."""
        held = _Held(asked=asked, caller=caller, answers=queue.SimpleQueue())
        with self._holding:
            if not self._holds:
                held.answers.put(NOT_ANSWERED)
            elif len(self._held) >= MOST_OPEN:
                held.answers.put(too_many(MOST_OPEN))
            else:
                self._held[asked.id] = held
                self._people.ask(asked)
        return held

    def _is_open(self, asked: Asks) -> bool:
        held = self._held.get(asked.id)
        return held is not None and held.caller.is_there()

    def _release(self, asked: Asks, answer: Allow | Deny) -> None:
        """Let a hook go with its answer, once."""
        held = self._held.pop(asked.id, None)
        if held is not None:
            held.answers.put(answer)

    def _let_go(self, held_ones: Iterable[_Held]) -> None:
        """Let hooks go without an answer."""
        for held in held_ones:
            self._release(held.asked, NOT_ANSWERED)
