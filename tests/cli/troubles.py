"""A workspace that nothing is wrong with, and the ways in which it can go wrong."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time

import pytest
from commanding import git

from dos import workspace
from dos.agenthooks.io import wire
from dos.agenthooks.wiring import HOSTS
from dos.doctor.subjects import machine, sandbox, store
from dos.lease import Request
from dos.machine import filesystem, process
from dos.machine.filesystem import FreeSpace
from dos.regions import region
from dos.sandbox.io import sockets
from dos.sandbox.support import Support
from dos.workspace import find
from dos.world import World, open_journal

REAL_PATH = os.environ["PATH"]
PLAN = "## FIRST1: say what should be true\n\n- lane: api\n"
HEALTHY = '[workers]\nagent = "command"\ncommand = ["git"]\n'


@pytest.fixture
def healthy(workspace, monkeypatch, tmp_path):
    """Nothing is wrong, and no agent program of this machine is seen."""
    with (workspace / "dos.toml").open("a") as file:
        file.write("\n" + HEALTHY)
    (workspace / "docs" / "first-plan.md").write_text(PLAN)
    for key, value in (("user.name", "T"), ("user.email", "t@example.com")):
        git("config", key, value, cwd=workspace)
    git("add", "--all", cwd=workspace)
    git("commit", "--quiet", "--message", "FIRST1: begin", cwd=workspace)
    on_path(monkeypatch, tmp_path, "git")
    return workspace


def on_path(monkeypatch, tmp_path, *names):
    """A search path that holds these programs and no others."""
    folder = tmp_path / f"bin-{len(names)}"
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(shutil.which(name, path=REAL_PATH))
    monkeypatch.setenv("PATH", str(folder))
    return folder


def kinds(answer):
    return {finding["kind"] for finding in answer.json["findings"]}


def finding(answer, kind):
    return next(found for found in answer.json["findings"] if found["kind"] == kind)


def without_commit(root, monkeypatch, tmp_path):
    shutil.rmtree(root / ".git")
    git("init", "--quiet", "--initial-branch", "main", ".", cwd=root)


def without_git_directory(root, monkeypatch, tmp_path):
    shutil.rmtree(root / ".git")


def without_git(root, monkeypatch, tmp_path):
    on_path(monkeypatch, tmp_path)


def with_old_git(root, monkeypatch, tmp_path):
    folder = on_path(monkeypatch, tmp_path, "cat", "sh")
    real = shutil.which("git", path=REAL_PATH)
    old = folder / "git"
    old.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo "git version 2.30.2" && exit\nexec {real} "$@"\n'
    )
    old.chmod(0o755)


def configured(key, value):
    def change(root, monkeypatch, tmp_path):
        text = (root / "dos.toml").read_text()
        table, _, name = key.rpartition(".")
        assert f"[{table}]" not in text or f"\n{name} = " in text or table == "workers"
        if f"\n{name} = " in text:
            lines = [
                f"{name} = {value}" if line.startswith(f"{name} = ") else line
                for line in text.splitlines()
            ]
            text = "\n".join(lines) + "\n"
        elif table == "workers":
            text = text.replace("[workers]\n", f"[workers]\n{name} = {value}\n")
        else:
            text += f"\n[{table}]\n{name} = {value}\n"
        (root / "dos.toml").write_text(text)

    return change


def with_blind_test(root, monkeypatch, tmp_path):
    """It passes whatever becomes of the program."""
    written("api/main.py", "print(1)\n")(root, monkeypatch, tmp_path)
    git("add", "--all", cwd=root)
    git("commit", "--quiet", "--message", "A program", cwd=root)
    configured("workers.test", '"true"')(root, monkeypatch, tmp_path)


def with_acceptance_that_cannot_run(root, monkeypatch, tmp_path):
    written("docs/first-plan.md", "## A1: x\n- acceptance: `cd . && no-such`\n")(
        root, monkeypatch, tmp_path
    )
    configured("workers.test", '"true"')(root, monkeypatch, tmp_path)


def with_acceptance_that_passes_already(root, monkeypatch, tmp_path):
    written("docs/first-plan.md", "## A1: x\n- acceptance: `cd .`\n")(root, monkeypatch, tmp_path)
    configured("workers.test", '"true"')(root, monkeypatch, tmp_path)


def with_agent_on_lane(lane, agent):
    def change(root, monkeypatch, tmp_path):
        with (root / "dos.toml").open("a") as file:
            file.write(f'\n[lanes.agents]\n{lane} = "{agent}"\n')

    return change


def with_uncommitted_agent(root, monkeypatch, tmp_path):
    configured("workers.command", '["./agent.sh"]')(root, monkeypatch, tmp_path)
    (root / "agent.sh").write_text("#!/bin/sh\n")
    (root / "agent.sh").chmod(0o755)


def with_unscripted_agent(root, monkeypatch, tmp_path):
    configured("workers.agent", '"scripted"')(root, monkeypatch, tmp_path)
    text = (root / "dos.toml").read_text()
    (root / "dos.toml").write_text(
        "\n".join(line for line in text.splitlines() if not line.startswith("command ="))
    )


def written(name, text):
    def change(root, monkeypatch, tmp_path):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)

    return change


def with_salvage(root, monkeypatch, tmp_path):
    git("update-ref", "refs/dos/salvage/RID-1/1", "HEAD", cwd=root)


def with_stale_worktree(root, monkeypatch, tmp_path):
    git("worktree", "add", "--quiet", "--detach", str(tmp_path / "vanished"), cwd=root)
    shutil.rmtree(tmp_path / "vanished")


def with_a_sandbox_that_cannot_be(root, monkeypatch, tmp_path):
    """A kernel without Landlock, and settings that require it."""
    none = Support(landlock_missing="not there", seccomp_missing="no", namespaces_missing="no")
    monkeypatch.setattr(sandbox, "probe", lambda: none)
    with (root / "dos.toml").open("a") as file:
        file.write('\n[sandbox]\nlevel = "required"\n')


def with_test_that_needs_a_variable(root, monkeypatch, tmp_path):
    monkeypatch.setenv("MY_SERVER", "here")
    test = 'test = "curl ${MY_SERVER}/health $HOME $UNSET $DOS_LANE"'
    path = root / "dos.toml"
    path.write_text(path.read_text().replace("[workers]\n", f"[workers]\n{test}\n"))


def with_database(root, monkeypatch, tmp_path):
    monkeypatch.setenv("DATABASE_URL", "postgres://here")


def with_open_sockets(root, monkeypatch, tmp_path):
    """A kernel that cannot close named sockets, and a Docker that the user may use."""
    monkeypatch.setattr(sandbox, "probe", lambda: Support(landlock_abi=7, seccomp=True))
    monkeypatch.setattr(sockets, "open_sockets", lambda: {"/run/docker.sock": "Docker"})
    with (root / "dos.toml").open("a") as file:
        file.write('\n[sandbox]\nlevel = "auto"\n')


def with_orphan_worktree(root, monkeypatch, tmp_path):
    (find(root).worktrees / "api").mkdir(parents=True)


def with_undeclared_worktree(root, monkeypatch, tmp_path):
    git("worktree", "add", "--quiet", "--detach", str(find(root).worktrees / "old"), cwd=root)


def with_retired_lane(root, monkeypatch, tmp_path):
    (find(root).homes / "old" / "agent").mkdir(parents=True)
    git("update-ref", "refs/dos/base/old", "HEAD", cwd=root)


def with_partial_clone(root, monkeypatch, tmp_path):
    source = tmp_path / "source"
    git("clone", "--quiet", "--bare", str(root), str(source), cwd=tmp_path)
    git("config", "uploadpack.allowFilter", "true", cwd=source)
    git("remote", "add", "origin", f"file://{source}", cwd=root)
    for key, value in (("remote.origin.promisor", "true"), ("extensions.partialClone", "origin")):
        git("config", key, value, cwd=root)
    git("config", "core.repositoryFormatVersion", "1", cwd=root)


def with_incomplete_clone(root, monkeypatch, tmp_path):
    with_partial_clone(root, monkeypatch, tmp_path)
    name = git("rev-parse", "HEAD:docs/first-plan.md", cwd=root).strip()
    (root / ".git" / "objects" / name[:2] / name[2:]).unlink()


def with_damaged_journal(root, monkeypatch, tmp_path):
    (root / ".git" / "dos").mkdir()
    (root / ".git" / "dos" / "state.db").write_bytes(b"this is no database" * 100)


def with_damaged_event(root, monkeypatch, tmp_path):
    """One byte of an old event is another than was written."""
    with open_journal(workspace.find(root), "") as journal:
        for number in range(30):
            journal.append("s", "k", {"number": number, "text": "written as it should be"})
    journal_file = root / ".git" / "dos" / "state.db"
    journal_file.write_bytes(journal_file.read_bytes().replace(b"written as", b"wrotten as", 1))
    git("update-ref", "refs/dos/fence/api", "HEAD", cwd=root)


def with_state_that_is_a_file(root, monkeypatch, tmp_path):
    (root / ".git" / "dos").write_text("in the way\n")


def with_state_that_leads_nowhere(root, monkeypatch, tmp_path):
    (root / ".git" / "dos").symlink_to(tmp_path / "not" / "mounted")


def with_journal_that_leads_nowhere(root, monkeypatch, tmp_path):
    (root / ".git" / "dos").mkdir()
    (root / ".git" / "dos" / "state.db").symlink_to(tmp_path / "not" / "mounted" / "state.db")


def with_directory_instead_of(name):
    def change(root, monkeypatch, tmp_path):
        with open_journal(workspace.find(root), "") as journal:
            journal.append("s", "k", {})
        blocked = root / ".git" / "dos" / name
        blocked.unlink(missing_ok=True)
        blocked.mkdir()
        (blocked / "something").write_text("of somebody's")

    change.__name__ = f"with_directory_instead_of_{name}"
    return change


def with_journal_of_another_program(root, monkeypatch, tmp_path):
    (root / ".git" / "dos").mkdir()
    with sqlite3.connect(root / ".git" / "dos" / "state.db") as connection:
        connection.execute("CREATE TABLE theirs(x)")
    connection.close()


def with_empty_head(root, monkeypatch, tmp_path):
    (root / ".git" / "HEAD").write_text("")


def with_broken_git_config(root, monkeypatch, tmp_path):
    with (root / ".git" / "config").open("a") as file:
        file.write("[core\n")


def with_lost_commit(root, monkeypatch, tmp_path):
    (root / ".git" / "refs" / "heads" / "main").write_text("1" * 40 + "\n")


def detached_without_branch(root, monkeypatch, tmp_path):
    git("checkout", "--quiet", "--detach", cwd=root)
    git("branch", "--quiet", "-D", "main", cwd=root)


def with_hooks_of_which_one_is_missing(root, monkeypatch, tmp_path):
    settings = root / ".claude" / "settings.json"
    settings.parent.mkdir()
    stop = {"hooks": [{"type": "command", "command": "dos hook stop", "timeout": 10}]}
    settings.write_text(json.dumps({"hooks": {"Stop": [stop]}}))


def with_untrusted_hooks(root, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    with World(root) as world:
        wire.install(HOSTS["gemini"], world.workspace, force=False, dry_run=False)


def with_lapsed_lease(root, monkeypatch, tmp_path):
    lease(root, "api", is_lock=False)


def with_lease_of_a_dead_process(root, monkeypatch, tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", "pass"])
    dead.wait()
    here = {"host": process.host(), "system": process.system()}
    lease(root, "api", is_lock=False, **here, ttl_ms=600_000, pid=dead.pid, pid_started=1.0)


def with_lapsed_lock(root, monkeypatch, tmp_path):
    lease(root, "archive", is_lock=True)


def lease(root, lane, *, is_lock, host="elsewhere", ttl_ms=1, **more):
    lease_request = Request(
        lane=lane,
        holder="some one",
        host=host,
        ttl_ms=ttl_ms,
        region=region([f"{lane}/**"]),
        is_lock=is_lock,
        **more,
    )
    with open_journal(workspace.find(root), "") as journal:
        journal.acquire(lease_request, lambda request, live: None)
    time.sleep(0.01)  # longer than it lasts


def with_large_journal(root, monkeypatch, tmp_path):
    with open_journal(workspace.find(root), "") as journal:
        journal.append("s", "k", {})
    monkeypatch.setattr(machine, "LARGE_JOURNAL_BYTES", 1)


def with_silent_agent(root, monkeypatch, tmp_path):
    folder = on_path(monkeypatch, tmp_path, "git", "sh")
    (folder / "codex").write_text("#!/bin/sh\nexit 3\n")
    (folder / "codex").chmod(0o755)
    configured("workers.agent", '"codex"')(root, monkeypatch, tmp_path)


def with_agent_of_the_future(root, monkeypatch, tmp_path):
    folder = on_path(monkeypatch, tmp_path, "git", "sh")
    (folder / "codex").write_text("#!/bin/sh\necho codex-cli 9.0.0\n")
    (folder / "codex").chmod(0o755)
    configured("workers.agent", '"codex"')(root, monkeypatch, tmp_path)


def with_old_node(root, monkeypatch, tmp_path):
    folder = on_path(monkeypatch, tmp_path, "git", "sh")
    for program, version in (("node", "v20.20.2"), ("qwen", "0.15.10")):
        (folder / program).write_text(f"#!/bin/sh\necho {version}\n")
        (folder / program).chmod(0o755)
    configured("workers.agent", '"qwen"')(root, monkeypatch, tmp_path)


def with_reference_to_no_lane(root, monkeypatch, tmp_path):
    with (root / "dos.toml").open("a") as file:
        file.write('\n[reasons.X]\ncategory = "MISROUTE"\nsee_also = ["lane gone"]\n')


def with_trigger_that_nobody_knows(root, monkeypatch, tmp_path):
    with (root / "dos.toml").open("a") as file:
        file.write(
            '\n[[lifecycle.transitions]]\nfrom = "active"\nto = "done"\n'
            'trigger = "all_shipped"\nauto = true\n'
        )


def with_unit_for_no_lane(root, monkeypatch, tmp_path):
    configured("autopick", "[]")(root, monkeypatch, tmp_path)
    written("docs/first-plan.md", "## A1: x\n")(root, monkeypatch, tmp_path)


def with_dirty_undeclared_worktree(root, monkeypatch, tmp_path):
    with_undeclared_worktree(root, monkeypatch, tmp_path)
    inside = find(root).worktrees / "old"
    git("commit", "--quiet", "--allow-empty", "--message", "On no branch", cwd=inside)
    (inside / "unsaved.txt").write_text("nobody has it yet\n")


def with_moved_worktree(root, monkeypatch, tmp_path):
    with_undeclared_worktree(root, monkeypatch, tmp_path)
    folder = find(root).worktrees
    (folder / "old").rename(folder / "api")


def with_filled_orphan_worktree(root, monkeypatch, tmp_path):
    with_orphan_worktree(root, monkeypatch, tmp_path)
    (find(root).worktrees / "api" / "notes.txt").write_text("of somebody's\n")


def with_config_that_is(make):
    def change(root, monkeypatch, tmp_path):
        path = root / "dos.toml"
        text = path.read_text()
        path.unlink()
        make(path, text)

    return change


def with_newer_journal(root, monkeypatch, tmp_path):
    with open_journal(workspace.find(root), "") as journal:
        journal.append("s", "k", {})
    with sqlite3.connect(root / ".git" / "dos" / "state.db") as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()


def with_event_from_the_future(root, monkeypatch, tmp_path):
    with open_journal(workspace.find(root), "") as journal:
        journal.append("s", "k", {})
    an_hour_ago = (
        time.time_ns() - 3_600 * 10**9
    )  # it stands still: what is said must be the same twice
    monkeypatch.setattr(machine.time, "time_ns", lambda: an_hour_ago)


def on_a_network(root, monkeypatch, tmp_path):
    monkeypatch.setattr(filesystem, "network_filesystem", lambda path: "nfs4")


def on_a_full_disk(root, monkeypatch, tmp_path):
    monkeypatch.setattr(
        filesystem, "free_space", lambda path: FreeSpace(free_bytes=5_000_000, free_files=10**6)
    )


def read_only(root, monkeypatch, tmp_path):
    real = os.access
    monkeypatch.setattr(store.os, "access", lambda path, mode: mode != os.W_OK and real(path, mode))


def detached(root, monkeypatch, tmp_path):
    git("checkout", "--quiet", "--detach", cwd=root)


def of_another_user(root, monkeypatch, tmp_path):
    if os.getuid() != 0:
        pytest.skip("only root can give a directory away")
    for path in (root, root / ".git"):
        os.chown(path, 12_345, 12_345)


def without_identity(root, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for words in (
        ["--unset", "user.email"],
        ["--unset", "user.name"],
        ["user.useConfigOnly", "true"],
    ):
        subprocess.run(["git", "config", *words], cwd=root, check=True)
