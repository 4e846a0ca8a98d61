"""The agent programs: which are there, do they answer, and is the configured one among them?"""

import shutil
from functools import lru_cache
from pathlib import Path

from dos.agents import registry
from dos.evidence.health.finding import Finding, error, warning
from dos.records.unknown import Unknown
from dos.sources import programs, surroundings
from dos.sources.world import World


@lru_cache(maxsize=1)  # asking takes seconds, and the report and the findings both want to know
def versions(world: World) -> dict[str, str | Unknown]:
    """The agent programs on the path, with what they say their versions are."""
    return programs.versions(surroundings.agent_programs())


def examine(world: World) -> list[Finding]:
    return [*_configured(world), *_silent(world)]


def _silent(world: World) -> list[Finding]:
    return [
        warning(
            "AGENT_VERSION_UNREAD",
            f"{program} did not say its version: {version.why}",
            "A program that cannot do that will hardly do more.",
            f"{program} --version",
        )
        for program, version in versions(world).items()
        if isinstance(version, Unknown)
    ]


def _configured(world: World) -> list[Finding]:
    agent = world.config.workers.agent
    if any(problem.key[:1] in ((), ("workers",)) for problem in world.loaded.problems):
        return []  # which one is configured is not known; the problem itself is a finding
    if not agent:
        choice = _suggestion()
        why = f"`dos up` has nothing to start. The agents are: {', '.join(registry.NAMES)}."
        return [error("AGENT_UNSET", "[workers] agent is not set", why, f"dos config set workers.agent {choice}")]
    if agent not in registry.NAMES:
        what = f"[workers] agent is {agent!r}, and there is none of that name"
        why = f"The agents are: {', '.join(registry.NAMES)}."
        return [error("AGENT_UNKNOWN", what, why, f"dos config set workers.agent {_suggestion()}")]
    return _startable(world, agent)


def _startable(world: World, agent: str) -> list[Finding]:
    program = next((name for name, known in surroundings.AGENT_PROGRAMS.items() if known == agent), "")
    if agent == "command":
        program = world.config.workers.command[0]
    if not program or _found(program, world.workspace.root):
        return []
    what = f"the agent {agent!r} starts {program!r}, which is not on the path"
    return [error("AGENT_MISSING", what, "Every iteration would end as launch-failed.", f"command -v {program}")]


def _found(program: str, root: Path) -> bool:
    """As a worker would find it: a relative path is one inside its worktree."""
    return shutil.which(program if "/" not in program else str(Path(root, program))) is not None


def _suggestion() -> str:
    """An agent that this dos knows and whose program is there."""
    there = [surroundings.AGENT_PROGRAMS[program] for program in surroundings.agent_programs()]
    return next((agent for agent in there if agent in registry.NAMES), "NAME")
