"""The socket of one agent's hooks answers the processes that its worker started, and no other."""

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from msgspec import json
from patience import PATIENCE

from dos.agenthooks import socket_protocol
from dos.agents.io import hook_shim, hook_socket
from dos.agents.io.hook_socket import Caller, HookSocket
from dos.errors import BadInput

SHIM = Path(hook_shim.__file__).read_text()
EVENT = {"tool_name": "write", "tool_input": {"filePath": "a", "content": "x\ny"}}
REFUSED = (2, "", "")
# A process whose parent has ended asks when it has another one.
ORPHAN = """
import os, sys, time
started = os.getpid()
if os.fork():
    os._exit(0)
while os.getppid() == started:
    time.sleep(0.01)
exec(compile(sys.argv.pop(1), "shim", "exec"), {"__name__": "__main__"})
"""


@pytest.fixture
def place():
    """A short one: the path of a socket has at most 107 bytes."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "hook"


def said(request: socket_protocol.Request, caller: Caller) -> bytes:
    words = f"{request.moment} {request.dialect} {request.event['tool_name']}"
    return socket_protocol.hook_reply(words, "")


def ask(place: Path, event: object = EVENT, *, indent: bool = False) -> tuple[int, str, str]:
    """Ask as a hook does; the exit code, and what it prints."""
    text = json.encode(event)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", SHIM, "pretool", "gemini"],
        input=json.format(text, indent=2) if indent else text,
        env={"DOS_HOOK_SOCKET": str(place)},
        capture_output=True,
        timeout=PATIENCE,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode().strip()


@pytest.mark.parametrize("indent", [False, True], ids=["one line", "many lines"])
def test_a_process_of_the_worker_gets_an_answer(place, indent):
    with HookSocket(place, said):
        assert ask(place, indent=indent) == (0, "pretool gemini write", "")
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert not place.exists()


def test_a_process_that_no_longer_descends_from_the_worker_gets_none(place):
    with HookSocket(place, said):
        done = subprocess.run(
            [sys.executable, "-c", ORPHAN, SHIM, "pretool", "gemini"],
            input=json.encode(EVENT),
            env={"DOS_HOOK_SOCKET": str(place)},
            capture_output=True,
            timeout=PATIENCE,
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


# It opens connections, says this much on each, and holds them until its input ends.
IDLER = """
import socket, sys
held = []
for _ in range(int(sys.argv[2])):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(sys.argv[1])
    connection.sendall(sys.argv[3].encode())
    held.append(connection)
print("open", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("words", ["", '{"v":1,'], ids=["nothing", "a part"])
def test_connections_that_ask_nothing_keep_nobody_waiting_for_long(place, words, monkeypatch):
    monkeypatch.setattr(hook_socket, "READ_SECONDS", 0.3)
    count = str(2 * hook_socket.MOST_AT_ONCE)
    with (
        HookSocket(place, said),
        subprocess.Popen(
            [sys.executable, "-c", IDLER, str(place), count, words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as idler,
    ):
        assert idler.stdout.readline() == b"open\n"
        assert ask(place)[0] == 0
        idler.stdin.close()


@pytest.mark.parametrize(
    "event",
    ["no object", {"content": "x" * (17 << 20)}],
    ids=["not understood", "too long"],
)
def test_what_is_no_request_is_refused(place, event):
    with HookSocket(place, said):
        assert ask(place, event) == REFUSED


def test_a_question_that_has_no_answer_is_a_refusal_and_the_next_one_is_answered(place):
    def answer(request: socket_protocol.Request, caller: Caller) -> bytes:
        if "tool_name" in request.event:
            return said(request, caller)
        raise BadInput("there is no such dialect")

    with HookSocket(place, answer):
        assert ask(place, {}) == REFUSED
        assert ask(place)[0] == 0


def test_one_agent_does_not_ask_without_end(place, monkeypatch):
    monkeypatch.setattr(hook_socket, "MOST_REQUESTS", 1)
    with HookSocket(place, said):
        assert ask(place)[0] == 0
        assert ask(place) == REFUSED


def test_without_a_worker_the_call_is_refused(place):
    with HookSocket(place, said):
        os.unlink(place)
        assert ask(place) == REFUSED
    assert ask(place) == REFUSED


def test_what_an_earlier_agent_left_in_its_place_is_replaced(place):
    place.touch()
    with HookSocket(place, said):
        assert ask(place)[0] == 0
