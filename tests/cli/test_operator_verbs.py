"""Verbs for people are refused to the agents of a fleet: by the key of their lease, and by where
they descend from."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commanding import command, in_process

from dos.lease import KEY_VARIABLE, Request, key_hash
from dos.machine import process
from dos.regions import region
from dos.verbs.listing.table import VERBS
from dos.verbs.listing.verb import ANYONE, PERSON_OR_HOLDER
from dos.workspace import find
from dos.world import open_journal

REFUSED = 77
# What each needs to be understood at all.
WORDS = {
    "up": ["--until-idle"],
    "worker": ["--lane", "api"],
    "decisions answer": ["lane-stopped-x-1", "retry"],
    "decide-for": ["lane-stopped-x-1", "retry"],
    "attest": ["--claim", "c", "--accept-cmd", "true"],
    "halt": ["--handle", "7"],
    "salvage apply": ["1"],
    "salvage drop": ["1"],
    "journal import": ["x.jsonl"],
    "config set": ["supervise.target", "2"],
    "config unset": ["lanes.concurrent"],
    "lease-lane release": ["--lane", "docs", "--owner", "A"],
    "lease-lane adopt": ["--lane", "docs", "--owner", "A"],
    "hooks git": ["install"],
    "hooks install": ["claude-code"],
    "hooks uninstall": ["claude-code"],
    "hooks test": ["claude-code"],
    "agents test": ["claude_code"],
    "limits lift": ["claude"],
    "plan add": ["DEMO/9", "More"],
    "steer": ["api", "Stop"],
}
GUARDED = [name for name, verb in VERBS.items() if verb.allowed != ANYONE]
OPERATORS = """up down pause resume halt init decide-for attest worker serve web /
config set / config unset / decisions answer / salvage apply / salvage drop /
journal import / journal prune / journal compact / receipt-key make /
service install / service status / service remove / hooks git /
lease-lane adopt / lease-lane reap / lease-lane release"""


def take(workspace, lane="api", *, pid=None, key="secret", is_lock=False, system=None):
    """A lease as a worker takes it, held by the process that is named."""
    me = process.identify(pid or os.getpid())
    request = Request(
        lane=lane, holder="worker", host=process.host(), ttl_ms=600_000,
        region=region([] if is_lock else [f"{lane}/**"]), is_lock=is_lock, run_id="R1", pid=me.pid,
        pid_started=me.started,
        system=system or process.system(), key_hash=key_hash(key) if key else "",
    )  # fmt: skip
    with open_journal(find(workspace), "") as journal:
        return journal.acquire(request, lambda wanted, live: None)


def child(workspace, *words, **environment):
    """A `dos` that descends from this process, with nothing of its environment."""
    kept = {"PATH": os.environ["PATH"], "HOME": str(workspace)} | environment
    return subprocess.run(
        command(*words), cwd=workspace, env=kept, capture_output=True, text=True, timeout=120
    )


def paused(workspace) -> bool:
    with open_journal(find(workspace), "") as journal:
        return any(event.kind == "pause_requested" for event in journal.events())


def test_the_table_says_which_verbs_are_for_people():
    listed = [part.split() for part in OPERATORS.split("/")]
    wanted = {*listed[0], *(" ".join(words) for words in listed[1:])}
    assert wanted <= set(GUARDED)
    for name in (
        "status",
        "top",
        "verify",
        "lease-lane heartbeat",
        "hook stop",
        "config get",
        "journal tail",
        "lint",
    ):
        assert VERBS[name].allowed == ANYONE


@pytest.mark.parametrize("name", GUARDED)
def test_who_carries_a_key_is_refused_and_nothing_is_changed(workspace, monkeypatch, name):
    before = sorted(path for path in workspace.rglob("*") if ".git/dos" not in str(path))
    take(workspace, "worker", pid=1)
    monkeypatch.setenv(KEY_VARIABLE, "secret")
    answer = in_process(*name.split(), *WORDS.get(name, []))
    assert (answer.code, answer.out) == (REFUSED, "")
    assert (
        f"dos {name} is for people" in answer.err
        and "the agent on lane worker (run R1)" in answer.err
    )
    assert "Ask a person to run it" in answer.err
    monkeypatch.delenv(KEY_VARIABLE)
    assert sorted(path for path in workspace.rglob("*") if ".git/dos" not in str(path)) == before
    with open_journal(find(workspace), "") as journal:
        assert [event.kind for event in journal.events()] == ["lease_granted"]


def test_any_key_is_refused_also_where_there_is_no_journal_and_no_repository(
    workspace, tmp_path, monkeypatch
):
    monkeypatch.setenv(KEY_VARIABLE, "of another workspace, or of a lease that is over")
    assert in_process("pause").code == REFUSED
    monkeypatch.chdir(tmp_path)
    assert in_process("init").code == REFUSED
    (workspace / "dos.toml").write_text("[lanes\n")
    monkeypatch.chdir(workspace)
    assert in_process("down").code == REFUSED


@pytest.mark.parametrize(
    "words", [("pause",), ("down", "--now"), ("config", "set", "supervise.target", "9"), ("init",)]
)
def test_who_descends_from_a_worker_is_refused_though_its_environment_is_empty(workspace, words):
    take(workspace)
    done = child(workspace, *words)
    assert (
        done.returncode == REFUSED
        and f"process {os.getpid()}, which it descends from" in done.stderr
    )
    assert "the agent on lane api (run R1)" in done.stderr
    assert not paused(workspace) and "9" not in (workspace / "dos.toml").read_text()


def test_a_worker_is_known_by_what_it_runs_also_when_it_has_lost_its_lease(workspace):
    """And whatever the environment says: here a `dos worker` that is none, and starts the verb."""
    code = (
        "import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-m', 'dos', "
        "'pause'], env={}).returncode)"
    )
    script = workspace / "dos"
    script.write_text(code)
    done = subprocess.run(
        [sys.executable, str(script), "worker", "--lane", "api"], cwd=workspace, capture_output=True
    )
    assert done.returncode == REFUSED and b"the agent on lane api" in done.stderr
    done = subprocess.run(
        [sys.executable, str(script), "status"], cwd=workspace, capture_output=True
    )
    assert done.returncode == 0


def test_the_agent_of_another_workspace_is_an_agent_here_too(workspace, tmp_path):
    words = ["-m", "dos", "--workspace", str(workspace), "pause"]
    script = tmp_path / "dos"
    script.write_text(
        f"import subprocess, sys\nsys.exit(subprocess.run([sys.executable, *{words}], "
        f"env={{}}).returncode)"
    )
    done = subprocess.run(
        [sys.executable, str(script), "worker", "--lane", "web"], cwd=tmp_path, capture_output=True
    )
    assert done.returncode == REFUSED and b"the agent on lane web" in done.stderr
    assert not paused(workspace)


def test_a_person_is_not_mistaken(workspace):
    """Who started the supervisor, holds a lane by hand, or has the same pid on another host."""
    take(workspace, "supervisor/here", is_lock=True)
    take(workspace, "api", key="")
    take(workspace, "docs", system="another-system")
    assert child(workspace, "pause").returncode == 0
    assert child(workspace, "resume", DOS_WORKSPACE=str(workspace)).returncode == 0
    assert in_process("config", "set", "supervise.target", "2").code == 0


def test_a_process_with_the_pid_of_a_dead_worker_is_not_mistaken(workspace):
    me = process.identify(os.getpid())
    lease = Request(
        lane="api", holder="w", host=process.host(), ttl_ms=600_000, region=region(["api/**"]),
        run_id="R1", pid=me.pid, pid_started=me.started - 100, system=process.system(),
        key_hash="x",
    )  # fmt: skip
    with open_journal(find(workspace), "") as journal:
        journal.acquire(lease, lambda wanted, live: None)
    assert child(workspace, "pause").returncode == 0


def test_what_carries_the_marks_of_a_lane_is_refused(workspace):
    """A daemon that left its worker and kept its environment."""
    marks = {"DOS_WORKSPACE": str(workspace.resolve()), "DOS_LANE": "api", "DOS_FENCE": "7"}
    done = child(workspace, "pause", **marks)
    assert done.returncode == REFUSED and "DOS_FENCE 7" in done.stderr
    assert child(workspace, "pause", **marks | {"DOS_WORKSPACE": "/elsewhere"}).returncode == 0


def test_an_agent_may_give_back_its_own_lane_and_no_other(workspace, monkeypatch):
    own = take(workspace, "api", pid=1)
    other = take(workspace, "docs", pid=1, key="another")
    monkeypatch.setenv(KEY_VARIABLE, "secret")
    assert VERBS["lease-lane release"].allowed == PERSON_OR_HOLDER
    for words in (
        ["release", "--lane", "docs", "--owner", "worker"],
        ["release", "--fence", str(other.fence)],
        ["release", "--lane", "api", "--fence", str(other.fence), "--owner", "worker"],
        ["adopt", "--lane", "docs", "--owner", "me"],
        ["reap"],
        ["reap", "--lane", "docs"],
    ):
        assert in_process("lease-lane", *words).code == REFUSED, words
    assert in_process("lease-lane", "reap", "--lane", "api").code == 0
    assert in_process("lease-lane", "release", "--fence", str(own.fence)).code == 0
    assert in_process("lease-lane", "heartbeat", "--lane", "docs", "--owner", "worker").code == 0


def release(lease) -> list[str]:
    return ["lease-lane", "release", "--fence", str(lease.fence)]


def is_held(workspace, lease) -> bool:
    with open_journal(find(workspace), "") as journal:
        return lease.fence in [live.fence for live in journal.leases()]


def test_a_fence_and_the_name_of_a_lane_prove_nothing(workspace):
    """An agent of lane api that says it is the one of docs, by every number that it can read."""
    other = take(workspace, "docs", pid=1, key="another")
    marks = {
        "DOS_WORKSPACE": str(workspace.resolve()),
        "DOS_LANE": "docs",
        "DOS_FENCE": str(other.fence),
    }
    for environment in (
        {},
        marks,
        {KEY_VARIABLE: "made up", "DOS_LANE": "docs"},
        marks | {KEY_VARIABLE: "made up"},
        marks | {KEY_VARIABLE: other.key_hash},
    ):
        for words in (release(other), ["lease-lane", "release", "--lane", "docs",
                                       "--owner", "worker"]):  # fmt: skip
            done = child(workspace, *words, **environment)
            assert done.returncode == REFUSED, (environment, done.stdout, done.stderr)
        if environment:
            for verb in ("adopt", "reap"):
                words = ["lease-lane", verb, "--lane", "docs"]
                words += ["--owner", "me"] if verb == "adopt" else []
                assert child(workspace, *words, **environment).returncode == REFUSED, environment
    assert is_held(workspace, other)
    assert child(workspace, *release(other), **{KEY_VARIABLE: "another"}).returncode == 0
    assert not is_held(workspace, other)


def test_a_process_that_calls_itself_the_worker_of_a_lane_does_not_hold_it(workspace, tmp_path):
    other = take(workspace, "docs", pid=1, key="another")
    words = [sys.executable, "-m", "dos", *release(other)]
    script = tmp_path / "dos"
    script.write_text(f"import subprocess, sys\nsys.exit(subprocess.run({words}).returncode)")
    fake = [sys.executable, str(script), "worker", "--lane", "docs"]
    done = subprocess.run(fake, cwd=workspace, capture_output=True)
    assert done.returncode == REFUSED, done.stderr
    assert is_held(workspace, other)


def test_a_person_can_release_what_a_person_took_and_a_dead_worker_left(workspace):
    by_hand = take(workspace, "api", key="")
    assert child(workspace, *release(by_hand)).returncode == 0
    worker = subprocess.Popen(["sleep", "100"])
    dead = take(workspace, "docs", pid=worker.pid)
    worker.kill()
    worker.wait()
    assert child(workspace, *release(dead)).returncode == 0


DAEMON = """
import os, subprocess, sys, time
from pathlib import Path
from dos.agents.io.orphans import become_subreaper
become_subreaper()
sys.path.insert(0, {tests!r})
from test_operator_verbs import take
own, other = take(Path.cwd(), "api"), {other}
lines = [f"setsid env -i {{sys.executable}} -m dos lease-lane release --fence {{fence}}"
         f"; echo {{name}}=$? >> daemon" for name, fence in (("other", other), ("own", own.fence))]
