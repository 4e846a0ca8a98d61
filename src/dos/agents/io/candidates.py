"""The agents of dos.toml, in the order in which they are asked."""

import os
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from dos.agents import logins, registry
from dos.agents.adapter import Adapter, Settings
from dos.agents.logins import Credentials
from dos.agents.policy import Agent
from dos.config.load import FILE_NAME
from dos.config.schema import Config
from dos.config.toml_text import key_text, line_of
from dos.errors import BadInput
from dos.fields import Key
from dos.limits.quota import AgentCandidate
from dos.machine import process
from dos.units.io import sources
from dos.units.unit import Unit


def credentials_fingerprint(vendor: str, environment: Mapping[str, str]) -> Credentials:
    """Changes when somebody logs in on this host; empty for a program whose credentials nobody here knows.

    It tells of each file whether it is there, when it was changed and how large it is: never contents.
    """
    login = logins.LOGINS.get(vendor)
    if login is None:
        return Credentials()
    home = environment.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - there may be no home
    folder = environment.get(login.home_variable) or os.path.join(home, login.home)  # noqa: PTH118
    looks = "\n".join(_file_stamp(Path(folder, name)) for name in login.files)
    return Credentials(host=process.host(), digest=sha256(looks.encode()).hexdigest()[:16])


def credentials_renewed(recorded: Credentials, now: Credentials) -> bool:
    """What another host recorded cannot be compared with what lies here."""
    is_known = bool(recorded.digest and now.digest)
    return is_known and recorded.host == now.host and recorded.digest != now.digest


def _file_stamp(path: Path) -> str:
    try:
        found = path.stat()
    except OSError as error:
        return f"{path.name}: {type(error).__name__}"
    return f"{path.name}: {found.st_mtime_ns} {found.st_size} {found.st_ino}"


class ConfiguredAgent(Struct, frozen=True, kw_only=True):
    candidate: AgentCandidate
    adapter: Adapter
    agent: Agent
    settings: Settings

    def credentials(self) -> Credentials:
        """How the credentials that it would be started with look now."""
        return credentials_fingerprint(
            self.candidate.vendor, {**os.environ, **self.agent.environment}
        )


def check_agents(config: Config, lines: dict[Key, int]) -> None:
    """Raise unless every agent that the file names is known, and every lane has one.

    `lines` are those of the keys that the file sets, for the place in the message.
    """
    if unknown := next(
        (name for name in config.named_agents() if sources.agent_trouble(name, config)), ""
    ):
        key = _setting_that_names(config, unknown)
        line = line_of(lines, key)
        place = f"{FILE_NAME}:{line}: " if line else ""
        raise BadInput(
            f"{place}{key_text(key)} is {unknown!r}, and {sources.agent_trouble(unknown, config)}",
            hint=f"dos config set {key_text(key)} NAME",
        )
    for lane in config.roster() or [""]:
        configured_agents(config, lane)


def _setting_that_names(config: Config, name: str) -> tuple[str, ...]:
    """The first key that names an agent."""
    lanes = (
        ("lanes", "agents", lane) for lane, agent in config.lanes.agents.items() if agent == name
    )
    if name == config.workers.agent:
        return ("workers", "agent")
    return ("workers", "fallback") if name in config.workers.fallback else next(lanes)


def configured_agents(config: Config, lane: str, unit_agent: str = "") -> list[ConfiguredAgent]:
    """Who may work on a lane, in the order in which they are asked; each is known, or this says which is not."""
    if names := config.agent_names(lane, unit_agent):
        return [configured_agent(config, name) for name in names]
    raise _no_agent_error()


def agents_in_use(config: Config, units: Iterable[Unit] = ()) -> list[ConfiguredAgent]:
    """Everybody who may be started here: whom dos.toml names, and whom these units ask for."""
    if not (
        names := dict.fromkeys(
            (*config.named_agents(), *(unit.agent for unit in units if unit.agent))
        )
    ):
        raise _no_agent_error()
    return [
        configured_agent(config, name) for name in names if not sources.agent_trouble(name, config)
    ]


def _no_agent_error() -> BadInput:
    return BadInput(
        "no agent is configured, so there is nobody to do the work",
        hint=f"One of {', '.join(registry.names())}: dos config set workers.agent claude_code",
    )


def configured_agent(config: Config, name: str) -> ConfiguredAgent:
    agent = config.agents.get(name, Agent())
    adapter = registry.find(agent.adapter or name)
    ours = adapter.name in registry.CONFIGURED and not agent.command
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
        settings=Settings(
            command=config.workers.command if ours else agent.command,
            arguments=agent.arguments,
            model=agent.model,
            max_turns=agent.max_turns,
            max_usd=agent.max_usd,
        ),
    )
