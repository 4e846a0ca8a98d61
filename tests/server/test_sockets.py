"""What the socket answers, and for whom: by the kernel, never by what a client says."""

import json
import os
import subprocess
import sys
import threading

import pytest
from commanding import git, in_its_own_process
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from patience import PATIENCE
from serving import clean_environment, decision, tool_call

from dos import lease
from dos.journal.backends.open import open_store
from dos.lease import Request
from dos.machine import process
from dos.regions import region
from dos.server.read_verbs import READ_VERBS, socket_asks

CLIENT = """import os, socket, sys
client = socket.socket(socket.AF_UNIX)
here = os.getcwd()
os.chdir(os.path.dirname(sys.argv[1]))
client.connect("socket")
os.chdir(here)
client.sendall(sys.stdin.buffer.read())
print(client.makefile().read(), end="")
"""


def ask_from_a_process(server, line: bytes, *, cwd=None, **environment):
    """What a process with this environment is answered."""
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, str(server.location.socket)],
        input=line,
        cwd=cwd or server.root,
        env=clean_environment(**environment),
        capture_output=True,
        timeout=PATIENCE,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def docs_lease(server):
    """A lease with a key on lane docs, as a worker takes it."""
    key = "the-key-of-docs"
    store = open_store("", state_directory=server.location.folder.parent, workspace_id="")
    with store:
        taken = store.acquire(
            Request(
                lane="docs", holder="worker", host=process.host(), system=process.system(),
                pid=os.getppid(), ttl_ms=600_000, region=region(("docs/**",)),
                key_hash=lease.key_hash(key), run_id="RID-000000000000001",
            ),
            lambda wanted, live: None,
        )  # fmt: skip
    yield key, taken
    with open_store("", state_directory=server.location.folder.parent, workspace_id="") as store:
        store.release(taken.fence)


LANE = b'{"v":1,"ask":"lane"}\n'


def test_the_holder_is_known_by_its_own_environment(server, docs_lease):
    key, taken = docs_lease
    held = ask_from_a_process(server, LANE, DOS_LEASE_KEY=key)
    assert held["code"] == 0
    assert (held["data"]["lane"], held["data"]["fence"]) == ("docs", taken.fence)
    assert ask_from_a_process(server, LANE)["data"]["kind"] == "person"
    lost = ask_from_a_process(server, LANE, DOS_LEASE_KEY="another", DOS_LANE="docs")
    assert (lost["code"], lost["data"]["kind"]) == (3, "lost")


def test_what_a_client_says_of_itself_is_refused_and_what_it_sets_proves_nothing(
    server, docs_lease
):
    key, _ = docs_lease
    claims = json.dumps({"v": 1, "ask": "lane", "environment": {"DOS_LEASE_KEY": key}}).encode()
    assert "environment" in ask_from_a_process(server, claims + b"\n")["error"]
    arguments = b'{"v":1,"ask":"lane","arguments":{"pid":1}}\n'
    assert "error" in ask_from_a_process(server, arguments)
    # The run and the fence are public, and of a lease with a key they prove nothing.
    forged = {"DOS_RUN_ID": "RID-000000000000001", "DOS_LANE": "docs", "DOS_FENCE": "2"}
    assert ask_from_a_process(server, LANE, **forged)["data"]["kind"] == "person"
    event = tool_call(server.root, "docs/a")
    line = json.dumps({"v": 1, "ask": "hook", "moment": "pretool", "dialect": "", "event": event})
    denied = ask_from_a_process(server, line.encode() + b"\n", **forged)
    assert decision(denied["stdout"]) == "deny"
    allowed = ask_from_a_process(server, line.encode() + b"\n", DOS_LEASE_KEY=key)
    assert allowed["stdout"] == ""


