"""A process in a folder whose path is too long for the system to name stands in nobody's way."""

import subprocess
import sys

import pytest

from dos import workspace
from dos.agents.io import orphans
from dos.machine import filesystem, process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere such a path has a name")

# Each folder is short; the path of the last one is longer than the 4096 bytes of a name.
WAITS_BELOW = """
import os, sys
with open("/proc/self/comm", "w") as name:
    name.write(sys.argv[2])
os.chdir(sys.argv[1])
for _ in range(40):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
print("up", flush=True)
input()
"""


@pytest.fixture(params=["dos", "git"])
def deep(request, tmp_path):
    """A process that looks like one of ours by its name and words."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "dos.toml").write_text("")
    waiting = subprocess.Popen(
        [request.param, "-c", WAITS_BELOW, str(tmp_path), request.param],
        executable=sys.executable,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert waiting.stdout.readline() == b"up\n"
    yield tmp_path
    waiting.communicate(b"\n")
    filesystem.remove_tree(tmp_path / ("d" * 200))


def test_the_processes_of_a_workspace_are_still_found_and_waited_for(deep):
    assert process.dos_processes(workspace.find(deep).state) == []
    orphans.wait_for_git(deep)
