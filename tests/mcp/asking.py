"""Calls a session without a transport."""

from typing import Any

from dos.mcp.protocol import Session


def request(session: Session, method: str, **params: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = session.handle(message)
    assert answer is not None
    assert answer["id"] == 1
    return answer


def call(session: Session, tool: str, **arguments: Any) -> dict[str, Any]:
    """The result of a call."""
    return dict(request(session, "tools/call", name=tool, arguments=arguments)["result"])


def ask(session: Session, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool answers, as its client reads it."""
    result = call(session, tool, **arguments)
    assert not result["isError"], result
    return dict(result["structuredContent"])
