"""The agent programs: which are there, do they answer, and is the configured one among them?"""

import os
import shutil
from functools import lru_cache
from pathlib import Path
from shlex import quote

from dos.agents import registry
from dos.config import commands
from dos.evidence.health.commands import editing, install
from dos.evidence.health.finding import Finding, error, warning
from dos.records.unknown import Unknown
from dos.sources import programs, surroundings
from dos.sources.world import World

# How npm calls them.
_PACKAGES = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
}
# Those that read a task from their standard input and do it without asking: the agent `command` can start them.
_COMMANDS = {
    "claude": ["claude", "-p", "--permission-mode", "acceptEdits", "--allowedTools", "Bash,Write,Edit"],
    "codex": ["codex", "exec", "--dangerously-bypass-approvals-and-sandbox", "-"],
}


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
            _installed(program),
        )
        for program, version in versions(world).items()
        if isinstance(version, Unknown)
    ]


def _configured(world: World) -> list[Finding]:
    agent = world.config.workers.agent
    if any(problem.key[:1] in ((), ("workers",)) for problem in world.loaded.problems):
        return []  # which one is configured is not known; the problem itself is a finding
    if agent in registry.NAMES:
        return _startable(world, agent)
    known = (
        f"The agents are: {', '.join(registry.NAMES)}; `command` starts any program that reads a task from its stdin."
    )
    if not agent:
        return [
            error("AGENT_UNSET", "[workers] agent is not set", f"`dos up` has nothing to start. {known}", _choice())
        ]
    what = f"[workers] agent is {agent!r}, and there is none of that name"
    return [error("AGENT_UNKNOWN", what, known, _choice())]


def _startable(world: World, agent: str) -> list[Finding]:
    program = next((name for name, known in surroundings.AGENT_PROGRAMS.items() if known == agent), "")
    if agent == "command":
        program = world.config.workers.command[0]
    # As a worker would find it: a relative path is one inside its worktree.
    place = Path(world.workspace.root, program) if "/" in program else None
    if not program or shutil.which(str(place or program)):
        return []
    if program in _PACKAGES:
        fix = _installed(program)
    elif place and place.is_file() and not os.access(place, os.X_OK):
        fix = f"chmod +x {quote(str(place))}"
    else:
        fix = editing(world).at("workers", "command")
    what = f"the agent {agent!r} starts {program!r}, which is {'no program' if place else 'not on the path'}"
    return [error("AGENT_MISSING", what, "Every iteration would end as launch-failed.", fix)]


def _choice() -> str:
    """An agent whose program is there; where there is none, the first step to one."""
    there = surroundings.agent_programs()
    for program in there:
        if (agent := surroundings.AGENT_PROGRAMS[program]) in registry.NAMES:
            return commands.put(("workers", "agent"), agent)
    for program in there:
        if program in _COMMANDS:
            line = commands.put(("workers", "command"), _COMMANDS[program])
            return f"{line} && {commands.put(('workers', 'agent'), 'command')}"
    return _installed("claude")


def _installed(program: str) -> str:
    return f"npm install --global {_PACKAGES[program]}" if shutil.which("npm") else install("npm")
