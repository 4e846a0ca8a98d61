"""Verbs for people are refused to the agents of a fleet: by the key of their lease, and by where
they descend from."""

import os
import subprocess
import sys

import pytest
from commanding import command, in_process

from dos.lease import KEY_VARIABLE, Request, key_hash
from dos.machine import process
from dos.regions import region
from dos.verbs.table import ANYONE, PERSON_OR_HOLDER, VERBS
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
    "limits lift": ["claude"],
}
GUARDED = [name for name, verb in VERBS.items() if verb.allowed != ANYONE]
OPERATORS = """up down pause resume halt init decide-for attest worker /
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


def test_the_gate_of_git_still_asks_for_agents(workspace, monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, "secret")
    assert in_process("hooks", "git", "check", "pre-commit").code != REFUSED


def test_the_exit_code_is_documented(workspace):
    assert "77  not permitted for an agent of the fleet" in in_process("down", "--help").out
    assert in_process("exit-codes", "down", "--json").json["down"]["not_permitted"] == REFUSED
    assert "not_permitted" not in in_process("exit-codes", "status", "--json").json["status"]
