"""An agent that asks and gets no answer writes nothing."""

import time

import pytest
from agent_fleet import committing, made_by, say_done
from patience import wait_for
from programs import ALL, GEMINI, OPENCODE, Program
from test_real_agents import AGAIN

UNIT = "GREET/GREET1"
MADE = made_by("api", UNIT)
SECONDS = 3.0  # of the model
LISTENING = 3.0  # for as long a question stays open before its judge is killed
pytestmark = pytest.mark.timeout(900)  # the first run on a machine installs the programs


def writing(program: Program) -> list[dict[str, object]]:
    write = program.write(MADE, f"made_by = '{UNIT}'\n")
    return [write, {"bash": committing(UNIT)}, *say_done(UNIT)]


@pytest.mark.parametrize("program", ALL, ids=lambda program: program.name)
def test_a_judge_that_dies_before_it_answers_has_allowed_nothing(new_fleet, program):
    fleet = new_fleet({"api": [UNIT]}, program)
    # The answer of the model is on its way while its judge is stopped.
    first, *others = writing(program)
    model = fleet.staff(program, [{**first, "delay": SECONDS}, *others])
    fleet.start()
    fleet.await_event("agent_started")
    wait_for(model.requests, "the agent asks its model")
    worker = fleet.worker()
    worker.suspend()
    tree = fleet.work_tree("api")
    time.sleep(SECONDS + LISTENING)  # nothing tells that a question is open that nobody reads
    assert not (tree / MADE).exists()
    worker.kill()
    fleet.finish()
    assert fleet.landed() == [UNIT], fleet.story
    assert len(fleet.events("agent_started")) == 2


@pytest.mark.parametrize("program", [GEMINI, OPENCODE], ids=lambda program: program.name)
def test_without_its_socket_an_agent_reads_and_writes_nothing(new_fleet, program):
    fleet = new_fleet({"api": [UNIT]}, program)
    path_key = {GEMINI: "file_path", OPENCODE: "filePath"}[program]
    name = {GEMINI: "read_file", OPENCODE: "read"}[program]
    read = {"tool": name, "with": {path_key: "docs/sample-plan.md"}}
    alone = [{"bash": 'rm "$DOS_HOOK_SOCKET"'}, read, *writing(program)]
    script = {
        "match": [{"if": AGAIN, "steps": writing(program)}],
        "default": alone,
    }
    model = fleet.staff(program, script)
    fleet.up()
    assert fleet.landed() == [UNIT], fleet.story
    told = "\n".join(str(request["told"]) for request in model.requests())
    assert "dos did not answer, so this call is refused." in told
    assert f"Write `{MADE}`." in told, "reading goes on"
    delivered = [event["body"]["verdict"] for event in fleet.events("work_measured")]
    assert delivered == ["NOTHING", "DELIVERED"]
