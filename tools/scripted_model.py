#!/usr/bin/env python3
"""A scripted language model on loopback, so that real agent programs can be run and tested offline.

    scripted_model.py --script steps.json [--port 8970] [--log requests.jsonl]

It speaks the wire protocols that coding agents use: Anthropic Messages (/v1/messages), OpenAI
Responses (/v1/responses), OpenAI chat completions (/v1/chat/completions) and Gemini
(:generateContent, :streamGenerateContent). Its first line of output is the address that it listens
on; without --port that is a free one.

steps.json is a list; step k answers the request that carries k tool results so far; the last
step repeats.
A step is one of
    {"bash": "shell command"}        the model asks the agent to run a command
    {"tool": "Write", "with": {…}}   the model calls a tool of the agent's own
    {"say": "text"}                  the model ends its turn with this text
    {"status": 429, "message": "…"}  the provider answers with this HTTP error
and may have
    "delay": seconds                 before the answer
    "headers": {"retry-after": "1"}  with an HTTP error
    "times": n                       only the first n requests that reach the step get it
A script may instead be an object
    {"match": [{"if": "substring of the prompt", "steps": […]}, …], "default": […]}
The first match counts, and an "if" that is a list requires all of its substrings.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any

Body = dict[str, Any]
Step = dict[str, Any]
Call = tuple[str, dict[str, Any]]

USAGE = {"input": 100, "output": 20}
ERRORS = {429: "rate_limit_error", 529: "overloaded_error", 401: "authentication_error"}
SHELLS = (
    "Bash",
    "exec_command",
    "shell_command",
    "shell",
    "local_shell",
    "bash",
    "run_shell_command",
)


def text_of(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def count_tool_results(body: Body) -> int:
    """How many tool results the conversation holds, whatever the protocol."""
    found = 0
    for message in body.get("messages", []):  # Anthropic, OpenAI chat
        content = message.get("content")
        if message.get("role") == "tool":
            found += 1
        elif isinstance(content, list):
            found += sum(
                isinstance(block, dict) and block.get("type") == "tool_result" for block in content
            )
    items = body.get("input")  # OpenAI Responses
    for item in items if isinstance(items, list) else []:
        found += isinstance(item, dict) and str(item.get("type", "")).endswith("call_output")
    for content in body.get("contents", []):  # Gemini
        found += sum("functionResponse" in part for part in content.get("parts", []))
    return found


def tool_names(body: Body) -> dict[str, dict[str, Any]]:
    """Tool name -> its declared parameters."""
    found: dict[str, dict[str, Any]] = {}
    for tool in body.get("tools") or []:
        if "functionDeclarations" in tool:
            for declared in tool["functionDeclarations"]:
                found[declared["name"]] = (
                    declared.get("parameters") or declared.get("parametersJsonSchema") or {}
                )
        elif tool.get("type") == "function" and "function" in tool:
            found[tool["function"]["name"]] = tool["function"].get("parameters") or {}
        elif "name" in tool:
            found[tool["name"]] = tool.get("input_schema") or tool.get("parameters") or {}
        elif tool.get("type"):
            found[tool["type"]] = {}
    return found


def shell_call(body: Body, command: str) -> Call | None:
    """The agent's own shell tool and the arguments it takes."""
    tools = tool_names(body)
    for name in SHELLS:
        if name not in tools:
            continue
        properties = tools[name].get("properties") or {}
        if name == "exec_command" or "cmd" in properties:
            patient = (
                {"yield_time_ms": 30_000} if "yield_time_ms" in properties else {}
            )  # else it goes on without it
            return name, {"cmd": command, **patient}
        if (
            name in ("shell", "local_shell")
            and (properties.get("command") or {}).get("type") == "array"
        ):
            return name, {"command": ["bash", "-lc", command]}
        described = {"description": "run a command"} if "description" in properties else {}
        return name, {"command": command, **described}
    return None


