"""Each thing that walls must stop, tried by a real process; without walls each of them works."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from msgspec import structs
from walled import (
    LEVELS,
    needs_landlock,
    needs_named_sockets,
    needs_namespaces,
    needs_ports,
    needs_scopes,
    needs_seccomp,
)

from dos.agents.adapter import LAUNCH_FAILED
from dos.machine import filesystem

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="walls are Linux's")

CHANGES = {
    "create": "echo new > $OUT/new",
    "write": "echo new >> $OUT/file",
    "truncate": "truncate -s 0 $OUT/file",
    "remove": "rm $OUT/file",
    "remove a folder": "rmdir $OUT/folder",
    "make a folder": "mkdir $OUT/another",
    "make a link": "ln -s /etc/passwd $OUT/link",
    "make a fifo": "mkfifo $OUT/fifo",
    "rename outside": "mv $OUT/file $OUT/moved",
    "rename into the lane": "mv $OUT/file moved",
    "rename out of the lane": "echo x > inside && mv inside $OUT/inside",
    "hard link into the lane": "ln $OUT/file linked",
}


def tree(folder: Path) -> list[tuple[str, str]]:
    found = []
    for path in sorted(folder.rglob("*")):
        content = path.read_text() if path.is_file() and not path.is_symlink() else ""
        found.append((str(path.relative_to(folder)), content))
    return found


@needs_landlock
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_nothing_outside_is_changed(lane, change, level):
    before = tree(lane.outside)
    ran = lane.shell(change, lane.walls(level), environment={"OUT": str(lane.outside)})
    assert ran.exit_code != 0, ran.lines
    assert tree(lane.outside) == before


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_without_walls_each_of_these_changes_works(lane, change):
    ran = lane.shell(change, None, environment={"OUT": str(lane.outside)})
    assert ran.exit_code == 0, ran.lines


OTHER_DEVICES = [
    path
    for name in ("fuse", "net/tun", "vsock", "kmsg", "loop-control", "uinput")
    if os.access(path := f"/dev/{name}", os.W_OK)
]


@needs_landlock
@pytest.mark.parametrize("level", LEVELS)
def test_of_the_devices_only_the_harmless_ones_can_be_written(lane, level):
    if not OTHER_DEVICES:
        pytest.skip("this user can write to no other device")
    opens = "import os, sys; os.open(sys.argv[1], os.O_WRONLY)"
    for path in OTHER_DEVICES:
        ran = lane.python(opens, lane.walls(level), path)
        assert "PermissionError" in ran.lines[-1], path
    for name in ("null", "zero", "full", "random", "urandom", "ptmx"):
        assert lane.python(opens, lane.walls(level), f"/dev/{name}").exit_code == 0, name


@needs_landlock
@pytest.mark.parametrize("level", LEVELS)
def test_a_truncate_by_its_system_call_is_stopped(lane, level):
    code = "import os, sys; os.truncate(sys.argv[1], 0)"
    assert lane.python(code, lane.walls(level), lane.outside / "file").exit_code != 0
    assert (lane.outside / "file").read_text() == "before\n"
    assert lane.python(code, None, lane.outside / "file").exit_code == 0
    assert (lane.outside / "file").read_text() == ""


HONEST_WORK = """
set -e
git init -q . && git config user.name A && git config user.email a@b.c
echo one > one && git add one && git commit -q -m one
echo two > one && git commit -q -a -m two && git checkout -q HEAD~1 && test "$(cat one)" = one
git gc -q
echo x > "$TMPDIR/x" && mv "$TMPDIR/x" x && mv x "$HOME/x" && ln "$HOME/x" y
echo gone > /dev/null && head -c 4 /dev/urandom > z
python3 -c 'import multiprocessing as m; m.Lock(); m.Array("i", 10)'
python3 -c 'import tempfile; tempfile.TemporaryFile().write(b"x")'
python3 -c 'import pty; pty.openpty()'
sleep 60 & kill $!
"""


@needs_landlock
@pytest.mark.parametrize("reads", ["listed", "all"])
@pytest.mark.parametrize("level", LEVELS)
def test_honest_work_inside_works(lane, level, reads):
    script = HONEST_WORK.replace("python3", sys.executable)
    ran = lane.shell(script, lane.walls(level, reads=reads, network="ports"))
    assert ran.exit_code == 0, ran.lines


PYTEST = """
import multiprocessing, os, socket, threading

