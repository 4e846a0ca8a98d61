"""What agents said: the newest of a lane, as a person reads it or byte for byte, and on and on."""

import json
import signal
import subprocess
import threading
from queue import Empty, Queue

import pytest
from commanding import command
from fleet_scenes import OTHER, RUN, journal, log, work
from patience import PATIENCE

from dos.agents.adapter import Activity, Ending, ToolResult, Waiting
from dos.agents.io import logs
from dos.report import event_lines


@pytest.fixture
def lane(state):
    """A worker is on api, and its agent is `command`."""
    with journal(state) as store:
        work(store)
        yield store


def test_the_newest_log_of_a_lane_is_shown(dos, lane, state):
    log(state, "api", "first\n", iteration=1)
    log(state, "api", "tenth\n", iteration=10)
    log(state, "api", "second\n", iteration=2)
    answer = dos("logs", "api")
    assert (answer.code, answer.out.splitlines()[1:]) == (0, ["tenth"])
    assert answer.out.startswith(f"== {RUN}, iteration 10, attempt 1")


def test_a_later_attempt_and_a_later_run_are_newer(dos, lane, state):
    log(state, "api", "one\n", attempt=2)
    assert dos("logs", "api", "--json").json["attempt"] == 2
    log(state, "api", "two\n", OTHER)
    assert dos("logs", "api").out.splitlines()[1:] == ["two"]
    assert dos("logs", "api", "--run", RUN).out.splitlines()[1:] == ["one"]


def test_a_worker_that_failed_before_it_started_an_agent_is_shown(dos, lane, state):
    log(state, "api", "one\n", RUN)
    failed = logs.worker_log(state, "api", OTHER)
    failed.write_text("")
    assert dos("logs", "api").out.splitlines()[1:] == ["one"], "it may start one yet"
    failed.write_text("every unit is done\n")
    assert dos("logs", "api").out.splitlines()[1:] == ["one"], "it had nothing to do"
    failed.write_text("error: git reset: smudge filter lfs failed\n  hint: ls -la\n")
    answer = dos("logs", "api")
    assert answer.out.splitlines() == [
        f"== {OTHER}, its worker failed before it started an agent",
        "error: git reset: smudge filter lfs failed",
        "  hint: ls -la",
    ]
    shown = dos("logs", "api", "--lines", "1", "--json").json
    assert (shown["run_id"], shown["log"]) == (OTHER, str(failed))
    assert [line["text"] for line in shown["lines"]] == ["  hint: ls -la"]
    assert dos("logs", "api", "--run", RUN).out.splitlines()[1:] == ["one"]
    log(state, "api", "two\n", OTHER)
    assert dos("logs", "api").out.splitlines()[1:] == ["two"], "it started one after all"


def test_only_the_last_lines_are_shown_however_long_the_log_is(dos, lane, state):
    log(state, "api", "".join(f"line {number}\n" for number in range(200_000)))
    answer = dos("logs", "api", "--lines", "3", "--json").json
    assert [line["text"] for line in answer["lines"]] == [
        "line 199997",
        "line 199998",
        "line 199999",
    ]
    assert (answer["agent"], answer["run_id"]) == ("command", RUN)
    assert dos("logs", "api", "--lines", "0").out.count("\n") == 1


def test_a_stream_made_for_programs_is_told_in_words(dos, state):
    with journal(state) as store:
        work(store, agent="scripted")
    said = [
        "not JSON at all",
        json.dumps({"type": "say", "text": "I begin"}),
        json.dumps({"type": "nothing"}),
        "",
    ]
    log(state, "api", "\n".join(said))
    output = dos("logs", "api").out
    assert "I begin" in output and "not JSON at all" in output
    assert '{"type"' not in output


def test_a_line_without_an_end_is_shown_too(dos, lane, state):
    log(state, "api", "whole\nhalf")
    assert dos("logs", "api").out.splitlines()[1:] == ["whole", "half"]


HOSTILE = b"\x1b[2J\x1b]0;title\x07 \xff \xe2\x80\xae"


def test_nothing_that_an_agent_prints_acts_on_a_terminal(dos, lane, state):
    log(state, "api", HOSTILE + b"\n")
    for words in (("logs", "api"), ("logs", "api", "--raw")):
        output = dos(*words).out
        assert "\x1b" not in output and "\x07" not in output and "\u202e" not in output
        assert "\\u001b[2J" in output


def test_raw_is_byte_for_byte(workspace, lane, state):
    log(state, "api", HOSTILE + b"\nmore\n")
    done = subprocess.run(
        command("logs", "api", "--raw"), cwd=workspace, capture_output=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, HOSTILE + b"\nmore\n", b"")


