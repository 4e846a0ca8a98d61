"""Three hosts with one name, each in its own namespaces, with one journal and one remote.

Started one after the other, killed as by a power cut, started at once: all three supervisors stay.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator

import pytest
from patience import PATIENCE, wait_for
from test_cut_off_host import Cable, forward, serve_git
from test_shared_fleet import Host, everything_landed, publish_plan, subjects
from test_sharing import git, make_remote

from dos.journal import streams
from dos.lease import Lease
from dos.world import World

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(
        not shutil.which("ip") or not shutil.which("unshare") or os.geteuid() != 0,
        reason="needs iproute2 and util-linux, and root to make network and pid namespaces",
    ),
]
COUNT = 3
# Of each supervisor's lock: it is renewed four times while it lasts, in some ten ticks.
RENEWALS = 20


class SmallHost(Host):
    """Whatever runs there sees its own processes alone, and reaches the others over its cable."""

    def __init__(self, remote, name: str, cable: Cable) -> None:
        super().__init__(remote, name)
        self.cable = cable

    def environment(self) -> dict[str, str]:
        return super().environment() | {
            "DISPATCH_HOST_ID": "twin"
        }  # as machines made from one image

    def up(self, *words: str) -> None:
        self.log = (self.tree.parent / f"{self.name}.log").open("a")
        apart = [
            "ip",
            "netns",
            "exec",
            self.cable.space,
            "unshare",
            "--pid",
            "--fork",
            "--mount-proc",
            "--kill-child",
        ]
        self.process = subprocess.Popen(
            [*apart, sys.executable, "-m", "dos", "up", "--tick", "0.3", *words],
            cwd=self.tree, env=self.environment(), stdout=self.log, stderr=subprocess.STDOUT,
        )  # fmt: skip


@pytest.fixture
def hosts(postgres, tmp_path) -> Iterator[list[SmallHost]]:
    cables: list[Cable] = []
    try:
        try:
            cables.extend(Cable(which) for which in range(COUNT))
            subprocess.run(
                ["unshare", "--pid", "--fork", "--mount-proc", "true"],
                check=True,
                capture_output=True,
                text=True,
            )
        except subprocess.CalledProcessError as error:
            pytest.skip(f"this machine lets nobody make namespaces: {error.stderr.strip()}")
        address = cables[0].address
        door = forward(address, postgres.port)
        url = postgres.createdb(f"three_{time.time_ns()}")
        url = url.replace(f"127.0.0.1:{postgres.port}", f"{address}:{door.getsockname()[1]}")
        remote = make_remote(tmp_path)
        daemon, git_port = serve_git(address, tmp_path)
        publish_plan(remote, url)
        made = [SmallHost(remote, f"host-{number}", cable) for number, cable in enumerate(cables)]
        for host in made:
            git(host.tree, "remote", "set-url", "origin", f"git://{address}:{git_port}/remote.git")
        yield made
        for host in made:
            host.close()
        os.killpg(daemon.pid, signal.SIGKILL)
        daemon.wait()
        door.close()
    finally:
        for cable in cables:
            cable.remove()


def locks(host: Host) -> dict[int, Lease]:
    """Of supervisors whose time is not over, by fence."""
    with World(host.tree) as world:
        leases = world.journal.leases(locks=True, lapsed=False)
    return {lease.fence: lease for lease in leases if lease.lane in streams.supervisor}


def all_stay(hosts: list[SmallHost]) -> None:
    """Through many ticks and several leases' time, by the renewals of each one's lock."""

    def said() -> str:
        return "\n".join(
            (host.tree.parent / f"{host.name}.log").read_text()[-2000:] for host in hosts
        )

    def stay() -> bool:
        with World(hosts[0].tree) as world:
            events = [
                event for event in world.journal.events(before) if event.kind == "lease_renewed"
            ]
        renewed = Counter(event.body["lease"] for event in events)
        assert [host.process.poll() for host in hosts] == [None] * COUNT, said()
        return all(renewed[fence] >= RENEWALS for fence in held)

    with World(hosts[0].tree) as world:
        before = world.journal.last()
    held = wait_for(
        lambda: len(found := locks(hosts[0])) == COUNT and found,
        f"{COUNT} supervisors hold their locks",
    )
    assert {lease.host for lease in held.values()} == {"twin"}
    assert len({lease.system for lease in held.values()}) == COUNT
    wait_for(stay, "all locks are renewed again and again")
    assert set(locks(hosts[0])) == set(held), "no supervisor was replaced by another"


def test_three_supervisors_stay_started_in_turn_and_at_once_after_all_were_killed(hosts, tmp_path):
    for number, host in enumerate(hosts, 1):
        host.up("--target", "4")
        wait_for(lambda: len(locks(hosts[0])) == number, f"supervisor {number} holds its lock")  # noqa: B023 - at once
    all_stay(hosts)
    for host in hosts:
        host.die()
        host.process.wait()
    wait_for(lambda: not locks(hosts[0]), "the locks of the dead run out")
    for host in hosts:
        host.up("--target", "4")
    all_stay(hosts)
    remote = tmp_path / "remote.git"
    (tmp_path / "go").touch()
    wait_for(lambda: everything_landed(remote), "every unit lands")
    assert set(subjects(remote).values()) == {1}
    down = subprocess.run(
        [sys.executable, "-m", "dos", "down", "--timeout", str(PATIENCE)],
        cwd=hosts[0].tree, env=hosts[0].environment(), capture_output=True, text=True,
    )  # fmt: skip
    assert down.returncode == 0, down.stdout + down.stderr
    assert [host.process.wait(PATIENCE) for host in hosts] == [0] * COUNT
    with World(hosts[0].tree) as world:
        stopped = [
            event.stream for event in world.journal.events() if event.kind == "fleet_stopped"
        ]
    assert len(set(stopped)) == COUNT, "each said so in a stream of its own"
