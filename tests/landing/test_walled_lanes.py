"""With [sandbox] on, agents, checks and the git inside lanes change their lane and nothing else."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from commanding import in_process
from driven_worker import happened, work
from sample_repository import Repository, commit, write

from dos.agents.io.home import PrivateHome
from dos.landing.walls import LaneWalls
from dos.lease import Lease
from dos.loop.types import StopReason
from dos.machine import execute
from dos.machine.execute import Limits
from dos.regions import region
from dos.sandbox.io.probe import probe
from dos.world import World

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not probe().has_files, reason=f"no Landlock: {probe().landlock_missing}"),
]


@pytest.fixture
def walled(monkeypatch):
    """A repository below the home, since /tmp and /dev/shm are special behind walls."""
    parent = Path.home() / ".cache" / "dos-tests"
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=parent))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    repository = Repository(folder)
    yield repository
    shutil.rmtree(folder)


def put_walls_up(repository: Repository, level: str) -> None:
    # The scripted agent counts its starts beside its script.
    (repository.home / "counts").mkdir()
    script = repository.home / "counts" / "script.json"
    text = repository.config.read_text().replace(str(repository.script), str(script))
    repository.config.write_text(text)
    repository.script = script
    repository.set_walls(f'level = "{level}"\nwritable = ["{repository.home}/counts"]')
    repository.commit_all("Put walls up")


@pytest.mark.parametrize("level", ["landlock", "auto"])
def test_an_agent_and_a_check_change_nothing_outside(walled, level):
    put_walls_up(walled, level)
    mine = walled.home / "mine"
    mine.write_text("mine\n")
    plan = walled.root / "docs" / "demo-plan.md"
    attack = f"echo evil > {mine}; echo evil > {walled.home}/left"
    plan.write_text(
        plan.read_text().replace("`test -s one/a.txt`", f"`({attack}) 2>&1; test -s one/a.txt`")
    )
    walled.commit_all("Let the check try it too")
    attacks = (
        f"{attack}; echo evil > {walled.root}/one/keep;"
        f" git -C {walled.root} update-ref refs/heads/main HEAD~0 2>&1;"
        f" git -C {walled.root} branch evil; true"
    )
    filters = f"git config filter.evil.clean 'tee {walled.home}/by-git'; true"
    works = [{"run": attacks}, {"run": filters}]
    works += [write("one/.gitattributes", "* filter=evil\n"), write("one/a.txt"), commit("Write a")]
    walled.play({"DEMO/A1": [works], "DEMO/A2": [[write("one/b.txt"), commit("Write b")]]})
    assert work(walled).reason is StopReason.COMPLETE
    assert {"Write a", "Write b"} <= set(walled.subjects())
    assert mine.read_text() == "mine\n"
    assert not (walled.home / "left").exists() and not (walled.home / "by-git").exists()
    assert (walled.root / "one" / "keep").read_text() == ""
    assert walled.git("branch", "--list", "evil") == ""
    receipts = [event["receipt"] for event in happened(walled, "receipt_issued")]
    assert all("landlock" in str(receipt) for receipt in receipts)


CONNECT = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)"


def was_called(server: socket.socket) -> bool:
    server.settimeout(0)
    try:
        server.accept()
    except BlockingIOError:
        return False
    return True


@pytest.mark.skipif(not probe().has_ports, reason="Landlock has no rules on ports before version 4")
@pytest.mark.parametrize("level", ["landlock", "auto", "off"])
def test_a_filter_that_the_git_inside_a_lane_runs_reaches_no_server(walled, level):
    """Work that is left uncommitted passes the agent's filter once more, when it is taken over."""
    put_walls_up(walled, level)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        calls = f'{sys.executable} -c "{CONNECT}" {port}; cat'
        evil = walled.home / "counts" / "evil.sh"
        evil.write_text(f"{calls}\n")
        late = (
            f"echo '* filter=evil' > .git/info/attributes; git config filter.evil.clean 'sh {evil}'"
        )
        works = [write("one/a.txt"), commit("Write a"), {"run": late}, write("one/a.txt", "y\n")]
        walled.play({"DEMO/A1": [works], "DEMO/A2": [[write("one/b.txt"), commit("Write b")]]})
        assert work(walled).reason is StopReason.COMPLETE
        assert {"Write a", "Write b"} <= set(walled.subjects())
        assert was_called(server) == (level == "off"), "without walls it is called"


