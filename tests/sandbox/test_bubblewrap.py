"""The recipe of docs/security.md for bubblewrap, as `[sandbox] program`."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from walled import Lane

from dos.config.load import parse

DOCUMENT = Path(__file__).parents[2] / "docs" / "security.md"


def works() -> bool:
    if not shutil.which("bwrap"):
        return False
    words = ["bwrap", "--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true"]
    return subprocess.run(words, capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(
    not works(), reason="bubblewrap is not installed, or may not make namespaces here"
)


def recipe() -> tuple[str, ...]:
    (text,) = re.findall(r"```toml\n(\[sandbox\]\nprogram = .*?)```", DOCUMENT.read_text(), re.S)
    assert tomllib.loads(text)
    return parse(text, Path("dos.toml")).config.sandbox.program


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


def test_a_daemon_ends_with_the_program(lane: Lane, walls):
    ran = lane.shell("(setsid env -i sleep 300 >/dev/null 2>&1 &); sleep 0.2; exit 4", walls)
    assert ran.exit_code == 4 and ran.seconds < 30
