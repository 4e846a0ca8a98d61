"""Hooks, MCP, events and the JSON of verbs over HTTP, by the clients that others wrote."""

import http.client
import json
import threading

import pytest
from commanding import in_its_own_process
from patience import PATIENCE
from serving import decision, make_repository, serving, tool_call

from dos.server.read_verbs import READ_VERBS
from dos.verbs.listing.table import VERBS
from dos.verbs.lookup import arguments


def test_a_hook_is_answered_as_the_command_answers_it(server):
    for path, answered in (("api/a", "deny"), ("web/a", "")):
        status, headers, body = server.request(
            "POST", "/hook/pretool", body=tool_call(server.root, path)
        )
        assert (status, decision(body)) == (200, answered)
        assert headers["content-type"] == "application/json"
    gemini = {
        "cwd": str(server.root), "hook_event_name": "BeforeTool", "session_id": "s",
        "tool_name": "write_file", "tool_input": {"file_path": str(server.root / "api/b")},
    }  # fmt: skip
    _, _, body = server.request("POST", "/hook/pretool?dialect=gemini", body=gemini)
    assert json.loads(body)["decision"] == "deny"
    assert server.request("POST", "/hook/stop", body={"cwd": str(server.root)})[0] == 200


REFUSED_HOOKS = {
    "an unknown moment": ("/hook/nothing", b"{}", 404),
    "no moment": ("/hook/", b"{}", 404),
    "no JSON": ("/hook/pretool", b"{", 400),
    "no object": ("/hook/pretool", b"[]", 400),
    "an unknown dialect": ("/hook/pretool?dialect=x", b"{}", 400),
    "no body": ("/hook/pretool", b"", 400),
}


@pytest.mark.parametrize(("path", "body", "status"), REFUSED_HOOKS.values(), ids=REFUSED_HOOKS)
def test_a_hook_is_refused_for(server, path, body, status):
    assert server.request("POST", path, body=body)[0] == status


@pytest.mark.parametrize("cwd", ["/", "/proc/self/cwd", "/nowhere", "a\0b", ""])
def test_the_folder_of_an_agent_does_not_switch_the_judge_off(server, cwd):
    for path, answered in (("api/new.txt", "deny"), ("web/new.txt", "")):
        event = {**tool_call(server.root, path), "cwd": cwd}
        status, _, body = server.request("POST", "/hook/pretool", body=event)
        assert (status, decision(body)) == (200, answered)


def test_a_path_has_its_methods(server):
    for method, path in (
        ("GET", "/mcp"), ("DELETE", "/mcp"), ("GET", "/hook/pretool"), ("POST", "/api/version"),
        ("PUT", "/"), ("POST", "/events"),
    ):  # fmt: skip
        assert server.request(method, path, body=b"")[0] == 405, (method, path)
    assert server.request("GET", "/nothing")[0] == 404
    status, _, body = server.request("HEAD", "/api/version")
    assert (status, body) == (200, b"")


# What each verb needs to be asked at all, on the command line and in an address.
ASKED = {
    "decisions show": (["nothing"], "?decision=nothing"),
    "verify": (["AUTH", "AUTH1"], "?units=AUTH&units=AUTH1"),
    "commit-audit": (["HEAD"], "?ref=HEAD"),
    "receipt": (["AUTH", "AUTH1"], "?plan=AUTH&unit=AUTH1"),
    "pickable": (["AUTH1"], "?unit=AUTH1"),
    "cooldown": (["AUTH1"], "?unit=AUTH1"),
    "account": (["--now-ms", "1700000000000"], "?now_ms=1700000000000"),
    "loop": (["--now-ms", "1700000000000"], "?now_ms=1700000000000"),
    "why": (["nothing"], "?run=nothing"),
    "timeline": (["nothing"], "?run=nothing"),
    "trace": (["RID-000000000000001"], "?run_id=RID-000000000000001"),
    "salvage show": (["1"], "?ref=1"),
    "wait": (["--seconds", "0", "--after", "0"], "?seconds=0&after=0"),
    "config get": (["supervise.target"], "?key=supervise.target"),
    "man": (["lane", "api"], "?section=lane&entry=api"),
    "exit-codes": (["verify"], "?verb=verify"),
    "packet": (["--limit", "2"], "?limit=2"),
    "observe": (["--by", "lane"], "?by=lane"),
}
MOVING = {"now", "at", "waited_seconds", "expires_in_seconds", "free_bytes"}


