"""One fleet, four lanes, each with a program of another vendor: one lies, one strays, one is
limited, one is killed."""

import time
from typing import Any

import psutil
import pytest
from agent_fleet import AgentFleet, made_by, say_done, told, work
from patience import wait_for
from programs import CLAUDE_CODE, CODEX, GEMINI, OPENCODE, Program
from test_real_places import busy_checkout, check_untouched

pytestmark = [
    pytest.mark.programs,
    pytest.mark.timeout(3600),
]  # the first run on a machine installs the programs
AGAIN = "Earlier attempts did not land"
LANES = {
    "site": ["SITE/SITE1", "SITE/SITE2"],
    "guide": ["DOCS/DOCS1", "DOCS/DOCS2"],
    "core": ["CORE/CORE1", "CORE/CORE2"],
    "api": ["GREET/GREET1", "GREET/GREET2"],
}
VENDORS: dict[str, Program] = {"site": OPENCODE, "guide": GEMINI, "core": CODEX, "api": CLAUDE_CODE}
LYING, STRAYING, LIMITED = "SITE/SITE1", "DOCS/DOCS1", "CORE/CORE1"
CRASHING, ORPHANED = "GREET/GREET1", "GREET/GREET2"  # its agent is killed; its worker is
STRAYED = "api/not_mine.py"
HANGS = {"say": "Thinking.", "delay": 600, "times": 1}


def script(lane: str) -> dict[str, Any]:
    """The first attempt at each unit fails in its lane's way; the others are good work."""
    first: dict[str, list[dict[str, Any]]] = {
        LYING: say_done(LYING),
        STRAYING: work("guide", STRAYING, also=STRAYED),
    }
    refused = {"status": 429, "message": "Too Many Requests", "times": 1}
    before = {LIMITED: refused, CRASHING: HANGS, ORPHANED: HANGS}
    match = []
    for unit in LANES[lane]:
        good = [*([before[unit]] if unit in before else []), *work(lane, unit)]
        if unit in first:
            match.append({"if": [told(unit), AGAIN], "steps": good})
        match.append({"if": told(unit), "steps": first.get(unit, good)})
    return {"match": match}


def agent_of(fleet: AgentFleet, unit: str) -> psutil.Process | None:
    """The program that works on a unit: the first of those that carry its name."""
    found = []
    for process in psutil.process_iter():
        try:
            known = process.environ()
            if known.get("DOS_UNIT") == unit and known.get("DOS_WORKSPACE") == str(fleet.root):
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
    return min(found, key=lambda process: process.create_time(), default=None)


def kill_agent(fleet: AgentFleet, model: Any, unit: str) -> None:
    """Once the model has been asked: then it is in the middle of its work."""
    wait_for(
        lambda: any("delay" in request["step"] for request in model.requests()),
        f"the agent on {unit} asks",
    )
    wait_for(lambda: agent_of(fleet, unit), f"an agent is at {unit}").kill()


def kill_worker(fleet: AgentFleet, model: Any, unit: str) -> None:
    wait_for(
        lambda: sum("delay" in request["step"] for request in model.requests()) > 1,
        f"the agent on {unit} asks",
    )
    agent = wait_for(lambda: agent_of(fleet, unit), f"an agent is at {unit}")
    agent.parent().kill()


@pytest.fixture(scope="module")
def fleet(new_fleet) -> AgentFleet:
    """At rest, after all of it."""
    fleet = new_fleet(LANES, *VENDORS.values())
    models = {
        lane: fleet.staff(program, script(lane), lane=lane) for lane, program in VENDORS.items()
    }
    fleet.configure("workers", silence_seconds=240, wall_seconds=900)
    # What one run tried in vain, the next would leave alone for half an hour.
    fleet.configure("cooldown", window_ms=0, error_window_ms=0)
    fleet.begin()
    fleet.begun = fleet.git("rev-parse", "main")
    fleet.files = busy_checkout(fleet)
    fleet.environment["PWD"] = str(fleet.root)
    began = time.monotonic()
    fleet.start()
    kill_agent(fleet, models["api"], CRASHING)
    kill_worker(fleet, models["api"], ORPHANED)
    fleet.finish(1800)
    fleet.seconds = time.monotonic() - began
    return fleet


def of(fleet: AgentFleet, kind: str, unit: str = "") -> list[dict[str, Any]]:
    return [
        event["body"]
        for event in fleet.events(kind)
        if not unit or event["body"].get("unit") == unit
    ]


def test_every_unit_lands_exactly_once(fleet):
    assert sorted(landed["unit"] for landed in of(fleet, "unit_landed")) == fleet.units()
    assert fleet.landed() == fleet.units()
    assert fleet.dos("verify", "--all").returncode == 0
    assert fleet.dos("journal", "check").returncode == 0
    for lane, units in LANES.items():
        for unit in units:
            assert unit in fleet.git("show", f"main:{made_by(lane, unit)}")


def test_each_lane_has_its_own_vendor(fleet):
    started = {(body["lane"], body["agent"]) for body in of(fleet, "agent_started")}
    assert started == {(lane, program.name) for lane, program in VENDORS.items()}


def test_the_lie_is_not_believed(fleet):
    lied, *_ = of(fleet, "work_measured", LYING)
    assert lied.get("commits", []) == []
    assert "all tests pass" in of(fleet, "agent_ended", LYING)[0]["claim"]


def test_what_strays_is_refused_and_kept(fleet):
    strayed, *_ = of(fleet, "work_measured", STRAYING)
    assert strayed["strays"] == [STRAYED]
    assert STRAYED not in fleet.git("ls-tree", "-r", "--name-only", "main")
    assert strayed["commits"][-1] in [body["commit"] for body in of(fleet, "work_salvaged")]


def test_the_limit_holds_its_own_vendor_alone_and_is_no_failed_try(fleet):
    hits = of(fleet, "limit_hit")
    assert {hit["agent"] for hit in hits} == {CODEX.name}
    assert of(fleet, "limit_lifted")
    assert [tried["outcome"] for tried in of(fleet, "unit_attempted", LIMITED)] == ["shipped"]


def test_who_was_killed_is_done_again(fleet):
    assert of(fleet, "agent_ended", CRASHING)[0]["outcome"] == "killed"
    assert len(of(fleet, "agent_started", CRASHING)) == 2
    claims = of(fleet, "unit_claimed", ORPHANED)
    assert len({claim["run_id"] for claim in claims}) == 2, "another worker went on"


def test_the_checkout_of_the_user_is_untouched(fleet):
    check_untouched(fleet, fleet.files, fleet.begun)