class Script:
    """The steps, and how often each that wants it was given."""

    def __init__(self, steps: Any) -> None:
        self._steps = steps
        self._given: dict[int, int] = {}
        self._lock = threading.Lock()

    def step(self, body: Body) -> Step:
        if not tool_names(body):  # a side request: titles, summaries, quota probes
            return {"say": "ok"}
        with self._lock:
            steps = [
                step
                for step in self._chosen(body)
                if self._given.get(id(step), 0) < step.get("times", 1)
            ]
            if not steps:
                return {"say": "ok"}
            step: Step = steps[min(count_tool_results(body), len(steps) - 1)]
            if "times" in step:
                self._given[id(step)] = self._given.get(id(step), 0) + 1
            return step

    def _chosen(self, body: Body) -> list[Step]:
        if isinstance(self._steps, list):
            return self._steps
        prompt = text_of(body.get("messages") or body.get("input") or body.get("contents"))
        for case in self._steps.get("match", []):
            wanted = [case["if"]] if isinstance(case["if"], str) else case["if"]
            if all(part in prompt for part in wanted):
                return list(case["steps"])
        return list(self._steps.get("default", []))


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script = Script([])
    log_file: IO[str]
    lock = threading.Lock()

    def log_message(self, *args: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        self.reply(
            {"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []}
        )

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(raw)
        except ValueError:
            body = {}
        if "count_tokens" in self.path or "countTokens" in self.path:
            self.reply({"input_tokens": 1, "totalTokens": 1})
            return
        step = self.script.step(body)
        self.note(body, step, len(raw))
        time.sleep(step.get("delay", 0))
        if "status" in step:
            self.error(step)
        else:
            self.act(body, step)

    def act(self, body: Body, step: Step) -> None:
        call = shell_call(body, step["bash"]) if "bash" in step else None
        if "tool" in step:
            call = step["tool"], step.get("with", {})
        say = step.get("say", "ok") if call is None else ""
        if "/messages" in self.path:
            self.anthropic(body, call, say)
        elif "/responses" in self.path:
            self.openai_responses(body, call, say)
        elif "/chat/completions" in self.path:
            self.openai_chat(body, call, say)
        else:
            self.gemini(call, say)

    def answer(
        self, streamed: bool, whole: Body, events: Sequence[Body | str], *, named: bool = True
    ) -> None:
        if not streamed:
            self.reply(whole)
            return
        out = ""
        for event in events:
            out += f"event: {event['type']}\n" if named and isinstance(event, dict) else ""
            out += f"data: {text_of(event)}\n\n"
        self.send(out.encode(), "text/event-stream")

    def note(self, body: Body, step: Step, size: int) -> None:
        line = {
            "t": time.time(),
            "path": self.path,
            "bytes": size,
            "results": count_tool_results(body),
            "step": step,
        }
        with self.lock:
            self.log_file.write(json.dumps({**line, "tools": sorted(tool_names(body))}) + "\n")
            self.log_file.flush()

    def reply(self, answer: Body, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.send(json.dumps(answer).encode(), "application/json", status, headers)

    def error(self, step: Step) -> None:
        status = step["status"]
        kind = ERRORS.get(status, "api_error")
        said = {
            "type": kind,
            "code": status,
            "status": kind.upper(),
            "message": step.get("message", "scripted error"),
        }
        self.reply({"type": "error", "error": said}, status, step.get("headers"))

    def send(
        self, data: bytes, kind: str, status: int = 200, headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def anthropic(self, body: Body, call: Call | None, say: str) -> None:
        if call:
            block: Body = {
                "type": "tool_use",
                "id": f"toolu_{time.time_ns()}",
                "name": call[0],
                "input": call[1],
            }
            empty, delta = (
                {**block, "input": {}},
                {"type": "input_json_delta", "partial_json": json.dumps(call[1])},
            )
        else:
            block, empty = {"type": "text", "text": say}, {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": say}
        stop = "tool_use" if call else "end_turn"
        tokens = {"input_tokens": USAGE["input"], "output_tokens": USAGE["output"]}
        message = {
            "id": f"msg_{time.time_ns()}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "scripted"),
            "stop_sequence": None,
            "usage": {**tokens, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
        }
        ended = {"stop_reason": stop, "stop_sequence": None}
        events: list[Body] = [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": ended, "usage": {"output_tokens": USAGE["output"]}},
            {"type": "message_stop"},
        ]
        self.answer(
            bool(body.get("stream")), {**message, "content": [block], "stop_reason": stop}, events
        )

    def openai_responses(self, body: Body, call: Call | None, say: str) -> None:
        ident = f"{time.time_ns()}"
        item: Body = {"id": "item_" + ident, "status": "completed"}
        if call:
            item |= {"type": "function_call", "call_id": "call_" + ident, "name": call[0]}
            item |= {"arguments": json.dumps(call[1])}
        else:
            item |= {"type": "message", "role": "assistant"}
            item |= {"content": [{"type": "output_text", "text": say, "annotations": []}]}
        done = {
            "id": "resp_" + ident,
            "object": "response",
            "status": "completed",
            "model": body.get("model", "scripted"),
            "output": [item],
            "usage": {
                "input_tokens": USAGE["input"],
                "output_tokens": USAGE["output"],
                "total_tokens": sum(USAGE.values()),
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": 0},
            },
        }
        added = {**item, "status": "in_progress"}
        events: list[Body] = [
            {
                "type": "response.created",
                "response": {**done, "status": "in_progress", "output": []},
            },
            {"type": "response.output_item.added", "output_index": 0, "item": added},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": done},
        ]
        self.answer(bool(body.get("stream")), done, events)

    def openai_chat(self, body: Body, call: Call | None, say: str) -> None:
        ident = f"call_{time.time_ns()}"
        message: Body = {"role": "assistant", "content": None if call else say}
        if call:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            message |= {
                "tool_calls": [{"index": 0, "id": ident, "type": "function", "function": function}]
            }
        finish = "tool_calls" if call else "stop"
        head = {
            "id": "chat_" + ident,
            "created": int(time.time()),
            "model": body.get("model", "scripted"),
        }
        usage = {"prompt_tokens": USAGE["input"], "completion_tokens": USAGE["output"]}
        usage |= {"total_tokens": sum(USAGE.values())}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        whole = {**head, "object": "chat.completion", "usage": usage, "choices": [choice]}
        chunk = {**head, "object": "chat.completion.chunk"}
        first = {"index": 0, "delta": message, "finish_reason": None}
        last = {"index": 0, "delta": {}, "finish_reason": finish}
        pieces: list[Body | str] = [
            {**chunk, "choices": [first]},
            {**chunk, "choices": [last], "usage": usage},
            "[DONE]",
        ]
        self.answer(bool(body.get("stream")), whole, pieces, named=False)

    def gemini(self, call: Call | None, say: str) -> None:
        part: Body = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": say}
        content = {"role": "model", "parts": [part]}
        tokens = {"promptTokenCount": USAGE["input"], "candidatesTokenCount": USAGE["output"]}
        answer: Body = {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {**tokens, "totalTokenCount": sum(USAGE.values())},
            "modelVersion": "scripted",
        }
        self.answer("streamGenerateContent" in self.path, answer, [answer], named=False)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--script", required=True, help="a JSON file: the steps")
    parser.add_argument("--log", help="append one JSON line per request here")
    args = parser.parse_args()
    Model.script = Script(json.loads(Path(args.script).read_text(encoding="utf-8")))
    server = ThreadingHTTPServer(("127.0.0.1", args.port), Model)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    with Path(args.log or os.devnull).open("a", encoding="utf-8") as Model.log_file:
        server.serve_forever()


if __name__ == "__main__":
    main()
