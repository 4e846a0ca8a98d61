"""A lease that is taken over MCP belongs to the client, and a call that is repeated keeps it."""

import os
import subprocess
import sys

import pytest
from asking import ask, call
from commanding import command, in_its_own_process
from sample_repository import Repository

from dos.mcp.protocol import Session

TAKE = {"action": "acquire", "lane": "one", "owner": "me"}


@pytest.fixture
def root(tmp_path):
    return Repository(tmp_path).root


def acquire(root, *more):
    words = ("lease-lane", "acquire", "--lane", "one", "--owner", "me", *more)
    return in_its_own_process(*words, cwd=root)


def test_the_same_call_twice_answers_with_the_same_fence(root):
    session = Session(str(root))
    first = ask(session, "lease", **TAKE)
    second = ask(Session(str(root)), "lease", **TAKE)  # the client has started its server anew
    assert first["outcome"] == second["outcome"] == "acquire"
    assert second["fence"] == first["fence"] and second["tree"] == ["one/**"]
    assert "already" in second["reason"]
    other = ask(session, "lease", **{**TAKE, "owner": "you"})
    assert (other["outcome"], other["fence"], other["exit_code"]) == ("refuse", None, 1)
    assert ask(session, "lease", **{**TAKE, "action": "release"})["released"]
    third = ask(session, "lease", **TAKE)
    assert third["fence"] > first["fence"]


def test_the_same_name_from_another_client_gets_nothing(root):
    assert ask(Session(str(root)), "lease", **TAKE)["outcome"] == "acquire"
    words = ["--pid", str(os.getpid()), "--again"]
    assert acquire(root, *words).code == 1
    assert acquire(root, "--again").code == 1


def test_again_renews_what_the_same_process_holds_and_takes_what_is_free(root):
    pid = ("--pid", str(os.getpid()))
    first = acquire(root, *pid, "--again").json
    assert first["fence"] and "already" not in first["reason"]
    assert acquire(root, *pid).code == 1  # without it, a second call is refused as ever
    assert acquire(root, *pid, "--again").json["fence"] == first["fence"]
    wrong = acquire(root, "--pid", "999999999999", "--again")
    assert wrong.code == 2 and "--pid" in wrong.err


def test_the_lease_of_a_client_that_has_exited_can_be_reaped(root):
    """The client is a program of its own, which starts a server, takes a lane and ends."""
    client = f"""
import json, subprocess
request = {{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {{"name": "lease", "arguments": {TAKE!r}}}}}
done = subprocess.run({command("mcp")!r}, input=json.dumps(request) + "\\n",
                      capture_output=True, text=True)
print(done.stdout)
"""
    done = subprocess.run([sys.executable, "-c", client], cwd=root, capture_output=True, text=True)
    assert '"outcome":"acquire"' in done.stdout, done.stderr
    reaped = in_its_own_process("lease-lane", "reap", "--lane", "one", cwd=root)
    assert reaped.code == 0, reaped
    assert ask(Session(str(root)), "lease", **TAKE)["outcome"] == "acquire"


def test_a_fence_that_is_not_held_renews_nothing(root):
    session = Session(str(root))
    fence = ask(session, "lease", **TAKE)["fence"]
    beat = {**TAKE, "action": "heartbeat"}
    assert call(session, "lease", **beat, fence=fence)["structuredContent"]["beat"]
    assert not call(session, "lease", **beat, fence=fence + 1)["structuredContent"]["beat"]
