"""A workspace that nothing is wrong with, and the ways in which it can go wrong."""

import os
import shutil
import sqlite3
import subprocess
import time

import pytest
from commanding import git

from dos.evidence.health import clock, store
from dos.sources import filesystems, workspace
from dos.sources.filesystems import Room
from dos.sources.world import open_journal

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


def without_commit(place, monkeypatch, tmp_path):
    shutil.rmtree(place / ".git")
    git("init", "--quiet", "--initial-branch", "main", ".", cwd=place)


def without_git_directory(place, monkeypatch, tmp_path):
    shutil.rmtree(place / ".git")


def without_git(place, monkeypatch, tmp_path):
    on_path(monkeypatch, tmp_path)


def with_old_git(place, monkeypatch, tmp_path):
    folder = on_path(monkeypatch, tmp_path, "cat", "sh")
    real = shutil.which("git", path=REAL_PATH)
    old = folder / "git"
    old.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "git version 2.30.2" && exit\nexec {real} "$@"\n')
    old.chmod(0o755)


def configured(key, value):
    def change(place, monkeypatch, tmp_path):
        text = (place / "dos.toml").read_text()
        table, _, name = key.rpartition(".")
        assert f"[{table}]" not in text or f"\n{name} = " in text or table == "workers"
        if f"\n{name} = " in text:
            lines = [f"{name} = {value}" if line.startswith(f"{name} = ") else line for line in text.splitlines()]
            text = "\n".join(lines) + "\n"
        elif table == "workers":
            text = text.replace("[workers]\n", f"[workers]\n{name} = {value}\n")
        else:
            text += f"\n[{table}]\n{name} = {value}\n"
        (place / "dos.toml").write_text(text)

    return change


def written(name, text):
    def change(place, monkeypatch, tmp_path):
        (place / name).write_text(text)

    return change


def with_salvage(place, monkeypatch, tmp_path):
    git("update-ref", "refs/dos/salvage/RID-1/1", "HEAD", cwd=place)


def with_stale_worktree(place, monkeypatch, tmp_path):
    git("worktree", "add", "--quiet", "--detach", str(tmp_path / "vanished"), cwd=place)
    shutil.rmtree(tmp_path / "vanished")


def with_orphan_worktree(place, monkeypatch, tmp_path):
    (place / ".git" / "dos" / "worktrees" / "api").mkdir(parents=True)


def with_undeclared_worktree(place, monkeypatch, tmp_path):
    git("worktree", "add", "--quiet", "--detach", str(place / ".git" / "dos" / "worktrees" / "old"), cwd=place)


def with_damaged_journal(place, monkeypatch, tmp_path):
    (place / ".git" / "dos").mkdir()
    (place / ".git" / "dos" / "state.db").write_bytes(b"this is no database" * 100)


def with_newer_journal(place, monkeypatch, tmp_path):
    with open_journal(workspace.find(place), "") as journal:
        journal.append("s", "k", {})
    with sqlite3.connect(place / ".git" / "dos" / "state.db") as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()


def with_event_from_the_future(place, monkeypatch, tmp_path):
    with open_journal(workspace.find(place), "") as journal:
        journal.append("s", "k", {})
    real = time.time_ns
    monkeypatch.setattr(clock.time, "time_ns", lambda: real() - 3_600 * 10**9)


def on_a_network(place, monkeypatch, tmp_path):
    monkeypatch.setattr(filesystems, "network", lambda path: "nfs4")


def on_a_full_disk(place, monkeypatch, tmp_path):
    monkeypatch.setattr(filesystems, "room", lambda path: Room(free_bytes=5_000_000, free_files=10**6))


def read_only(place, monkeypatch, tmp_path):
    monkeypatch.setattr(store.os, "access", lambda path, mode: False)


def detached(place, monkeypatch, tmp_path):
    git("checkout", "--quiet", "--detach", cwd=place)


def of_another_user(place, monkeypatch, tmp_path):
    if os.getuid() != 0:
        pytest.skip("only root can give a directory away")
    for path in (place, place / ".git"):
        os.chown(path, 12_345, 12_345)


def without_identity(place, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for words in (["--unset", "user.email"], ["--unset", "user.name"], ["user.useConfigOnly", "true"]):
        subprocess.run(["git", "config", *words], cwd=place, check=True)