def test_files(tmp_path):
    (tmp_path / "x").write_text("x")
    os.rename(tmp_path / "x", tmp_path / "y")

def test_shared_memory():
    from multiprocessing import shared_memory
    memory = shared_memory.SharedMemory(create=True, size=10)
    memory.close(); memory.unlink()

def test_server():
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        connection, _ = server.accept()
        connection.sendall(b"hello"); connection.close()
        assert client.recv(5) == b"hello"; client.close()

def test_a_port_that_was_free_a_moment_ago():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    socket.create_server(("127.0.0.1", port)).close()

def test_a_port_of_the_lane():
    socket.create_server(("127.0.0.1", 21_003)).close()
"""


@needs_landlock
@pytest.mark.parametrize("level", LEVELS)
def test_the_tests_of_a_project_pass_inside(lane, level):
    (lane.lane / "test_it.py").write_text(PYTEST)
    walls = lane.walls(level, reads="listed", network="ports")
    ran = lane.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], walls)
    assert ran.exit_code == 0, ran.lines


@needs_namespaces
@pytest.mark.parametrize("reads", ["listed", "all"])
def test_a_lane_in_memory_or_below_tmp_works_in_namespaces(lane_in_memory, reads):
    lane = lane_in_memory
    walls = lane.walls("auto", reads=reads)
    assert lane.shell(HONEST_WORK.replace("python3", sys.executable), walls).exit_code == 0
    assert lane.shell(f"test -e {lane.hidden}/journal", walls).exit_code != 0
    assert lane.shell(f"cat {lane.objects}/object", walls).lines == ["content"]
    assert lane.shell(f"echo x > {lane.objects}/object", walls).exit_code != 0


@needs_namespaces
@pytest.mark.parametrize("reads", ["listed", "all"])
def test_a_program_that_is_installed_below_tmp_is_there_in_namespaces(lane, reads):
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        program = Path(folder) / "tool"
        program.write_text("#!/bin/sh\necho it works\n")
        program.chmod(0o755)
        assert lane.run([str(program)], lane.walls("auto", reads=reads)).exit_code == LAUNCH_FAILED
        lane.programs.add(folder)
        walls = lane.walls("auto", reads=reads)
        assert lane.run([str(program)], walls).lines == ["it works"]
        assert lane.shell(f"echo x >> {program}", walls).exit_code != 0


@pytest.fixture
def sleeper():
    process = subprocess.Popen(["sleep", "300"])
    yield process
    process.kill()
    process.wait()


@needs_scopes
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGSTOP, 0])
def test_no_process_outside_gets_a_signal(lane, sleeper, number):
    code = "import os, sys; os.kill(int(sys.argv[1]), int(sys.argv[2]))"
    ran = lane.python(code, lane.walls(), sleeper.pid, int(number))
    assert "PermissionError" in ran.lines[-1] and sleeper.poll() is None
    assert lane.python(code, None, sleeper.pid, 0).exit_code == 0


@needs_namespaces
def test_no_process_outside_exists_in_namespaces(lane, sleeper):
    code = "import os, sys; os.kill(int(sys.argv[1]), 0)"
    ran = lane.python(code, lane.walls("auto"), sleeper.pid)
    assert "ProcessLookupError" in ran.lines[-1]
    listed = lane.shell("ls /proc | grep -c '^[0-9]'", lane.walls("auto")).lines[-1]
    assert int(listed) < 6


@needs_scopes
def test_abstract_sockets_outside_cannot_be_reached(lane):
    name = f"\0dos-test-{os.getpid()}"
    code = "import socket, sys; socket.socket(socket.AF_UNIX).connect('\\0' + sys.argv[1])"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        ran = lane.python(code, lane.walls(), name[1:])
        assert "PermissionError" in ran.lines[-1]
        assert lane.python(code, None, name[1:]).exit_code == 0


@needs_ports
def test_only_listed_ports_can_be_reached_and_bound(lane):
    connect = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])))"
    bind = "import socket, sys; socket.create_server(('127.0.0.1', int(sys.argv[1])))"
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        closed = structs.replace(lane.walls(), bind_ports=((0, 0),), connect_ports=((443, 443),))
        listed = structs.replace(closed, connect_ports=((443, 443), (port, port)))
        assert "PermissionError" in lane.python(connect, closed, port).lines[-1]
        assert lane.python(connect, listed, port).exit_code == 0
        assert lane.python(connect, None, port).exit_code == 0
    assert "PermissionError" in lane.python(bind, closed, port).lines[-1]
    assert lane.python(bind, None, port).exit_code == 0


@needs_landlock
@pytest.mark.parametrize("level", LEVELS)
def test_with_listed_reads_nothing_else_can_be_read_or_locked(lane, level):
    (lane.outside / "secret").write_text("token\n")
    lock = "import fcntl, os, sys; fcntl.flock(os.open(sys.argv[1], 0), fcntl.LOCK_EX)"
    state = lane.hidden / "journal"
    walls = lane.walls(level, reads="listed")
    for command in (f"cat {lane.outside}/secret", f"ls {lane.outside}", f"cat {state}"):
        assert lane.shell(command, walls).exit_code != 0
        assert lane.shell(command, None).exit_code == 0
    assert lane.python(lock, walls, state).exit_code != 0
    assert lane.python(lock, None, state).exit_code == 0


@needs_landlock
def test_with_all_reads_a_secret_can_be_read_and_a_hidden_folder_only_without_namespaces(lane):
    (lane.outside / "secret").write_text("token\n")
    assert lane.shell(f"cat {lane.outside}/secret", lane.walls()).lines == ["token"]
    assert lane.shell(f"cat {lane.hidden}/journal", lane.walls()).lines == ["events"]


@needs_namespaces
def test_in_namespaces_modes_and_times_outside_cannot_be_changed(lane):
    for command in (f"chmod 600 {lane.outside}/file", f"touch -d 2001-01-01 {lane.outside}/file"):
        assert lane.shell(command, lane.walls("auto")).exit_code != 0
        assert lane.shell(command, None).exit_code == 0
    assert lane.shell(f"test -e {lane.hidden}/journal", lane.walls("auto")).exit_code != 0
    assert lane.shell('test -z "$(ls /run)" && touch x /tmp/x', lane.walls("auto")).exit_code == 0
    assert (lane.tmp / "x").exists()


@needs_namespaces
@pytest.mark.skipif(not shutil.which("unshare"), reason="unshare is not installed")
@pytest.mark.parametrize("has_landlock", [True, False])
def test_no_namespace_inside_uncovers_what_is_hidden(lane, has_landlock):
    """Also where Landlock, which forbids all mounts, is missing."""
    walls = lane.walls("auto")
    if not has_landlock:
        walls = structs.replace(walls, landlock_abi=0, scoped=False)
    uncover = f"umount {lane.hidden}; umount -l /run; mount -o remount,rw,bind /"
    touch = f"cat {lane.hidden}/journal || touch {lane.outside}/file /run/x"
    ran = lane.shell(f"unshare -Urm sh -c '{uncover}; {touch}'", walls)
    assert ran.exit_code != 0 and "events" not in ran.lines, ran.lines


@needs_namespaces
def test_in_namespaces_a_part_of_the_lane_is_afterwards_as_it_was_before(lane):
    installed = lane.lane / "node modules, 1:2"
    (installed / "tool").mkdir(parents=True)
    (installed / "tool" / "run").write_text("as installed\n")
    (lane.lane / "link").write_text("as installed\n")
    preserved = (str(installed), str(lane.lane / "link"), str(lane.lane / "missing"))
    walls = structs.replace(lane.walls("auto"), preserved=preserved)
    script = f"""cd '{installed}' && echo evil > tool/run && mkdir .cache && touch .cache/x
        rm -r tool && mkdir tool && echo evil > tool/run && cat tool/run && touch ../made"""
    ran = lane.shell(script, walls)
    assert ran.exit_code == 0 and ran.lines[-1] == "evil", "a check may use its folders"
    assert lane.shell("echo evil > link", walls).exit_code != 0
    assert (lane.lane / "link").read_text() == "as installed\n"
    assert (installed / "tool" / "run").read_text() == "as installed\n"
    assert os.listdir(installed) == ["tool"] and (lane.lane / "made").exists()
    filesystem.remove_tree(lane.tmp)
    lane.tmp.mkdir()
    assert lane.shell(script, lane.walls("auto")).exit_code == 0, "which tells that it could be"
    assert (installed / "tool" / "run").read_text() == "evil\n"


@needs_namespaces
def test_a_launcher_that_fails_is_a_start_that_failed(lane):
    for wrong in ({"private_tmp": str(lane.lane / "nowhere")}, {"private_tmp": 7}):
        ran = lane.shell("touch started", structs.replace(lane.walls("auto"), **wrong))
        assert ran.exit_code == LAUNCH_FAILED and not (lane.lane / "started").exists()


NAMED_SOCKET = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"


@needs_seccomp
def test_without_sockets_no_named_one_can_be_opened_and_pairs_still_work(lane):
    path = str(lane.outside / "s")[-100:]
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        assert lane.python(NAMED_SOCKET, None, path).exit_code == 0
        ran = lane.python(NAMED_SOCKET, lane.walls(sockets="none"), path)
        assert "PermissionError" in ran.lines[-1]
    pair = "import socket; a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))"
    assert lane.python(pair, lane.walls(sockets="none")).lines == ["b'x'"]
    internet = "import socket; socket.create_server(('127.0.0.1', 0)).close()"
    assert lane.python(internet, lane.walls(sockets="none")).exit_code == 0


@needs_named_sockets
@pytest.mark.parametrize("level", LEVELS)
def test_from_version_nine_on_landlock_closes_the_named_sockets_of_others(lane, level):
    """Those that a program makes in its own folders stay open to it."""
    path = str(lane.outside / "s")[-100:]
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        assert lane.python(NAMED_SOCKET, None, path).exit_code == 0
        ran = lane.python(NAMED_SOCKET, lane.walls(level), path)
        assert "PermissionError" in ran.lines[-1]
    own = (
        "import socket; s = socket.socket(socket.AF_UNIX); s.bind('own'); s.listen();"
        " socket.socket(socket.AF_UNIX).connect('own')"
    )
    assert lane.python(own, lane.walls(level)).exit_code == 0


# io_uring opens sockets and files without the calls that a filter looks at.
IO_URING = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
ring = libc.syscall(425, 4, ctypes.create_string_buffer(200))
print("works" if ring >= 0 else os.strerror(ctypes.get_errno()))
"""


