"""Programs that speak the Agent Client Protocol, in a fleet behind walls: their work, what they may
not do, their lies, and what happens when their provider refuses or they die."""

import pytest
from agent_fleet import work_with
from programs import (
    BY_ACP,
)

UNIT = "GREET/GREET1"
AGAIN = "Earlier attempts did not land"
LANES = {"api": [UNIT]}
pytestmark = pytest.mark.timeout(1200)  # the first run on a machine installs the programs
every_program = pytest.mark.parametrize("program", BY_ACP, ids=lambda program: program.name)


@every_program
def test_its_work_lands(new_fleet, program):
    fleet = new_fleet(LANES, program)
    fleet.staff(program, work_with(program, "api", UNIT))
    fleet.up()
    assert fleet.landed() == [UNIT], fleet.story
    (ended,) = [event["body"] for event in fleet.events("agent_ended")]
    assert ended["outcome"] == "ok", fleet.story
    assert "all tests pass" in ended["claim"]
