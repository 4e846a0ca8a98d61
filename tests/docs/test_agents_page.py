"""The page about agent programs says what the table of them says."""

from pathlib import Path

import pytest

from dos.agents.programs import acp_programs, catalog

PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()


def row(agent: catalog.KnownAgent) -> str:
    oldest, newest = agent.tested
    tested = oldest if oldest == newest else f"{oldest} to {newest}"
    return f"| `{agent.name}` | {agent.title} | {tested} | {agent.transport} |"


@pytest.mark.parametrize("agent", catalog.known_agents(), ids=lambda agent: agent.name)
def test_the_page_has_the_facts_of_each_program(agent):
    assert row(agent) in PAGE.splitlines()
    assert PAGE.count(f"| `{agent.name}` |") == 2, "facts, and a note"


@pytest.mark.parametrize("title", acp_programs.UNTESTED)
def test_what_was_not_tested_is_said_to_be_so(title):
    words = ", ".join(f'"{word}"' for word in acp_programs.UNTESTED[title])
    assert f"| {title} | `[{words}]` |" in PAGE.partition("Not tested")[2]