def still(value):
    """Data without what is another moment later."""
    if isinstance(value, dict):
        return {key: still(each) for key, each in value.items() if not is_moving(key)}
    if isinstance(value, list):
        return [still(each) for each in value]
    return value


def is_moving(key):
    return key in MOVING or key.endswith(("_ms", "_at"))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", READ_VERBS)
def test_the_json_of_a_verb_is_that_of_the_command(server, name):
    words, query = ASKED.get(name, ([], ""))
    path = f"/api/{name.replace(' ', '/')}{query}"
    status, headers, body = server.request("GET", path)
    alone = in_its_own_process(*name.split(), *words, "--json", cwd=server.root)
    if not alone.out:
        assert status == 400
        problem = json.loads(body)
        assert problem["error"] in alone.err and problem["exit_code"] == alone.code
        return
    assert (status, headers["dos-exit-code"]) == (200, str(alone.code))
    assert still(json.loads(body)) == still(alone.json)


def test_every_argument_that_is_served_is_one_of_the_verb():
    for name, verb in READ_VERBS.items():
        known = {field.name.strip("_") for field in arguments(VERBS[name])}
        assert set(verb.arguments) <= known, name
        assert VERBS[name].allowed == "anyone", name
        assert not {"write", "html", "out", "fix", "follow", "tick", "watch"} & set(verb.arguments)


REFUSED_VERBS = {
    "a verb that acts": ("/api/up", 404),
    "one that is not served": ("/api/journal/export", 404),
    "an argument that writes": ("/api/packet?write=1", 400),
    "a file": ("/api/report?html=/tmp/x", 400),
    "an unknown argument": ("/api/status?x=1", 400),
    "another workspace": ("/api/status?workspace=/tmp", 400),
    "a wrong number": ("/api/packet?limit=many", 400),
    "twice what stands once": ("/api/packet?limit=1&limit=2", 400),
    "no choice": ("/api/costs?by=colour", 400),
}


@pytest.mark.parametrize(("path", "status"), REFUSED_VERBS.values(), ids=REFUSED_VERBS)
def test_a_verb_is_refused_for(server, path, status):
    answer = server.request("GET", path)
    assert answer[0] == status and json.loads(answer[2])["error"]


def test_what_is_served_is_listed(server):
    assert set(server.get_json("/api/")["verbs"]) == set(READ_VERBS)
    status, headers, page = server.request("GET", "/")
    assert status == 200 and headers["content-type"].startswith("text/html")
    assert b"<script" not in page and b"style=" not in page


def mcp(server, **message):
    return server.request(
        "POST", "/mcp", body={"jsonrpc": "2.0", **message},
        headers={"Accept": "application/json, text/event-stream"},
    )  # fmt: skip


def test_mcp_answers_reads_and_offers_nothing_that_acts(server):
    _, _, body = mcp(server, id=1, method="tools/list")
    offered = {tool["name"]: tool for tool in json.loads(body)["result"]["tools"]}
    assert "verify" in offered and "arbitrate" in offered
    assert not {"start", "stop", "answer", "lease", "attempt"} & set(offered)
    assert all(tool["annotations"]["readOnlyHint"] for tool in offered.values())
    call = {"name": "lease", "arguments": {"action": "acquire", "lane": "docs", "owner": "x"}}
    _, _, body = mcp(server, id=2, method="tools/call", params=call)
    assert "error" in json.loads(body)
    _, _, body = mcp(server, id=4, method="tools/call", params={"name": "lane"})
    assert "who asks" in json.loads(body)["error"]["message"]
    away = {"name": "doctor", "arguments": {"workspace": "/"}}
    _, _, body = mcp(server, id=3, method="tools/call", params=away)
    assert "serves" in json.loads(body)["error"]["message"]
    assert mcp(server, method="notifications/initialized")[0] == 202
    assert server.request("POST", "/mcp", body=b"{")[0] == 400


