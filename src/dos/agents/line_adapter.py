"""Adapters of the first form, which other packages may still have: what a line means, and how all lines end."""

from collections import deque
from collections.abc import Sequence
from typing import Protocol

from msgspec import field, structs

from dos.agents import stream
from dos.agents.adapter import (
    Activity,
    AgentOutcome,
    Clocks,
    Heard,
    Launch,
    Settings,
    StreamState,
    Usage,
    Used,
    Waiting,
)

LINES_KEPT = 20_000


class LineAdapter(Protocol):
    name: str
    vendor: str
    program: str
    tested: tuple[str, str]

    def launch(self, prompt: str, settings: Settings) -> Launch: ...

    def parse(self, line: str) -> tuple[Heard, ...]: ...

    def outcome(
        self, lines: Sequence[str], exit_code: int | None, clocks: Clocks
    ) -> AgentOutcome: ...


class State(StreamState, frozen=True, kw_only=True):
    """Unlike those of our own it is kept in one place: a copy of so many lines for each line would be dear."""

    lines: deque[str] = field(default_factory=lambda: deque(maxlen=LINES_KEPT))
    count: int = 0  # of all lines, also of those that are not kept
    wholes: dict[str, Usage] = field(
        default_factory=dict
    )  # the newest word about all that was used, by model


class Folded:
    """Such an adapter as a fold."""

    def __init__(self, adapter: LineAdapter) -> None:
        self._adapter = adapter
        self.name, self.vendor, self.program = adapter.name, adapter.vendor, adapter.program
        self.tested = adapter.tested

    def launch(self, prompt: str, settings: Settings) -> Launch:
        return self._adapter.launch(prompt, settings)

    def begin(self) -> State:
        return State()

    def on_line(self, state: State, line: str) -> State:
        state.lines.append(line)
        state = structs.replace(stream.next_line(state, line), count=state.count + 1)
        heard = self._adapter.parse(line)
        for each in heard:
            state = _with(state, each)
        return structs.replace(
            state, heard=tuple(each for each in heard if isinstance(each, Activity | Waiting))
        )

    def outcome(self, state: State, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
        """Its last lines may not tell of all that it used: then what was heard as it went does."""
        ended = self._adapter.outcome(list(state.lines), exit_code, clocks)
        if state.count <= LINES_KEPT or not state.usage:
            return ended
        return structs.replace(ended, usage=state.usage)


def _with(state: State, heard: Heard) -> State:
    if isinstance(heard, Waiting):
        return structs.replace(state, waiting=heard)
    state = structs.replace(state, waiting=None)
    if not isinstance(heard, Used):
        return state
    if heard.whole:
        wholes = {**state.wholes, heard.usage.model: heard.usage}
        return structs.replace(
            state, wholes=wholes, counted=wholes, parts={}
        )  # whatever was counted is in it
    return stream.uses(state, heard.usage, part=heard.part or None)
