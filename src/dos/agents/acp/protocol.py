"""The lines of the Agent Client Protocol: JSON-RPC 2.0, one message a line."""

from typing import Any

from msgspec import json

VERSION = 1  # of the protocol, and the only one that is spoken here

# JSON-RPC and the protocol define these codes.
METHOD_NOT_FOUND = -32601
AUTH_REQUIRED = -32000

# Neither files nor terminals: a program then uses its own tools, for which it asks permission.
_CAPABILITIES = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}


def request(number: int, method: str, parameters: dict[str, Any]) -> str:
    """A request, which the program answers under the same number."""
    return _line({"id": number, "method": method, "params": parameters})


def notification(method: str, parameters: dict[str, Any]) -> str:
    """A message that is not answered."""
    return _line({"method": method, "params": parameters})


def result(request_id: object, value: object) -> str:
    """The answer to a request of the program."""
    return _line({"id": request_id, "result": value})


def refusal(request_id: object, method: str) -> str:
    """The answer to a request of the program that is not offered to it."""
    error = {"code": METHOD_NOT_FOUND, "message": f"this client does not offer {method}"}
    return _line({"id": request_id, "error": error})


def _line(message: dict[str, Any]) -> str:
    return json.encode({"jsonrpc": "2.0", **message}).decode()


def initialize(number: int) -> str:
    """The first request: which protocol is spoken, and what this client offers."""
    parameters = {
        "protocolVersion": VERSION,
        "clientCapabilities": _CAPABILITIES,
        "clientInfo": {"name": "dos", "version": "1"},
    }
    return request(number, "initialize", parameters)


def new_session(number: int, directory: str) -> str:
    """Begin a conversation that works in a directory."""
    return request(number, "session/new", {"cwd": directory, "mcpServers": []})


def load_session(number: int, directory: str, session: str) -> str:
    """Continue an earlier conversation; the program repeats what was said in it."""
    parameters = {"cwd": directory, "mcpServers": [], "sessionId": session}
    return request(number, "session/load", parameters)


def prompt(number: int, session: str, text: str) -> str:
    """Give the program something to do; the answer comes when its turn is over."""
    parameters = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
    return request(number, "session/prompt", parameters)
