"""Each real program does a unit, lies about one, and strays from one, behind walls; git and the
journal say how that ended."""

import json
import uuid

import pytest
from agent_fleet import AgentFleet, made_by, say_done, told, work, work_with
from programs import ALL, OPENCODE, Program

from dos.sandbox.describe import describe_system
from dos.sandbox.io.probe import probe
from dos.sandbox.settings import Sandbox

LANES = {"api": ["GREET/GREET1"], "guide": ["DOCS/DOCS1"], "site": ["SITE/SITE1"]}
HONEST, LYING, STRAYING = ("GREET/GREET1", "DOCS/DOCS1", "SITE/SITE1")
STRAYED = "api/not_mine.py"
WALLS = describe_system(Sandbox(level="auto"), probe())
AGAIN = "Earlier attempts did not land"
pytestmark = pytest.mark.timeout(900)  # the first run on a machine installs the programs


def script(program: Program) -> dict[str, object]:
    return {
        "match": [
            {"if": told(HONEST), "steps": work_with(program, "api", HONEST)},
            {"if": [told(LYING), AGAIN], "steps": work("guide", LYING)},
            {"if": told(LYING), "steps": say_done(LYING)},
            {"if": [told(STRAYING), AGAIN], "steps": work("site", STRAYING)},
            {"if": told(STRAYING), "steps": work("site", STRAYING, also=STRAYED)},
        ]
    }


@pytest.fixture(
    scope="module",
    params=[
        *(each for each in ALL if each is not OPENCODE),
        pytest.param(OPENCODE, marks=pytest.mark.soak),
    ],
    ids=lambda program: program.name,
)
def program(request: pytest.FixtureRequest) -> Program:
    return request.param


@pytest.fixture(scope="module")
def fleet(program, new_fleet) -> AgentFleet:
    """One fleet for each program, at rest: three units of three lanes, done side by side."""
    fleet = new_fleet(LANES, program)
    fleet.staff(program, script(program))
    fleet.up()
    return fleet


def of(fleet: AgentFleet, unit: str, kind: str) -> list[dict]:
    return [event["body"] for event in fleet.events(kind) if event["body"]["unit"] == unit]


def test_every_unit_lands_and_git_proves_it(fleet):
    assert fleet.landed() == fleet.units()
    assert fleet.dos("verify", "--all").returncode == 0
    for lane, (unit,) in LANES.items():
        assert unit in fleet.git("show", f"main:{made_by(lane, unit)}")
    assert fleet.dos("journal", "check").returncode == 0


def test_the_receipt_of_a_landing_holds_and_names_the_walls(fleet, program):
    for unit in fleet.units():
        receipt = fleet.receipt(unit)
        assert receipt["sandbox"] == WALLS
        assert receipt["agent"] == program.name
        assert program.version in receipt["agent_version"]


def test_how_it_ended_and_what_it_used_is_written_down(fleet, program):
    (started,), (ended,) = of(fleet, HONEST, "agent_started"), of(fleet, HONEST, "agent_ended")
    assert started["agent"] == ended["agent"] == program.name
    assert ended["outcome"] == "ok"
    assert ended["exit_code"] == 0
    assert "all tests pass" in ended["claim"]
    # The scripted model counts 100 in and 20 out for each of its answers: a file, a commit, the
    # last word.
    assert sum(used["input_tokens"] for used in ended["usage"]) == 300
    assert sum(used["output_tokens"] for used in ended["usage"]) == 60


def test_the_conversation_can_be_found_again(fleet, program):
    (ended,) = of(fleet, HONEST, "agent_ended")
    assert ended["session"]
    if program.name == "claude_code":  # which lets us name it before it begins
        start = f"{ended['run_id']}/{ended['iteration']}.1"
        assert ended["session"] == str(uuid.uuid5(uuid.NAMESPACE_OID, start))


def test_a_lie_is_caught_and_the_unit_is_done_on_the_next_try(fleet):
    lied, worked = of(fleet, LYING, "agent_ended")
    assert lied["outcome"] == "ok"  # nothing that it printed gives it away
    assert "all tests pass" in lied["claim"]
    empty, full = of(fleet, LYING, "work_measured")
    assert empty["commits"] == []
    assert len(full["commits"]) == 1
    assert len(of(fleet, LYING, "unit_landed")) == 1
    assert worked["outcome"] == "ok"


def test_work_outside_of_the_lane_is_refused_and_not_landed(fleet):
    strayed, tidy = of(fleet, STRAYING, "work_measured")
    assert strayed["strays"] == [STRAYED]
    assert tidy["strays"] == []
    assert STRAYED not in fleet.git("ls-tree", "-r", "--name-only", "main")
    (landed,) = of(fleet, STRAYING, "unit_landed")
    assert landed["commit"] not in strayed["commits"]
    salvaged = [event["body"]["commit"] for event in fleet.events("work_salvaged")]
    assert strayed["commits"][-1] in salvaged  # refused, and not lost
    assert json.loads(fleet.dos("status", "--json").stdout)["workers"] == []
