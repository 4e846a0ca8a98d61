"""A host behind a network cable of its own, which is pulled while it works.

Its lanes move, and it lands nothing late.

The host is a network namespace. What it needs of the others, the journal's server and the remote,
it reaches over the cable alone.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from patience import PATIENCE
from sample_fleet import wait_for
from test_shared_fleet import Host, everything_landed, holders, publish_plan, subjects
from test_sharing import git, make_remote

from dos.world import World

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(
        not shutil.which("ip") or os.geteuid() != 0,
        reason="needs iproute2, and root to make network namespaces",
    ),
]


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


class Cable:
    """A namespace, and a pair of ends: ours has the address at which the servers are."""

    def __init__(self, which: int = 0) -> None:
        number = (os.getpid() * 3 + which) % 60_000
        self.space, self.near, self.far = f"dos-{number}", f"dosn{number}", f"dosf{number}"
        self.address = f"10.{77 + number // 16_384}.{number // 64 % 256}.{number % 64 * 4 + 1}"
        far = self.address.rpartition(".")[0] + f".{int(self.address.rpartition('.')[2]) + 1}"
        ip("netns", "add", self.space)
        ip("link", "add", self.near, "type", "veth", "peer", "name", self.far, "netns", self.space)
        ip("addr", "add", f"{self.address}/30", "dev", self.near)
        ip("link", "set", self.near, "up")
        ip("-n", self.space, "addr", "add", f"{far}/30", "dev", self.far)
        ip("-n", self.space, "link", "set", self.far, "up")
        ip("-n", self.space, "link", "set", "lo", "up")
        ip(
            "-n", self.space, "route", "add", "default", "via", self.address
        )  # to our other ends as well

    def pull(self) -> None:
        ip("-n", self.space, "link", "set", self.far, "down")

    def plug_in(self) -> None:
        ip("-n", self.space, "link", "set", self.far, "up")

    def remove(self) -> None:
        with suppress(subprocess.CalledProcessError):  # the other end goes with the namespace
            ip("netns", "delete", self.space)
        with suppress(subprocess.CalledProcessError):
            ip("link", "delete", self.near)


def forward(address: str, port: int) -> socket.socket:
    """The server listens on loopback; at our end of the cable it is reached as well."""
    door = socket.create_server((address, 0))

    def pump(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(65536):
                target.sendall(piece)
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def serve() -> None:
        with suppress(OSError):
            while True:
                guest, _ = door.accept()
                server = socket.create_connection(("127.0.0.1", port))
                for pair in ((guest, server), (server, guest)):
                    threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return door


def serve_git(address: str, folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    """The remote's server at our end of the cable, and its port."""
    with socket.create_server((address, 0)) as free:
        port = free.getsockname()[1]
    daemon = subprocess.Popen(
        [
            *(
                "git",
                "daemon",
                "--export-all",
                "--enable=receive-pack",
                "--reuseaddr",
                f"--listen={address}",
            ),
            *(f"--port={port}", f"--base-path={folder}", str(folder)),
        ],
        start_new_session=True,
    )
    return daemon, port


class FarHost(Host):
    def __init__(self, remote: Path, name: str, space: str) -> None:
        super().__init__(remote, name)
        self.space = space

    def up(self, *words: str) -> None:
        self.log = (self.tree.parent / f"{self.name}.log").open("w")
        self.process = subprocess.Popen(
            [
                "ip",
                "netns",
                "exec",
                self.space,
                sys.executable,
                "-m",
                "dos",
                "up",
                "--tick",
                "0.3",
                *words,
            ],
            cwd=self.tree,
            env=self.environment(),
            stdout=self.log,
            stderr=subprocess.STDOUT,
        )


@pytest.fixture
def cable() -> Iterator[Cable]:
    try:
        made = Cable()
    except subprocess.CalledProcessError as error:
        pytest.skip(f"this machine lets nobody make network namespaces: {error.stderr.strip()}")
    yield made
    made.remove()


@pytest.fixture
def hosts(cable, postgres, tmp_path) -> Iterator[tuple[FarHost, Host]]:
    remote = make_remote(tmp_path)
    door = forward(cable.address, postgres.port)
    url = postgres.createdb(f"cut_{time.time_ns()}")
    url = url.replace(f"127.0.0.1:{postgres.port}", f"{cable.address}:{door.getsockname()[1]}")
    assert cable.address in url
    daemon, git_port = serve_git(cable.address, tmp_path)
    publish_plan(remote, url)
    made = FarHost(remote, "far", cable.space), Host(remote, "near")
    for host in made:
        git(
            host.tree, "remote", "set-url", "origin", f"git://{cable.address}:{git_port}/remote.git"
        )
    yield made
    for host in made:
        host.close()
    os.killpg(
        daemon.pid, signal.SIGKILL
    )  # `git daemon` is one process, and the server it starts another
    daemon.wait()
    door.close()


def test_the_lanes_of_a_host_that_is_cut_off_move_and_it_lands_nothing_late(hosts, cable, tmp_path):
    far, near = hosts
    remote = tmp_path / "remote.git"
    far.up("--target", "4")
    wait_for(lambda: holders(remote)["far"] == 4)
    cable.pull()
    near.up("--target", "4")
    wait_for(lambda: holders(remote)["near"] == 4)
    (
        tmp_path / "go"
    ).touch()  # also for unreachable agents: they commit, and their workers want to land
    wait_for(lambda: everything_landed(remote))
    assert near.process.wait(PATIENCE) == 0
    cable.plug_in()
    with World(near.tree) as world:
        before = world.journal.last()
        time.sleep(6)  # as long as two leases: whoever wanted to come back has tried
        since = [event.kind for event in world.journal.events(before)]
    assert set(subjects(remote).values()) == {1}
    assert "unit_landed" not in since and "iteration_committed" not in since
    assert holders(remote)["near"] == 4, "nobody took a lane back by an older fence"
