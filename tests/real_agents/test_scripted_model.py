"""The scripted model speaks four protocols, and keeps to its script in all of them."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer
from patience import PATIENCE

TOOL = Path(__file__).parents[2] / "tools" / "scripted_model.py"
CALLS_SERVER = {"tool": "verify", "server": "dos", "with": {"plan": "P"}}
SCRIPT = {
    "match": [
        {"if": ["both", "of these"], "steps": [{"say": "matched"}]},
        {"if": "another one", "steps": [{"tool": "edit", "with": {"path": "a.txt"}}]},
        {
            "prompt": "by its prompt",
            "steps": [
                {"calls": [{"bash": "first"}, {"bash": "second"}]},
                {"say": "halfway"},
                {"bash": "third"},
            ],
        },
        {"if": "ask the server", "steps": [CALLS_SERVER, {"say": "asked"}]},
    ],
    "default": [
        {"status": 429, "message": "not now", "times": 2, "headers": {"retry-after": "7"}},
        {"bash": "date"},
        {"say": "done"},
    ],
}
RESPONSES_RESULT = {"type": "function_call_output", "output": "told"}
Message = dict[str, Any]


def anthropic(prompt: str, results: int, streamed: bool) -> tuple[str, Message]:
    result = {"type": "tool_result", "content": [{"type": "text", "text": "told"}]}
    answered = [{"role": "user", "content": [result]}] * results
    messages = [{"role": "user", "content": prompt}, *answered]
    return "/v1/messages", {
        "messages": messages,
        "tools": [{"name": "Bash", "input_schema": {}}],
        "stream": streamed,
    }


def responses(prompt: str, results: int, streamed: bool) -> tuple[str, Message]:
    spoken = [{"type": "message", "content": prompt}, *[RESPONSES_RESULT] * results]
    return "/v1/responses", {
        "input": spoken,
        "tools": [{"type": "function", "name": "shell_command"}],
        "stream": streamed,
    }


def chat(prompt: str, results: int, streamed: bool) -> tuple[str, Message]:
    messages = [
        {"role": "user", "content": prompt},
        *[{"role": "tool", "content": "told"}] * results,
    ]
    tools = [{"type": "function", "function": {"name": "bash"}}]
    return "/v1/chat/completions", {"messages": messages, "tools": tools, "stream": streamed}


def gemini(prompt: str, results: int, streamed: bool) -> tuple[str, Message]:
    part = {"functionResponse": {"name": "any", "response": {"output": "told"}}}
    contents = [{"parts": [{"text": prompt}]}, *[{"parts": [part]}] * results]
    tools = [{"functionDeclarations": [{"name": "run_shell_command"}]}]
    verb = "streamGenerateContent?alt=sse" if streamed else "generateContent"
    return f"/v1beta/models/any:{verb}", {"contents": contents, "tools": tools}


PROTOCOLS = pytest.mark.parametrize(
    "protocol", [anthropic, responses, chat, gemini], ids=lambda each: each.__name__
)
STREAMED = pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])


@pytest.fixture
def model(tmp_path) -> Iterator[ModelServer]:
    model = ModelServer(tmp_path, SCRIPT)
    yield model
    model.stop()


def ask(model: ModelServer, path: str, body: Message) -> tuple[int, str]:
    request = urllib.request.Request(model.url + path, json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        assert error.headers["retry-after"] == "7"
        return error.code, error.read().decode()


@PROTOCOLS
@STREAMED
def test_refusals_are_counted_and_then_the_other_steps_move_up(model, protocol, streamed):
    asked = [ask(model, *protocol("go", 0, streamed)) for _ in range(3)]
    assert [status for status, _ in asked] == [429, 429, 200]
    assert "not now" in asked[0][1]
    assert "date" in asked[2][1]
    assert model.refusals() == 2
    assert "done" in ask(model, *protocol("go", 1, streamed))[1]
    assert "done" in ask(model, *protocol("go", 5, streamed))[1]


@PROTOCOLS
def test_an_if_of_several_parts_wants_all_of_them(model, protocol):
    assert "matched" in ask(model, *protocol("both … of these", 0, True))[1]
    assert ask(model, *protocol("both", 0, True))[0] == 429


@PROTOCOLS
def test_any_tool_of_the_agents_own_can_be_called(model, protocol):
    answer = ask(model, *protocol("another one", 0, False))[1]
    assert "edit" in answer
    assert "a.txt" in answer


@PROTOCOLS
def test_a_side_request_without_tools_takes_no_step(model, protocol):
    path, body = protocol("go", 0, False)
    assert ask(model, path, {**body, "tools": []})[0] == 200
    assert model.refusals() == 0


@PROTOCOLS
def test_several_calls_in_one_answer_wait_for_all_their_results(model, protocol):
    both = ask(model, *protocol("by its prompt", 0, True))[1]
    assert "first" in both
    assert "second" in both
    assert "second" in ask(model, *protocol("by its prompt", 1, True))[1]
    assert "halfway" in ask(model, *protocol("by its prompt", 2, True))[1]


def test_what_was_said_is_not_said_again(model):
    path, body = anthropic("by its prompt", 2, False)
    said = {"role": "assistant", "content": [{"type": "text", "text": "halfway"}]}
    body["messages"] += [said, {"role": "user", "content": "continue"}]
    assert "third" in ask(model, path, body)[1]


def test_a_prompt_tells_a_sub_agent_from_the_agent_that_started_it(model):
    path, body = anthropic("something else", 0, False)
    started = {"type": "tool_use", "id": "t1", "name": "Agent", "input": "by its prompt"}
    body["messages"].append({"role": "assistant", "content": [started]})
    assert ask(model, path, body)[0] == 429  # the first default step


@pytest.mark.parametrize("name", ["mcp__dos__verify", "mcp_dos_verify", "dos_verify"])
def test_a_tool_of_a_server_is_called_by_the_name_that_the_program_gives_it(model, name):
    path, body = anthropic("ask the server", 0, False)
    body["tools"].append({"name": name, "input_schema": {}})
    assert f'"name":"{name}"' in ask(model, path, body)[1]


def test_a_tool_in_a_namespace_is_called_with_it(model):
    path, body = responses("ask the server", 0, False)
    tools = [{"type": "function", "name": "verify", "parameters": {}}]
    body["tools"].append({"type": "namespace", "name": "mcp__dos", "tools": tools})
    item = json.loads(ask(model, path, body)[1])["output"][0]
    assert (item["namespace"], item["name"]) == ("mcp__dos", "verify")
    assert json.loads(item["arguments"]) == {"plan": "P"}


def test_a_deferred_tool_is_loaded_before_it_is_called(model):
    path, body = anthropic("ask the server", 0, False)
    body["tools"] += [{"name": "WaitForMcpServers"}, {"name": "ToolSearch"}]
    called = []
    for _ in range(2):
        call = json.loads(ask(model, path, body)[1])["content"][0]
        called.append(call["name"])
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": "told"}
        body["messages"] += [
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]
    assert called == ["WaitForMcpServers", "ToolSearch"]
    body["tools"].append({"name": "mcp__dos__verify"})
    assert json.loads(ask(model, path, body)[1])["content"][0]["name"] == "mcp__dos__verify"


@PROTOCOLS
def test_the_log_has_what_the_model_was_told(model, protocol):
    ask(model, *protocol("both … of these", 1, True))
    entry = model.requests()[-1]
    assert entry["prompt"] == "both … of these"
    assert [told["kind"] for told in entry["told"]] == ["user", "result"]
    assert "told" in entry["told"][1]["text"]
    assert "tools" not in entry["body"]


def test_the_model_is_a_command_too(tmp_path):
    script, log = tmp_path / "script.json", tmp_path / "log.jsonl"
    script.write_text(json.dumps([{"say": "from a process"}]))
    words = [sys.executable, TOOL, "--script", script, "--log", log]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        path, body = chat("go", 0, False)
        request = urllib.request.Request(address + path, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            assert b"from a process" in answer.read()
        process.kill()
    assert json.loads(log.read_text())["prompt"] == "go"
