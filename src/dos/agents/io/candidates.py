"""The agents that dos.toml configures, in the order in which they are tried.

A lane tries its own agent first, then `[workers] fallback`; a unit may request another agent.
"""

import os
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from msgspec import Struct, structs

from dos.agents import logins, registry
from dos.agents.adapter import Adapter, Settings
from dos.agents.logins import Credentials
from dos.agents.policy import Agent
from dos.agents.programs import acp_programs
from dos.config.load import FILE_NAME
from dos.config.schema import Config
from dos.config.toml_text import key_text, line_of
from dos.errors import BadInput
from dos.fields import Key
from dos.limits.quota import AgentCandidate
from dos.machine import process
from dos.units.io import sources
from dos.units.unit import Unit


class ConfiguredAgent(Struct, frozen=True, kw_only=True):
    """One agent of dos.toml with its adapter, ready to be started."""

    candidate: AgentCandidate
    adapter: Adapter
    agent: Agent
    settings: Settings

    def credentials(self) -> Credentials:
        """The fingerprint of the credentials that a start would use now."""
        environment = {**os.environ, **self.agent.environment}
        return credentials_fingerprint(self.candidate.vendor, environment)


def credentials_fingerprint(vendor: str, environment: Mapping[str, str]) -> Credentials:
    """A digest that changes with every login on this host; empty for an unknown vendor.

    It covers whether each credential file exists, its time and its size, never its content. So a
    new login is noticed without starting the program.
    """
    login = logins.LOGINS.get(vendor)
    if login is None:
        return Credentials()
    home = environment.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - there may be no home
    folder = environment.get(login.home_variable) or os.path.join(home, login.home)  # noqa: PTH118
    stamps = "\n".join(_file_stamp(Path(folder, name)) for name in login.files)
    return Credentials(host=process.host(), digest=sha256(stamps.encode()).hexdigest()[:16])


def credentials_renewed(recorded: Credentials, now: Credentials) -> bool:
    """Whether a login happened since. Fingerprints of different hosts cannot be compared."""
    if not recorded.digest or not now.digest:
        return False
    return recorded.host == now.host and recorded.digest != now.digest


def _file_stamp(path: Path) -> str:
    """The time and size of a credential file, or why it cannot be read."""
    try:
        stat = path.stat()
    except OSError as error:
        return f"{path.name}: {type(error).__name__}"
    return f"{path.name}: {stat.st_mtime_ns} {stat.st_size} {stat.st_ino}"


def check_agents(config: Config, lines: dict[Key, int]) -> None:
    """Raise BadInput unless every agent that the file names is known and every lane has one.

    `lines` are the line numbers of the keys that the file sets, for the message.
    """
    for name in config.named_agents():
        trouble = sources.agent_trouble(name, config)
        if trouble:
            raise _unknown_agent_error(config, lines, name, trouble)
    for lane in config.roster() or [""]:
        configured_agents(config, lane)


def _unknown_agent_error(
    config: Config, lines: dict[Key, int], name: str, trouble: str
) -> BadInput:
    """The error about a setting that names an unknown agent."""
    key = _setting_that_names(config, name)
    location = ""
    line = line_of(lines, key)
    if line:
        location = f"{FILE_NAME}:{line}: "
    return BadInput(
        f"{location}{key_text(key)} is {name!r}, and {trouble}",
        hint=f"dos config set {key_text(key)} NAME",
    )


def _setting_that_names(config: Config, name: str) -> tuple[str, ...]:
    """The first key that names an agent."""
    if name == config.workers.agent:
        return ("workers", "agent")
    if name in config.workers.fallback:
        return ("workers", "fallback")
    lanes = (lane for lane, agent in config.lanes.agents.items() if agent == name)
    return ("lanes", "agents", next(lanes))


def configured_agents(config: Config, lane: str, unit_agent: str = "") -> list[ConfiguredAgent]:
    """The agents that may work on a lane, in the order in which they are tried.

    Raises BadInput when none is configured, or when one is not known.
    """
    names = config.agent_names(lane, unit_agent)
    if not names:
        raise _no_agent_error()
    return [configured_agent(config, name) for name in names]


def agents_in_use(config: Config, units: Iterable[Unit] = ()) -> list[ConfiguredAgent]:
    """Every agent that may be started: those that dos.toml names and those that units request.

    Unknown agents are left out. Raises BadInput when none is named at all.
    """
    requested = [unit.agent for unit in units if unit.agent]
    names = dict.fromkeys((*config.named_agents(), *requested))
    if not names:
        raise _no_agent_error()
    known = [name for name in names if not sources.agent_trouble(name, config)]
    return [configured_agent(config, name) for name in known]


def _no_agent_error() -> BadInput:
    return BadInput(
        "no agent is configured, so no work can be done",
        hint=f"One of {', '.join(registry.names())}: dos config set workers.agent claude_code",
    )


def configured_agent(config: Config, name: str) -> ConfiguredAgent:
    """The agent of this name. Raises BadInput when its adapter is not known."""
    agent = config.agents.get(name, Agent())
    settings = Settings(
        command=agent.command,
        arguments=agent.arguments,
        model=agent.model,
        max_turns=agent.max_turns,
        max_usd=agent.max_usd,
    )
    adapter = registry.find(agent.adapter or name, settings, agent=name)
    if adapter.name == acp_programs.ANY and not agent.command:
        raise BadInput(
            f"agent {name!r} may be any program that speaks ACP, and has no command",
            hint=f'dos config set agents.{name}.command \'["my-agent", "acp"]\'',
        )
    if adapter.name in registry.CONFIGURED and not agent.command:
        settings = structs.replace(settings, command=config.workers.command)
    return ConfiguredAgent(
        candidate=AgentCandidate(
            name=name,
            vendor=adapter.vendor,
            account=agent.account,
            model=agent.model,
            max_usd=agent.max_usd,
        ),
        adapter=adapter,
        agent=agent,
        settings=settings,
    )