@needs_seccomp
@pytest.mark.parametrize("level", LEVELS)
def test_without_sockets_there_is_no_io_uring_either(lane, level):
    (before,) = lane.python(IO_URING, lane.walls(level)).lines
    if before != "works":
        pytest.skip(f"this kernel lets nobody use io_uring: {before}")
    closed = lane.walls(level, sockets="none")
    assert lane.python(IO_URING, closed).lines == ["Function not implemented"]


@needs_seccomp
def test_limits_of_other_processes_cannot_be_set_and_its_own_can(lane, sleeper):
    code = (
        "import resource, sys;"
        " resource.prlimit(int(sys.argv[1]), resource.RLIMIT_CPU, (1000, 1000))"
    )
    ran = lane.python(code, lane.walls(), sleeper.pid)
    assert "PermissionError" in ran.lines[-1]
    assert lane.python(code, lane.walls(), 0).exit_code == 0
    read = "import os, resource; print(resource.prlimit(os.getpid(), resource.RLIMIT_CPU))"
    assert lane.python(read, lane.walls()).exit_code == 0
    assert lane.python(code, None, sleeper.pid).exit_code == 0


# keyctl(KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING): what `keyctl show` begins with.
ASK_FOR_KEYS = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 250, "aarch64": 219, "riscv64": 219}[os.uname().machine]
if libc.syscall(number, 0, -3, 0) < 0:
    raise OSError(ctypes.get_errno(), "no keyring")
