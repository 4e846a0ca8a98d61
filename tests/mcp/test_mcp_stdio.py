"""A real server on pipes: each request gets one answer, whatever else arrives, and nothing else is
printed."""

import signal
import time

import pytest
from amounts import long
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_server import Server
from msgspec import json

from dos.mcp.stdio import LONGEST_LINE, MOST_LONG_CALLS


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    from sample_repository import Repository

    repository = Repository(tmp_path_factory.mktemp("served"))
    return repository.root


@pytest.fixture
def server(root):
    with Server(root) as server:
        yield server
        server.process.kill()
        server.process.wait()
        assert "Traceback" not in server.printed, server.printed


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_a_session_begins_works_and_ends_with_its_client(root, version):
    with Server(root) as server:
        server.request(0, "initialize", protocolVersion=version, capabilities={}, clientInfo={})
        assert server.next()["result"]["protocolVersion"] == version
        server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        server.request("a", "ping")
        assert server.next() == {"jsonrpc": "2.0", "id": "a", "result": {}}
        server.call(2, "doctor")
        assert server.next()["result"]["structuredContent"]["workspace"] == str(root)
        assert server.close() == 0
        assert server.printed == ""


def test_a_wait_does_not_hold_up_other_calls_and_ends_when_it_is_cancelled(server):
    server.call("w", "wait", seconds=50)
    server.request(1, "ping")
    assert server.next()["id"] == 1
    server.call(2, "lane")
    server.request(3, "resources/read", uri="dos://lanes")
    assert {server.next()["id"], server.next()["id"]} == {2, 3}
    server.cancel("w")
    server.request(4, "ping")
    assert server.next()["id"] == 4
    assert server.is_silent(0.5)
    server.call("w", "wait", seconds=0)  # the id of a cancelled request can be used again
    assert server.next()["result"]["structuredContent"]["verdict"] == "TIMEOUT"


def test_calls_at_once_get_one_answer_each(server):
    for number in range(long(40, 400)):
        server.call(number, ("lane", "check_reason", "doctor", "nosuch")[number % 4])
    answers = [server.next() for _ in range(long(40, 400))]
    assert sorted(answer["id"] for answer in answers) == list(range(long(40, 400)))
    assert server.is_silent(0.2)


def test_more_waits_than_a_server_keeps_are_refused_and_room_is_made_by_cancelling(server):
    for number in range(MOST_LONG_CALLS):
        server.call(number, "wait", seconds=50)
    server.call("more", "wait", seconds=50)
    refused = server.next()
    assert (refused["id"], refused["error"]["code"]) == ("more", -32000)
    server.call("short", "lane")
    assert server.next()["id"] == "short"
    for number in range(MOST_LONG_CALLS):
        server.cancel(number)
    server.request("all are cancelled", "ping")
    server.next()
    deadline = time.monotonic() + 60
    answer = refused
    while "error" in answer and time.monotonic() < deadline:
        server.call("again", "wait", seconds=0)
        answer = server.next()
    assert answer["result"]["structuredContent"]["verdict"] == "TIMEOUT"


GARBAGE = [
    b"{", b"nonsense", b"\xff\xfe", b"[" * 100_000, b'"', b"1e999", b"1" * 5000, b"{}" * 3,
    b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": "\xed\xa0\x80"}}',
    b"\x00", b"Content-Length: 40\r", b"GET / HTTP/1.1\r", b"[]", b"null", b"true", b"7",
    b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}',
]  # fmt: skip


def test_lines_that_are_no_messages_get_an_error_and_the_next_one_is_answered(server):
    for number, line in enumerate(GARBAGE):
        server.send(line)
        server.request(number, "ping")
        answers = server.until(number)
        assert [answer["id"] for answer in answers] == [None, number], line[:40]
        assert answers[0]["error"]["code"] in (-32700, -32600)
    server.send(b"", b"  \t ", b"\r")
    server.request("z", "ping")
    assert server.next()["id"] == "z"


def test_a_line_longer_than_any_message_is_refused_and_forgotten(server):
    server.send(b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * (LONGEST_LINE + 1) + b'"}')
    server.request(2, "ping")
    first, second = server.until(2)
    assert (first["id"], first["error"]["code"], second["id"]) == (None, -32700, 2)


LARGE = "x" * 10_000_000


