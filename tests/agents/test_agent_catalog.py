"""The facts about agent programs: one entry for each, and none of them contradicts its adapter."""

import pytest
from acp_replay import FILES, recorded

from dos.agents import registry
from dos.agents.homes import programs
from dos.agents.io import candidates
from dos.agents.logins import LOGINS
from dos.agents.policy import Agent
from dos.agents.programs import catalog
from dos.agents.programs.catalog import Transport
from dos.agents.registry import SafeConversation
from dos.config.schema import Config
from dos.errors import BadInput
from dos.fields import BadValue

KNOWN = {agent.name: agent for agent in catalog.known_agents()}
WITHOUT_A_PROGRAM = {"command", "scripted", "acp"}
every_agent = pytest.mark.parametrize("agent", KNOWN.values(), ids=KNOWN)


def test_every_adapter_that_has_a_program_is_known():
    assert set(KNOWN) == set(registry.NAMES) - WITHOUT_A_PROGRAM
    assert all(catalog.known_agent(name) is None for name in WITHOUT_A_PROGRAM)


@every_agent
def test_the_adapter_says_the_same(agent):
    adapter = registry.find(agent.name)
    assert (adapter.name, adapter.vendor) == (agent.name, agent.vendor)
    assert (adapter.program, adapter.tested) == (agent.program, agent.tested)
    assert adapter.launch("p", registry.Settings()).argv[0] in (agent.program, "sh")


@every_agent
def test_who_asks_is_talked_with(agent):
    is_conversation = isinstance(registry.find(agent.name), SafeConversation)
    assert is_conversation == (
        agent.transport in (Transport.CONTROL, Transport.APP_SERVER, Transport.ACP)
    )
    if not is_conversation:
        assert agent.asks == (agent.transport is Transport.HOOKS)


@every_agent
def test_it_can_be_installed_and_has_a_home_of_its_own(agent):
    assert agent.title
    assert agent.package is not None
    assert agent.package.registry in ("npm", "PyPI")
    assert agent.name in programs.KNOWN


def test_a_program_is_proposed_under_one_name_and_never_as_a_double():
    proposed = catalog.proposed_programs()
    assert list(proposed)[:4] == ["claude", "codex", "gemini", "opencode"]
    assert not [name for name in proposed.values() if name.endswith("_acp")]
    for program, name in proposed.items():
        assert registry.find(name).program == program


def test_programs_of_one_vendor_share_its_login():
    assert {KNOWN[name].vendor for name in ("claude_acp", "codex_acp", "gemini_acp")} == {
        "anthropic", "openai", "google"
    }  # fmt: skip
    assert {"github", "qwen"} <= set(LOGINS)


def test_a_program_that_is_not_in_the_table_keeps_its_limits_by_its_own_name():
    assert registry.find("acp", agent="kimi").vendor == "kimi"
    assert registry.find("acp", agent="vibe").vendor == "vibe"


@pytest.mark.parametrize("file", [file for file in FILES if file.endswith("_deny")])
def test_each_program_of_the_protocol_offers_to_load_a_session(file):
    offers = [each.message["result"]["agentCapabilities"] for each in recorded(file)
              if "agentCapabilities" in each.message.get("result", {})]  # fmt: skip
    assert offers[0]["loadSession"] is True


def test_any_program_that_speaks_acp_is_configured_by_its_command():
    kimi = Agent(adapter="acp", command=("kimi", "acp"), account="work")
    configured = candidates.configured_agent(Config(agents={"kimi": kimi}), "kimi")
    assert configured.adapter.launch("p", configured.settings).argv == ["kimi", "acp"]
    assert (configured.candidate.vendor, configured.candidate.account) == ("kimi", "work")


def test_without_its_command_nothing_is_started():
    with pytest.raises(BadValue, match="no command to start"):
        Agent(adapter="acp")
    with pytest.raises(BadInput, match="has no command") as raised:
        candidates.configured_agent(Config(), "acp")
    assert raised.value.hint.startswith("dos config set agents.acp.command")
