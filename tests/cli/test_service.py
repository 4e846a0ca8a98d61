"""The file by which the system keeps a fleet going: what stands in it, and that nobody else's is
touched."""

import os
import plistlib
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

from dos.approval.io import approve

JOURNAL = approve.journal_mark("")


@pytest.fixture
def home(workspace, tmp_path, monkeypatch):
    """Nothing is written outside of it, and no service of this machine is asked or started."""
    folder = tmp_path / "home"
    folder.mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(shutil.which("git"))
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return folder


def program(tmp_path, name, script):
    path = tmp_path / "bin" / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def install(dos, home):
    def ask(*words):
        answer = dos("service", "install", *words, "--json")
        return answer, Path(answer.json["path"]) if answer.code in (0, 1) and answer.out else None

    return ask


def lines(path):
    return path.read_text().splitlines()


def test_systemd_starts_it_again_and_lets_the_workers_live(install, home, workspace):
    answer, path = install("--kind", "systemd", "--target", "2")
    assert answer.code == 0 and answer.json["written"] and not answer.json["started"]
    assert path.parent == home / ".config" / "systemd" / "user" and path.name.startswith(
        "dos-workspace-"
    )
    found = lines(path)
    assert {
        "Restart=always",
        "RestartPreventExitStatus=0",
        "KillMode=process",
        "WantedBy=default.target",
    } <= set(found)
    [command] = [line for line in found if line.startswith("ExecStart=")]
    words = [
        sys.executable,
        "-P",
        "-m",
        "dos",
        "--workspace",
        workspace,
        "up",
        "--plain",
        "--service",
        JOURNAL,
    ]
    assert command == "ExecStart=" + " ".join(f'"{word}"' for word in [*words, "--target", "2"])
    for name in ("PATH", "XDG_STATE_HOME"):  # the worktrees lie where the user has them
        assert f'Environment="{name}={os.environ[name]}"' in found
    assert [" ".join(each.split()[:2]) for each in answer.json["commands"]] == [
        "systemctl --user"
    ] * 2


def test_launchd_does_the_same(install, home, workspace):
    answer, path = install("--kind", "launchd")
    assert path.parent == home / "Library" / "LaunchAgents"
    decoded = plistlib.loads(path.read_bytes())
    assert decoded["ProgramArguments"] == [
        sys.executable, "-P", "-m", "dos", "--workspace", str(workspace), "up", "--plain",
        "--service", JOURNAL
    ]  # fmt: skip
    assert decoded["KeepAlive"] == {"SuccessfulExit": False} and decoded["RunAtLoad"]
    assert decoded["AbandonProcessGroup"], "or its workers would be ended with it"
    assert decoded["Label"] == path.stem
    assert answer.json["commands"] == [f"launchctl bootstrap gui/{os.getuid()} {path}"]


@pytest.mark.parametrize("kind", ["systemd", "launchd"])
def test_it_is_written_once_shown_and_removed(dos, install, home, kind):
    words = ("--kind", kind)
    assert dos("service", "status", *words).code == 1
    shown, path = install(*words, "--dry-run")
    assert shown.code == 0 and not path.exists() and not shown.json["written"]
    install(*words)
    assert path.read_text() == shown.json["file"]
    assert not install(*words)[0].json["written"], "it is as it should be"
    status = dos("service", "status", *words, "--json")
    assert (status.code, status.json["installed"], status.json["running"]) == (0, True, "")
    assert dos("service", "remove", *words, "--dry-run").code == 0 and path.exists()
    assert dos("service", "remove", *words, "--json").json["removed"] and not path.exists()
    again = dos("service", "remove", *words, "--json")
    assert (again.code, again.json["removed"]) == (0, False)
    assert list(path.parent.iterdir()) == []


def test_another_number_of_workers_is_written_anew(install):
    install("--target", "2")
    answer, path = install("--target", "3")
    assert answer.json["written"] and '"--target" "3"' in path.read_text()


@pytest.mark.parametrize("kind", ["systemd", "launchd"])
@pytest.mark.parametrize("theirs", ["file", "folder", "link to nowhere"])
def test_what_somebody_else_wrote_stays(dos, install, kind, theirs):
    _, path = install("--kind", kind, "--dry-run")
    path.parent.mkdir(parents=True)
    match theirs:
        case "file":
            path.write_text("mine\n")
        case "folder":
            path.mkdir()
        case _:
            path.symlink_to("nowhere")
    for verb in ("install", "remove", "status"):
        answer = dos("service", verb, "--kind", kind)
        assert answer.code == 1 and "did not write it" in answer.err and "hint: " in answer.err
    assert theirs != "file" or path.read_text() == "mine\n"
    assert path.is_symlink() or path.exists()


