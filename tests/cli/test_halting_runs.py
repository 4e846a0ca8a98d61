"""Runs that a person stops: one of them, or all of them with the fleet."""

import subprocess
import sys
import time

import pytest
from commanding import command, git
from fleet_scenes import OTHER, RUN, hold, journal, stopped, work
from msgspec import json
from patience import PATIENCE
from screens import Screen

from dos.journal import streams
from dos.journal.events import fleet

# A worker as far as a halt is concerned: it holds its lane, and gives it back when it is asked to
# stop.
WORKER = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from fleet_scenes import hold, journal, stopped
from dos.journal.events import fleet as events; from dos.journal import streams

_, _, state, lane, run_id, obeys = sys.argv
with journal(Path(state)) as store:
    lease = hold(store, lane, run_id)
    stream = streams.run(run_id)
    store.record(stream, events.RunBegun(run_id=run_id, lane=lane, host="h", start_sha=""))
    print("at work", flush=True)
    while obeys == "no" or not any(e.kind == "halt_requested" for e in store.load(stream)):
        store.wait(store.last(), 1)
    if obeys == "yes":
        store.record(stream, stopped(run_id, lane), fence=lease.fence)
        store.release(lease.fence)
"""


@pytest.fixture
def worker(state, tmp_path, request):
    begun = []
    script = tmp_path / "worker.py"
    script.write_text(WORKER)

    def start(lane="api", run_id=RUN, obeys="yes"):
        words = [
            sys.executable,
            str(script),
            str(request.path.parent),
            str(state),
            lane,
            run_id,
            obeys,
        ]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        begun.append(process)
        assert process.stdout.readline() == "at work\n"
        return process

    yield start
    for process in begun:
        process.kill()
        process.communicate()


def written(dos, run_id=RUN):
    return [
        (line["kind"], line["body"])
        for line in dos("journal", "export", "--stream", f"run/{run_id}").lines
    ]


def test_a_run_is_asked_to_stop_and_waited_for(dos, worker):
    process = worker()
    answer = dos("halt", RUN, "--reason", "wrong plan", "--json")
    assert answer.code == 0
    assert answer.json == {"run_id": RUN, "lane": "api", "halted": True, "stop_reason": "halted"}
    assert process.wait(timeout=PATIENCE) == 0
    asked = dict(written(dos))["halt_requested"]
    assert (asked["run_id"], asked["reason"], asked.get("resumable", False)) == (
        RUN,
        "wrong plan",
        False,
    )
    assert "run_suspended" not in dict(written(dos))


AGENT = """
[workers]
agent = "scripted"
command = ["{script}"]
"""
PLAN = "# A plan\n\n## DEMO A1: first\n- lane: api\n"


@pytest.fixture
def real_worker(workspace, tmp_path, monkeypatch):
    """A worker as `dos up` starts them, whose agent writes half a file and then never ends."""
    script = tmp_path / "script.json"
    script.write_bytes(
        json.encode({"*": [[{"write": "api/half.txt", "text": "half"}, {"hang": True}]]})
    )
    with (workspace / "dos.toml").open("a") as file:
        file.write(AGENT.format(script=script))
    (workspace / "docs" / "demo-plan.md").write_text(PLAN)
    git("add", "--all", cwd=workspace)
    git("commit", "--quiet", "--message", "Plan", cwd=workspace)
    monkeypatch.setenv("DOS_RECEIPT_KEY", str(tmp_path / "key"))
    words = command("worker", "--lane", "api", "--run-id", RUN, "--json")
    process = subprocess.Popen(words, cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


def test_a_real_worker_ends_its_agent_saves_what_it_did_and_gives_its_lane_back(
    dos, real_worker, workspace, state
):
    # Its worktree holds the half of a file before it is asked.
    deadline = time.monotonic() + PATIENCE
    while '"type":"write"' not in "".join(
        log.read_text() for log in state.glob("logs/api/*.1.log")
    ):
        assert real_worker.poll() is None, real_worker.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert dos("top", "--json").json["rows"][0]["agent"] == "scripted"
    answer = dos("halt", RUN, "--reason", "wrong plan", "--json")
    assert (answer.code, answer.json["stop_reason"]) == (0, "halted")
    out, err = real_worker.communicate(timeout=PATIENCE)
    assert (real_worker.returncode, json.decode(out)["stop_reason"]) == (0, "halted"), err
    assert dos("lease-lane", "live").json == []
    saved = git("for-each-ref", "--format=%(refname)", "refs/dos/salvage", cwd=workspace).split()
    assert [git("show", f"{ref}:api/half.txt", cwd=workspace) for ref in saved] == ["half"]


def test_a_run_is_stopped_by_the_name_of_its_lane(dos, worker):
    process = worker()
    assert dos("halt", "api", "--json").json == dos("halt", RUN, "--json").json
    process.wait(timeout=PATIENCE)


def test_a_run_that_is_to_go_on_later_is_put_aside(dos, worker):
    worker()
    answer = dos("halt", RUN, "--resumable")
    assert answer.code == 0 and f"dos resume --run-id {RUN}" in answer.out
    facts = dict(written(dos))
    assert facts["halt_requested"]["resumable"] and facts["run_suspended"]["reason"] == "halt"


def test_a_run_that_does_not_stop_in_time_was_asked(dos, worker):
    process = worker(obeys="no")
    answer = dos("halt", RUN, "--timeout", "0.5", "--json")
    assert (answer.code, answer.json["halted"]) == (1, False)
    assert process.poll() is None, "nobody is killed"
    assert "halt_requested" in dict(written(dos))


def test_a_worker_that_dies_of_it_is_gone_as_well(dos, worker):
    worker(obeys="dies")
    answer = dos("halt", RUN)
    assert answer.code == 0 and "has exited without recording why" in answer.out


def test_a_run_that_has_stopped_is_left_alone(dos, state):
    with journal(state) as store:
        store.record(streams.run(RUN), stopped())
    before = dos("journal", "seq").out
    answer = dos("halt", RUN, "--json")
    assert (answer.code, answer.json["halted"], answer.json["stop_reason"]) == (0, True, "halted")
    assert dos("journal", "seq").out == before


def test_a_run_that_nobody_knows_is_no_error_of_words(dos, state):
    answer = dos("halt", RUN)
    assert answer.code == 1 and "has no run" in answer.out
    assert not state.exists()


@pytest.mark.parametrize(
    "words",
    [
        ("not-a-run",), (RUN, "--handle", "x"), (RUN, "--lane", "api"), (RUN, "--command", "kill"),
        (RUN, "--timeout", "-1"), (RUN, "--reason", "a\nb"), (RUN, "--resume-sha", "nowhere"),
        ("--resumable",),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_meant_is_an_error_and_asks_nobody(dos, state, words):
    answer = dos("halt", *words)
    assert (answer.code, answer.out) == (2, "") and "hint: " in answer.err
    assert not state.exists()


def test_down_now_asks_every_run_and_the_fleet(dos, worker, state):
    first, second = worker(), worker("docs", OTHER)
    answer = dos("down", "--now", "--json")
    assert (answer.code, answer.json) == (0, {"down": True, "left": []})
    assert (first.wait(timeout=PATIENCE), second.wait(timeout=PATIENCE)) == (0, 0)
    for run_id in (RUN, OTHER):
        facts = dict(written(dos, run_id))
        assert facts["halt_requested"]["resumable"] and "run_suspended" in facts
    [drain] = dos("journal", "tail", "0", "--stream", "fleet").lines
    assert (drain["kind"], drain["body"]["reason"]) == ("drain_requested", "dos down --now")


def test_down_now_reaches_a_worker_that_shows_up_meanwhile(dos, worker, state):
    with journal(state) as store:
        hold(store, "supervisor/here", is_lock=True)
        down = subprocess.Popen(
            [sys.executable, "-m", "dos", "down", "--now", "--timeout", "60", "--json"],
            stdout=subprocess.PIPE,
        )
        while not any(event.kind == "drain_requested" for event in store.load("fleet")):
            store.wait(store.last(), 1)
        late = worker()
        assert late.wait(timeout=PATIENCE) == 0
        [supervisor] = store.leases(locks=True)
        store.release(supervisor.fence)
    out, _ = down.communicate(timeout=PATIENCE)
    assert (down.returncode, json.decode(out)["down"]) == (0, True)


def test_down_without_now_halts_nobody(dos, worker):
    process = worker()
    assert dos("down", "--timeout", "0").code == 1
    assert process.poll() is None and "halt_requested" not in dict(written(dos))


def test_the_dead_are_not_waited_for(dos, worker, state):
    process = worker()
    process.kill()
    process.wait()
    answer = dos("down", "--timeout", "60")
    assert (answer.code, answer.out) == (0, "Nothing is running\n")


def test_on_a_terminal_it_says_who_is_still_running(workspace, state, tmp_path):
    with journal(state) as store:
        lease = work(store)
        with Screen(workspace, tmp_path / "tmux", "down", "--timeout", "60") as screen:
            screen.shows("s: api; Ctrl-C stops waiting")
            store.record(streams.run(RUN), fleet.RunStopped(
                run_id=RUN, lane="api", stop_reason="drain", needs="nobody", reason="x"
            ))  # fmt: skip
            store.release(lease.fence)
            lines = screen.shows("Everything has stopped")
            assert not any("still running" in line for line in lines)