def test_the_official_client_works_over_http(server):
    anyio = pytest.importorskip("anyio")
    mcp_client = pytest.importorskip("mcp")
    from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

    async def use():
        headers = {"Authorization": f"Bearer {server.token}"}
        async with (
            create_mcp_http_client(headers=headers) as client,
            streamable_http_client(
                f"http://127.0.0.1:{server.port}/mcp", http_client=client
            ) as streams,
            mcp_client.ClientSession(streams[0], streams[1]) as session,
        ):
            await session.initialize()
            tools = await session.list_tools()
            called = await session.call_tool("verify", {"plan": "AUTH", "phase": "AUTH1"})
            return tools, called

    tools, called = anyio.run(use)
    assert "verify" in {tool.name for tool in tools.tools}
    assert called.structured_content["exit_code"] != 0


class Events:
    """A client of `/events` that reads as a browser does."""

    def __init__(self, server, *, path="/events", last=None) -> None:
        headers = {"Authorization": f"Bearer {server.token}"}
        if last is not None:
            headers["Last-Event-ID"] = str(last)
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        self.connection.request("GET", path, headers=headers)
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200
        assert self.answer.getheader("Content-Type").startswith("text/event-stream")

    def read(self, count):
        """The next events: position, kind, data."""
        found, fields = [], {}
        while len(found) < count:
            line = self.answer.readline().decode().rstrip("\n")
            if not line and "data" in fields:
                found.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
                fields = {}
            elif ": " in line and not line.startswith(":"):
                name, _, value = line.partition(": ")
                fields[name] = value
        return found

    def close(self):
        self.answer.close()
        self.connection.close()


def note(root, text):
    added = in_its_own_process(
        "decisions", "add", "--kind", "K", "--lane", "docs", "--text", text, cwd=root
    )
    assert added.code == 0, added


def journal(root):
    return in_its_own_process("journal", "tail", "0", "--json", cwd=root).lines


def test_events_resume_and_nothing_is_lost_or_doubled(tmp_path):
    root = make_repository(tmp_path / "repository")
    with serving(root) as server:
        early = Events(server, path="/events?after=0")  # there is no journal yet
        for number in range(3):
            note(root, f"before {number}")
        count = len(journal(root))
        first = early.read(count)
        assert [data for _, _, data in first] == journal(root)
        assert [position for position, _, _ in first] == [line["pos"] for line in journal(root)]
        early.close()
        note(root, "while nobody looked")
        resumed = Events(server, last=first[-1][0])
        writing = threading.Thread(target=note, args=(root, "while somebody looks"))
        writing.start()
        writing.join(PATIENCE)
        every = journal(root)
        assert first + resumed.read(len(every) - count) == [
            (line["pos"], line["kind"], line) for line in every
        ]
        # Over a restart of the server it is the same position.
        server.kill()
    note(root, "while no server ran")
    with serving(root) as server:
        again = Events(server, last=every[-1]["pos"])
        rest = again.read(len(journal(root)) - len(every))
        assert [data for _, _, data in rest] == journal(root)[len(every) :]
        again.close()


def test_streams_are_bounded_and_end_with_their_clients(tmp_path):
    with serving(make_repository(tmp_path / "repository")) as server:
        streams = [Events(server) for _ in range(24)]
        assert server.request("GET", "/events")[0] == 503
        assert server.request("GET", "/events?after=x")[0] == 400
        for stream in streams:
            stream.close()
        for _ in range(200):
            status = server.request("GET", "/api/version")[0]
            assert status == 200
            try:
                Events(server).close()
                break
            except AssertionError:
                continue
        else:
            raise AssertionError("the streams of clients that are gone are still open")