def test_two_workspaces_of_one_name_are_two_services(dos, install, workspace, tmp_path):
    other = tmp_path / "elsewhere" / "workspace"
    shutil.copytree(workspace, other)
    _, path = install("--dry-run")
    file = dos("--workspace", str(other), "service", "install", "--dry-run", "--json").json["path"]
    assert file != str(path)


def test_for_the_whole_machine_it_runs_as_the_owner_of_the_workspace(install, workspace):
    answer, path = install("--system", "--kind", "systemd", "--dry-run")
    assert path.parent == Path("/etc/systemd/system")
    assert (
        f"User={workspace.owner()}" in answer.json["file"]
        and "multi-user.target" in answer.json["file"]
    )
    answer, path = install("--system", "--kind", "launchd", "--dry-run")
    assert path.parent == Path("/Library/LaunchDaemons")
    assert plistlib.loads(answer.json["file"].encode())["UserName"] == workspace.owner()


def test_it_is_started_only_where_that_was_said_and_can_be_done(dos, install, tmp_path):
    answer, _ = install("--kind", "systemd", "--start")
    assert (answer.code, answer.json["started"], answer.json["written"]) == (1, False, True)
    file = tmp_path / "said"
    program(tmp_path, "systemctl", f'echo "$@" >> {file}; echo active')
    install("--kind", "systemd")
    assert not file.exists()
    answer, path = install("--kind", "systemd", "--start")
    assert (answer.code, answer.json["started"]) == (0, True)
    assert lines(file) == ["--user daemon-reload", f"--user enable --now {path.name}"]
    assert dos("service", "status", "--kind", "systemd", "--json").json["running"] == "active"
    dos("service", "remove", "--kind", "systemd", "--stop")
    assert lines(file)[-1] == f"--user disable --now {path.name}" and not path.exists()


def test_one_that_cannot_be_stopped_is_not_removed(dos, install, tmp_path):
    _, path = install("--kind", "systemd")
    program(tmp_path, "systemctl", "echo there is no bus >&2; exit 1")
    answer = dos("service", "remove", "--kind", "systemd", "--stop")
    assert answer.code == 1 and "there is no bus" in answer.out and path.exists()


def test_the_link_by_which_it_was_started_goes_with_it(dos, install):
    _, path = install("--kind", "systemd")
    wants = path.parent / "default.target.wants"
    wants.mkdir()
    (wants / path.name).symlink_to(path)
    dos("service", "remove", "--kind", "systemd")
    assert not (wants / path.name).is_symlink()


@pytest.mark.parametrize(
    "words",
    [("--user", "--system"), ("--target", "0"), ("--kind", "cron"), ("--target", "many")],
    ids=str,
)
def test_what_means_nothing_is_an_error_and_writes_nothing(dos, home, words):
    answer = dos("service", "install", *words)
    assert (answer.code, answer.out) == (2, "") and "hint: " in answer.err
    assert list(home.iterdir()) == []


def test_a_place_that_takes_no_file_is_said(dos, home):
    (home / ".config").write_text("a file where a folder should be\n")
    answer = dos("service", "install", "--kind", "systemd")
    assert answer.code == 2 and "cannot be changed" in answer.err and "Traceback" not in answer.err


def test_a_broken_configuration_is_not_installed(dos, home, workspace):
    (workspace / "dos.toml").write_text("[lanes\n")
    assert dos("service", "install").code == 2
    assert list(home.iterdir()) == []


ODD = "a b%h$HOME\"\\q'"


def test_systemd_itself_reads_the_file_also_of_an_odd_place(
    dos, home, workspace, tmp_path, monkeypatch
):
    analyze = shutil.which("systemd-analyze", path=os.defpath)
    if analyze is None:
        pytest.skip("there is no systemd-analyze here")
    odd = tmp_path / ODD
    shutil.copytree(workspace, odd)
    answer = dos("--workspace", str(odd), "service", "install", "--kind", "systemd", "--json")
    path = answer.json["path"]
    running = tmp_path / "running"
    running.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(running))
    done = subprocess.run(
        [analyze, "verify", "--user", path], capture_output=True, text=True, timeout=PATIENCE
    )
    mine = [line for line in done.stderr.splitlines() if Path(path).name in line]
    if done.returncode and not mine:
        pytest.skip(f"systemd-analyze cannot run here: {done.stderr[:200]}")
    assert mine == []
