"""An agent types into nobody's terminal: TIOCSTI of the user's terminal, and a tmux server."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from msgspec import structs
from patience import has_ended
from walled import LEVELS, Lane, needs_seccomp

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="TIOCSTI is tried as on Linux")
_SWITCH = Path("/proc/sys/dev/tty/legacy_tiocsti")
needs_typing = pytest.mark.skipif(
    _SWITCH.exists() and _SWITCH.read_text().strip() == "0",
    reason="this kernel lets nobody type into terminals (dev.tty.legacy_tiocsti is 0)",
)

TYPE = """
import fcntl, os, sys
try:
    terminal = os.open(sys.argv[1], os.O_RDWR)
    for letter in b"typed":
        fcntl.ioctl(terminal, 0x5412, bytes([letter]))
    print("typed it")
except OSError as error:
    print(error.strerror)
"""

# A user's shell on a terminal: it starts a program as dos would, or directly as a control.
USER = """
import os, subprocess, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from walled import Lane
lane = Lane(Path(sys.argv[2]))
terminal = os.ttyname(0)
if sys.argv[3] == "directly":
    print(subprocess.run([sys.executable, "-c", sys.argv[4], "/dev/tty"], stdout=subprocess.PIPE,
                         text=True).stdout.strip())
else:
    walls = None if sys.argv[3] == "none" else lane.walls(sys.argv[3])
    for name in ("/dev/tty", terminal):
        print(lane.python(sys.argv[4], walls, name).lines)
"""


def on_a_terminal(*words: str) -> str:
    """Run a command as the leader of a session with a terminal; all that appears on it."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", USER, *words])
    shown = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([terminal], [], [], 1)
        if not ready:
            continue
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # the last process has closed it
            break
        if not piece:
            break
        shown += piece
    os.close(terminal)
    os.waitpid(child, 0)
    return shown.decode()


@needs_typing
def test_without_a_session_of_its_own_a_program_types_into_the_terminal(tmp_path):
    """The control of the test below."""
    shown = on_a_terminal(str(Path(__file__).parent), str(tmp_path / "x"), "directly", TYPE)
    assert "typed it" in shown


@pytest.mark.parametrize("level", ["none", *LEVELS])
def test_a_program_that_dos_starts_cannot_type_into_the_terminal(tmp_path, level):
    shown = on_a_terminal(str(Path(__file__).parent), str(tmp_path / "x"), level, TYPE)
    answers = re.findall(r"\[.*?\]", shown)
    assert len(answers) == 2, shown
    if level == "none" and os.geteuid() == 0:
        answers.pop()  # root may type into every terminal whose name it knows
    assert not any("typed it" in answer for answer in answers), shown


@needs_typing
@needs_seccomp
def test_the_filter_alone_stops_typing_also_into_a_terminal_of_its_own(lane: Lane):
    own = (
        "import fcntl, os, pty, termios\n"
        "child, terminal = pty.fork()\n"
        "if child == 0:\n"
        "    try:\n"
        "        fcntl.ioctl(0, 0x5412, b'x')\n"
        "    except OSError:\n"
        "        os._exit(3)\n"
        "    os._exit(0)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    only_filter = structs.replace(lane.walls(), landlock_abi=0, scoped=False)
    assert lane.python(own, only_filter).lines == ["3"]
    assert lane.python(own, structs.replace(only_filter, seccomp=False)).lines == ["0"]


@pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")
@pytest.mark.parametrize("level", LEVELS)
def test_a_tmux_server_of_the_user_is_out_of_reach_without_sockets(lane: Lane, level):
    socket = str(lane.outside / "s")
    start = ["tmux", "-S", socket, "-f", "/dev/null", "new-session", "-d", "sleep 300"]
    subprocess.run(start, check=True)
    server = int(subprocess.check_output(["tmux", "-S", socket, "display", "-p", "#{pid}"]))
    try:
        command = f"tmux -S {socket} new-window 'touch {lane.outside}/escaped'"
        refused = lane.shell(command, lane.walls(level, sockets="none"))
        assert refused.exit_code != 0 and not (lane.outside / "escaped").exists()
        assert lane.shell(command, None).exit_code == 0
    finally:
        os.kill(server, signal.SIGKILL)


@pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")
@pytest.mark.parametrize("level", LEVELS)
def test_a_tmux_server_that_a_program_starts_ends_with_it(lane: Lane, level):
    server = "tmux -S s -f /dev/null new-session -d 'sleep 300'"
    ran = lane.shell(f"{server} && tmux -S s display -p '#{{pid}}'", lane.walls(level))
    assert ran.exit_code == 0, ran.lines
    if level == "landlock":  # in namespaces its number means another process here
        assert has_ended(int(ran.lines[-1]))
