"""The agent programs: those in use are installed, answer, and are of a tested version.

In use is every agent that dos.toml or a unit names. Programs are started only to print their
version, never with a task.
"""

import os
import shutil
from functools import lru_cache
from pathlib import Path
from shlex import quote

from dos.agents import registry
from dos.agents.adapter import Adapter
from dos.agents.programs import acp_programs, catalog
from dos.agents.registry import VersionVerdict, judge_version
from dos.config import fix_commands, scaffold
from dos.config.toml_text import key_text
from dos.doctor.subjects.agent_packages import install_agent_command, node_findings
from dos.doctor.subjects.finding import Finding, edit_commands, error, note, warning
from dos.errors import BadInput
from dos.machine import commands
from dos.text import nearest_names
from dos.units.io import sources
from dos.unknown import Unknown
from dos.world import World

_SCRIPT = (
    'Set [workers] command = ["script.json"]; `dos.testing.scripted_agent` documents the script.'
)
# What the agents that name no program lack without a command, and what to set.
_NEEDS_COMMAND = {
    "scripted": (
        "script",
        _SCRIPT,
    ),
    acp_programs.ANY: (
        "command",
        "Any program that speaks the Agent Client Protocol can be its command.",
    ),
}


@lru_cache(maxsize=1)  # starting the programs takes seconds; the report and the findings need it
def versions(world: World) -> dict[str, str | Unknown]:
    """Return the agent programs on the path, each with the version that it prints.

    They are those that dos may propose, and those in use.
    """
    return commands.program_versions(scaffold.agent_programs() | _programs_in_use(world))


def _programs_in_use(world: World) -> dict[str, str]:
    """The programs that the agents in use would start by their names, each with its location."""
    found = {}
    for adapter in _adapters_in_use(world):
        known = catalog.known_agent(adapter.name)
        if known and known.prints_version:
            path = shutil.which(known.program)
            if path:
                found[known.program] = path
    return found


def _adapters_in_use(world: World) -> list[Adapter]:
    """The adapters of the agents in use, each once; those of unknown agents are left out."""
    adapters = [_adapter(world, name) for name in agents_in_use(world)]
    return list({adapter.name: adapter for adapter in adapters if adapter}.values())


def examine(world: World) -> list[Finding]:
    """Return what is wrong with the agents that would be started here."""
    return [
        *_configured(world),
        *_without_version(world),
        *untested_versions(world),
        *node_findings(_adapters_in_use(world)),
    ]


def _without_version(world: World) -> list[Finding]:
    """The agents in use whose program does not print a version."""
    used = {adapter.program for adapter in _adapters_in_use(world)}
    findings = []
    for program, version in versions(world).items():
        if isinstance(version, Unknown) and program in used:
            what = f"{program} did not print its version: {version.why}"
            why = "A program that cannot print its version is probably not usable."
            fix = install_agent_command(program)
            findings.append(warning("AGENT_VERSION_UNREAD", what, why, fix))
    return findings


def untested_versions(world: World) -> list[Finding]:
    """Return notes on the agents in use whose version dos was not tested with.

    The output of another version may differ from what the adapter can read.
    """
    found = []
    for adapter in _adapters_in_use(world):
        printed = versions(world).get(adapter.program)
        if not isinstance(printed, str):
            continue
        verdict = judge_version(printed, adapter.tested)
        if verdict in (VersionVerdict.NEWER, VersionVerdict.OLDER):
            oldest, newest = adapter.tested
            what = f"{adapter.program} is {printed.strip()}, {verdict} than the tested versions"
            tested = oldest
            if newest != oldest:
                tested = f"{oldest} to {newest}"
            why = f"dos was tested with {tested}; it may misread the output of this version."
            fix = install_agent_command(adapter.program, newest)
            found.append(note("AGENT_VERSION_UNTESTED", what, why, fix))
    return found


def _adapter(world: World, name: str) -> Adapter | None:
    """The adapter of a configured agent. None: there is no adapter of that name."""
    adapter_name = name
    if name in world.config.agents:
        adapter_name = world.config.agents[name].adapter or name
    if adapter_name not in registry.names():
        return None
    return registry.find(adapter_name)


def _configured(world: World) -> list[Finding]:
    """The agents that dos.toml and the plans name, and that cannot be started.

    Nothing is said where dos.toml has errors that concern agents, because the agents in use are
    not known then, and the errors are findings themselves.
    """
    agent_tables = ((), ("workers",), ("agents",))
    if any(problem.key[:1] in agent_tables for problem in world.loaded_config.problems):
        return []
    workers = world.config.workers
    known = (
        f"Available agents: {', '.join(registry.names())};"
        " `command` starts any program that reads a task from its stdin."
    )
    config = world.config
    if not all(config.agent_names(lane) for lane in config.roster() or [""]):
        return [
            error(
                "AGENT_UNSET",
                "[workers] agent is not set",
                f"`dos up` has no agent to start. {known}",
                _choose_agent_command(),
            )
        ]
    found = []
    for name in agents_in_use(world):
        adapter = _adapter(world, name)
        if adapter is None and name not in (workers.agent, *workers.fallback):
            found += [
                _unknown_on_lane(world, lane)
                for lane, agent in config.lanes.agents.items()
                if agent == name
            ]
        elif adapter is None:
            what = f"[workers] agent is {name!r}, which is not an agent"
            found.append(error("AGENT_UNKNOWN", what, known, _choose_agent_command()))
        else:
            found += _examine_program(world, name, adapter)
    return found