LARGE_REQUESTS = [
    ("tools/call", {"name": "verify", "arguments": {"plan": LARGE, "phase": "A1"}}),
    ("tools/call", {"name": "doctor", "arguments": {"workspace": LARGE}}),
    ("tools/call", {"name": "lane", "arguments": {LARGE: 1}}),
    ("tools/call", {"name": LARGE}),
    ("resources/read", {"uri": f"dos://runs/{LARGE}"}),
    ("prompts/get", {"name": LARGE}),
    (LARGE, {}),
]


def test_a_value_of_ten_megabytes_is_refused_in_a_few_words(server):
    for method, params in LARGE_REQUESTS:
        server.request(1, method, **params)
        answer = server.next()
        problem = answer.get("error") or answer["result"]["structuredContent"]
        message = problem.get("message") or problem.get("error") or problem.get("reason")
        assert len(message) < 5000


HOSTILE = ["a\0b", "a\nb", "-x", "--json", "$(touch x)", "../..", "é" * 3000]


def test_hostile_texts_are_data(server, root):
    calls = []
    for text in HOSTILE:
        calls += [
            ("verify", {"plan": text, "phase": "A1"}),
            ("verify", {"plan": "DEMO", "phase": "A1", "ref": text}),
            ("pickable", {"unit": text}),
            ("why", {"run": text}),
            ("log", {"lane": text}),
            ("arbitrate", {"lane": "one", "tree": [text]}),
            ("doctor", {"workspace": text}),
            ("commit_audit", {"ref": text}),
        ]
    for number, (tool, arguments) in enumerate(calls):
        server.call(number, tool, **arguments)
    for _ in calls:
        answer = server.next()
        content = answer["result"]["structuredContent"]
        assert content.get("verdict") != "SHIPPED", calls[answer["id"]]
        if answer["result"]["isError"]:
            assert content["exit_code"] == 2, calls[answer["id"]]
    assert not (root / "x").exists()


@pytest.mark.parametrize("reads_on", [True, False])
def test_a_client_that_is_gone_takes_its_server_along(root, reads_on):
    with Server(root) as server:
        server.call(1, "wait", seconds=50)
        server.request(2, "ping")
        assert server.next()["id"] == 2
        if not reads_on:
            server.stop_reading()
            server.request(3, "tools/list")
        began = time.monotonic()
        assert server.close() == 0
        assert time.monotonic() - began < 30  # and not as long as the wait
        assert "Traceback" not in server.printed


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(root, sent):
    with Server(root) as server:
        server.request(1, "ping")
        server.next()
        server.process.send_signal(sent)
        assert server.process.wait(60) in (-sent, 128 + sent)
        assert "Traceback" not in server.printed


LINES = st.one_of(
    st.binary(max_size=200).map(lambda raw: raw.replace(b"\n", b" ")),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
        max_leaves=6,
    ).map(json.encode),
    st.fixed_dictionaries(
        {"jsonrpc": st.just("2.0"), "method": st.sampled_from(["ping", "tools/call", "x"])},
        optional={
            "id": st.integers() | st.text(max_size=3) | st.none(),
            "params": st.fixed_dictionaries(
                {},
                optional={
                    "name": st.sampled_from(["lane", "check_reason", "nosuch"]),
                    "arguments": st.dictionaries(st.text(max_size=4), st.text(max_size=4)),
                },
            ),
        },
    ).map(json.encode),
)


def test_any_lines_get_at_most_one_answer_each_and_the_server_lives(root):
    with Server(root) as server:

        @settings(max_examples=long(40, 2000))
        @given(st.lists(LINES, max_size=8))
        def lines(sent):
            server.send(*sent)
            count = 0
            ids = []
            for line in sent:  # how many answers there have to be
                expected = expected_id(line)
                if expected is not NOTHING:
                    count += 1
                    ids.append(expected)
            answers = [server.next() for _ in range(count)]
            server.request("the last one", "ping")
            assert server.next()["id"] == "the last one"
            assert sorted(map(repr, ids)) == sorted(repr(answer["id"]) for answer in answers)

        lines()
        assert server.close() == 0
        assert server.printed == ""


NOTHING = object()


def expected_id(line: bytes) -> object:
    """The id of the answer that a line gets; NOTHING where it gets none."""
    if not line.strip():
        return NOTHING
    try:
        message = json.decode(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return None
    identity = message.get("id")
    if "method" not in message:
        if "result" in message or "error" in message:
            return NOTHING
        return identity if type(identity) in (int, str) else None
    if "id" not in message:
        return NOTHING
    return identity if type(identity) in (int, str) else None
