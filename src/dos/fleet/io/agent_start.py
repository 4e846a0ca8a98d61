"""What a start of an agent needs besides its home: what it is told, and who judges its requests."""

from collections.abc import Callable, Sequence

from dos.agents import prompt
from dos.config.schema import Config
from dos.fleet.agent_talk import tell_in_prompt
from dos.fleet.effects import RunAgent
from dos.fleet.io.tool_judge import ToolJudge
from dos.fleet.io.tool_memory import ToolMemory
from dos.fleet.state.steering import Message, Steering, prompt_notes
from dos.journal.store import Store
from dos.landing.checks import Checks
from dos.workspace import Workspace


class AgentStarts:
    """Prompts and judges for the agents that one worker starts."""

    def __init__(
        self,
        workspace: Workspace,
        config: Config,
        checks: Checks,
        *,
        is_lost: Callable[[], bool],
        open_store: Callable[[], Store],
    ) -> None:
        self._workspace = workspace
        self._config = config
        self._checks = checks
        self._is_lost = is_lost
        self._open_store = open_store
        self._allowed: dict[str, set[str]] = {}  # by run: tools that a person allowed in it
        self._told: dict[str, tuple[Message, ...]] = {}  # by start, of the newest one

    def take_messages(
        self, effect: RunAgent, steering: Steering, store: Store
    ) -> tuple[Message, ...]:
        """Return what people said to the lane, and record that this agent is told it.

        A start that is repeated because the journal did not answer is told the same.
        """
        start = f"{effect.run_id}/{effect.iteration}.{effect.attempt}"
        if start not in self._told:
            self._told = {start: steering.of_lane(effect.run_lease.lane)}
        messages = self._told[start]
        tell_in_prompt(effect, messages, store)
        return messages

    def prompt(self, effect: RunAgent, messages: Sequence[Message] = ()) -> str:
        """Return what the agent is told to do, with what people said before it began."""
        globs = effect.lease.region.globs
        notes = prompt_notes(messages, effect.unit.name)
        if effect.documents:
            lanes, held = self._config.known_lanes(), effect.history
            return prompt.replan_prompt(
                effect.documents, lanes=lanes, held=held, globs=globs, messages=notes
            )
        command = self._checks.acceptance(effect.unit)
        return prompt.unit_prompt(
            effect.unit,
            globs=globs,
            acceptance=command,
            history=effect.history,
            messages=notes,
        )

    def judge(self, effect: RunAgent) -> ToolJudge:
        """Return who judges what the agent asks for."""
        return ToolJudge(
            effect,
            workspace=self._workspace,
            region_globs=self._checks.region_globs(effect.lease),
            enforcement=self._config.enforcement,
            is_lost=self._is_lost,
            open_store=self._open_store,
            allowed=self._allowed.setdefault(effect.run_id, set()),
        )

    def memory(self, effect: RunAgent) -> ToolMemory:
        """Return what remembers the tool calls of the agent."""
        return ToolMemory(effect.run_id, self._workspace, self._config, open_store=self._open_store)
