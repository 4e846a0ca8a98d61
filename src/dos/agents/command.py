"""Any program: the prompt on its standard input, its exit code and git for the rest."""

from msgspec import structs

from dos.agents import reading
from dos.agents.adapter import Clocks, Launch, Settings, StreamState
from dos.records.endings import AgentOutcome

name = "command"
vendor = ""
program = ""
tested: tuple[str, str] = ("", "")


def launch(prompt: str, settings: Settings) -> Launch:
    return Launch(argv=[*settings.command, *settings.arguments], stdin=prompt)


def begin() -> StreamState:
    return StreamState(began=True)


def on_line(state: StreamState, line: str) -> StreamState:
    state = reading.next_line(state, line)
    return structs.replace(state, claim=state.last_words)


def outcome(state: StreamState, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    return reading.concluded(state, exit_code, clocks)
