"""What `dos export` ships arrives at least once, and the cursor is an event of the journal."""

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from commanding import command
from msgspec import json
from patience import PATIENCE

from dos.journal import streams
from dos.journal.events.doors import HookAnswered, VerdictGiven
from dos.outward.export import severity
from dos.world import World, open_journal

KILLED_BEFORE_THE_RECORD = """
import os, signal, sys
from dos.outward.io import cursor
from dos.cli.main import run
cursor.record_cursor = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
run(sys.argv[1:])
"""


@pytest.fixture
def journal(dos, workspace):
    assert dos("lease", "acquire", "A").code == 0  # a lock is no verdict
    with World(workspace) as world, open_journal(world.workspace, "") as store:
        yield store


@pytest.fixture
def two(journal):
    """Two verdicts, at positions 2 and 3."""
    give(journal, "verify", "SHIPPED")
    give(journal, "liveness", "STALLED")
    return journal


def give(journal, syscall, verdict, **fields):
    fact = VerdictGiven(syscall=syscall, verdict=verdict, **fields)
    return journal.record(streams.VERDICTS, fact).pos


def lines_of(path):
    return [json.decode(line) for line in path.read_bytes().splitlines()]


def test_by_default_nothing_is_sent_and_no_cursor_moves(dos, two):
    data = dos("export", "--since", "auto", "--json").json
    assert data == {
        "result": {"exported": 2, "detail": "nothing is sent", "cursor": 3},
        "exporter": "null",
        "shipped": 2,
        "since": "auto",
        "persist": False,
    }
    assert dos("export", "--since", "auto", "--json").json["shipped"] == 2


def test_auto_ships_once_and_says_so_as_dos_kernel_did(dos, two, workspace):
    first = dos("export", "--to", "file", "--path", "o.jsonl", "--since", "auto")
    assert first.code == 0
    assert first.out.splitlines() == [
        "# export · 2 event(s) pending · transport=file",
        f"  → shipped 2/2 via file: appended 2 events to {workspace}/o.jsonl",
        "  cursor: 3  (persisted)",
    ]
    again = dos("export", "--to", "file", "--path", "o.jsonl", "--since", "auto", "--json")
    assert (again.code, again.json["shipped"], again.json["result"]["cursor"]) == (0, 0, 3)
    records = lines_of(workspace / "o.jsonl")
    assert [(row["seq"], row["syscall"], row["verdict"]) for row in records] == [
        (2, "verify", "SHIPPED"),
        (3, "liveness", "STALLED"),
    ]
    give(two, "verify", "UNDONE")
    assert dos("export", "--to", "file", "--path", "o.jsonl", "--since", "auto").code == 0
    assert len(lines_of(workspace / "o.jsonl")) == 3


def test_since_a_position_and_tail_leave_the_cursor_alone(dos, two, workspace):
    assert dos("export", "--to", "file", "--path", "a", "--since", "2").code == 0
    assert [row["seq"] for row in lines_of(workspace / "a")] == [3]
    assert dos("export", "--to", "file", "--path", "b", "--tail", "1").code == 0
    assert [row["seq"] for row in lines_of(workspace / "b")] == [3]
    assert not two.load(streams.exports("file"))


def test_a_kill_between_shipping_and_recording_ships_again(dos, two, workspace):
    words = ["export", "--to", "file", "--path", "o.jsonl", "--since", "auto"]
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_BEFORE_THE_RECORD, *words], cwd=workspace, timeout=PATIENCE
    )
    assert killed.returncode == -signal.SIGKILL
    assert [row["seq"] for row in lines_of(workspace / "o.jsonl")] == [2, 3]
    assert dos(*words).code == 0
    assert [row["seq"] for row in lines_of(workspace / "o.jsonl")] == [2, 3, 2, 3]
    assert dos(*words, "--json").json["shipped"] == 0


def test_a_line_that_a_crash_cut_off_spoils_no_other(dos, two, workspace):
    (workspace / "o.jsonl").write_bytes(b'{"seq":1,"sysc')
    assert dos("export", "--to", "file", "--path", "o.jsonl").code == 0
    rest = (workspace / "o.jsonl").read_bytes().splitlines()[1:]
    assert [json.decode(line)["seq"] for line in rest] == [2, 3]


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "missing/folder"])
def test_a_failing_transport_exits_1_and_moves_no_cursor(dos, two, workspace, kind):
    path = workspace / kind
    if kind == "link":
        path.symlink_to(workspace / "dos.toml")
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    before = (workspace / "dos.toml").read_bytes()
    answer = dos("export", "--to", "file", "--path", str(path), "--since", "auto", "--json")
    assert (answer.code, answer.json["shipped"], answer.json["result"]["cursor"]) == (1, 0, 0)
    assert answer.json["result"]["detail"]
    assert not two.load(streams.exports("file"))
    assert (workspace / "dos.toml").read_bytes() == before


def test_a_dry_run_ships_nothing(dos, two, workspace):
    answer = dos("export", "--to", "file", "--path", "o", "--since", "auto", "--dry-run")
    assert answer.code == 0
    assert "dry run: 2 events would be shipped" in answer.out
    assert not (workspace / "o").exists()
    assert not two.load(streams.exports("file"))


def test_hooks_are_exported_too(dos, two, workspace):
    fact = HookAnswered(moment="pretool", action="DENY", tool="Write", reason_class="FENCE_LOST")
    two.record(streams.HOOKS, fact)
    dos("export", "--to", "file", "--path", "o")
    record = lines_of(workspace / "o")[-1]
    assert (record["syscall"], record["verdict"], record["source"]) == (
        "pretool",
        "BLOCK",
        "sensor",
    )


