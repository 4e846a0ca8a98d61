"""Any program: the prompt is its standard input; only its exit code and git tell how it went.

It has no vendor, so no provider's limit applies to it.
"""

from msgspec import structs

from dos.agents import stream
from dos.agents.adapter import AgentOutcome, Clocks, Launch, Settings, StreamState

name = "command"
vendor = ""
program = ""
tested: tuple[str, str] = ("", "")


def launch(prompt: str, settings: Settings) -> Launch:
    """The configured command, unchanged; the prompt is its standard input."""
    return Launch(argv=[*settings.command, *settings.arguments], stdin=prompt)


def begin() -> StreamState:
    """Such a program has begun at once: it prints nothing that would tell when."""
    return StreamState(began=True)


def on_line(state: StreamState, line: str) -> StreamState:
    """The newest line is its claim: such a program has no other way to say what it did."""
    state = stream.next_line(state, line)
    return structs.replace(state, claim=state.last_words)


def outcome(state: StreamState, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    """The ending that the exit code tells.

    A provider's limit is never recognised: the text could be about anything.
    """
    return stream.conclude(state, exit_code, clocks)