line = "; ".join(["sleep 0.3", *lines, "echo end >> daemon"])
subprocess.run(["sh", "-c", f"(env -i sh -c '{{line}}' &) &"], env={{}}, check=True)
while "end" not in (Path("daemon").read_text() if Path("daemon").exists() else ""):
    time.sleep(0.05)
"""


def test_a_daemon_without_environment_gives_back_its_own_lane_and_no_other(workspace):
    """It left its session and its parent, and the worker is its next parent."""
    other = take(workspace, "docs", pid=1, key="another")
    script = DAEMON.format(tests=str(Path(__file__).parent), other=other.fence)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=workspace, env=environment, capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (workspace / "daemon").read_text().split() == [f"other={REFUSED}", "own=0", "end"]
    assert is_held(workspace, other)


def test_what_a_killed_worker_leaves_is_an_agent_as_long_as_the_supervisor_lives(
    workspace, tmp_path
):
    """The supervisor is its next parent: here a `dos up` that is none, and starts the verbs."""
    code = (
        "import subprocess, sys; print([subprocess.run([sys.executable, '-m', 'dos', *words], "
        "env={}, capture_output=True).returncode for words in"
        " (['pause'], ['worker', '--lane', 'nothing'])])"
    )
    script = tmp_path / "dos"
    script.write_text(code)
    done = subprocess.run(
        [sys.executable, str(script), "up"], cwd=workspace, capture_output=True, text=True
    )
    assert done.stdout == f"[{REFUSED}, 2]\n"  # there is no such lane
    assert not paused(workspace)


def test_the_gate_of_git_still_asks_for_agents(workspace, monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, "secret")
    assert in_process("hooks", "git", "check", "pre-commit").code != REFUSED


def test_the_exit_code_is_documented(workspace):
    assert "77  not permitted for an agent of the fleet" in in_process("down", "--help").out
    assert in_process("exit-codes", "down", "--json").json["down"]["not_permitted"] == REFUSED
    assert "not_permitted" not in in_process("exit-codes", "status", "--json").json["status"]
