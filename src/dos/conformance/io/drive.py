"""Run a program by its adapter, as a worker does, and answer what it asks at once."""

import threading
import uuid
from collections.abc import Callable
from datetime import UTC, datetime

from msgspec import Struct

from dos.agents import registry
from dos.agents.adapter import AgentOutcome, Clocks, Settings, StreamState
from dos.agents.conversation import Asks
from dos.agents.conversations.dialogue import Dialogue, Exchange
from dos.agents.registry import SafeConversation
from dos.conformance.io.scratch import Scratch
from dos.machine import execute
from dos.machine.execute import EndedBy
from dos.machine.streams import ProgramInput
from dos.permission.ask import Allow, Deny

Judge = Callable[[Asks], Allow | Deny]
Tick = Callable[["Drive"], bool]  # called while it runs; True ends it


class Drive(Struct, frozen=True, kw_only=True):
    """What can be seen and done while a program runs."""

    state: Callable[[], StreamState]
    steer: Callable[[str], bool | None]  # None: there is no way to hand it a message


class Driven(Struct, frozen=True, kw_only=True):
    """How a run ended."""

    outcome: AgentOutcome
    state: StreamState
    asked: tuple[Asks, ...]
    ended_by: EndedBy | None
    seconds: float
    last_words: str


class Task(Struct, frozen=True, kw_only=True):
    """What a program is started with."""

    prompt: str
    model: str = ""
    resume: str = ""  # the conversation that it is to continue


def allow_all(_asked: Asks) -> Allow:
    """The judge of a run that is about something else."""
    return Allow()


def never(_drive: Drive) -> bool:
    """The tick of a run that only its end ends."""
    return False


def _record_nothing() -> None:
    """There is no journal for what is said in a trial."""


def drive(
    name: str,
    place: Scratch,
    task: Task,
    *,
    judge: Judge = allow_all,
    tick: Tick = never,
    wall_seconds: float,
) -> Driven:
    """Run one agent program on a task until it ends, a tick ends it, or its time is over.

    Raises BadInput for a name that no adapter has.
    """
    settings = Settings(
        model=task.model,
        directory=str(place.repository),
        session="" if task.resume else str(uuid.uuid4()),
        resume=task.resume,
    )
    adapter = registry.find(name, settings)
    pipe: _Pipe = _Talk(adapter, judge) if isinstance(adapter, SafeConversation) else _Pipe(adapter)
    launch = adapter.launch(task.prompt, settings)
    seen = Drive(state=lambda: pipe.state, steer=pipe.steer)
    done = execute.run(
        launch.argv,
        cwd=place.repository,
        environment={**place.environment, **launch.environment},
        stdin=pipe.begin(task.prompt, settings, launch.stdin),
        limits=execute.Limits(
            wall_seconds=wall_seconds,
            should_stop=lambda: tick(seen),
            is_over=pipe.is_over,
        ),
        output=execute.Output(on_line=pipe.on_line),
    )
    clocks = Clocks(
        ended_at=datetime.now(UTC),
        overtime=done.ended_by is EndedBy.OVERTIME,
        stopped=done.ended_by is EndedBy.STOPPED,
    )
    return Driven(
        outcome=adapter.outcome(pipe.state, done.exit_code, clocks),
        state=pipe.state,
        asked=tuple(pipe.asked),
        ended_by=done.ended_by,
        seconds=done.seconds,
        last_words=last_words(done),
    )


def last_words(done: execute.ProcessResult) -> str:
    """The last line that a program printed."""
    words = [line.strip() for line in done.lines if line.strip()]
    return words[-1][:200] if words else ""


class _Pipe:
    """A program that only prints."""

    def __init__(self, adapter: registry.SafeAdapter) -> None:
        self._adapter = adapter
        self.state = adapter.begin()
        self.asked: list[Asks] = []

    def begin(self, _prompt: str, _settings: Settings, stdin: str) -> str | ProgramInput:
        """Return its input."""
        return stdin

    def on_line(self, line: str) -> None:
        self.state = self._adapter.on_line(self.state, line)

    def steer(self, _message: str) -> bool | None:
        return None

    def is_over(self) -> bool:
        return False


class _Talk(_Pipe):
    """A program that asks, and is answered from the thread that reads its output."""

    def __init__(self, conversation: SafeConversation, judge: Judge) -> None:
        super().__init__(conversation)
        self._dialogue = Dialogue(conversation)
        self._judge = judge
        self._input = ProgramInput(stays_open=True)
        self._lock = threading.RLock()

    def begin(self, prompt: str, settings: Settings, _stdin: str) -> ProgramInput:
        with self._lock:
            self._follow(self._dialogue.begin(prompt, settings))
        return self._input

    def on_line(self, line: str) -> None:
        with self._lock:
            self._follow(self._dialogue.on_line(line))

    def steer(self, message: str) -> bool:
        with self._lock:
            replies = self._dialogue.steer(message, record=_record_nothing)
            if replies is None:
                return False
            self._send(replies)
            return True

    def is_over(self) -> bool:
        return self._dialogue.is_over

    def _follow(self, exchange: Exchange) -> None:
        self._send(exchange.replies)
        for asked in exchange.asks:
            self.asked.append(asked)
            self._send(self._dialogue.answer(asked, self._judge(asked)))
        self.state = self._dialogue.state
        if self._dialogue.is_over:
            self._input.close()

    def _send(self, lines: tuple[str, ...]) -> None:
        for line in lines:
            self._input.send(line)
