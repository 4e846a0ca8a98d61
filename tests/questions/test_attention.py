"""A question of an agent is shown to people while its worker runs, and no longer."""

import os
import subprocess

import pytest
from msgspec import structs

from dos.agents.conversation import Asks
from dos.lease import Lease
from dos.machine import process
from dos.questions.agent_requests import ToolRequested
from dos.questions.io.attention import questions_for_people
from dos.questions.state import Decisions, OpenQuestion, raised_event
from dos.regions import region

RUN = "RID-1M7ED9AEG24KF00"
QUESTION = ToolRequested.ask(
    RUN, "1.1", Asks(id="1", tool="Write"), lane="one", unit="P/A1", agent="mine"
)
RECORDED = Decisions(
    open={QUESTION.id: OpenQuestion(raised=raised_event(QUESTION), at_ms=0, version=1)}
)


def lease(pid: int) -> Lease:
    found = process.identify(pid)
    return Lease(
        lane="one", holder="w", host=process.host(), system=process.system(), run_id=RUN,
        pid=pid, pid_started=found.started, region=region(["one/**"]), fence=7, version=1,
        ttl_ms=900_000, boot="b", granted_ms=0, beat_ms=0, expires_ms=900_000,
    )  # fmt: skip


def shown(*leases: Lease) -> bool:
    found = questions_for_people(RECORDED, leases, None, now_ms=1)
    return QUESTION.id in found.open


@pytest.fixture
def lease_of_killed():
    with subprocess.Popen(["sleep", "600"]) as worker:
        held = lease(worker.pid)
        assert shown(held)
        worker.kill()
    return held


def test_a_lease_that_outlives_its_worker_keeps_no_question_open(lease_of_killed):
    assert not shown(lease_of_killed)
    assert not shown(), "nor does one that was ended"


def test_a_worker_that_runs_or_cannot_be_seen_from_here_keeps_its_question(lease_of_killed):
    own = lease(os.getpid())
    assert shown(own) and shown(lease_of_killed, own)
    assert shown(structs.replace(lease_of_killed, system="another"))
    assert not shown(structs.replace(own, run_id="RID-1M7ED9AEG24KF01"))
