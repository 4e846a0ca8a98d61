"""The official client against a real server: it lists and calls everything, by each protocol."""

import asyncio
import json
from typing import Any

import pytest
import tool_cases
from commanding import command
from tool_cases import READING, WRITING

from dos.mcp.catalog import TOOLS
from dos.mcp.prompts import PROMPTS

pytestmark = pytest.mark.soak  # the client takes longer to import than all else to run


@pytest.fixture
def root(tmp_path):
    """One for each protocol: a second client would find what the first one has added."""
    return tool_cases.make(tmp_path).root


async def use(root: Any, mode: str) -> str:
    """Do all that a client can do, and return the version that the two agreed on."""
    from mcp import Client, StdioServerParameters

    program, *words = command("mcp", "--allow-fleet", "--allow-answers")
    server = StdioServerParameters(command=program, args=words, cwd=str(root))
    async with Client(server, mode=mode) as client:
        assert client.server_info.name == "dos"
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == list(TOOLS)
        for case in (*READING, *WRITING):
            # The client itself holds the answer to the schema of the tool.
            result = await client.call_tool(case.tool, case.given(root))
            assert result.structured_content["exit_code"] is not None, case
            assert json.loads(result.content[0].text) == result.structured_content
            assert result.is_error == (case.fails and result.structured_content["exit_code"] == 2)
        for resource in (await client.list_resources()).resources:
            contents = (await client.read_resource(resource.uri)).contents
            assert contents[0].text and contents[0].mime_type == resource.mime_type
        templates = (await client.list_resource_templates()).resource_templates
        assert len(templates) == 3
        run = (await client.read_resource(f"dos://runs/{tool_cases.LOOP}")).contents[0]
        assert json.loads(run.text)["run_id"] == tool_cases.LOOP
        for prompt in (await client.list_prompts()).prompts:
            given = {argument.name: "x" for argument in prompt.arguments or []}
            got = await client.get_prompt(prompt.name, given)
            assert got.messages[0].content.text
        assert len((await client.list_prompts()).prompts) == len(PROMPTS)
        slow = asyncio.create_task(client.call_tool("wait", {"seconds": 50}))
        assert not (await client.call_tool("lane", {})).is_error  # while the other one waits
        slow.cancel()
        assert not (await client.call_tool("lane", {})).is_error
        return str(client.protocol_version)


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_official_client_can_use_everything(root, mode, version):
    assert asyncio.run(asyncio.wait_for(use(root, mode), 240)) == version
