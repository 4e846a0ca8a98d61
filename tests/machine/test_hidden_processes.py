"""A process that hid its memory is still known as one of its workspace, and by its start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dos import workspace
from dos.machine import process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux opens /proc to all")

# Without capabilities, as an ordinary user is: root can read everything.
ORDINARY = "from dos.sandbox.io.launcher.kernel import drop_capabilities; drop_capabilities()"
WORKER = f"""
{ORDINARY}
import sys
from pathlib import Path
from dos.machine import process
process.hide_memory(Path(sys.argv[2]))
print("up", flush=True)
input()
"""
LIST = f"""
{ORDINARY}
import sys
from pathlib import Path
from dos.machine import process
pid = int(sys.argv[2])
running = process.dos_processes(Path(sys.argv[1]))
print([(each.identity.pid, each.verb, each.option("--lane")) for each in running])
print(process.identify(pid) is not None, process.environment_of(pid), process.command_line(pid)[2:])
"""


@pytest.fixture
def hidden(tmp_path):
    """A hidden worker of a workspace, which a program named `dos` runs as."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "dos.toml").write_text("")
    state = workspace.find(tmp_path).state
    program = tmp_path / "dos"
    program.write_text(WORKER)
    worker = subprocess.Popen(
        [sys.executable, str(program), "worker", str(state), "--lane", "api"],
        cwd=tmp_path,
        env=os.environ | {"SECRET": "token"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert worker.stdout.readline() == b"up\n"
    yield worker, state
    worker.communicate(b"\n")


def ask(state: Path, pid: int) -> list[str]:
    words = [sys.executable, "-c", LIST, str(state), str(pid)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()


def test_it_is_found_by_its_workspace_and_its_environment_is_not_read(hidden):
    worker, state = hidden
    running, seen = ask(state, worker.pid)
    assert running == f"[({worker.pid}, 'worker', 'api')]"
    assert seen.startswith("True {} ['worker'")


def test_it_is_not_found_for_another_workspace(hidden, tmp_path):
    worker, _state = hidden
    running, _ = ask(tmp_path / "another", worker.pid)
    assert running == "[]"
    assert process.identify(worker.pid) is not None