def test_git_inside_a_lane_reads_what_is_listed_whatever_its_agent_may_read(walled):
    walled.set_walls('reads = "all"')
    (walled.home / "secret").write_text("token\n")
    lane, home = walled.home / "lane", walled.home / "git-home"
    for folder in (lane, home):
        folder.mkdir()
    world = World(walled.root)
    walls = LaneWalls(world.workspace, world.config).for_git(lane, home)
    for words, is_read in (
        (["cat", str(walled.home / "secret")], False),
        (["ls", str(walled.root / ".git" / "objects")], True),
    ):
        limits = Limits(wall_seconds=60)
        ran = execute.run(words, cwd=lane, environment=dict(os.environ), limits=limits, walls=walls)
        assert (ran.exit_code == 0) == is_read, ran.lines


def test_a_toolchain_where_its_installer_puts_it_is_read_though_no_variable_names_it(
    walled, monkeypatch
):
    home = walled.home / "user"
    (home / ".rustup").mkdir(parents=True)
    (home / ".rustup" / "settings.toml").write_text("version = 12\n")
    (home / "secret").write_text("mine\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("RUSTUP_HOME", raising=False)
    put_walls_up(walled, "auto")
    plan = walled.root / "docs" / "demo-plan.md"
    check = f'cat "$RUSTUP_HOME/settings.toml" && ! cat {home}/secret && test -s one/a.txt'
    plan.write_text(plan.read_text().replace("test -s one/a.txt", check))
    walled.commit_all("Let the check read it")
    walled.play({"*": [[write("one/a.txt"), commit("Write a")]]})
    work(walled)
    assert "Write a" in walled.subjects(), happened(walled, "work_measured")[0]["reason"]


@pytest.mark.parametrize("level", ["landlock", "auto"])
def test_a_lane_has_its_submodules_and_its_agents_read_no_settings_of_the_users(walled, level):
    put_walls_up(walled, level)
    library = walled.home / "library"
    library.mkdir()
    (library / "words").write_text("hello\n")
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Library"]):
        subprocess.run(["git", *identity, *words], cwd=library, check=True)
    walled.git(*identity, "submodule", "--quiet", "add", str(library), "vendor")
    plan = walled.root / "docs" / "demo-plan.md"
    check = "`cmp one/a.txt vendor/words && git -C vendor log --format=%s`"
    plan.write_text(plan.read_text().replace("`test -s one/a.txt`", check))
    walled.commit_all("Add a library")
    works = [{"run": "git -C vendor fsck && cp vendor/words one/a.txt"}, commit("Write a")]
    walled.play({"DEMO/A1": [works], "DEMO/A2": [[write("one/b.txt"), commit("Write b")]]})
    stop = work(walled)
    assert stop.reason is StopReason.COMPLETE, happened(walled, "work_measured")
    assert {"Write a", "Write b"} <= set(walled.subjects())
    times = {"granted_ms": 0, "beat_ms": 0, "expires_ms": 0, "ttl_ms": 1000}
    lease = Lease(
        lane="one", holder="h", host="", region=region(["one/**"]), fence=1, boot="", version=1,
        **times,
    )  # fmt: skip
    text = walled.config.read_text().replace('agent = "scripted"', 'agent = "claude_code"', 1)
    walled.config.write_text(text)
    home = PrivateHome(folder=library, temporary=library, cache=library, variables={})
    with World(walled.root) as world:
        walls = LaneWalls(world.workspace, world.config).for_command(walled.root, lease, home)
    settings = walled.root / ".git" / "modules" / "vendor" / "config"
    assert settings.exists() and walls.readable is not None
    assert not [path for path in walls.readable if settings.is_relative_to(path)]


def test_what_walls_refused_is_named_where_people_ask_why(walled):
    put_walls_up(walled, "auto")
    plan = walled.root / "docs" / "demo-plan.md"
    check = f"`echo x > {walled.home}/by-check || (echo and then; exit 3)`"
    plan.write_text(plan.read_text().replace("`test -s one/a.txt`", check))
    walled.commit_all("Let the check write outside")
    tries = {"run": f"echo x > {walled.home}/by-agent; true"}
    walled.play({"*": [[tries, write("one/a.txt"), commit("Write a")]]})
    work(walled)
    shown = in_process("--workspace", str(walled.root), "why", "DEMO/A1").out
    assert f"{walled.home}/by-agent" in shown and f"{walled.home}/by-check" in shown, shown


def test_without_walls_the_same_agent_does_all_of_it(walled):
    """So the test above can fail."""
    walled.play(
        {
            "DEMO/A1": [
                [{"run": f"echo evil > {walled.home}/left"}, write("one/a.txt"), commit("Write a")]
            ],
            "DEMO/A2": [[write("one/b.txt"), commit("Write b")]],
        }
    )
    assert work(walled).reason is StopReason.COMPLETE
    assert (walled.home / "left").read_text() == "evil\n"
