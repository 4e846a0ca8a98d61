"""Any program: the prompt on its standard input, its exit code and git for the rest."""

from msgspec import structs

from dos.agents import stream
from dos.agents.adapter import AgentOutcome, Clocks, Launch, Settings, StreamState

name = "command"
vendor = ""
program = ""
tested: tuple[str, str] = ("", "")


def launch(prompt: str, settings: Settings) -> Launch:
    return Launch(argv=[*settings.command, *settings.arguments], stdin=prompt)


def begin() -> StreamState:
    return StreamState(began=True)


def on_line(state: StreamState, line: str) -> StreamState:
    state = stream.next_line(state, line)
    return structs.replace(state, claim=state.last_words)


def outcome(state: StreamState, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    return stream.conclude(state, exit_code, clocks)
