"""The line protocol of a hook socket: one JSON object in, one out, and the connection ends.

    > {"v":1,"ask":"hook","moment":"pretool","dialect":"codex","event":{...}}
    < {"stdout":"...","stderr":"..."}
    > {"v":1,"ask":"verify","arguments":{"units":["AUTH","AUTH1"]}}
    < {"code":0,"data":{...},"stderr":""}
    < {"error":"...","hint":"..."}

Who asks is never said in a request: the kernel names the process at the other end.
"""

from typing import Any

from msgspec import DecodeError, Struct, ValidationError, field, json

from dos.errors import BadInput, DosError
from dos.text import quote

VERSION = 1
LONGEST_REQUEST = 16 << 20  # bytes of a line: an event has the file that is about to be written
SOCKET_VARIABLE = "DOS_HOOK_SOCKET"  # the path of the socket to ask
# Without the variable it is the socket of the workspace's server, below the state directory.
SOCKET_FOLDER = "server"
SOCKET_NAME = "socket"


class Request(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is asked: a hook with its event, or a verb with its arguments."""

    v: int
    ask: str
    moment: str = ""  # of a hook
    dialect: str = ""
    event: dict[str, Any] = field(default_factory=dict)
    arguments: dict[str, Any] = field(default_factory=dict)  # of a verb, by name


def parse_request(line: bytes) -> Request:
    """Return the request of a line. Raises BadInput for one that is too long or not understood."""
    if len(line) > LONGEST_REQUEST:
        raise BadInput(f"the request is longer than {LONGEST_REQUEST >> 20} MiB")
    try:
        request = json.decode(line, type=Request)
    except (DecodeError, ValidationError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"the request is not understood: {error}") from error
    if request.v != VERSION:
        raise BadInput(
            f"the request is of protocol version {request.v}, and this dos speaks {VERSION}",
            hint="Use the same version of dos on both sides.",
        )
    if not request.ask:
        raise BadInput("the request asks nothing")
    return request


def hook_request(moment: str, dialect: str, event: dict[str, Any]) -> bytes:
    """Return the line that asks a hook."""
    return _line(
        {"v": VERSION, "ask": "hook", "moment": moment, "dialect": dialect, "event": event}
    )


def verb_request(ask: str, arguments: dict[str, Any]) -> bytes:
    """Return the line that asks a verb."""
    return _line({"v": VERSION, "ask": ask, "arguments": arguments})


def hook_reply(stdout: str, stderr: str) -> bytes:
    """Return the line that answers a hook: what the command would print."""
    return _line({"stdout": stdout, "stderr": stderr})


def verb_reply(code: int, data: Any, stderr: str) -> bytes:
    """Return the line that answers a verb: its exit code, its JSON and its warnings."""
    return _line({"code": code, "data": data, "stderr": stderr})


def error_reply(error: DosError) -> bytes:
    """Return the line for a request that gets no answer."""
    return _line({"error": error.message, "hint": error.hint})


def unknown_ask(ask: str, known: list[str]) -> BadInput:
    """Return the error for a question that this socket does not answer."""
    return BadInput(
        f"this socket does not answer {quote(ask)}", hint=f"It answers {', '.join(known)}."
    )


def _line(answer: dict[str, Any]) -> bytes:
    """One line; JSON has no line break but in white space, of which there is none."""
    return json.encode(answer) + b"\n"
