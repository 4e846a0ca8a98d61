"""A real worker, judged while it works and after it was killed, from the journal and git alone."""

import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from patience import PATIENCE
from sample_repository import commit, write

MINUTE = 60_000


def dos(repository, *words):
    command = [sys.executable, "-m", "dos", *words]
    return subprocess.run(
        command, cwd=repository.root, capture_output=True, text=True, timeout=PATIENCE
    )


def liveness(repository, run_id, *flags):
    done = dos(repository, "liveness", "--json", "--run-id", run_id, *flags)
    assert done.returncode in (0, 3, 4), done.stderr
    return json.loads(done.stdout)


def end_everything_in(place):
    for process in psutil.process_iter(["cwd"]):
        if (process.info["cwd"] or "").startswith(str(place)):
            process.kill()


@pytest.mark.soak  # an agent's commits are looked at once a minute
def test_a_worker_advances_while_it_commits_and_is_stalled_as_soon_as_it_is_killed(repository):
    repository.play({"DEMO/A1": [[write("one/a.txt"), commit("Half of it"), {"hang": True}]]})
    run_id = json.loads(dos(repository, "run-id", "mint", "worker-one", "--json").stdout)["run_id"]
    command = [sys.executable, "-m", "dos", "worker", "--lane", "one", "--run-id", run_id]
    worker = subprocess.Popen(
        command, cwd=repository.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while not (seen := liveness(repository, run_id))["evidence"]["commits_since_start"]:
            assert seen["verdict"] == "ADVANCING"
            assert time.monotonic() < deadline, "the agent never committed"
            time.sleep(0.1)
        assert seen["verdict"] == "ADVANCING"
        assert seen["evidence"]["process_alive"] is True
        assert repository.subjects() == ["Begin"]  # nothing has landed yet
        later = (
            "--now-ms",
            str(time.time_ns() // 1_000_000 + 31 * MINUTE),
            "--last-heartbeat-age-ms",
            "0",
        )
        assert liveness(repository, run_id, *later)["verdict"] == "SPINNING"
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
        dead = liveness(repository, run_id)
        assert (dead["verdict"], dead["reason"]) == ("STALLED", "its process is gone")
    finally:
        worker.kill()
        worker.wait()
        end_everything_in(repository.root)