def test_statsd_counts_pairs_of_verb_and_verdict(dos, two, monkeypatch):
    give(two, "verify", "SHIPPED")
    give(two, "odd|verb:a,b #", "X Y")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(PATIENCE)
        monkeypatch.setenv("DOS_STATSD_PORT", str(receiver.getsockname()[1]))
        assert dos("export", "--to", "statsd").code == 0
        received = sorted(receiver.recv(1000) for _ in range(3))
    assert received == [
        b"dos.verdict:1|c|#syscall:liveness,verdict:STALLED",
        b"dos.verdict:1|c|#syscall:odd_verb_a_b__,verdict:X_Y",
        b"dos.verdict:2|c|#syscall:verify,verdict:SHIPPED",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--to", "elsewhere"), "unknown exporter 'elsewhere'"),
        (("--to", "file"), "needs a path"),
        (("--to", "statsd", "--port", "0"), "is not between 1 and 65535"),
        (("--to", "otlp", "--endpoint", "nowhere"), "is not an http URL"),
        (("--since", "now"), "is not a position"),
        (("--tail", "0"), "less than 1"),
        (("--follow", "--follow-interval", "0"), "--follow-interval"),
    ],
)
def test_bad_input_exits_2_and_says_what_to_type(dos, words, said):
    answer = dos("export", *words)
    assert answer.code == 2
    assert said in answer.err
    assert "hint:" in answer.err


def test_following_ships_what_comes_and_goes_on_later(dos, two, workspace):
    words = ["--to", "file", "--path", "o", "--follow", "--follow-interval", "0.1"]
    following = subprocess.Popen(command("export", *words), cwd=workspace, stdout=subprocess.PIPE)
    try:
        assert b"2 event(s) pending" in following.stdout.readline()
        assert b"shipped 2/2" in following.stdout.readline()
        assert b"cursor: 3" in following.stdout.readline()
        new = give(two, "verify", "UNDONE")
        assert b"1 event(s) pending" in following.stdout.readline()
        assert b"shipped 1/1" in following.stdout.readline()
        following.send_signal(signal.SIGINT)
        assert following.wait(PATIENCE) == 0
    finally:
        following.kill()
        following.wait()
    assert [row["seq"] for row in lines_of(workspace / "o")] == [2, 3, new]
    assert dos("export", *words, "--follow-max", "1").out == ""


# OpenTelemetry


@contextmanager
def collector(status=200):
    """A collector on loopback; it answers with a status and keeps what it was sent."""
    bodies = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            bodies.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", bodies
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_opentelemetry_gets_log_records_with_their_severity(dos, two):
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="needs dispatch-os[otel]")
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    with collector() as (url, bodies):
        answer = dos("export", "--to", "otlp", "--endpoint", url, "--since", "auto", "--json")
        assert (answer.code, answer.json["shipped"]) == (0, 2)
    ((path, body),) = bodies
    assert path == "/v1/logs"
    (logs,) = ExportLogsServiceRequest.FromString(body).resource_logs
    resource = {each.key: each.value.string_value for each in logs.resource.attributes}
    assert resource["service.name"] == "dos.verdict"
    first, second = logs.scope_logs[0].log_records
    assert (first.body.string_value, first.severity_number) == ("verify SHIPPED", 9)
    assert (second.body.string_value, second.severity_number) == ("liveness STALLED", 17)
    attributes = {each.key: each.value.string_value for each in second.attributes}
    assert (attributes["dos.syscall"], attributes["dos.verdict"]) == ("liveness", "STALLED")
    assert dos("export", "--to", "otlp", "--since", "auto", "--json").json["shipped"] == 0


def test_a_collector_that_refuses_moves_no_cursor(dos, two):
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="needs dispatch-os[otel]")
    with collector(status=400) as (url, _):
        answer = dos("export", "--to", "otlp", "--endpoint", url, "--since", "auto")
    assert (answer.code, answer.err) == (1, "")
    assert "did not take the records" in answer.out
    assert not two.load(streams.exports("otlp"))


# Transports of other packages


def test_a_plugin_gets_its_options_and_nothing_that_it_does_ends_the_verb(
    dos, two, tmp_path, monkeypatch
):
    (tmp_path / "mine.py").write_text(
        "class Mine:\n"
        "    def __init__(self, path=''):\n"
        "        self.path = path\n"
        "    def export(self, events):\n"
        "        if self.path == 'raise':\n"
        "            raise RuntimeError('no')\n"
        "        open(self.path, 'w').write(str(len(events)))\n"
    )
    info = tmp_path / "mine-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: mine\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[dos.exporters]\nmine = mine:Mine\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    written = tmp_path / "written"
    assert dos("export", "--to", "mine", "--path", str(written)).code == 0
    assert written.read_text() == "2"
    failed = dos("export", "--to", "mine", "--path", "raise", "--since", "auto")
    assert failed.code == 1
    assert "the plugin mine raised RuntimeError: no" in failed.out


@pytest.mark.parametrize(
    ("verdict", "number"),
    [
        ("SHIPPED", 9), ("OK", 9), ("LIVE", 9), ("IN_SCOPE", 9),
        ("SPINNING", 13), ("UNPROVEN", 13), ("CANNOT_TELL", 13),
        ("NOT_SHIPPED", 17), ("UNDONE", 17), ("CLAIM_UNWITNESSED", 17), ("SCOPE_CREEP", 17),
    ],
)  # fmt: skip
def test_work_that_is_gone_and_false_claims_wake_people_and_what_is_in_order_does_not(
    verdict, number
):
    assert severity(verdict) == number
