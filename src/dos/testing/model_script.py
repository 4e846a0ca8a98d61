"""The script of a scripted model: which step answers a request, and which calls a step makes."""

import threading
from typing import Any

from msgspec import Struct

from dos.testing.model_requests import (
    LOADERS,
    Body,
    Tool,
    conversation,
    first_prompt,
    offered_tools,
    text_of,
)

Step = dict[str, Any]

SHELLS = (
    "Bash",
    "exec_command",
    "shell_command",
    "shell",
    "local_shell",
    "bash",
    "run_shell_command",
)
MOST_LOADS = 30  # attempts to have a tool loaded; then it is called as if it were there


class Call(Struct, frozen=True, kw_only=True):
    """A tool that the model calls."""

    name: str
    arguments: dict[str, Any]
    namespace: str = ""
    kind: str = "function"


class Script:
    """The steps, and how often each that may be taken only some times was taken."""

    def __init__(self, steps: Any) -> None:
        self._steps = steps
        # For programs that offer no tools at all: their requests are like side requests of others.
        self._answers_all = isinstance(steps, dict) and steps.get("answer_all") is True
        self._taken: dict[int, int] = {}
        self._lock = threading.Lock()

    def step(self, body: Body) -> Step:
        """Return the step that answers a request, and count it."""
        if not offered_tools(body) and not self._answers_all:
            return {"say": "ok"}  # a side request: titles, summaries, quota probes
        with self._lock:
            steps = [step for step in self._chosen(body) if self._is_left(step)]
            if not steps:
                return {"say": "ok"}
            step = _step_at(steps, body)
            if "times" in step:
                self._taken[id(step)] = self._taken.get(id(step), 0) + 1
            return step

    def _is_left(self, step: Step) -> bool:
        return "times" not in step or self._taken.get(id(step), 0) < int(step["times"])

    def _chosen(self, body: Body) -> list[Step]:
        """Return the steps of this conversation."""
        if isinstance(self._steps, list):
            return self._steps
        everything = text_of(body.get("messages") or body.get("input") or body.get("contents"))
        prompt = first_prompt(body)
        for case in self._steps.get("match", []):
            if _holds_all(everything, case.get("if")) and _holds_all(prompt, case.get("prompt")):
                return list(case["steps"])
        return list(self._steps.get("default", []))


def _holds_all(text: str, parts: str | list[str] | None) -> bool:
    """Whether the text has all the parts; without parts it does."""
    wanted = [parts] if isinstance(parts, str) else parts or []
    return all(part in text for part in wanted)


def _step_at(steps: list[Step], body: Body) -> Step:
    """Return the step that this conversation has come to; the last step repeats."""
    done = count_results(body) + _count_spoken(steps, body)
    for step in steps:
        done -= len(step.get("calls") or [None])
        if done < 0:
            return step
    return steps[-1]


def count_results(body: Body) -> int:
    """Count the results of tools in a conversation, without those that load other tools."""
    results = [told for told in conversation(body) if told.kind == "result"]
    return sum(told.name not in LOADERS for told in results)


def _count_spoken(steps: list[Step], body: Body) -> int:
    """Count the texts of these steps that the model has said already."""
    texts = {step["say"] for step in steps if "say" in step}
    return sum(told.kind == "model" and told.text in texts for told in conversation(body))


def calls_of(step: Step, body: Body) -> list[Call]:
    """Return the calls of a step, in the form of the program that asks.

    A tool that is not offered yet is loaded first where the program has a tool for that.
    """
    parts = step.get("calls") or [step]
    calls = []
    for part in parts:
        if "bash" in part:
            call = shell_call(body, part["bash"])
        elif "tool" in part:
            call = _tool_call(part, body)
        else:
            continue
        if call is None:
            continue
        if call.name in LOADERS and "tool" in part and part["tool"] not in LOADERS:
            return [call]  # the others are made when it is there
        calls.append(call)
    return calls


def shell_call(body: Body, command: str) -> Call | None:
    """Return the call of the program's own shell tool; None where it offers none."""
    tools = {tool.name: tool for tool in offered_tools(body) if not tool.namespace}
    for name in SHELLS:
        if name in tools:
            return Call(name=name, arguments=_shell_arguments(tools[name], command))
    return None


def _shell_arguments(tool: Tool, command: str) -> dict[str, Any]:
    """Return the arguments that run a command in the shell tool of a program."""
    properties = tool.properties
    if tool.name == "exec_command" or "cmd" in properties:
        if "yield_time_ms" in properties:  # else it goes on without the result
            return {"cmd": command, "yield_time_ms": 30_000}
        return {"cmd": command}
    is_list = (properties.get("command") or {}).get("type") == "array"
    if is_list and tool.name in ("shell", "local_shell"):
        return {"command": ["bash", "-lc", command]}
    if "description" in properties:
        return {"command": command, "description": "run a command"}
    return {"command": command}


def _tool_call(part: Step, body: Body) -> Call:
    """Return the call of a named tool, or of the tool that loads it."""
    name, arguments = str(part["tool"]), part.get("with", {})
    tools = offered_tools(body)
    wanted = _spellings(name, part.get("server", ""))
    for tool in tools:
        if tool.full_name in wanted:
            return Call(
                name=tool.name, namespace=tool.namespace, arguments=arguments, kind=tool.kind
            )
    loader = _loader(tools, wanted, body)
    return loader or Call(name=wanted[0], arguments=arguments)


def _spellings(name: str, server: str) -> list[str]:
    """Return how programs name a tool of an MCP server; without a server, the name itself."""
    if not server:
        return [name]
    return [f"mcp__{server}__{name}", f"mcp_{server}_{name}", f"{server}_{name}"]


def _loader(tools: list[Tool], wanted: list[str], body: Body) -> Call | None:
    """Return the call that makes a tool available; None where nothing can, or it did not help."""
    offered = {tool.name for tool in tools}
    results = [told.name for told in conversation(body) if told.kind == "result"]
    if sum(name in LOADERS for name in results) >= MOST_LOADS:
        return None
    if "WaitForMcpServers" in offered and results[-1:] != ["WaitForMcpServers"]:
        return Call(name="WaitForMcpServers", arguments={})
    if "ToolSearch" in offered:
        query = f"select:{wanted[0]}"
        return Call(name="ToolSearch", arguments={"query": query, "max_results": 5})
    return None
