"""A person answers a real program while it waits, and tells it something while it works."""

import json

import pytest
from agent_fleet import AgentFleet, committing, made_by, say_done
from patience import wait_for
from programs import CLAUDE_CODE, CODEX, GEMINI, OPENCODE, Program

UNIT = "GREET/GREET1"
MESSAGE = "Prefer short words, says the operator."
pytestmark = pytest.mark.timeout(900)  # the first run on a machine installs the programs


def steps(fleet: AgentFleet, program: Program) -> list[dict[str, object]]:
    return [
        program.write("api/denied.md", "no\n"),
        {"bash": f"touch api/started; {fleet.until('steered')}; rm api/started"},
        program.write(made_by("api", UNIT), f"made_by = '{UNIT}'\n"),
        {"bash": committing(UNIT)},
        *say_done(UNIT),
    ]


def next_question(fleet: AgentFleet, besides: str = "") -> str:
    def found() -> list[str]:
        rows = json.loads(fleet.dos("decisions", "--json").stdout)
        ids = [row["id"] for row in rows if row["about"] == "tool_requested"]
        return [each for each in ids if each != besides]

    return str(wait_for(found, "the agent asks", seconds=120)[0])


@pytest.mark.parametrize("program", [CLAUDE_CODE, CODEX], ids=lambda program: program.name)
def test_people_answer_and_steer_an_agent_at_work(new_fleet, program):
    fleet = new_fleet({"api": [UNIT]}, program)
    fleet.configure("enforcement", ask_person=["Write", "apply_patch"])
    model = fleet.staff(program, steps(fleet, program))
    fleet.start()
    denied = next_question(fleet)
    assert fleet.dos("decisions", "answer", denied, "deny").returncode == 0
    wait_for(lambda: list(fleet.home.rglob("api/started")), "the command runs", seconds=120)
    told = fleet.dos("steer", "api", MESSAGE, "--timeout", "60", "--json")
    assert json.loads(told.stdout)["delivered"], told.stderr
    fleet.signal("steered")
    allowed = next_question(fleet, denied)
    assert not list(fleet.home.rglob("api/denied.md"))
    assert fleet.dos("decisions", "answer", allowed, "allow").returncode == 0
    fleet.finish()
    assert fleet.landed() == [UNIT], fleet.story
    names = fleet.git("ls-tree", "-r", "--name-only", "main", "api").split()
    assert made_by("api", UNIT) in names and "api/denied.md" not in names
    # Each repeats what was said before.
    requests = [json.dumps(request["body"]) for request in model.requests()]
    assert max(request.count(MESSAGE) for request in requests) == 1
    assert any("was asked to allow this, and denied it" in request for request in requests)


@pytest.mark.parametrize("program", [GEMINI, OPENCODE], ids=lambda program: program.name)
def test_people_answer_an_agent_that_asks_by_hooks(new_fleet, program):
    fleet = new_fleet({"api": [UNIT]}, program)
    fleet.configure("enforcement", ask_person=["write_file", "write"])
    steps = [
        program.write("api/denied.md", "no\n"),
        program.write(made_by("api", UNIT), f"made_by = '{UNIT}'\n"),
        {"bash": committing(UNIT)},
        *say_done(UNIT),
    ]
    model = fleet.staff(program, steps)
    fleet.start()
    denied = next_question(fleet)
    assert fleet.dos("decisions", "answer", denied, "deny").returncode == 0
    allowed = next_question(fleet, denied)
    assert not list(fleet.home.rglob("api/denied.md"))
    assert fleet.dos("decisions", "answer", allowed, "allow").returncode == 0
    fleet.finish()
    assert fleet.landed() == [UNIT], fleet.story
    names = fleet.git("ls-tree", "-r", "--name-only", "main", "api").split()
    assert made_by("api", UNIT) in names and "api/denied.md" not in names
    requests = [json.dumps(request["body"]) for request in model.requests()]
    assert any("was asked to allow this, and denied it" in request for request in requests)
