"""Claude Code by its control protocol: it asks on its output before a tool is used.

Its lines are those of `claude -p` (`agents/claude_code.py`), and requests between them. A request
that nobody answers is not carried out.
"""

import re
from typing import Any

from msgspec import json

from dos.agents import claude_code, stream
from dos.agents.adapter import AgentOutcome, Clocks, Launch, Settings, StreamState
from dos.agents.claude_code import State
from dos.agents.conversation import Asks, Turn
from dos.agents.stream import as_mapping, as_text
from dos.permission import refusals
from dos.permission.ask import Allow, Deny

name = claude_code.name
vendor = claude_code.vendor
program = claude_code.program
tested = claude_code.tested

_ARGUMENTS = (
    *("--input-format", "stream-json", "--output-format", "stream-json", "--verbose"),
    *("--permission-prompt-tool", "stdio", "--permission-mode", "default"),
)
# A request does not say in which folder a command runs. With this each begins where the program was
# started, whatever an earlier one entered.
_ENVIRONMENT = {"CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR": "1"}
# Settings, modes and options may allow tools; what has to be asked goes before all of them.
_ASKED = ("Bash", "Edit", "Write", "NotebookEdit")
_SETTINGS = {"permissions": {"ask": list(_ASKED)}, "env": _ENVIRONMENT}
_REQUEST = '{"type":"control_request"'
_REQUEST_ID = re.compile(r'"request_id":"([^"\\]{1,200})"')
UNKNOWN_REQUEST = "dos answers no request of this kind"


def launch(prompt: str, settings: Settings) -> Launch:  # noqa: ARG001
    """`claude` with both streams as JSON lines; the prompt is its first message."""
    argv = [*(settings.command or (program,)), *_ARGUMENTS]
    if not unasked(settings):
        argv += ["--settings", json.encode(_SETTINGS).decode()]
    if settings.resume:
        argv += ["--resume", settings.resume]
    return Launch(argv=[*argv, *claude_code.options(settings)], environment=_ENVIRONMENT)


def talks(settings: Settings) -> bool:  # noqa: ARG001
    """It does with any arguments."""
    return True


def unasked(settings: Settings) -> str:
    """The argument of the user's by which tools may be used without a question; empty: none."""
    words = [word for word in settings.arguments if word.split("=")[0] == "--settings"]
    return "".join(words[:1])


def open(prompt: str, settings: Settings) -> Turn:  # noqa: ARG001
    """Say that questions can be answered here, and hand over the prompt."""
    initialize = {
        "type": "control_request",
        "request_id": "dos-1",
        "request": {"subtype": "initialize", "hooks": None},
    }
    return Turn(state=claude_code.begin(), replies=(_line(initialize), _message(prompt)))


def converse(state: State, line: str) -> Turn:
    """The state after one more line, with what it asks."""
    state = claude_code.on_line(state, line)
    record = stream.parse_record(line)
    request_id = as_text(record.get("request_id"))
    match record.get("type"):
        case "control_request":
            return _on_request(state, request_id, as_mapping(record.get("request")))
        case "control_cancel_request":
            return Turn(state=state, withdrawn=(request_id,))
        case None if line.startswith(_REQUEST):
            found = _REQUEST_ID.search(line)
            refused = (
                ((found[1], _reply(found[1], _denied(refusals.UNREADABLE.sentence))),)
                if found
                else ()
            )
            return Turn(state=state, refused=refused)
    return Turn(state=state)


def _on_request(state: State, request_id: str, request: dict[str, Any]) -> Turn:
    """A request for a tool is judged; others are refused, so that nothing waits for them."""
    if request.get("subtype") != "can_use_tool":
        error = {"subtype": "error", "request_id": request_id, "error": UNKNOWN_REQUEST}
        line = _line({"type": "control_response", "response": error})
        return Turn(state=state, refused=((request_id, line),))
    arguments = as_mapping(request.get("input"))
    asked = Asks(
        id=request_id,
        tool=as_text(request.get("tool_name")),
        arguments=arguments,
    )
    return Turn(state=state, asks=(asked,))


def answer(state: State, asked: Asks, answer: Allow | Deny) -> Turn:
    """Allow the tool with the arguments as they were asked, or deny it with the sentence."""
    if isinstance(answer, Deny):
        response = _denied(answer.sentence)
    else:
        response = {"behavior": "allow", "updatedInput": asked.arguments}
    return Turn(state=state, replies=(_reply(asked.id, response),))


def steer(state: State, message: str) -> Turn | None:
    """A further message of the user; the model reads it after its next tool."""
    return Turn(state=state, replies=(_message(message),))


def is_over(state: StreamState) -> bool:
    """A result ends its work."""
    return isinstance(state, State) and state.result is not None


def outcome(state: State, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    """How it ended, by the same records as `claude -p`."""
    return claude_code.outcome(state, exit_code, clocks)


def _message(text: str) -> str:
    message = {"role": "user", "content": text}
    return _line(
        {"type": "user", "message": message, "parent_tool_use_id": None, "session_id": "default"}
    )


def _denied(sentence: str) -> dict[str, Any]:
    return {"behavior": "deny", "message": sentence}


def _reply(request_id: str, response: dict[str, Any]) -> str:
    answered = {"subtype": "success", "request_id": request_id, "response": response}
    return _line({"type": "control_response", "response": answered})


def _line(record: dict[str, Any]) -> str:
    return json.encode(record).decode()
