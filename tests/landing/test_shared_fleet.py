"""Two hosts, two clones, one journal, one remote.

Every unit lands on the remote once, whoever dies.
"""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from msgspec import json
from patience import PATIENCE, wait_until_ended
from sample_fleet import wait_for
from sample_repository import commit, write
from test_sharing import Clone, git, make_remote

from dos.world import World

LANES = ("one", "two", "three", "four")
UNITS = {f"DEMO/{lane.upper()}{number}": lane for lane in LANES for number in (1, 2)}
PLAN = "# A plan\n" + "".join(
    f"\n## DEMO {name.removeprefix('DEMO/')}: x\n- lane: {lane}\n- paths: {lane}/**\n"
    for name, lane in UNITS.items()
)
CONFIG = """[lanes]
concurrent = {lanes}
autopick = {lanes}

[lanes.trees]
{trees}

[leases]
ttl_seconds = 3

[supervise]
target = {target}

[store]
url = "{url}"

[sandbox]
writable = ["{home}"]

[workers]
agent = "scripted"
command = ["{script}"]
remote = "origin"
"""


class Host:
    def __init__(self, remote: Path, name: str) -> None:
        self.name, self.tree = name, Clone(remote, remote.parent / name).tree
        self.process: subprocess.Popen[bytes] | None = None
        git(self.tree, "config", "user.name", name)
        git(self.tree, "config", "user.email", f"{name}@example.invalid")

    def environment(self) -> dict[str, str]:
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("DOS_", "DISPATCH_"))
        }
        return kept | {"DISPATCH_HOST_ID": self.name, "A_HOST_AT": str(self.tree)}

    def up(self, *words: str) -> None:
        self.log = (self.tree.parent / f"{self.name}.log").open("w")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dos", "up", "--until-idle", "--tick", "0.3", *words],
            cwd=self.tree,
            env=self.environment(),
            stdout=self.log,
            stderr=subprocess.STDOUT,
        )

    def die(self) -> None:
        """All of its processes at once, as when the power goes."""
        while processes := [process for process in psutil.process_iter() if self._runs(process)]:
            for process in processes:
                with suppress(psutil.NoSuchProcess):  # it has ended by itself
                    process.kill()
            wait_until_ended(processes)

    def close(self) -> None:
        self.die()
        if self.process:
            self.process.wait()
            self.log.close()

    def _runs(self, process: psutil.Process) -> bool:
        try:
            carried = process.environ()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            return False
        return str(self.tree) in (carried.get("DOS_WORKSPACE"), carried.get("A_HOST_AT"))


@pytest.fixture
def remote(tmp_path) -> Path:
    return make_remote(tmp_path)


def publish_plan(remote: Path, url: str) -> None:
    """Units whose agents wait until there is a file `go`.

    To be worked on under the journal at a url.
    """
    tmp_path = remote.parent
    seed = tmp_path / "seed"
    for lane in LANES:
        (seed / lane).mkdir(exist_ok=True)
        (seed / lane / "keep").touch()
    (seed / "docs" / "demo-plan.md").write_text(PLAN)
    trees = "\n".join(f'{lane} = ["{lane}/**"]' for lane in LANES)
    script = tmp_path / "script.json"
    text = CONFIG.format(
        lanes=list(LANES), trees=trees, url=url, script=script, home=tmp_path, target=4
    )
    (seed / "dos.toml").write_text(text.replace("'", '"'))
    wait = {"run": f"until test -e {tmp_path}/go; do sleep 0.1; done"}
    steps = {
        unit: [wait, write(f"{lane}/{unit[-1]}.txt"), commit(f"Write {unit}")]
        for unit, lane in UNITS.items()
    }
    script.write_bytes(json.encode({unit: [each] for unit, each in steps.items()}))
    git(seed, "add", "--all")
    git(seed, "commit", "-qm", "The plan")
    git(seed, "push", "-q", str(remote), "main")


@pytest.fixture
def hosts(remote, postgres, tmp_path) -> Iterator[tuple[Host, Host]]:
    url = postgres.createdb(f"hosts_{time.time_ns()}")
    publish_plan(remote, url)
    made = Host(remote, "host-a"), Host(remote, "host-b")
    yield made
    for host in made:
        host.close()


def subjects(remote: Path) -> Counter[str]:
    return Counter(
        line
        for line in git(remote, "log", "--format=%s", "main").splitlines()
        if line.startswith("Write")
    )


def everything_landed(remote: Path) -> bool:
    return len(subjects(remote)) == len(UNITS)


def holders(remote: Path) -> Counter[str]:
    """Who took each lane last, by the remote's own word."""
    said = git(remote, "for-each-ref", "--format=%(contents:body)", "refs/dos/fence").splitlines()
    return Counter(line.removeprefix("host=") for line in said if line.startswith("host="))


def questions(host: Host) -> list[str]:
    """What somebody was asked.

    That a unit was taken out again, when only the word of it had not come this far yet.
    """
    with World(host.tree) as world:
        return [
            str(event.body) for event in world.journal.events() if event.kind == "decision_raised"
        ]


@pytest.mark.soak
def test_two_hosts_share_the_work_and_land_each_unit_once(remote, hosts, tmp_path):
    hosts[0].up("--target", "2")
    wait_for(lambda: holders(remote)["host-a"] == 2)
    hosts[1].up("--target", "4")
    wait_for(lambda: holders(remote)["host-b"] == 2)
    (tmp_path / "go").touch()
    wait_for(lambda: everything_landed(remote))
    for host in hosts:
        assert host.process.wait(PATIENCE) == 0
    assert set(subjects(remote).values()) == {1}
    assert questions(hosts[0]) == questions(hosts[1]) == []


@pytest.mark.soak
def test_what_a_host_that_died_held_goes_on_at_the_other(remote, hosts, tmp_path):
    (tmp_path / "go").touch()
    hosts[0].up("--target", "4")
    wait_for(lambda: holders(remote)["host-a"] == 4 and subjects(remote))
    hosts[0].die()
    hosts[1].up("--target", "4")
    wait_for(lambda: everything_landed(remote))
    assert hosts[1].process.wait(PATIENCE) == 0
    assert set(subjects(remote).values()) == {1}
    assert git(hosts[1].tree, "rev-parse", "main") == git(remote, "rev-parse", "main")


@pytest.mark.soak
def test_a_remote_that_is_away_for_a_while_is_waited_for(remote, hosts, tmp_path):
    (tmp_path / "go").touch()
    hosts[0].up("--target", "4")
    wait_for(lambda: holders(remote)["host-a"] == 4)
    remote.rename(remote.with_name("unplugged"))
    time.sleep(2)
    remote.with_name("unplugged").rename(remote)
    wait_for(lambda: everything_landed(remote))
    assert set(subjects(remote).values()) == {1}
