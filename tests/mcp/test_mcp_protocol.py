"""Every request gets exactly one answer, by the rules of JSON-RPC and of each protocol version."""

import sqlite3
import threading
from urllib.parse import quote

import pytest
from asking import call, request
from hypothesis import given, settings
from hypothesis import strategies as st

from dos.mcp import protocol
from dos.mcp.catalog import TOOLS, Permits
from dos.mcp.protocol import Session
from dos.version import VERSION

META = "io.modelcontextprotocol/"


def code_of(answer) -> int:
    return int(answer["error"]["code"])


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_initialize_agrees_on_the_version_of_the_client(session, version):
    result = request(session, "initialize", protocolVersion=version)["result"]
    assert result["protocolVersion"] == version
    assert result["serverInfo"] == {"name": "dos", "title": "dispatch-os", "version": VERSION}
    assert set(result["capabilities"]) == {"tools", "resources", "prompts"}


@pytest.mark.parametrize("version", ["2024-11-05", "1999-01-01", "", None, 7, ["x"]])
def test_initialize_offers_the_newest_version_instead_of_an_unknown_one(session, version):
    result = request(session, "initialize", protocolVersion=version)["result"]
    assert result["protocolVersion"] == "2025-11-25"


def test_requests_without_a_session_name_their_version_and_get_what_that_wants(session):
    meta = {f"{META}protocolVersion": "2026-07-28", f"{META}clientInfo": {"name": "t"}}
    found = request(session, "server/discover", _meta=meta)["result"]
    assert found["supportedVersions"] == ["2026-07-28", "2025-11-25", "2025-06-18"]
    listed = request(session, "tools/list", _meta=meta)["result"]
    for result in (found, listed):
        assert result["resultType"] == "complete"
        assert result["ttlMs"] == 0
        assert result["_meta"][f"{META}serverInfo"]["name"] == "dos"
    called = request(session, "tools/call", name="doctor", _meta=meta)["result"]
    assert called["resultType"] == "complete"
    assert "resultType" not in request(session, "tools/list")["result"]


def test_an_unknown_version_is_refused_with_those_that_there_are(session):
    meta = {f"{META}protocolVersion": "2031-01-01"}
    answer = request(session, "tools/list", _meta=meta)
    assert code_of(answer) == -32022
    assert answer["error"]["data"] == {
        "supported": list(protocol.VERSIONS),
        "requested": "2031-01-01",
    }


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ([], -32600),
        ([{"jsonrpc": "2.0", "id": 1, "method": "ping"}], -32600),
        (None, -32600),
        ("ping", -32600),
        ({}, -32600),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1}, -32600),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "nosuch"}, -32601),
        ({"jsonrpc": "2.0", "id": 1, "method": 3}, -32601),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": "x"}}, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call"}, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "vrify"}}, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "x"}}, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "x"}}, -32002),
    ],
)
def test_a_message_that_cannot_be_used_is_answered_with_its_code(session, message, code):
    assert code_of(session.handle(message)) == code


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}},
        {"jsonrpc": "2.0", "method": "nosuch", "params": 7},
        {"jsonrpc": "2.0", "id": 9, "result": {}},
        {"jsonrpc": "2.0", "id": 9, "error": {"code": 1, "message": "x"}},
    ],
)
def test_notifications_and_answers_get_no_answer(session, message):
    assert session.handle(message) is None


def test_ping_and_the_log_level_are_answered_with_nothing(session):
    assert request(session, "ping")["result"] == {}
    assert request(session, "logging/setLevel", level="debug")["result"] == {}


def test_a_cancelled_request_gets_no_answer(repository):
    session = Session(str(repository.root))
    answers = []
    message = {
        "jsonrpc": "2.0",
        "id": "w",
        "method": "tools/call",
        "params": {"name": "wait", "arguments": {"seconds": 0.3}},
    }
    thread = threading.Thread(target=lambda: answers.append(session.handle(message)))
    thread.start()
    while not session._running:
        pass
    cancelled = {"method": "notifications/cancelled", "params": {"requestId": "w"}}
    assert session.handle({"jsonrpc": "2.0", **cancelled}) is None
    thread.join()
    assert answers == [None]
    again = {**message, "params": {"name": "wait", "arguments": {"seconds": 0}}}
    assert session.handle(again) is not None  # a cancellation counts for one request


