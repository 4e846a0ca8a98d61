"""The agent programs: which are there, do they answer, and is the configured one among them?"""

import os
import shutil
from functools import lru_cache
from pathlib import Path
from shlex import quote

from dos.agents import registry
from dos.agents.adapter import Adapter
from dos.agents.registry import VersionVerdict, judge_version
from dos.config import fix_commands, infer
from dos.config.explain import nearest_name
from dos.config.toml_text import key_text
from dos.doctor.subjects.finding import (
    Finding,
    edit_commands,
    error,
    install_command,
    note,
    warning,
)
from dos.machine import commands
from dos.units.io import sources
from dos.unknown import Unknown
from dos.world import World

# How npm calls them.
_PACKAGES = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
}


_SCRIPT = (
    '`dos.testing.scripted_agent` says what a script holds: [workers] command = ["script.json"].'
)


@lru_cache(maxsize=1)  # asking takes seconds, and the report and the findings both want to know
def versions(world: World) -> dict[str, str | Unknown]:
    """The agent programs on the path, with what they say their versions are."""
    return commands.program_versions(infer.agent_programs())


def examine(world: World) -> list[Finding]:
    return [*_configured(world), *_without_version(world), *untested_versions(world)]


def _without_version(world: World) -> list[Finding]:
    adapters = (_adapter(world, name) for name in _agents_in_use(world))
    used = {adapter.program for adapter in adapters if adapter}
    return [
        warning(
            "AGENT_VERSION_UNREAD",
            f"{program} did not say its version: {version.why}",
            "A program that cannot do that will hardly do more.",
            _npm_command(program),
        )
        for program, version in versions(world).items()
        if isinstance(version, Unknown) and program in used
    ]


def untested_versions(world: World) -> list[Finding]:
    """Only of those that are to be started here: what it prints may have changed since it was last looked at."""
    found = []
    for name in _agents_in_use(world):
        adapter = _adapter(world, name)
        if adapter is None or not adapter.program:
            continue
        told = versions(world).get(adapter.program)
        if not isinstance(told, str):
            continue
        verdict = judge_version(told, adapter.tested)
        if verdict in (VersionVerdict.NEWER, VersionVerdict.OLDER):
            what = f"{adapter.program} is {told.strip()}, {verdict} than the versions that dos was tested with"
            newest = adapter.tested[1]
            why = f"Those are {adapter.tested[0]} to {newest}; what it prints may be read wrongly."
            found.append(
                note(
                    "AGENT_VERSION_UNTESTED", what, why, f"{_npm_command(adapter.program)}@{newest}"
                )
            )
    return found


def _adapter(world: World, name: str) -> Adapter | None:
    kind = world.config.agents[name].adapter if name in world.config.agents else ""
    return registry.find(kind or name) if (kind or name) in registry.names() else None


def _configured(world: World) -> list[Finding]:
    if any(
        problem.key[:1] in ((), ("workers",), ("agents",))
        for problem in world.loaded_config.problems
    ):
        return []  # which one is configured is not known; the problem itself is a finding
    workers = world.config.workers
    known = f"The agents are: {', '.join(registry.names())}; `command` starts any program that reads a task from its stdin."
    config = world.config
    if not all(config.agent_names(lane) for lane in config.roster() or [""]):
        return [
            error(
                "AGENT_UNSET",
                "[workers] agent is not set",
                f"`dos up` has nothing to start. {known}",
                _choose_agent_command(),
            )
        ]
    found = []
    for name in _agents_in_use(world):
        adapter = _adapter(world, name)
        if adapter is None and name not in (workers.agent, *workers.fallback):
            found += [
                _unknown_on_lane(world, lane)
                for lane, agent in config.lanes.agents.items()
                if agent == name
            ]
        elif adapter is None:
            what = f"[workers] agent is {name!r}, and there is none of that name"
            found.append(error("AGENT_UNKNOWN", what, known, _choose_agent_command()))
        else:
            found += _examine_program(world, name, adapter)
    return found


