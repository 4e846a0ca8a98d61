"""The scripted model speaks four protocols, and keeps to its script in all of them."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from model_server import ModelServer
from patience import PATIENCE

SCRIPT = {
    "match": [
        {"if": ["both", "of these"], "steps": [{"say": "matched"}]},
        {"if": "another one", "steps": [{"tool": "edit", "with": {"path": "a.txt"}}]},
    ],
    "default": [
        {"status": 429, "message": "not now", "times": 2, "headers": {"retry-after": "7"}},
        {"bash": "date"},
        {"say": "done"},
    ],
}
Message = dict[str, Any]


def anthropic(prompt: str, results: int, streamed: bool) -> tuple[str, Message]:
    answered = [{"role": "user", "content": [{"type": "tool_result"}]}] * results
    messages = [{"role": "user", "content": prompt}, *answered]
    return "/v1/messages", {
        "messages": messages,
        "tools": [{"name": "Bash", "input_schema": {}}],
        "stream": streamed,
    }


def responses(prompt: str, results: int, streamed: bool) -> tuple[str, Message]:
    spoken = [{"type": "message", "content": prompt}, *[{"type": "function_call_output"}] * results]
    return "/v1/responses", {
        "input": spoken,
        "tools": [{"type": "function", "name": "shell_command"}],
        "stream": streamed,
    }


def chat(prompt: str, results: int, streamed: bool) -> tuple[str, Message]:
    messages = [{"role": "user", "content": prompt}, *[{"role": "tool", "content": "x"}] * results]
    tools = [{"type": "function", "function": {"name": "bash"}}]
    return "/v1/chat/completions", {"messages": messages, "tools": tools, "stream": streamed}


def gemini(prompt: str, results: int, streamed: bool) -> tuple[str, Message]:
    contents = [{"parts": [{"text": prompt}]}, *[{"parts": [{"functionResponse": {}}]}] * results]
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
