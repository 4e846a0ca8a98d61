"""The captured output of the real programs, and clocks to judge it by."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from dos.agents.adapter import Adapter, AgentOutcome, Clocks, Heard, StreamState

FOLDER = Path(__file__).parent.parent / "fixtures" / "agents"
NOW = datetime(2026, 11, 15, 14, 0, 20, tzinfo=UTC)  # a Sunday
ENDED = Clocks(ended_at=NOW)
SILENT = Clocks(ended_at=NOW, silent=True)
ADAPTERS = {
    "claude": "claude_code",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "pi": "pi",
    "mini": "mini_swe_agent",
    "aider": "aider",
}


def lines(file: str) -> list[str]:
    return (FOLDER / file).read_text(encoding="utf-8").splitlines()


def adapter_of(file: str) -> str:
    return ADAPTERS[file.partition("-")[0]]


def states(adapter: Adapter, said: Sequence[str]) -> Iterator[StreamState]:
    """Before the first line, and after each."""
    state = adapter.begin()
    yield state
    for line in said:
        state = adapter.on_line(state, line)
        yield state


def after(adapter: Adapter, said: Sequence[str]) -> StreamState:
    return list(states(adapter, said))[-1]


def ended(
    adapter: Adapter, said: Sequence[str], exit_code: int | None, clocks: Clocks
) -> AgentOutcome:
    return adapter.outcome(after(adapter, said), exit_code, clocks)


def heard(adapter: Adapter, said: Sequence[str]) -> list[Heard]:
    return [event for state in states(adapter, said) for event in state.heard]
