"""How an agent program is installed, by the installer that this host has."""

import os
from pathlib import Path

import pytest
import troubles
from troubles import configured, finding, kinds, on_path

from dos.agents.programs import catalog
from dos.doctor.subjects import agent_packages

healthy = troubles.healthy


@pytest.fixture
def host(monkeypatch, tmp_path):
    """A host with these programs and no others."""

    def make(**printed: str) -> Path:
        folder = on_path(monkeypatch, tmp_path, "git", "sh")
        for name, text in printed.items():
            (folder / name).write_text(f"#!/bin/sh\necho '{text}'\n")
            (folder / name).chmod(0o755)
        return folder

    agent_packages._node_version.cache_clear()
    yield make
    agent_packages._node_version.cache_clear()


@pytest.mark.parametrize(
    ("program", "version", "installers", "command"),
    [
        ("qwen", "", {"npm": "11"}, "npm install --global @qwen-code/qwen-code"),
        ("qwen", "0.15", {"npm": "11"}, "npm install --global @qwen-code/qwen-code@0.15"),
        ("aider", "", {"pipx": "1"}, "pipx install aider-chat"),
        ("aider", "0.86", {"uv": "1", "pipx": "1"}, "uv tool install 'aider-chat==0.86.*'"),
        ("mini", "", {"uv": "1"}, "uv tool install --with 'mcp>=2' mini-swe-agent"),
        (
            "mini",
            "",
            {"pipx": "1"},
            "pipx install mini-swe-agent && pipx inject mini-swe-agent 'mcp>=2'",
        ),
    ],
)
def test_a_program_is_installed_by_what_is_there(host, program, version, installers, command):
    host(**installers)
    assert agent_packages.install_agent_command(program, version) == command


@pytest.mark.parametrize(("program", "missing"), [("qwen", "npm"), ("aider", "pipx")])
def test_where_the_installer_is_missing_it_comes_first(host, program, missing):
    host(**{"apt-get": ""})
    assert missing in agent_packages.install_agent_command(program)


@pytest.mark.parametrize(
    ("node", "agent", "is_old"),
    [
        ("v20.20.2", catalog.known_agent("qwen"), True),
        ("v22.1.0", catalog.known_agent("qwen"), False),
        ("v20.20.2", catalog.AIDER, False),
        ("v20.20.2", catalog.OPENCODE, False),
        ("nothing", catalog.known_agent("qwen"), False),
    ],
)
def test_a_node_is_too_old_for_some_programs(host, node, agent, is_old):
    host(node=node)
    found = agent_packages.node_findings([agent])
    assert [finding.kind for finding in found] == (["AGENT_NODE_OLD"] if is_old else [])


def test_a_program_in_use_that_nobody_proposes_is_asked_for_its_version(
    host, healthy, dos, monkeypatch, tmp_path
):
    host(**{"aider": "aider 0.85.1", "claude-agent-acp": "nothing"})
    configured("workers.agent", '"aider"\nfallback = ["claude_acp"]')(
        healthy, monkeypatch, tmp_path
    )
    (Path(os.environ["PATH"]) / "aider").write_text("#!/bin/sh\necho aider 0.85.1\n")
    answer = dos("doctor", "--json")
    assert answer.json["agents"] == {"aider": "0.85.1"}
    assert "AGENT_VERSION_UNTESTED" in kinds(answer)
    assert "AGENT_VERSION_UNREAD" not in kinds(answer), (
        "claude-agent-acp prints none, and is not asked"
    )


def test_a_program_that_speaks_acp_needs_a_command(healthy, dos, monkeypatch, tmp_path):
    configured("workers.agent", '"acp"')(healthy, monkeypatch, tmp_path)
    found = finding(dos("doctor", "--json"), "AGENT_MISSING")
    assert found["what"] == "the agent 'acp' has no command"