def test_it_answers_what_it_lists_and_nothing_else(server):
    for verb in ("up", "down", "lease-lane acquire", "attempt", "decide", "doctor", "whoami", ""):
        answer = server.ask(verb)
        assert "error" in answer and "code" not in answer, verb
    assert "doctor" not in socket_asks() and "doctor" in READ_VERBS
    assert server.ask("packet", scope=["x"], write=True)["error"].startswith("the server does not")
    assert server.ask("report", html="/tmp/x")["error"].startswith("the server does not")
    verified = server.ask("verify", units=["AUTH", "AUTH1"])
    alone = in_its_own_process("verify", "AUTH", "AUTH1", "--json", cwd=server.root)
    assert (verified["code"], verified["data"]) == (alone.code, alone.json)
    assert "error" in server.ask("verify", units="AUTH")


def test_a_wait_ends_when_something_happens(server):
    answers = []
    position = server.ask("journal seq")["data"]
    after = position["seq"] if isinstance(position, dict) else position
    waiting = threading.Thread(
        target=lambda: answers.append(server.ask("wait", until="question", after=after, seconds=50))
    )
    waiting.start()
    added = in_its_own_process(
        "decisions", "add", "--kind", "K", "--lane", "docs", "--text", "What now?", cwd=server.root
    )
    assert added.code == 0, added
    waiting.join(PATIENCE)
    assert answers[0]["code"] == 0 and answers[0]["data"]["verdict"] == "QUESTION"


def test_no_folder_of_an_event_is_too_odd(server):
    for cwd in ("a\0b", "/" + "x" * 5_000, "/nowhere"):
        reply = server.hook("pretool", {**tool_call(server.root, "api/a"), "cwd": cwd})
        assert "stdout" in reply and "Traceback" not in reply["stderr"], cwd


def test_many_clients_are_answered_at_once(server):
    answers = []

    def ask(number):
        path = "api/a" if number % 2 else "web/a"
        reply = server.hook("pretool", tool_call(server.root, path, session=f"s{number}"))
        answers.append((number % 2, decision(reply["stdout"])))

    clients = [threading.Thread(target=ask, args=(number,)) for number in range(40)]
    for client in clients:
        client.start()
    for client in clients:
        client.join(PATIENCE)
    assert sorted(answers) == [(0, "")] * 20 + [(1, "deny")] * 20


def test_a_change_of_the_settings_counts_at_once(server):
    event = tool_call(server.root, "api/a")
    config = server.root / "dos.toml"
    before = config.read_text()
    assert decision(server.hook("pretool", event)["stdout"]) == "deny"
    try:
        config.write_text(before.replace('"block"', '"observe"'))
        assert decision(server.hook("pretool", event)["stdout"]) in ("", "context")
        config.write_text("[lanes\n")
        broken = server.hook("pretool", event)
        assert broken["stdout"] == "" and "dos.toml" in broken["stderr"]
    finally:
        config.write_text(before)
    assert decision(server.hook("pretool", event)["stdout"]) == "deny"


def test_a_linked_worktree_is_served_too(server, tmp_path):
    linked = tmp_path / "linked"
    git("worktree", "add", "--quiet", str(linked), cwd=server.root)
    assert decision(server.hook("pretool", tool_call(linked, "api/a"))["stdout"]) == "deny"


MESSAGES = st.one_of(
    st.binary(max_size=100),
    st.dictionaries(
        st.sampled_from(["v", "ask", "moment", "dialect", "event", "arguments", "x"]),
        st.one_of(
            st.sampled_from([1, 2, "hook", "lane", "verify", "pretool", "gemini", {}, [], None]),
            st.dictionaries(
                st.sampled_from(["cwd", "tool_name", "tool_input", "plan", "hook_event_name"]),
                st.one_of(st.text(max_size=5), st.integers(), st.none(), st.just({"a": 1})),
                max_size=4,
            ),
        ),
        max_size=6,
    ).map(lambda message: json.dumps(message).encode()),
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(MESSAGES)
def test_whatever_is_sent_gets_one_line_or_none(server, content):
    line = content.replace(b"\n", b" ") + b"\n"
    answer = server.line(line)
    assert isinstance(answer, dict)
    assert {"error", "hint"} == set(answer) or set(answer) <= {"stdout", "stderr", "code", "data"}
