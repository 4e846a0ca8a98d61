"""Nothing that a program started survives it, nor the death of the process that started it."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from patience import PATIENCE, has_ended, wait_for
from walled import LEVELS

from dos.agents.io import orphans
from dos.machine import execute
from dos.machine.execute import Limits
from dos.sandbox.io.launcher import cgroup

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux lets a process inherit orphans"
)

# A daemon as the books write it: two forks, a session, another directory, no environment.
DAEMON = """
import os, sys, time
pid_file = os.path.abspath(sys.argv[1])
if os.fork():
    os.wait()
    while not os.path.exists(pid_file):
        time.sleep(0.01)
else:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.chdir("/")
    with open(pid_file + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(pid_file + ".new", pid_file)
    for number in (0, 1, 2):
        os.close(number)
    os.execve("/bin/sleep", ["sleep", "300"], {})
"""


def run(argv, folder: Path, wall: float = 60, **more):
    return execute.run(
        argv,
        cwd=folder,
        environment=dict(os.environ),
        limits=Limits(wall_seconds=wall),
        **more,
    )


def test_a_daemon_ends_with_the_program(tmp_path):
    ran = run([sys.executable, "-c", DAEMON, "pid"], tmp_path)
    assert ran.exit_code == 0, ran.lines
    assert has_ended(int((tmp_path / "pid").read_text()))


def test_the_same_daemon_would_live_on(tmp_path):
    """The control of the test above: without a keeper it outlives its program."""
    subprocess.run([sys.executable, "-c", DAEMON, "pid"], cwd=tmp_path, check=True)
    daemon = int((tmp_path / "pid").read_text())
    assert not has_ended(daemon)
    os.kill(daemon, signal.SIGKILL)


RUNNER = """
import os, sys
from pathlib import Path
script, folder, tests, level = sys.argv[1:]
sys.path.insert(0, tests)
from walled import Lane
from dos.machine import execute
walls = None
if level != "none":
    lane = Lane(Path(folder) / "of-walls")
    walls = lane.with_writable(lane.walls(level), Path(folder))
execute.run(
    [sys.executable, "-c", script, "pid"],
    cwd=Path(folder),
    environment=dict(os.environ),
    limits=execute.Limits(wall_seconds=300),
    walls=walls,
)
"""


@pytest.fixture
def runner(tmp_path):
    """A process that runs a program as a worker does."""
    started = []

    def start(script: str, level: str = "none") -> subprocess.Popen:
        words = [script, str(tmp_path), str(Path(__file__).parent), level]
        started.append(subprocess.Popen([sys.executable, "-c", RUNNER, *words]))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def descendants(pid: int) -> list[int]:
    return [process.pid for process in psutil.Process(pid).children(recursive=True)]


@pytest.mark.parametrize("level", ["none", *LEVELS])
def test_all_of_it_ends_when_the_process_above_is_killed(tmp_path, runner, level):
    worker = runner(f"{DAEMON}\nimport time\nprint('up', flush=True)\ntime.sleep(300)", level)
    wait_for((tmp_path / "pid").exists)
    everything = descendants(worker.pid)
    assert len(everything) >= 3  # the keeper, the program, the daemon
    os.kill(worker.pid, signal.SIGKILL)
    wait_for(lambda: all(map(has_ended, everything)))


def test_the_program_ends_when_its_keeper_is_killed(tmp_path, runner):
    worker = runner("import time; open('pid', 'w').close(); time.sleep(300)")
    wait_for((tmp_path / "pid").exists)
    keeper = psutil.Process(worker.pid).children()[0]
    (program,) = keeper.children()
    keeper.kill()
    wait_for(lambda: has_ended(program.pid))
    assert worker.wait(PATIENCE) == 0


def has_cgroups() -> bool:
    path = cgroup.make_cgroup()
    if path:
        cgroup.end_cgroup(path, reap=lambda: None)
    return bool(path)


needs_cgroups = pytest.mark.skipif(
    not has_cgroups(), reason="this user may make no cgroup below its own (version 2)"
)


@needs_cgroups
@pytest.mark.parametrize("level", ["none", "landlock"])
def test_what_is_left_when_worker_and_keeper_are_killed_is_ended_by_the_next(
    tmp_path, runner, level
):
    """A daemon without environment, whose parents are all gone: only its cgroup tells."""
    worker = runner(f"{DAEMON}\nimport time\ntime.sleep(300)", level)
    wait_for((tmp_path / "pid").exists)
    daemon = int((tmp_path / "pid").read_text())
    keeper = psutil.Process(worker.pid).children()[0]
    keeper.suspend()  # or it would see the end of the worker
    for process in (worker, keeper):
        os.kill(process.pid, signal.SIGKILL)
    worker.wait()
    wait_for(lambda: has_ended(keeper.pid))
    # Any other dos that comes by may have ended it already.
    orphans.end_unleased_processes(str(tmp_path), [], newest=0)
    wait_for(lambda: has_ended(daemon))
    assert not list(Path("/sys/fs/cgroup").rglob(f"dos-*-{keeper.pid}-*"))


@needs_cgroups
def test_a_program_at_work_is_not_taken_for_one_that_was_left(tmp_path, runner):
    worker = runner("import time; open('pid', 'w').close(); time.sleep(300)")
    wait_for((tmp_path / "pid").exists)
    everything = descendants(worker.pid)
    cgroup.end_abandoned_cgroups()
    assert everything and not any(map(has_ended, everything))


FORKS_ON = """
import os, time
if os.fork() == 0:
    os.setsid()
    open("pid", "w").close()
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        if os.fork():
            os._exit(0)
while not os.path.exists("pid"):
    time.sleep(0.01)
"""


def test_a_process_that_never_stops_forking_is_caught(tmp_path):
    run([sys.executable, "-c", FORKS_ON], tmp_path)
    left = []
    for process in psutil.process_iter(["cmdline"]):
        if FORKS_ON in (process.info["cmdline"] or []):
            left.append(process)
            process.kill()
    assert left == []


@pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")
def test_a_server_that_a_program_starts_ends_with_it(tmp_path):
    socket = str(tmp_path / "socket")
    server = f"tmux -S {socket} -f /dev/null new-session -d 'sleep 300' && "
    said = run(["sh", "-c", f"{server} tmux -S {socket} display -p '#{{pid}}'"], tmp_path)
    assert said.exit_code == 0 and has_ended(int(said.lines[-1])), said.lines


def test_a_program_gets_no_descriptor_but_its_three(tmp_path):
    with open(tmp_path / "secret", "w+") as secret:
        os.set_inheritable(secret.fileno(), True)
        code = "import os; print(sorted(os.listdir('/proc/self/fd')))"
        control = subprocess.run(
            [sys.executable, "-c", code], close_fds=False, capture_output=True, text=True
        )
        ran = run([sys.executable, "-c", code], tmp_path)
    assert str(secret) not in control.stdout
    assert ran.lines == ["['0', '1', '2', '3']"]  # the last is the listing itself
    assert len(eval(control.stdout)) > 4


def test_a_program_has_a_session_of_its_own(tmp_path):
    code = "import os; print(os.getsid(0) == os.getpid(), os.getsid(0))"
    is_leader, session = run([sys.executable, "-c", code], tmp_path).lines[0].split()
    assert is_leader == "True" and int(session) != os.getsid(0)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGTERM, signal.SIGUSR1, signal.SIGKILL])
def test_a_program_that_a_signal_ends_is_reported_so(tmp_path, number):
    code = "import os, resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0));"
    ran = run([sys.executable, "-c", f"{code} os.kill(os.getpid(), {number})"], tmp_path)
    assert ran.exit_code == -number


def test_a_program_can_clean_up_when_it_is_asked_to_end(tmp_path):
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('cleaned up', flush=True), sys.exit(7)))\n"
        "print('up', flush=True)\ntime.sleep(60)"
    )
    ran = run([sys.executable, "-c", code], tmp_path, wall=1)
    assert (ran.exit_code, ran.lines) == (7, ["up", "cleaned up"])
