"""Secrets reach a worker and what needs them, and stand in no environment that others can read."""

import os

import psutil
import pytest
from patience import wait_for
from sample_repository import commit, write

from dos.agents.homes.variables import private_variables, public_variables
from dos.git import process
from dos.git.repository import Writer

SECRETS = {
    "GITHUB_TOKEN": "forge",
    "ANTHROPIC_API_KEY": "model",
    "MY_PASSWORD": "p\udcff",
    "HTTPS_PROXY": "http://me:secret@proxy.example:3128",
}


def test_the_environment_that_a_worker_is_started_with_holds_no_secret(fleet, monkeypatch):
    repository = fleet.repository
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    seen = repository.home / "seen"
    look = {"run": f"env > {seen}.new && mv {seen}.new {seen}"}
    repository.play({"*": [[look, repository.waits, write("one/a.txt"), commit("Write a")]]})
    fleet.up("--target", "1")
    worker = psutil.Process(fleet.worker_at("one"))
    wait_for(seen.exists)
    started_with = worker.environ()
    assert not SECRETS.keys() & started_with.keys()
    assert "forge" not in str(started_with)
    # What it was handed besides its environment, its agent gets of it what an agent may have.
    by_agent = dict(line.split("=", 1) for line in seen.read_text().splitlines() if "=" in line)
    assert by_agent["ANTHROPIC_API_KEY"] == "model"
    assert by_agent["HTTPS_PROXY"] == SECRETS["HTTPS_PROXY"]
    assert not {"GITHUB_TOKEN", "MY_PASSWORD"} & by_agent.keys()


@pytest.mark.parametrize(
    ("words", "is_handed"),
    [
        (["push", "origin", "main"], True),
        (["-c", "a.b=c", "fetch", "origin"], True),
        (["ls-remote"], True),
        (["checkout", "main"], False),
        (["read-tree", "--reset", "-u", "HEAD"], False),
        (["status"], False),
    ],
)
def test_git_is_handed_tokens_where_it_reaches_a_remote(
    repository, tmp_path, monkeypatch, words, is_handed
):
    """A git of its own on the path writes down what it gets."""
    seen = tmp_path / "seen"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(f"#!/bin/sh\nenv > {seen}\n")
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("GITHUB_TOKEN", "forge")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    process.run_once(Writer(repository.root).tree, words, None, "")
    lines = seen.read_text().splitlines()
    assert ("GITHUB_TOKEN=forge" in lines) == is_handed
    assert ("SSH_AUTH_SOCK=/run/agent" in lines) == is_handed


def test_every_variable_is_either_private_or_public():
    given = {**SECRETS, "PATH": "/bin", "URL": "postgres://me:secret@db", "MONKEY": "x"}
    assert private_variables(given).keys() == {*SECRETS, "URL"}
    assert public_variables(given) == {"PATH": "/bin", "MONKEY": "x"}
