"""Watch an agent whose program asks by hooks, and answer them beside the thread that reads it.

Its program calls a command or a plugin of ours before it uses a tool, and that asks by a socket in
the agent's temporary folder. Whatever keeps an answer away, the call is refused.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self

from msgspec import json, structs

from dos.agenthooks import dialects, socket_protocol
from dos.agenthooks.events import HookEvent, HookVerdict, Moment
from dos.agenthooks.socket_protocol import Request
from dos.agenthooks.verdicts import verdict_of
from dos.agents.adapter import Adapter, Usage
from dos.agents.conversation import Asks
from dos.agents.io.agent_monitor import AgentMonitor
from dos.agents.io.hook_socket import HookSocket
from dos.fleet.effects import RunAgent
from dos.permission.ask import Answer, AskPerson
from dos.permission.io.record import HOOK
from dos.permission.refusals import CANNOT_WAIT, UNKNOWN_EVENT, answer_unjudged
from dos.unknown import Unknown, call_or_unknown

_STATUS = "session.status"  # of the plugin for opencode: what the program does not print


class HookJudge(Protocol):
    """Judges what one agent asks for. Called from any thread."""

    def __call__(self, asked: Asks, via: str = ...) -> Answer:
        """Whether the agent may use the tool."""


# Records a call that was made; the answer may tell the agent that it is stuck.
Memory = Callable[[HookEvent], HookVerdict]


class HookedMonitor(AgentMonitor):
    """Watches an agent that asks by hooks, and answers it."""

    def __init__(
        self,
        adapter: Adapter,
        effect: RunAgent,
        overspent: Callable[[Sequence[Usage]], str],
        judge: HookJudge,
        remember: Memory,
        socket: Path,
        **journal: Any,
    ) -> None:
        super().__init__(adapter, effect, overspent, **journal)
        self._judge = judge
        self._remember = remember
        self._folding = threading.Lock()  # lines and hooks change the same state
        self._open = 0  # requests that are being judged
        self._counting = threading.Lock()
        self._socket = HookSocket(socket, self._answer)

    def __enter__(self) -> Self:
        self._socket.__enter__()
        return super().__enter__()

    def __exit__(self, *ended: object) -> None:
        super().__exit__(*ended)
        self._socket.__exit__(*ended)

    def on_line(self, line: str) -> None:
        with self._folding:
            super().on_line(line)

    def is_asking_person(self) -> bool:
        """Whether a request is open, so that the agent's silence says nothing."""
        return self._open > 0

    def _answer(self, request: Request) -> bytes:
        """The line for one request. Raises BadInput for one that is not understood."""
        if request.ask != "hook":
            raise socket_protocol.unknown_ask(request.ask, ["hook"])
        if request.event.get("hook_event_name") == _STATUS:
            self._report(request.event)
            return socket_protocol.hook_reply("", "")
        event = dialects.parse(request.dialect, request.moment, request.event)
        said = b""
        verdict = self._verdict(request.moment, event)
        if verdict is not None:
            said = dialects.render(request.dialect, request.moment, verdict)
        return socket_protocol.hook_reply(said.decode(), "")

    def _report(self, event: dict[str, Any]) -> None:
        """Fold what a hook reports of its program as a line that the program did not print."""
        self.on_line(json.encode({"type": _STATUS, "status": event.get("status")}).decode())

    def _verdict(self, moment: str, event: HookEvent) -> HookVerdict | None:
        """What is said to a hook, about a call that is about to be made or that was made.

        None: nothing. What an agent says when it stops is not checked here: git is, after it.
        """
        if moment == Moment.PRETOOL:
            if event.moment != moment or not event.tool:
                return verdict_of(UNKNOWN_EVENT)
            with self._asking():
                return self._judged(event)
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

    def _judged(self, event: HookEvent) -> HookVerdict:
        """The judge's answer; where it fails, only a read is allowed."""
        call = event.call()
        asked = Asks(**structs.asdict(call))
        answer = call_or_unknown(partial(self._judge, asked, HOOK))
        if isinstance(answer, AskPerson):
            answer = CANNOT_WAIT
        if isinstance(answer, Unknown):
            answer = answer_unjudged(call, answer.why)
        return verdict_of(answer)
