"""Whether the holder of a lease has exited: known only for processes of the same system."""

import os
import shutil
import subprocess
import sys

import pytest
from msgspec import structs

from dos.lease import Request
from dos.machine import process
from dos.regions import region

ASKED = Request(
    lane="api",
    holder="h:1",
    host=process.host(),
    ttl_ms=1000,
    region=region([]),
    pid=2**22 + 1,
    pid_started=0.0,
)


def test_a_dead_process_of_this_system_is_gone():
    assert process.holder_has_exited(structs.replace(ASKED, system=process.system()))


def test_a_process_that_runs_here_is_not_gone():
    me = process.identify(os.getpid())
    mine = structs.replace(ASKED, pid=me.pid, pid_started=me.started, system=process.system())
    assert process.holder_is_running(mine) is True


@pytest.mark.parametrize("system", ["", f"{process.host()}-0123456789ab"])
def test_of_a_machine_with_our_name_and_of_a_lease_that_names_no_system_nothing_is_known(system):
    lease = structs.replace(ASKED, system=system)
    assert process.holder_is_running(lease) is None and not process.holder_has_exited(lease)


def test_logs_of_a_lease_that_names_no_system_are_looked_for_by_the_name_of_its_host():
    assert process.is_local(ASKED) and not process.is_local(
        structs.replace(ASKED, host="elsewhere")
    )
    assert process.is_local(structs.replace(ASKED, system=process.system(), host="renamed"))


def test_two_names_on_one_machine_are_two_systems(monkeypatch):
    before = process.system()
    monkeypatch.setenv("DISPATCH_HOST_ID", "another")
    assert process.system().startswith("another-") and process.system() != before


@pytest.mark.skipif(
    not shutil.which("unshare") or os.geteuid() != 0, reason="needs unshare, and root to use it"
)
def test_a_container_beside_us_with_our_host_name_is_another_system():
    words = [
        "unshare",
        "--pid",
        "--fork",
        sys.executable,
        "-c",
        "from dos.machine.process import system; print(system())",
    ]
    done = subprocess.run(words, capture_output=True, text=True)
    if "Operation not permitted" in done.stderr:
        pytest.skip(f"this machine lets nobody make pid namespaces: {done.stderr.strip()}")
    assert done.stdout.startswith(f"{process.host()}-") and done.stdout.strip() != process.system()
