"""An agent of the fleet may call by MCP what it may call on the command line, and nothing else."""

import os
import subprocess

import pytest
import tool_cases
from mcp_server import Server
from tool_cases import KEY, READING, WRITING, Case

from dos.lease import KEY_VARIABLE

EXIT_CODE = 77
START = Case("start", {"target": 1}, ("up", "--detach", "--target", "1"))
FOR_PEOPLE = {"start", "stop", "answer", "add_unit", "steer"}


def environment(key: str) -> dict[str, str]:
    return {**os.environ, KEY_VARIABLE: key}


@pytest.mark.parametrize("key", [KEY, "of a lease that has ended"])
def test_the_agent_of_a_lane_is_refused_what_is_for_people(tmp_path, key):
    ours, theirs = (tool_cases.make(tmp_path / name, KEY).root for name in ("ours", "theirs"))
    flags = ("--allow-fleet", "--allow-answers", "--workspace", str(ours))
    refused = set()
    with Server(ours, *flags, env=environment(key)) as server:
        for case in (START, *WRITING):
            if case.arguments.get("action") == "wait":  # for what it may not release itself
                continue
            server.call(1, case.tool, **case.given(ours))
            result = server.next()["result"]
            done = subprocess.run(
                case.command(theirs), env=environment(key), capture_output=True, text=True,
                timeout=120,
            )  # fmt: skip
            content = result["structuredContent"]
            assert content["exit_code"] == done.returncode, (case, content, done.stderr)
            if done.returncode != EXIT_CODE:
                continue
            refused.add(case.tool)
            assert not result["isError"]  # a refusal is a result
            assert content["token"] == "not_permitted"
            assert done.stderr.startswith(f"error: {content['error']}")
            assert "is for people" in content["error"] and "Ask a person" in content["hint"]
        assert refused - {"lease"} == FOR_PEOPLE  # and the leases of other lanes
        assert not list((ours / ".git" / "dos").glob("logs/supervisor*")), "nothing was started"


def test_another_workspace_makes_an_agent_no_person(tmp_path):
    ours, other = (tool_cases.make(tmp_path / name, KEY).root for name in ("ours", "other"))
    flags = ("--allow-fleet", "--allow-answers")
    with Server(ours, *flags, env=environment(KEY)) as server:
        for case in (START, *WRITING):
            if case.tool not in FOR_PEOPLE:
                continue
            for place in (str(other), "../../other/repository"):
                server.call(1, case.tool, **case.given(other), workspace=place)
                content = server.next()["result"]["structuredContent"]
                assert content["exit_code"] == EXIT_CODE, (case, place, content)


def test_the_agent_of_a_lane_may_read_and_learns_what_it_may_change(tmp_path):
    root = tool_cases.make(tmp_path, KEY).root
    with Server(root, env=environment(KEY)) as server:
        server.call(1, "lane")
        content = server.next()["result"]["structuredContent"]
        assert (content["kind"], content["lane"], content["tree"]) == ("holder", "one", ["one/**"])
        for case in READING:
            server.call(1, case.tool, **case.given(root))
            assert server.next()["result"]["structuredContent"]["exit_code"] != EXIT_CODE, case


def test_what_a_client_says_of_itself_changes_nothing(tmp_path):
    """Names and keys in a message are words; the server looks at its processes alone."""
    root = tool_cases.make(tmp_path, KEY).root
    with Server(root, "--allow-answers", env=environment(KEY)) as server:
        info = {"name": "a person", "version": "1", KEY_VARIABLE: ""}
        server.request(0, "initialize", protocolVersion="2025-11-25", clientInfo=info)
        server.next()
        meta = {"io.modelcontextprotocol/clientInfo": info, KEY_VARIABLE: "", "user": "root"}
        answer = next(case for case in WRITING if case.tool == "answer" and not case.fails)
        server.request(1, "tools/call", name="answer", arguments=answer.given(root), _meta=meta)
        assert server.next()["result"]["structuredContent"]["exit_code"] == EXIT_CODE
