"""Runs the verb of a tool and makes the result of the call.

A refusal is a result as any other, with the exit code of the verb and its token. Only arguments
that cannot be used are an error. A verb that takes too long is answered as STALLED, and its thread
is left to end.
"""

import os
import threading
from collections.abc import Callable, Mapping
from threading import Event
from typing import Any

from msgspec import json

from dos.errors import BadInput, ConfigInvalid, DosError, Internal, NotPermitted, WorkspaceMissing
from dos.mcp.tool import Call, Tool
from dos.verbs.context import Context, Reply
from dos.verbs.invoke import invoke, reply_data
from dos.verbs.listing.table import VERBS

Result = dict[str, Any]
DEADLINE_VARIABLE = "DOS_MCP_TOOL_DEADLINE_MS"
DEADLINE_MS = 5_000
USAGE = "contract_error"  # the released tokens of these exit codes
NOT_PERMITTED = "not_permitted"


class ToolContext(Context):
    """A context that keeps warnings for the answer: stdout and stderr belong to the client."""

    def __init__(self, workspace: str) -> None:
        """`workspace` is a directory in the repository; empty: the current directory."""
        super().__init__(workspace=workspace, as_json=True, explain=True)
        self.notes: list[str] = []

    def warn(self, text: str) -> None:
        """Keep the text as a note; one that was kept before is not repeated."""
        if text not in self.notes:
            self.notes.append(text)


def deadline_seconds() -> float | None:
    """Return how long a tool may take: $DOS_MCP_TOOL_DEADLINE_MS, else five seconds.

    None: as long as it takes, which the variable says with 0.
    """
    text = os.environ.get(DEADLINE_VARIABLE, "")
    if not (text.isascii() and text.isdigit()):
        return DEADLINE_MS / 1000
    milliseconds = int(text[:9])
    return milliseconds / 1000 if milliseconds else None


def call_tool(
    tool: Tool, given: Mapping[str, Any], workspace: str, deadline: float | None, ended: Event
) -> Result:
    """Return the result of a call, within the deadline unless the tool waits on purpose.

    Whoever sets `ended` before that does not read the result.
    """
    try:
        arguments = tool.check(given)
        call = tool.call(arguments)
    except BadInput as error:
        return failure(error, given)
    # A relative one is below that of the server, which has no current directory of its own.
    named = arguments.get("workspace", "")
    directory = os.path.join(workspace, named) if named else workspace  # noqa: PTH118

    def run() -> Result:
        return _run(tool, call, arguments, directory)

    seconds = None if tool.is_long(arguments) else deadline
    return within(seconds, run, ended) or stalled(tool.name, call.verb, seconds or 0.0)


def within(seconds: float | None, run: Callable[[], Result], ended: Event) -> Result | None:
    """Run in a thread of its own and return the result; None where it takes too long.

    Without `seconds` it may take as long as it wants, until somebody sets `ended`. A bug ends the
    thread, which prints where, and becomes a result, so that whoever asked gets an answer.
    """
    results: list[Result] = []

    def work() -> None:
        try:
            results.append(run())
        finally:
            ended.set()

    threading.Thread(target=work, daemon=True).start()
    if not ended.wait(seconds):
        return None
    if not results:
        bug = Internal("a bug in dos ended the call", hint="The server's stderr shows where.")
        return failure(bug, {})
    return results[0]


def _run(tool: Tool, call: Call, arguments: dict[str, Any], workspace: str) -> Result:
    """Run the verb, and return its answer or its refusal."""
    context = None
    try:
        context = ToolContext(workspace)
        reply = invoke(call.verb, call.arguments, context)
        context.warn_of_config_errors()
        notes = [*context.notes, reply.stderr] if reply.stderr else context.notes
        return answer(tool, call, reply, arguments, notes)
    except DosError as error:
        return failure(error, arguments)
    finally:
        if context is not None:
            context.close()


def answer(
    tool: Tool, call: Call, reply: Reply, arguments: dict[str, Any], notes: list[str]
) -> Result:
    """Return the verb's JSON as the result, with its exit code and the token of that."""
    data = json.decode(json.encode(reply_data(reply, explained=False), order="sorted"))
    if tool.shape is not None:
        data = tool.shape(data, arguments)
    if not isinstance(data, dict):
        data = {"rows": data}
    if reply.next_action:
        data.setdefault("interpretation", reply.next_action)
    data.setdefault("exit_code", reply.code)
    data.setdefault("token", _token(call.verb, reply.code, data))
    return _result(data, notes)


def _token(verb: str, code: int, data: Mapping[str, Any]) -> str:
    """Return the name of the exit code; of several the one that the answer itself has."""
    from dos.verbs import lookup

    tokens = [token for token, each in lookup.exit_codes(VERBS[verb]).items() if each == code]
    for value in data.values():
        if isinstance(value, str) and value in tokens:
            return value
    return tokens[0] if tokens else ""


def failure(error: DosError, arguments: Mapping[str, Any]) -> Result:
    """Return the result of a call that the verb refused with an error.

    It is an error of the call where its arguments cannot be used; a broken dos.toml is none.
    """
    is_usage = isinstance(error, BadInput | WorkspaceMissing)
    token = type(error).__name__
    if is_usage:
        token = USAGE
    elif isinstance(error, NotPermitted):
        token = NOT_PERMITTED
    data: dict[str, Any] = {
        "error": error.message,
        "hint": error.hint,
        "exit_code": error.exit_code,
        "token": token,
    }
    if isinstance(arguments.get("run_id"), str):
        data["run_id"] = arguments["run_id"]
    result = _result(data, [])
    if is_usage and not isinstance(error, ConfigInvalid):
        result["isError"] = True
    return result


def stalled(name: str, verb: str, deadline: float) -> Result:
    """Return the result of a call that has not answered in time."""
    return _result(
        {
            "verdict": "STALLED",
            "reason": f"{name} did not answer within {deadline:g} seconds",
            "fallback": f"dos {verb} --help",
            "advice": (
                "Run the verb in a shell, or call again later; "
                f"{DEADLINE_VARIABLE} sets the limit in milliseconds."
            ),
        },
        [],
    )


def _result(data: dict[str, Any], notes: list[str]) -> Result:
    """Return a tool result: the data, the same as text, and what else there is to say."""
    content = [{"type": "text", "text": json.encode(data).decode()}]
    for note in notes:
        content.append({"type": "text", "text": note})
    return {"content": content, "structuredContent": data, "isError": False}