"""


@needs_seccomp
@pytest.mark.parametrize("level", LEVELS)
def test_the_keyrings_of_the_user_are_closed(lane, level):
    if lane.python(ASK_FOR_KEYS, None).exit_code != 0:
        pytest.skip("this kernel has no keyrings, or does not allow them here")
    ran = lane.python(ASK_FOR_KEYS, lane.walls(level))
    assert "PermissionError" in ran.lines[-1]


@pytest.mark.parametrize("level", LEVELS)
def test_no_capability_and_no_way_to_get_one(lane, level):
    status = "grep -E '^(Cap(Prm|Eff|Bnd|Amb|Inh)|NoNewPrivs)' /proc/self/status"
    values = [line.split()[1] for line in lane.shell(status, lane.walls(level)).lines]
    assert (len(values) == 6 and {int(value, 16) for value in values[:5]} == {0}) or os.geteuid()
    assert values[5] == "1"
    if os.geteuid() == 0:
        assert int(lane.shell(status, None).lines[1].split()[1], 16) > 0


SECRET = "dos-test-secret-of-the-worker"
WITHOUT_CAPABILITIES = (
    "from dos.sandbox.io.launcher.kernel import drop_capabilities; drop_capabilities()"
)
HIDE = (
    "from pathlib import Path; from dos.machine.process import hide_memory;"
    " hide_memory(Path('/state'));"
)
READ_ENVIRONMENT = "import sys; print(open(f'/proc/{sys.argv[1]}/environ').read())"


@pytest.mark.parametrize("dumpable", [False, True])
def test_the_environment_of_a_worker_is_closed_to_its_own_user(lane, dumpable):
    code = f"{WITHOUT_CAPABILITIES}; {'' if dumpable else HIDE} print('up', flush=True); input()"
    worker = subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | {"SECRET": SECRET},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert worker.stdout.readline() == b"up\n"
        # Capabilities are dropped, and nothing else is restricted.
        walls = structs.replace(
            lane.walls(), landlock_abi=0, seccomp=False, scoped=False, namespaces=False
        )
        ran = lane.python(READ_ENVIRONMENT, walls, worker.pid)
        assert any(SECRET in line for line in ran.lines) == dumpable
        behind_landlock = lane.python(READ_ENVIRONMENT, lane.walls(), worker.pid)
        assert not any(SECRET in line for line in behind_landlock.lines)
    finally:
        worker.kill()
        worker.communicate()


@needs_ports
def test_a_wall_that_cannot_be_put_up_starts_nothing(lane):
    walls = structs.replace(
        lane.walls(), connect_ports=((70_000, 70_000),)
    )  # there is no such port
    ran = lane.shell("touch started", walls)
    assert ran.exit_code == LAUNCH_FAILED and "no walls around it" in ran.lines[-1]
    assert not (lane.lane / "started").exists()
