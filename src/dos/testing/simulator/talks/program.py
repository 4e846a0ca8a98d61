"""Simulated programs that talk: their line protocol, and what each has asked for."""

from typing import Any

from msgspec import Struct, field

from dos.agents.adapter import AgentOutcome, Clocks, Ending, Launch, Settings, StreamState
from dos.agents.conversation import Asks, Turn
from dos.fleet.agent_talk import AgentTalk
from dos.permission.ask import Allow, Deny
from dos.testing.simulator.world.agent import Agent


class SimulatedConversation:
    """The lines of simulated programs, as an adapter: `ask ID TOOL PATH`, `withdraw ID`."""

    name = "simulated"
    vendor = "simulated"
    program = ""
    tested = ("", "")

    def launch(self, prompt: str, settings: Settings) -> Launch:  # noqa: ARG002
        return Launch(argv=[])

    def open(self, prompt: str, settings: Settings) -> Turn:  # noqa: ARG002
        return Turn(state=StreamState())

    def converse(self, state: Any, line: str) -> Turn:
        match line.split(" "):
            case ["ask", request, tool, path]:
                return Turn(state=state, asks=(Asks(id=request, tool=tool, paths=(path,)),))
            case ["withdraw", request]:
                return Turn(state=state, withdrawn=(request,))
        return Turn(state=state)

    def answer(self, state: Any, asked: Asks, answer: Allow | Deny) -> Turn:
        word = "allow" if isinstance(answer, Allow) else "deny"
        return Turn(state=state, replies=(f"{word} {asked.id}",))

    def steer(self, state: Any, message: str) -> Turn | None:
        return Turn(state=state, replies=(f"message {message}",))

    def is_over(self, state: Any) -> bool:  # noqa: ARG002
        return False

    def outcome(self, state: Any, exit_code: int | None, clocks: Clocks) -> AgentOutcome:  # noqa: ARG002
        return AgentOutcome(ending=Ending.OK)


class Request(Struct, kw_only=True):
    """What a program asked for, and what became of it."""

    tool: str
    path: str
    at: int
    answers: int = 0
    withdrawn: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the program waits for the answer."""
        return not (self.answers or self.withdrawn)


class Program(Struct, kw_only=True):
    """One simulated program that talks, with its side of the conversation."""

    agent: Agent
    talk: AgentTalk | None = None
    requests: dict[str, Request] = field(default_factory=dict)
    last_line_at: int = 0
    read: int = 0  # events of its run

    @property
    def is_blocked(self) -> bool:
        """Whether it waits for an answer before it does anything else."""
        return any(request.is_open for request in self.requests.values())
