"""A real agent that tries to run the fleet is refused, and its honest work still lands."""

import json
import sys

import pytest
from sample_fleet import history, landed, wait_for
from sample_repository import commit, write

REFUSED = 77
DOS = f"{sys.executable} -m dos --workspace"


@pytest.mark.soak
def test_an_agent_cannot_run_the_fleet_in_any_guise(fleet):
    repository = fleet.repository
    log, go = repository.home / "guises", repository.home / "go"
    dos = f"{DOS} {repository.root}"
    lines = [
        f"env -i {dos} pause; echo empty=$? >> {log}",
        f"{dos} pause; echo plain=$? >> {log}",
        f"env -u DOS_LEASE_KEY {dos} down --now; echo unset=$? >> {log}",
        f"env -i {dos} config set workers.test true; echo config=$? >> {log}",
        f"(setsid sh -c '{dos} pause; echo daemon=$? >> {log}' &)",
        f"(setsid env -i sh -c '{dos} pause; echo orphan=$? >> {log}' &)",
        # its new parent is the worker
        f"while ! test -e {go}; do sleep 0.1; done",
    ]
    steps = [{"run": line} for line in lines]
    repository.play({"*": [[*steps, write("one/a.txt"), commit("Write a")]]})
    before = (repository.root / "dos.toml").read_text()
    process = fleet.up("--target", "1")
    fleet.worker_at("one")
    tried = wait_for(
        lambda: log.exists() and (found := log.read_text().split()) and len(found) == 6 and found,
        240,
    )
    assert sorted(tried) == sorted(
        f"{name}={REFUSED}" for name in ("empty", "plain", "unset", "config", "daemon", "orphan")
    )
    assert not {"pause_requested", "drain_requested"} & {event["kind"] for event in history(fleet)}
    assert (repository.root / "dos.toml").read_text() == before
    # A person beside it, in a shell that descends from no worker, is obeyed.
    assert fleet.dos("pause").returncode == 0
    assert fleet.dos("resume").returncode == 0
    go.touch()
    wait_for(lambda: "DEMO/A1" in landed(fleet), 240)
    assert fleet.dos("down", "--now", "--timeout", "120").returncode == 0
    process.communicate(timeout=240)
    of_lane = [event for event in history(fleet) if event["stream"] == "lane/one"]
    (granted, *_) = [
        event["body"]["asked"] for event in of_lane if event["kind"] == "lease_granted"
    ]
    assert len(granted["key_hash"]) == 64
    assert "DOS_LEASE_KEY" not in json.dumps([event["body"] for event in history(fleet)])


@pytest.mark.soak
def test_an_agent_that_rewrites_the_plan_is_judged_by_the_approved_one_and_a_person_is_asked(fleet):
    """It replaces the acceptance in the user's checkout, does nothing, and claims to be done."""
    repository = fleet.repository
    plan = repository.root / "docs" / "demo-plan.md"
    rewrite = f"sed -i 's/`test -s one.a.txt`/`true`/' {plan}"
    lie = [{"run": rewrite}, write("one/other.txt"), commit("Write nothing of it"), {"say": "done"}]
    repository.play({"DEMO/A1": [lie], "*": [[{"say": "nothing"}]]})
    process = fleet.up("--target", "1")
    asked = wait_for(lambda: [each for each in json.loads(fleet.dos("decisions", "--json").stdout)
                              if "demo-plan.md" in json.dumps(each)], 240)  # fmt: skip
    assert "`true`" in plan.read_text()
    assert "changed on disk since `dos up`" in json.dumps(asked)
    measured = wait_for(
        lambda: [
            e["body"]
            for e in history(fleet)
            if e["kind"] == "work_measured" and e["body"]["unit"] == "DEMO/A1"
        ],
        240,
    )
    assert measured[0].get("accepted") is not True
    assert "DEMO/A1" not in landed(fleet)
    assert fleet.dos("down", "--now", "--timeout", "120").returncode == 0
    process.communicate(timeout=240)
