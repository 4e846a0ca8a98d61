"""What a start of an agent needs besides its home: what it is told, and who judges its requests."""

from collections.abc import Callable

from dos.agents import prompt
from dos.agents.io.candidates import ConfiguredAgent
from dos.config.schema import Config
from dos.fleet.effects import RunAgent
from dos.fleet.io.tool_judge import ToolJudge
from dos.fleet.io.tool_memory import ToolMemory
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

    def prompt(self, effect: RunAgent) -> str:
        """Return what the agent is told to do."""
        globs = effect.lease.region.globs
        if effect.documents:
            lanes, held = self._config.known_lanes(), effect.history
            return prompt.replan_prompt(effect.documents, lanes=lanes, held=held, globs=globs)
        command = self._checks.acceptance(effect.unit)
        return prompt.unit_prompt(
            effect.unit, globs=globs, acceptance=command, history=effect.history
        )

    def judge(self, effect: RunAgent, agent: ConfiguredAgent) -> ToolJudge:
        """Return who judges what the agent asks for."""
        return ToolJudge(
            effect,
            workspace=self._workspace,
            region_globs=self._checks.region_globs(effect.lease),
            enforcement=self._config.enforcement,
            program=agent.adapter.name,
            is_lost=self._is_lost,
            open_store=self._open_store,
        )

    def memory(self, effect: RunAgent) -> ToolMemory:
        """Return what remembers the tool calls of the agent."""
        return ToolMemory(effect.run_id, self._workspace, self._config, open_store=self._open_store)
