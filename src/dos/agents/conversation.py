"""Two-way agent programs: they ask before they act, on the pipe that their worker reads.

A conversation is pure, like an adapter: it turns lines into a state and into lines to send. Who
judges a request and who writes to the pipe is not its concern, so the simulator can drive it:
`conversations/dialogue.py` sees to it that each request gets one answer.
"""

from typing import Any, Protocol

from msgspec import Struct

from dos.agents.adapter import AgentOutcome, Clocks, Launch, Settings, StreamState
from dos.permission.ask import Allow, Deny
from dos.permission.call import ToolCall


class Asks(ToolCall, frozen=True, kw_only=True):
    """The program wants to use a tool, and waits for an answer."""

    id: str = ""  # the program's own name for the request


class Turn(Struct, frozen=True, kw_only=True):
    """What one line changed: the new state, what is asked, what to send at once.

    What people hear is in `state.heard`, as with every adapter.
    """

    state: StreamState
    asks: tuple[Asks, ...] = ()
    withdrawn: tuple[str, ...] = ()  # ids of requests that need no answer any more
    replies: tuple[str, ...] = ()  # lines for the program's input, without their ends
    # Requests that nobody has to judge, each by its id with the line that refuses it.
    refused: tuple[tuple[str, str], ...] = ()


class Conversation(Protocol):
    """An adapter that talks: `open` and `converse` stand for `begin` and `on_line`.

    A request whose line cannot be read is answered by `converse` itself, with a refusal. An answer
    is an `Allow` or a `Deny` here: what a person has to decide stays open until one has.
    """

    name: str
    vendor: str
    program: str
    tested: tuple[str, str]

    def launch(self, prompt: str, settings: Settings) -> Launch:
        """The command that starts the program; its input stays open, and `stdin` is not used."""

    def open(self, prompt: str, settings: Settings) -> Turn:
        """The first lines to send, before the program has printed anything."""

    def converse(self, state: Any, line: str) -> Turn:
        """The state after one more line, with what it asks and what is to be sent at once."""

    def answer(self, state: Any, asked: Asks, answer: Allow | Deny) -> Turn:
        """Tell the program whether it may. Every request is answered exactly once."""

    def steer(self, state: Any, message: str) -> Turn | None:
        """Hand a running program one more message; None: it takes none now."""

    def is_over(self, state: Any) -> bool:
        """Whether its work has ended: its input is closed, and soon it is ended."""

    def outcome(self, state: Any, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
        """How a program ended whose output led to this state."""