def test_a_lane_that_nobody_knows_is_an_error_that_names_those_with_logs(dos, lane, state):
    log(state, "api", "x\n")
    log(state, "docs", "x\n")
    answer = dos("logs", "apu")
    assert answer.code == 2 and "'apu'" in answer.err
    assert "Lanes with logs: api, docs." in answer.err


def test_a_lane_without_a_log_has_its_own_code(dos, lane):
    assert dos("logs", "docs").code == 1
    assert dos("logs", "backend", "--run", OTHER).code == 1


def test_where_another_host_works_it_says_which(dos, workspace, monkeypatch):
    monkeypatch.setenv("DISPATCH_HOST_ID", "other")
    assert dos("lease-lane", "acquire", "--lane", "api", "--owner", "A").code == 0
    monkeypatch.setenv("DISPATCH_HOST_ID", "here")
    assert "its worker is on other" in dos("logs", "api").out


@pytest.mark.parametrize(
    ("heard", "told"),
    [
        ((Activity(text="reads a file"),), [("activity", "reads a file")]),
        ((Activity(text="one"), Activity(text="two")), [("activity", "one"), ("activity", "two")]),
        (
            (Waiting(ending=Ending.OVERLOADED, seconds=2.5, text="529"),),
            [("waiting", "waits for its provider (overloaded), tries again in 2.5 s: 529")],
        ),
        (
            (ToolResult(output="one\ntwo", exit_code=3, failed=True),),
            [("result", "  exit 3"), ("output", "    one"), ("output", "    two")],
        ),
        ((ToolResult(exit_code=0),), [("result", "  exit 0")]),
        (
            (ToolResult(output="denied", failed=True),),
            [("result", "  failed"), ("output", "    denied")],
        ),
        ((ToolResult(output="x"),), [("result", "  result"), ("output", "    x")]),
        ((Waiting(ending=Ending.TRANSIENT),), [("waiting", "waits for its provider (transient)")]),
    ],
)
def test_what_is_heard_is_told_in_words(heard, told):
    assert [
        (agent_line.kind, agent_line.text) for agent_line in event_lines.agent_lines("{}", heard)
    ] == told


@pytest.mark.parametrize(
    ("line", "told"), [("plain words", ["plain words"]), ('{"a": 1}', []), ("  ", []), ("", [])]
)
def test_a_line_that_nobody_understands_is_shown_unless_it_is_for_programs(line, told):
    assert [agent_line.text for agent_line in event_lines.agent_lines(line, ())] == told


@pytest.mark.parametrize(
    "words",
    [(), ("api", "--lines", "-1"), ("api", "--run", "../x"), ("api", "--raw", "--json"), ("a\nb",)],
    ids=str,
)
def test_what_cannot_be_shown_is_an_error(dos, state, words):
    answer = dos("logs", *words)
    assert (answer.code, answer.out) == (2, "") and "hint: " in answer.err
    assert not state.exists()


class Followed:
    """The verb in a process of its own; its lines as they come."""

    def __init__(self, cwd, *words):
        self.process = subprocess.Popen(
            command("logs", *words, "-f"), cwd=cwd, stdout=subprocess.PIPE, text=True
        )
        self._lines: Queue[str] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def next(self):
        return self._lines.get(timeout=PATIENCE)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(timeout=PATIENCE) == 0
        with pytest.raises(Empty):
            self._lines.get(timeout=0.2)


def append(path, text):
    with path.open("a") as file:
        file.write(text)


def test_it_is_followed_across_attempts_runs_and_rotations(workspace, lane, state):
    first = log(state, "api", "old\nbegun\n")
    followed = Followed(workspace, "api", "--lines", "1")
    try:
        assert followed.next().startswith("== ") and followed.next() == "begun"
        append(first, "more\nhal")
        assert followed.next() == "more"
        append(first, "f\n")
        assert followed.next() == "half"
        first.write_text("anew\n")
        assert followed.next() == "anew"
        append(first, "left open")
        log(state, "api", "again\n", attempt=2)
        assert followed.next() == "left open"
        assert "attempt 2" in followed.next() and followed.next() == "again"
        for old in (state / "logs" / "api").iterdir():  # as it is done with those of old runs
            old.unlink()
        log(state, "api", "another\n", OTHER)
        assert OTHER in followed.next() and followed.next() == "another"
    finally:
        followed.end()


def test_following_waits_for_the_first_log_and_speaks_json_where_asked(workspace, lane, state):
    followed = Followed(workspace, "docs", "--json")
    try:
        log(state, "docs", "hello\n", OTHER)
        assert json.loads(followed.next()) == {
            "run_id": OTHER, "iteration": 1, "attempt": 1, "kind": "line", "text": "hello"
        }  # fmt: skip
    finally:
        followed.end()
