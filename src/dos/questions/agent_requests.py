"""The question about a tool that an agent of the fleet may use only when a person allows it."""

from typing import ClassVar, Self

from dos.agents.conversation import Asks
from dos.choices import ChoiceName
from dos.questions import subject
from dos.questions.question import Choice, Question, question_id
from dos.text import join_some, printable_path, quote_ends, show_name

MOST_PATHS = 50
AGENT_ENDED = "the agent that asked has ended"


class ToolRequested(Question, frozen=True, kw_only=True):
    """An agent wants to use a tool, and waits for the answer. Without one it is denied."""

    about: ClassVar[str] = "tool_requested"
    detail_keys: ClassVar[tuple[str, ...]] = (
        "run_id", "lane", "unit", "agent", "tool", "command", "paths",
    )  # fmt: skip
    is_urgent: ClassVar[bool] = True  # an agent and its lane stand still meanwhile
    run_id: str
    unit: str = ""
    agent: str = ""
    tool: str = ""
    command: str = ""
    paths: tuple[str, ...] = ()

    @classmethod
    def ask(  # noqa: PLR0913
        cls,
        run_id: str,
        start: str,
        asked: Asks,
        *,
        lane: str,
        unit: str,
        agent: str,
        expires_ms: int | None = None,
        ordinal: int = 1,
    ) -> Self:
        """Return the question.

        `start` names the start of the agent in its run, and `ordinal` counts what it asked.
        """
        what = show_name(asked.tool)
        command, paths = asked.named_command, asked.named_paths
        if command:
            what += f" for {quote_ends(command)}"
        elif paths:
            what += f" on {join_some(list(map(printable_path, paths)))}"
        return cls(
            id=question_id(cls.about, f"{run_id}-{start}", ordinal),
            text=f"Agent {agent} on {unit} (lane {lane}) wants to use {what}, and waits for you."
            " Its lane does nothing else meanwhile. Allow it?",
            waits=(subject.RunSubject(run_id),),
            expires_ms=expires_ms,
            run_id=run_id,
            lane=lane,
            unit=unit,
            agent=agent,
            tool=asked.tool,
            command=command,
            paths=paths[:MOST_PATHS],
        )

    @classmethod
    def id_prefix(cls, run_id: str) -> str:
        """What the ids of all these questions of a run begin with."""
        return question_id(cls.about, run_id, 0).removesuffix("0")

    @property
    def choices(self) -> tuple[Choice, ...]:
        tool = show_name(self.tool)
        return (
            Choice(name=ChoiceName.ALLOW, meaning="allow this one call", releases=True),
            Choice(
                name=ChoiceName.ALLOW_RUN,
                meaning=f"allow it, and {tool} without a question until this run ends",
                releases=True,
            ),
            Choice(
                name=ChoiceName.DENY,
                meaning="refuse it; the agent is told so and goes on",
                releases=True,
            ),
        )

    @property
    def otherwise(self) -> str:
        """Without an answer nothing is allowed."""
        return ChoiceName.DENY

    @property
    def settled_choice(self) -> str:
        """Nothing was allowed to an agent that asks no more."""
        return ChoiceName.DENY