def missing_programs(world: World) -> list[Finding]:
    """Return the findings on missing agent programs, without starting any program.

    `dos up` warns of these before it starts workers.
    """
    return [finding for finding in _configured(world) if finding.kind == "AGENT_MISSING"]


def _unknown_on_lane(world: World, lane: str) -> Finding:
    """The error for a lane whose agent does not exist; the fix is the nearest name."""
    key = ("lanes", "agents", lane)
    name = world.config.lanes.agents[lane]
    what = f"{key_text(key)} is {name!r}, which is not an agent"
    near = nearest_names(name, [*world.config.agents, *registry.names()], 1)
    if near:
        fix = fix_commands.set_command(key, near[0])
    else:
        fix = edit_commands(world).for_key(*key)
    return error(
        "AGENT_UNKNOWN",
        what,
        f"`dos up` refuses to start: {sources.agent_trouble(name, world.config)}.",
        fix,
    )


@lru_cache(maxsize=1)
def agents_in_use(world: World) -> tuple[str, ...]:
    """Every agent that may be started here, because dos.toml or a unit names it.

    A unit that names an unknown agent is a problem of its plan, and is left out here. So are plans
    that cannot be read.
    """
    config = world.config
    if config.plans.source != "documents":
        return config.named_agents()  # a command or a tracker is read once, for the plans
    names = list(config.named_agents())
    try:
        units = sources.read(world.workspace, config).units
    except BadInput:  # the finding on the plans says why
        units = ()
    for unit in units:
        if unit.agent and not sources.agent_trouble(unit.agent, config):
            names.append(unit.agent)
    return tuple(dict.fromkeys(names))


def _examine_program(world: World, agent: str, adapter: Adapter) -> list[Finding]:
    """Whether the program that the agent starts exists, can be executed, and is committed.

    The fix installs a known program, makes an existing file executable, or opens the setting.
    """
    key, command = _command(world, agent, adapter)
    edit = edit_commands(world).for_key(*key)
    if adapter.name in _NEEDS_COMMAND and not command:
        missing, why = _NEEDS_COMMAND[adapter.name]
        return [error("AGENT_MISSING", f"the agent {agent!r} has no {missing}", why, edit)]
    if adapter.name == "scripted":
        return []
    program = adapter.program
    if command:
        program = command[0]
    if not program:
        return []
    path = None
    if "/" in program:
        # A worker resolves a relative path inside its worktree.
        path = Path(world.workspace.root, program)
    if shutil.which(str(path or program)):
        return _examine_committed(world, agent, program)
    if catalog.package_of(program):
        fix = install_agent_command(program)
    elif path and path.is_file() and not os.access(path, os.X_OK):
        fix = f"chmod +x {quote(str(path))}"
    else:
        fix = edit
    state = "not on the path"
    if path:
        state = "not an executable file"
    what = f"the agent {agent!r} starts {program!r}, which is {state}"
    why = "Workers cannot start it, so every attempt with it fails."
    return [error("AGENT_MISSING", what, why, fix)]


def _command(world: World, agent: str, adapter: Adapter) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The key that holds the command of an agent, and the command; empty where none is set.

    Returned as the words of the key, then the words of the command.
    """
    if agent in world.config.agents and world.config.agents[agent].command:
        return ("agents", agent, "command"), world.config.agents[agent].command
    if adapter.name in registry.CONFIGURED:
        return ("workers", "command"), world.config.workers.command
    return ("workers", "command"), ()


def _examine_committed(world: World, agent: str, program: str) -> list[Finding]:
    """Whether a program inside the repository is committed.

    A worktree has only committed files, so another program is missing there. In a shared work
    tree, and for a program elsewhere on the disk, that does not matter.
    """
    is_relative = "/" in program and not Path(program).is_absolute()
    if not is_relative or world.config.workers.isolation == "shared":
        return []
    if world.workspace.common is None or world.git.run_once("ls-files", "--", program).stdout:
        return []
    what = f"the agent {agent!r} starts {program!r}, which is not in git, so no worktree has it"
    fix = f"git add {quote(program)} && git commit -m 'Add the agent' -- {quote(program)}"
    return [error("AGENT_MISSING", what, "Commit it, or set an absolute path.", fix)]


def _choose_agent_command() -> str:
    """A command that configures an installed agent, or that installs one first."""
    programs = catalog.proposed_programs()
    for program in scaffold.agent_programs():
        return fix_commands.set_command(("workers", "agent"), programs[program])
    choose = fix_commands.set_command(("workers", "agent"), "claude_code")
    return f"{install_agent_command('claude')} && {choose}"
