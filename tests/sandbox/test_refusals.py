"""What a refusal behind walls is called, and which setting is named for it."""

import pytest
from walled import needs_landlock, needs_namespaces, needs_ports

from dos.sandbox import refusals
from dos.sandbox.walls import Walls

LANDLOCK = Walls(landlock_abi=7, seccomp=True)
NAMESPACES = Walls(landlock_abi=7, seccomp=True, namespaces=True)
DATABASE = 'connection to server on socket "/var/run/postgresql/.s.PGSQL.5432" failed: No such file'


def test_a_refusal_is_named_by_its_last_line():
    lines = ["sh: cannot create /a: Permission denied", "touch: /b: Read-only file system ", "ok"]
    assert refusals.refused_line(lines, LANDLOCK) == "touch: /b: Read-only file system"
    assert refusals.refused_line(["ok"], LANDLOCK) == ""


@pytest.mark.parametrize(
    ("walls", "line", "hint"),
    [
        (NAMESPACES, "touch: /b: Read-only file system", "[sandbox] writable can list it"),
        (LANDLOCK, "touch: /b: Permission denied", "[sandbox] writable, readable or ports"),
        (LANDLOCK, "Error: EACCES, open '/b'", "[sandbox] writable, readable or ports"),
        (LANDLOCK, "sudo: Operation not permitted", "cannot become root"),
        (Walls(seccomp=True, no_sockets=True), "PermissionError: [Errno 1] Operation not permitted",
         'sockets is "none"'),
        (NAMESPACES, "Cannot connect to the Docker daemon at unix:///var/run/docker.sock.",
         "[sandbox] readable can list the socket"),
        (NAMESPACES, DATABASE, "[sandbox] readable can list the socket"),
        (Walls(program=("bwrap", "--")), "touch: /b: Permission denied", "bwrap may have refused"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_setting_that_can_allow_it(walls, line, hint):
    named = refusals.name_refusal("", [line], walls)
    assert named.startswith(f"{line} (") and hint in named
    assert refusals.name_refusal(f"exit 1, {line}", [line], walls) == f"exit 1, {named}"
    assert refusals.name_refusal("exit 1, Error 1", [line, "Error 1"], walls) == (
        f"exit 1, Error 1; before that: {named}"
    )


def test_what_no_wall_refused_is_left_as_it_is():
    lines = ["assert 1 == 2", "FileNotFoundError: 'data/x'", "the server runs in /run/x"]
    assert refusals.name_refusal("exit 1", lines, NAMESPACES) == "exit 1"
    assert refusals.name_refusal("exit 1", [DATABASE], LANDLOCK) == "exit 1"
    assert refusals.name_refusal("exit 1", ["Permission denied"], None) == "exit 1"


@needs_landlock
@pytest.mark.parametrize(
    ("level", "command", "hint"),
    [
        ("landlock", "echo x > ../../../../outside/x", "[sandbox] writable, readable or ports"),
        pytest.param(
            "auto",
            "echo x > ../../../../outside/x",
            "it is read-only in the sandbox; [sandbox] writable can list it",
            marks=needs_namespaces,
        ),
        pytest.param(
            "auto",
            "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 5432))'",
            "ports can allow it",
            marks=needs_ports,
        ),
        pytest.param(
            "auto", "ls -d /run/no.sock", "[sandbox] readable can list", marks=needs_namespaces
        ),
    ],
)
def test_what_real_programs_print_behind_walls_is_recognised(lane, level, command, hint):
    walls = lane.walls(level, network="ports")
    ran = lane.shell(command, walls)
    assert ran.exit_code and hint in refusals.name_refusal("", ran.lines, walls)
