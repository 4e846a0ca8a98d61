"""The MCP Inspector lists and calls everything, on pipes and over HTTP."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from commanding import command
from installing import START_SECONDS, Unavailable, path_of
from programs import Program
from sample_repository import Repository

from dos.mcp.catalog import TOOLS, Permits, offered
from dos.mcp.prompts import PROMPTS
from dos.mcp.resources import RESOURCES
from dos.server.io.location import Location

pytestmark = pytest.mark.programs

INSPECTOR = Program(
    name="inspector",
    package="@modelcontextprotocol/inspector",
    version="2.12.0",
    program="mcp-inspector",
    settings=lambda _url: {},
    write=lambda _path, _text: {},
)
ARGUMENTS: dict[str, dict[str, Any]] = {
    "verify": {"plan": "DEMO", "phase": "A1"},
    "log": {"lane": "one"},
    "wait": {"seconds": 0},
    "claim": {"unit": "DEMO/A1"},
    "check_reason": {"reason_class": "LANE_HELD"},
    "recall": {"name": "start"},
    "status": {"run_id": "RID-0MC0FFEE00000AB"},
    "pickable": {"unit": "DEMO/A1"},
    "cooldown": {"unit": "DEMO/A1"},
    "reconcile": {"unit": "DEMO/A1", "claimed_done": True},
    "lease": {"action": "acquire", "lane": "one", "owner": "me"},
    "attempt": {"unit": "DEMO/A2", "outcome": "drained"},
    "decide": {"run_id": "RID-0MC0FFEE00000AB", "outcome": json.dumps({"kind": "SHIPPED"})},
    "answer": {"id": "1", "choice": "retry"},
    "stop": {},
    "add_unit": {"unit": "DEMO/C1", "title": "fourth"},
    "steer": {"run": "one", "message": "Keep it simple."},
}
REFUSED = {"answer", "recall", "steer"}  # there is no such thing here


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


class Inspector:
    """Runs the program with one method; `target` is a command, or an address and its options."""

    def __init__(self, target: list[str]) -> None:
        try:
            self._words = [str(path_of(INSPECTOR)), "--cli", *target]
        except Unavailable as error:
            pytest.skip(str(error))

    def ask(self, method: str, *words: str) -> dict[str, Any]:
        done = subprocess.run(
            [*self._words, "--method", method, *words],
            capture_output=True, text=True, timeout=START_SECONDS,
        )  # fmt: skip
        assert "Schema portability" not in done.stderr, done.stderr  # any program can read them
        assert done.stdout, done.stderr
        return dict(json.loads(done.stdout))

    def call(self, tool: str) -> dict[str, Any]:
        pairs = [
            f"{name}={value if isinstance(value, str) else json.dumps(value)}"
            for name, value in ARGUMENTS.get(tool, {}).items()
        ]
        words = ["--tool-name", tool]
        for pair in pairs:
            words += ["--tool-arg", pair]
        return self.ask("tools/call", *words)


def check(inspector: Inspector, permits: Permits) -> None:
    """Do everything that the program can."""
    names = [tool.name for tool in offered(permits)]
    listed = inspector.ask("tools/list")["tools"]
    assert [tool["name"] for tool in listed] == names
    for name in names:
        if name == "start":  # a fleet is started elsewhere
            continue
        result = inspector.call(name)
        assert result.get("isError", False) == (name in REFUSED), (name, result)
        assert result["structuredContent"]["exit_code"] >= 0
    listed = inspector.ask("resources/list")["resources"]
    assert [each["uri"] for each in listed] == [each.uri for each in RESOURCES]
    for each in listed:
        (content,) = inspector.ask("resources/read", "--uri", each["uri"])["contents"]
        assert content["text"] and content["mimeType"] == each["mimeType"]
    assert len(inspector.ask("resources/templates/list")["resourceTemplates"]) == 3
    listed = inspector.ask("prompts/list")["prompts"]
    assert [each["name"] for each in listed] == [each.name for each in PROMPTS]
    words = ["--prompt-name", "verify_a_claim", "--prompt-args", "plan=DEMO", "phase=A1"]
    (message,) = inspector.ask("prompts/get", *words)["messages"]
    assert "Is DEMO/A1 done?" in message["content"]["text"]


def test_the_inspector_can_use_everything_on_pipes(repository):
    script = repository.home / "serve"
    words = " ".join(command("mcp", "--allow-fleet", "--allow-answers"))
    script.write_text(f"#!/bin/sh\ncd {repository.root} && exec {words}\n")
    script.chmod(0o755)
    check(Inspector([str(script)]), Permits(fleet=True, answers=True))
    assert set(ARGUMENTS) <= set(TOOLS)


def test_the_inspector_can_use_what_the_server_offers_over_http(repository):
    """Only what reads: a port does not know by which process it is asked."""
    with subprocess.Popen(
        command("--workspace", str(repository.root), "serve", "--json"),
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            url = json.loads(server.stdout.readline())["address"].rstrip("/")
            token = Location(repository.root / ".git" / "dos").token()
            header = ["--header", f"Authorization: Bearer {token}"]
            check(Inspector([f"{url}/mcp", *header]), Permits(records=False, callers=False))
            with pytest.raises(AssertionError):  # without the token it learns nothing
                Inspector([f"{url}/mcp"]).ask("tools/list")
        finally:
            server.terminate()
