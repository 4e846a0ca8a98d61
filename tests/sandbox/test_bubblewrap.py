"""The recipe of docs/security.md for bubblewrap, as `[sandbox] program`."""

import re
import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path

import pytest
from driven_worker import happened, work
from sample_repository import Repository
from walled import Lane

from dos.config.load import parse
from dos.loop.types import StopReason

DOCUMENT = Path(__file__).parents[2] / "docs" / "security.md"


def works() -> bool:
    if not shutil.which("bwrap"):
        return False
    words = ["bwrap", "--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true"]
    return subprocess.run(words, capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(
    not works(), reason="bubblewrap is not installed, or may not make namespaces here"
)


def recipe_text() -> str:
    (text,) = re.findall(r"```toml\n(\[sandbox\]\nprogram = .*?)```", DOCUMENT.read_text(), re.S)
    assert tomllib.loads(text)
    return text


def recipe() -> tuple[str, ...]:
    return parse(recipe_text(), Path("dos.toml")).config.sandbox.program


@pytest.fixture
def walls(lane: Lane):
    return lane.walls("auto", program=recipe())


def test_an_honest_program_works_in_its_lane(lane: Lane, walls):
    script = (
        "set -e; git init -q .; git config user.name a; git config user.email a@b.c;"
        " echo x > x; git add x; git commit -qm x; echo y > $TMPDIR/y; echo z > /tmp/z; cat x"
    )
    ran = lane.shell(script, walls)
    assert (ran.exit_code, ran.lines[-1]) == (0, "x"), ran.lines


def test_nothing_outside_can_be_changed_and_no_home_and_no_process_be_seen(lane: Lane, walls):
    assert lane.shell(f"echo x > {lane.outside}/file", walls).exit_code != 0
    assert (lane.outside / "file").read_text() == "before\n"
    if str(lane.outside).startswith(("/home/", "/root/")):
        assert lane.shell(f"cat {lane.outside}/file", walls).exit_code != 0, "there is no home"
    assert lane.shell('test -z "$(find /run /tmp -type s)"', walls).exit_code == 0
    count = lane.shell("ls /proc | grep -c '^[0-9]'", walls).lines[-1]
    assert int(count) < 7


AGENT = """#!/bin/sh
set -e
case $DOS_UNIT in *A1) echo x > one/a.txt ;; *) echo x > one/b.txt ;; esac
git add --all
git commit -q -m "Work on $DOS_UNIT" -m "Unit: $DOS_UNIT"
(echo evil > {outside}) 2>/dev/null || true
cat {printed}
"""


@pytest.fixture
def fleet(monkeypatch):
    """A repository below the home with the recipe as it is, and an agent that is installed where
    the recipe shows it. dos itself may be installed where it does not."""
    parent = Path.home() / ".cache" / "dos-tests"
    parent.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=parent) as home,
        tempfile.TemporaryDirectory(dir="/var/tmp") as installed,
    ):
        monkeypatch.setenv("XDG_STATE_HOME", f"{home}/state")
        repository = Repository(Path(home))
        captured = Path(__file__).parents[1] / "fixtures" / "agents" / "claude-ok.jsonl"
        printed = shutil.copy(captured, installed)
        program = Path(installed) / "claude"
        program.write_text(AGENT.format(outside=repository.home / "left", printed=printed))
        program.chmod(0o755)
        config = repository.config.read_text()
        scripted = f'agent = "scripted"\ncommand = ["{repository.script}"]\n'
        named = f'agent = "claude_code"\n\n[agents.claude_code]\ncommand = ["{program}"]\n'
        repository.config.write_text(config.replace(scripted, named))
        repository.set_walls(recipe_text().removeprefix("[sandbox]\n"))
        repository.commit_all("Use bubblewrap")
        yield repository


@pytest.mark.soak
def test_a_unit_lands_with_the_recipe_and_its_receipt_names_it(fleet: Repository):
    assert work(fleet).reason is StopReason.COMPLETE
    assert {"Work on DEMO/A1", "Work on DEMO/A2"} <= set(fleet.subjects())
    assert not (fleet.home / "left").exists()
    for event in happened(fleet, "receipt_issued"):
        assert "program bwrap" in str(event["receipt"])


def test_a_daemon_ends_with_the_program(lane: Lane, walls):
    ran = lane.shell("(setsid env -i sleep 300 >/dev/null 2>&1 &); sleep 0.2; exit 4", walls)
    assert ran.exit_code == 4 and ran.seconds < 30
