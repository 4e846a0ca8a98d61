"""`dos up` of another version: workers of the older one finish their unit and drain, and the newer
one goes on.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE, wait_for
from sample_fleet import Fleet, history, landed
from sample_repository import commit, write

import dos
from dos.fleet.state.fleet import FleetState
from dos.journal.backends.memory import MemoryBackend
from dos.journal.events.envelope import Event
from dos.journal.events.fleet import FleetStarted, RunBegun
from dos.journal.store import Store
from dos.lease import Lease
from dos.regions import region
from dos.version import VERSION

OLDER = "0.0.9"


def older_package(folder: Path) -> Path:
    """A copy of this package that calls itself an older version."""
    package = folder / "dos"
    shutil.copytree(
        Path(dos.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    version = package / "version.py"
    version.write_text(version.read_text().replace(VERSION, OLDER))
    return folder


def up_of_older_version(fleet: Fleet, site: Path) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-m", "dos", "up", "--plain", "--tick", "0.3", "--target", "1"],
        cwd=fleet.repository.root,
        env=os.environ | {"PYTHONPATH": str(site)},
        stdout=subprocess.DEVNULL,
        text=True,
    )
    fleet.started.append(process)
    return process


@pytest.mark.soak
def test_workers_of_an_older_version_finish_their_unit_and_the_newer_version_goes_on(
    fleet, tmp_path
):
    repository = fleet.repository
    repository.play(
        {
            "DEMO/A1": [[repository.waits, write("one/a.txt"), commit("Write a")]],
            "DEMO/A2": [[write("one/b.txt"), commit("Write b")]],
            "DEMO/B1": [[write("two/c.txt"), commit("Write c")]],
        }
    )
    supervisor = up_of_older_version(fleet, older_package(tmp_path / "older"))
    older_worker = fleet.worker_at("one")
    supervisor.kill()
    supervisor.wait()
    newer = fleet.up("--until-idle", "--plain", "--target", "1")
    wait_for(lambda: len(started(fleet)) == 2, "the newer version is started")
    os.kill(older_worker, 0)  # it was left alone: it is at its unit
    repository.let_go()
    output, _ = newer.communicate(timeout=PATIENCE)
    assert newer.returncode == 0, output
    assert landed(fleet) == ["DEMO/A1", "DEMO/A2", "DEMO/B1"]
    assert repository.starts().count("DEMO/A1") == 1, "no unit was begun again"
    assert started(fleet) == [OLDER, VERSION]
    first, *rest = bodies(fleet, "run_begun")
    assert first["version"] == OLDER
    assert {run["version"] for run in rest} == {VERSION}
    stop = next(body for body in bodies(fleet, "run_stopped") if body["run_id"] == first["run_id"])
    assert stop["stop_reason"] == "drain-requested"
    assert stop["reason"] == f"dos {VERSION} was started on this host"


def bodies(fleet: Fleet, kind: str) -> list[dict[str, object]]:
    return [event["body"] for event in history(fleet) if event["kind"] == kind]


def started(fleet: Fleet) -> list[object]:
    return [body["version"] for body in bodies(fleet, "fleet_started")]


class Story:
    """A fleet's state, folded from facts that are told one after the other."""

    def __init__(self) -> None:
        self.store = Store(MemoryBackend(), actor="test")
        self.state = FleetState()

    def begin_run(self, version: str) -> None:
        self._record(
            "run/R1", RunBegun(run_id="R1", lane="api", host="h", start_sha="", version=version)
        )

    def start_supervisor(self, version: str, *, system: str = "machine") -> None:
        fact = FleetStarted(host="h", pid=1, target=1, system=system, version=version)
        self._record("fleet", fact)

    def _record(self, stream: str, fact: FleetStarted | RunBegun) -> None:
        event: Event = self.store.record(stream, fact)
        self.state.apply(event)

    @property
    def superseded_by(self) -> str:
        lease = Lease(
            lane="api",
            holder="w",
            host="h",
            system="machine",
            run_id="R1",
            ttl_ms=1000,
            region=region(()),
            fence=1,
            boot="b",
            granted_ms=0,
            beat_ms=0,
            expires_ms=1000,
            version=1,
        )
        return self.state.stop_requests(lease).superseded_by


@pytest.fixture
def story() -> Story:
    return Story()


def test_a_run_drains_for_another_version_on_its_own_machine_only(story):
    story.begin_run("1.0")
    story.start_supervisor("1.0")
    assert story.superseded_by == ""
    story.start_supervisor("2.0", system="another machine of the same name")
    assert story.superseded_by == ""
    story.start_supervisor("2.0")
    assert story.superseded_by == "2.0"
    story.start_supervisor("1.0")
    assert story.superseded_by == "", "the version that was started last counts"


def test_a_run_that_begins_under_a_supervisor_of_another_version_goes_on(story):
    """The package was upgraded under the supervisor: its next worker is of the newer version."""
    story.start_supervisor("1.0")
    story.begin_run("2.0")
    assert story.superseded_by == ""


def test_a_worker_that_waits_looks_again_when_another_version_is_started(story):
    story.start_supervisor("1.0")
    before = story.state.wake_pos
    story.start_supervisor("1.0")
    assert story.state.wake_pos == before
    story.start_supervisor("2.0")
    assert story.state.wake_pos > before
