"""The life of a server: one for a workspace, none left behind, whoever is killed."""

import json
import os
import signal
import stat
import subprocess
from pathlib import Path

import pytest
from commanding import command, in_its_own_process
from patience import PATIENCE, wait_for
from serving import clean_environment, make_repository, serving, tool_call

from dos.machine import process
from dos.server.io.client import status
from dos.server.io.location import Location


def test_a_second_start_says_who_serves(server):
    second = in_its_own_process("serve", cwd=server.root)
    assert second.code == 1
    assert f"process {server.process.pid}" in second.err and str(server.port) in second.err
    assert server.ask("version")["code"] == 0


def test_doctor_says_where_it_is(server, tmp_path):
    report = in_its_own_process("doctor", "--json", cwd=server.root).json["server"]
    assert report["running"] and report["answers"] and report["pid"] == server.process.pid
    assert report["address"] == f"http://127.0.0.1:{server.port}/"
    elsewhere = make_repository(tmp_path / "repository")
    assert not in_its_own_process("doctor", "--json", cwd=elsewhere).json["server"]["running"]
    assert "`dos serve` start it" in in_its_own_process("doctor", cwd=elsewhere).out


def test_a_server_that_hangs_is_a_finding(tmp_path):
    root = make_repository(tmp_path / "repository")
    with serving(root) as server:
        os.kill(server.process.pid, signal.SIGSTOP)
        found = in_its_own_process("doctor", "--json", cwd=root).json
        os.kill(server.process.pid, signal.SIGCONT)
    assert "SERVER_SILENT" in {finding["kind"] for finding in found["findings"]}


def test_its_files_are_the_users_alone(server):
    modes = {
        path.name: stat.S_IMODE(path.lstat().st_mode)
        for path in (*server.location.folder.iterdir(), server.location.folder)
    }
    modes.pop("open.html", None)  # of `dos web open`
    assert modes == {"server": 0o700, "socket": 0o600, "token": 0o600, "lock": 0o600}


def test_after_a_kill_the_next_one_has_the_same_address(tmp_path):
    root = make_repository(tmp_path / "repository")
    with serving(root) as first:
        first.kill()
        assert status(first.location).address is None
    with serving(root) as second:
        assert (second.port, second.token) == (first.port, first.token)
        assert in_its_own_process("web", cwd=root).out.strip() == (
            f"http://127.0.0.1:{first.port}/?token={first.token}"
        )
    assert not second.location.socket.exists()
    ended = in_its_own_process("web", "--json", cwd=root)
    assert (ended.code, ended.json["serving"]) == (1, False)


def test_a_token_that_others_could_read_is_replaced(tmp_path):
    root = make_repository(tmp_path / "repository")
    location = Location(root / ".git" / "dos")
    location.folder.mkdir(parents=True)
    location.token_file.write_text("known")
    location.token_file.chmod(0o644)
    with serving(root) as server:
        assert server.token != "known"
        assert stat.S_IMODE(location.token_file.stat().st_mode) == 0o600


def test_a_long_path_has_a_socket_too(tmp_path):
    root = make_repository(tmp_path / ("d" * 90) / ("e" * 90) / "repository")
    with serving(root) as server:
        assert server.ask("version")["code"] == 0
        answer = server.hook("pretool", tool_call(root, "web/a"))
        assert answer == {"stdout": "", "stderr": ""}


@pytest.fixture
def fleet(tmp_path):
    """A repository in which `dos up` has one unit that waits, so that it stays up."""
    root = make_repository(tmp_path / "repository")
    with (root / "dos.toml").open("a") as config:
        config.write('[workers]\nagent = "scripted"\ncommand = ["true"]\n')
    return root


def start_fleet(root: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command("--workspace", str(root), "up", "--plain"),
        cwd=root,
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_the_fleet_starts_it_keeps_it_and_takes_it_along(fleet):
    location = Location(fleet / ".git" / "dos")
    with start_fleet(fleet) as up:
        wait_for(lambda: status(location).address is not None)
        first = status(location).address
        os.kill(first.pid, signal.SIGKILL)
        wait_for(lambda: status(location).address not in (None, first))
        up.send_signal(signal.SIGTERM)
        assert up.wait(PATIENCE) == 0
    assert status(location).address is None and not location.socket.exists()


def test_it_ends_with_a_fleet_that_was_killed(fleet):
    location = Location(fleet / ".git" / "dos")
    with start_fleet(fleet) as up:
        wait_for(lambda: status(location).address is not None)
        serving_pid = status(location).address.pid
        up.kill()
    wait_for(lambda: process.identify(serving_pid) is None)
    assert not location.socket.exists()


def test_a_fleet_without_a_server_has_none(fleet):
    with (fleet / "dos.toml").open("a") as config:
        config.write("[server]\noff = true\n")
    ended = in_its_own_process("up", "--plain", "--until-idle", "--json", cwd=fleet)
    location = Location(fleet / ".git" / "dos")
    assert not location.folder.exists(), json.dumps(ended.out)
