"""One start of a real agent program, as a worker does it: what asks is answered."""

from collections.abc import Callable
from pathlib import Path

from dos.agents import registry
from dos.agents.adapter import Heard, Settings, StreamState
from dos.agents.conversations.dialogue import Dialogue, Exchange
from dos.agents.registry import SafeAdapter, SafeConversation
from dos.machine import execute
from dos.machine.execute import Limits, Output, ProcessResult
from dos.machine.streams import ProgramInput
from dos.permission.ask import Allow, Deny
from dos.sandbox.walls import Walls


class OneAgent:
    """`state` is what it has reported, `heard` everything that it told people meanwhile."""

    def __init__(self, name: str, settings: Settings) -> None:
        self.adapter: SafeAdapter = registry.find(name, settings)
        self.state: StreamState = self.adapter.begin()
        self.heard: list[Heard] = []
        self._settings = settings
        self._answer: Allow | Deny = Allow()
        self._input = ProgramInput(stays_open=True)
        self._dialogue: Dialogue | None = None
        if isinstance(self.adapter, SafeConversation):
            self._dialogue = Dialogue(self.adapter)

    def run(
        self,
        prompt: str,
        tree: Path,
        environment: dict[str, str],
        *,
        seconds: float = 120.0,
        should_stop: Callable[[], bool] = execute.never_stop,
        walls: Walls | None = None,
        answer: Allow | Deny = Allow(),
    ) -> ProcessResult:
        """Until it has ended. It gets the same answer to all that it asks."""
        self._answer = answer
        launch = self.adapter.launch(prompt, self._settings)
        given: str | ProgramInput = launch.stdin
        if self._dialogue is not None:
            given = self._input
            self._follow(self._dialogue.begin(prompt, self._settings))
        return execute.run(
            launch.argv,
            cwd=tree,
            environment=environment | launch.environment,
            limits=Limits(wall_seconds=seconds, should_stop=should_stop, is_over=self._is_over),
            stdin=given,
            output=Output(on_line=self._on_line),
            walls=walls,
        )

    def _is_over(self) -> bool:
        return self._dialogue is not None and self._dialogue.is_over

    def _on_line(self, line: str) -> None:
        if self._dialogue is not None:
            self._follow(self._dialogue.on_line(line))
        else:
            self._take(self.adapter.on_line(self.state, line))

    def _follow(self, exchange: Exchange) -> None:
        assert self._dialogue is not None
        self._take(self._dialogue.state)
        for line in exchange.replies:
            self._input.send(line)
        for asked in exchange.asks:
            for line in self._dialogue.answer(asked, self._answer):
                self._input.send(line)
        if self._dialogue.is_over:
            self._input.close()

    def _take(self, state: StreamState) -> None:
        self.state = state
        self.heard += state.heard
