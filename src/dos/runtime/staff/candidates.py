"""The agents of dos.toml, in the order in which they are asked."""

import os

from msgspec import Struct

from dos.agents import registry
from dos.agents.adapter import Adapter, Settings
from dos.config.agents import Agent
from dos.config.tables import Config
from dos.errors import BadInput
from dos.plans.limits.quota import Candidate
from dos.runtime.staff import credentials


class Employed(Struct, frozen=True, kw_only=True):
    candidate: Candidate
    adapter: Adapter
    agent: Agent
    settings: Settings

    def login(self) -> str:
        """How the credentials that it would be started with look now."""
        return credentials.fingerprint(self.candidate.vendor, {**os.environ, **self.agent.environment})


def employed(config: Config) -> list[Employed]:
    """The first and those that take over for it; each is known, or this says which is not."""
    workers = config.workers
    if not workers.agent:
        raise BadInput(
            "no agent is configured, so there is nobody to do the work",
            hint=f"One of {', '.join(registry.names())}: dos config set workers.agent claude_code",
        )
    return [_employed(config, name) for name in dict.fromkeys((workers.agent, *workers.fallback))]


def _employed(config: Config, name: str) -> Employed:
    agent = config.agents.get(name, Agent())
    adapter = registry.find(agent.adapter or name)
    ours = adapter.name in registry.CONFIGURED and not agent.command
    return Employed(
        candidate=Candidate(
            name=name, vendor=adapter.vendor, account=agent.account, model=agent.model, max_usd=agent.max_usd
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