def missing_programs(world: World) -> list[Finding]:
    """Of the agents in use, those whose program is not there. It asks no program for its version."""
    return [found for found in _configured(world) if found.kind == "AGENT_MISSING"]


def _unknown_on_lane(world: World, lane: str) -> Finding:
    key, name = ("lanes", "agents", lane), world.config.lanes.agents[lane]
    what = f"{key_text(key)} is {name!r}, and there is none of that name"
    near = nearest_name(name, [*world.config.agents, *registry.names()])
    fix = fix_commands.set_command(key, near) if near else edit_commands(world).for_key(*key)
    return error(
        "AGENT_UNKNOWN",
        what,
        f"`dos up` refuses to start: {sources.agent_trouble(name, world.config)}.",
        fix,
    )


@lru_cache(maxsize=1)
def _agents_in_use(world: World) -> tuple[str, ...]:
    """Every agent that is to be started here: those that dos.toml names, and those that units ask for."""
    config = world.config
    if (
        config.plans.source != "documents"
    ):  # a program, or a tracker, is asked once, for the plans themselves
        return config.named_agents()
    asked_for = (unit.agent for unit in sources.read(world.workspace, config).units)
    known = (name for name in asked_for if name and not sources.agent_trouble(name, config))
    return tuple(dict.fromkeys((*config.named_agents(), *known)))


def _examine_program(world: World, agent: str, adapter: Adapter) -> list[Finding]:
    own = world.config.agents[agent].command if agent in world.config.agents else ()
    configured = own or (
        world.config.workers.command if adapter.name in registry.CONFIGURED else ()
    )
    edit = edit_commands(world).for_key(
        *(("agents", agent, "command") if own else ("workers", "command"))
    )
    if adapter.name == "scripted":
        unscripted = error(
            "AGENT_MISSING", f"the agent {agent!r} has no script to play", _SCRIPT, edit
        )
        return [] if configured else [unscripted]
    program = configured[0] if configured else adapter.program
    # As a worker would find it: a relative path is one inside its worktree.
    place = Path(world.workspace.root, program) if "/" in program else None
    if not program:
        return []
    if shutil.which(str(place or program)):
        return _examine_committed(world, agent, program)
    if program in _PACKAGES:
        fix = _npm_command(program)
    elif place and place.is_file() and not os.access(place, os.X_OK):
        fix = f"chmod +x {quote(str(place))}"
    else:
        fix = edit
    what = f"the agent {agent!r} starts {program!r}, which is {'no program' if place else 'not on the path'}"
    return [error("AGENT_MISSING", what, "Every iteration would end as launch-failed.", fix)]


def _examine_committed(world: World, agent: str, program: str) -> list[Finding]:
    """A worktree holds what is committed."""
    if (
        "/" not in program
        or Path(program).is_absolute()
        or world.config.workers.isolation == "shared"
    ):
        return []
    if world.workspace.common is None or world.git.run_once("ls-files", "--", program).stdout:
        return []
    what = f"the agent {agent!r} starts {program!r}, which is not in git, so no worktree has it"
    fix = f"git add {quote(program)} && git commit -m 'Add the agent' -- {quote(program)}"
    return [error("AGENT_MISSING", what, "Commit it, or name it by its whole path.", fix)]


def _choose_agent_command() -> str:
    """An agent whose program is there; where there is none, one that can be had."""
    for program in infer.agent_programs():
        return fix_commands.set_command(("workers", "agent"), infer.AGENT_PROGRAMS[program])
    return f"{_npm_command('claude')} && {fix_commands.set_command(('workers', 'agent'), 'claude_code')}"


def _npm_command(program: str) -> str:
    return (
        f"npm install --global {_PACKAGES[program]}"
        if shutil.which("npm")
        else install_command("npm")
    )