def test_a_tool_that_takes_too_long_is_answered_as_stalled(own_repository, monkeypatch):
    attempt = {"unit": "DEMO/A1", "outcome": "error"}
    assert not call(Session(str(own_repository.root)), "attempt", **attempt)["isError"]
    monkeypatch.setenv("DOS_MCP_TOOL_DEADLINE_MS", "20")
    journal = own_repository.root / ".git" / "dos" / "state.db"
    with sqlite3.connect(journal, isolation_level=None) as locked:
        locked.execute("begin immediate")  # so that it waits until its deadline is over
        answer = call(Session(str(own_repository.root)), "attempt", **attempt)
        locked.execute("rollback")
    assert answer["structuredContent"]["verdict"] == "STALLED"
    assert set(answer["structuredContent"]) == {"verdict", "reason", "fallback", "advice"}
    waited = call(Session(str(own_repository.root)), "wait", seconds=0.05)
    assert waited["structuredContent"]["verdict"] == "TIMEOUT"  # the deadline is not for it


@pytest.mark.parametrize("text", ["", "-5", "soon", "٣"])
def test_a_deadline_that_is_no_number_is_five_seconds(monkeypatch, text):
    monkeypatch.setenv("DOS_MCP_TOOL_DEADLINE_MS", text)
    assert protocol.deadline_seconds() == 5.0


def test_a_deadline_of_zero_lets_a_tool_take_as_long_as_it_does(repository, monkeypatch):
    monkeypatch.setenv("DOS_MCP_TOOL_DEADLINE_MS", "0")
    assert protocol.deadline_seconds() is None
    session = Session(str(repository.root))
    answer = call(session, "verify", plan="DEMO", phase="A1")
    assert answer["structuredContent"]["verdict"] == "NOT_SHIPPED"
    assert "contents" in request(session, "resources/read", uri="dos://lanes")["result"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)
METHODS = st.sampled_from(
    ["initialize", "tools/call", "tools/list", "resources/read", "prompts/get", "server/discover"]
)
# Those that read little; every tool is tried with bad arguments elsewhere.
NAMES = st.sampled_from(["lane", "dos_check_reason", "doctor", "nosuch"])
PARAMS = JSON | st.fixed_dictionaries(
    {},
    optional={
        "name": NAMES | JSON,
        "arguments": JSON,
        "uri": st.sampled_from(["dos://lanes", "dos://runs/x", "dos://lanes/%00"]) | JSON,
        "_meta": JSON,
        "cursor": JSON,
    },
)
MESSAGES = JSON | st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={"id": JSON, "method": METHODS | JSON, "params": PARAMS},
)


@settings(max_examples=150)
@given(MESSAGES)
def test_any_message_is_answered_once_or_not_at_all(repository, message):
    session = Session(str(repository.root), Permits(records=False))
    answer = session.handle(message)
    is_request = isinstance(message, dict) and "method" in message and "id" in message
    if is_request or not isinstance(message, dict):
        assert answer is not None
        assert ("result" in answer) != ("error" in answer)
    if answer is not None:
        assert answer["jsonrpc"] == "2.0"
        has_id = isinstance(message, dict) and type(message.get("id")) in (str, int)
        assert answer["id"] == (message["id"] if has_id else None) or answer["id"] is None
    assert not session._running


@pytest.mark.parametrize("named", ["/", "/tmp", "..", "one", "dos", 7, ["/"]])
def test_a_server_of_one_workspace_speaks_of_no_other(repository, named):
    session = Session(str(repository.root), is_alone=True)
    answer = request(session, "tools/call", name="doctor", arguments={"workspace": named})
    assert code_of(answer) == -32602 and "alone" in answer["error"]["message"]
    for kind in ("lanes", "reasons"):
        uri = f"dos://{kind}/{quote(str(named), safe='')}"
        assert code_of(request(session, "resources/read", uri=uri)) == -32602
    for own in ("", ".", str(repository.root), None):
        assert call(session, "doctor", workspace=own)["structuredContent"]["git"]
    assert "contents" in request(session, "resources/read", uri="dos://lanes")["result"]


def test_every_tool_refuses_arguments_that_it_does_not_have(session):
    for name in TOOLS:
        result = call(session, name, nonsense=1)
        assert result["isError"], name
        assert "has no argument 'nonsense'" in result["structuredContent"]["error"]
