"""Programs that speak the Agent Client Protocol, and programs that only print, in a fleet behind
walls: their work, what they may not do, their lies, their limits, and how they are killed."""

import time
from typing import Any

import psutil
import pytest
from agent_fleet import AgentFleet, committing, made_by, told
from model_server import ModelServer
from patience import wait_for
from programs import (
    AIDER,
    BY_ACP,
    CLAUDE_ACP,
    CODEX_ACP,
    COPILOT,
    GEMINI_ACP,
    MINI_SWE_AGENT,
    ONE_WAY,
    OPENCODE_ACP,
    PI,
    QWEN,
    Program,
    Step,
)

UNIT = "GREET/GREET1"
LANES = {"api": [UNIT]}
AGAIN = "Earlier attempts did not land"
COMMIT_MESSAGE = "Write the message of a git commit"  # what aider asks a second model for
DONE = f"{UNIT} is done, all tests pass."
STRAY, REDIRECTED = "docs/written.md", "docs/redirected.md"
ASKING = tuple(program for program in BY_ACP if program is not CODEX_ACP)
LIMITS = {"overloaded", "transient", "usage_window"}
pytestmark = pytest.mark.timeout(1800)  # the first run on a machine installs the programs


def of(*programs: Program) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("program", programs, ids=lambda program: program.name)


def own_work(fleet: AgentFleet, program: Program) -> list[Step]:
    """What a model does that does its work. The answer of aider's model is its work."""
    write = fleet.write(program, "api", made_by("api", UNIT), f"made_by = '{UNIT}'\n")
    if program is AIDER:
        return [write]
    return [write, {"bash": committing(UNIT)}, program.say(DONE)]


def stray_work(fleet: AgentFleet, program: Program) -> list[Step]:
    """A file outside of the lane by the tool for files and by the shell, then honest work."""
    stray = fleet.write(program, "api", STRAY, "no\n")
    if program is AIDER:
        (own,) = own_work(fleet, program)
        return [{"say": f"{own['say']}\n{stray['say']}"}]
    return [stray, {"bash": f"echo no > {REDIRECTED}"}, *own_work(fleet, program)]


def script(first: list[Step], *, again: list[Step]) -> dict[str, Any]:
    """The first attempt at the unit, and every later one."""
    message = {"say": f"Write a file\n\nUnit: {UNIT}"}
    return {
        "match": [
            {"if": COMMIT_MESSAGE, "steps": [message]},
            {"if": [told(UNIT), AGAIN], "steps": again},
            {"if": told(UNIT), "steps": first},
        ],
        "answer_all": True,
    }


def started(
    new_fleet: Any, program: Program, first: Any, **workers: object
) -> tuple[AgentFleet, ModelServer]:
    """A fleet with one agent at work; `first` makes the steps of its first attempt."""
    fleet = new_fleet(LANES, program)
    steps = script(first(fleet, program), again=own_work(fleet, program))
    if program is not AIDER:  # others ask for titles, without tools
        del steps["answer_all"]
    model = fleet.staff(program, steps)
    if workers:
        fleet.configure("workers", **workers)
    if fleet.root.exists():  # the settings are complete only now
        fleet.write_settings()
        fleet.git("commit", "--quiet", "--allow-empty", "--all", "-m", "Settings")
    fleet.start()
    return fleet, model


def bodies(fleet: AgentFleet, kind: str) -> list[dict[str, Any]]:
    return [event["body"] for event in fleet.events(kind)]


def left_over(fleet: AgentFleet) -> list[str]:
    """The processes of the fleet that still work somewhere in it."""
    found = []
    for process in psutil.process_iter(["cwd", "cmdline"]):
        if (process.info["cwd"] or "").startswith(str(fleet.home)):
            found.append(" ".join(process.info["cmdline"] or []))
    return found


@of(*BY_ACP, *ONE_WAY)
def test_its_work_lands_and_nothing_of_it_stays_behind(new_fleet, program):
    fleet, _ = started(new_fleet, program, own_work)
    fleet.finish()
    assert fleet.landed() == [UNIT], fleet.story
    (ended,) = bodies(fleet, "agent_ended")
    assert ended["outcome"] == "ok", fleet.story
    if program is not AIDER:
        assert ended["claim"] == DONE
    (used,) = ended["usage"]
    assert used["output_tokens"] in (20, 60), "aider asks once for work, the others for each step"
    assert left_over(fleet) == [], "also of one that does not exit when its input ends"
    fleet.receipt(UNIT)


@of(*ASKING)
def test_what_lies_outside_of_the_lane_is_refused_before_it_happens(new_fleet, program):
    fleet, model = started(new_fleet, program, stray_work)
    fleet.finish()
    assert fleet.landed() == [UNIT], fleet.story
    denied = [(one["action"], one["paths"]) for one in bodies(fleet, "hook_answered")]
    assert denied == [("DENY", [STRAY]), ("DENY", [REDIRECTED])]
    assert len(bodies(fleet, "agent_ended")) == 1, "nothing had to be undone"
    if program in (COPILOT, OPENCODE_ACP):  # a refusal ends their turn, so they get another prompt
        said = "\n".join(str(request) for request in model.requests())
        assert f"{STRAY} is outside of lane api" in said


@of(CODEX_ACP, *ONE_WAY)
def test_one_that_does_not_ask_lands_nothing_outside_of_its_lane(new_fleet, program):
    fleet, _ = started(new_fleet, program, stray_work)
    fleet.finish()
    first, *_ = bodies(fleet, "work_measured")
    assert STRAY in first["strays"], fleet.story
    assert fleet.landed() == [UNIT], fleet.story
    assert STRAY not in fleet.git("ls-tree", "-r", "--name-only", "main")


@of(*BY_ACP, *ONE_WAY)
def test_what_it_only_says_is_not_believed(new_fleet, program):
    fleet, _ = started(new_fleet, program, lambda _fleet, program: [program.say(DONE)])
    fleet.finish()
    assert fleet.landed() == [UNIT], fleet.story
    lied, worked = bodies(fleet, "agent_ended")
    assert (lied["outcome"], lied["claim"]) == ("ok", DONE)
    assert worked["outcome"] == "ok"
    first, *_ = bodies(fleet, "work_measured")
    assert not first.get("commits")


def refused(status: int, times: int) -> Any:
    words = {429: "Too Many Requests", 529: "Overloaded"}[status]
    step = {"status": status, "message": words, "times": times}
    return lambda fleet, program: [step, *own_work(fleet, program)]


@pytest.mark.parametrize(
    ("program", "status", "times"),
    [
        (CLAUDE_ACP, 429, 2),
        (CLAUDE_ACP, 529, 2),
        (CODEX_ACP, 429, 1),
        (CODEX_ACP, 529, 4),
        (COPILOT, 429, 6),
        (PI, 429, 4),
        (PI, 529, 4),
        (AIDER, 429, 27),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_limit_is_typed_waited_for_and_recovered_from(new_fleet, program, status, times):
    """`times`: as many requests as one start makes before it gives up."""
    fleet, _ = started(new_fleet, program, refused(status, times), silence_seconds=120)
    fleet.finish()
    hits, lifted = bodies(fleet, "limit_hit"), bodies(fleet, "limit_lifted")
    assert hits, fleet.story
    assert {hit["ending"] for hit in hits} <= LIMITS
    assert len(lifted) == 1
    assert fleet.landed() == [UNIT], fleet.story
    attempts = bodies(fleet, "unit_attempted")
    assert [tried["outcome"] for tried in attempts] == ["shipped"], "a limit is no failed attempt"


@pytest.mark.parametrize(
    ("program", "status", "times"),
    [
        (GEMINI_ACP, 429, 10),
        (GEMINI_ACP, 529, 10),
        (OPENCODE_ACP, 429, 10),
        (OPENCODE_ACP, 529, 10),
        (QWEN, 429, 25),
        (QWEN, 529, 25),
        (MINI_SWE_AGENT, 429, 20),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_one_that_tries_again_in_silence_is_ended_and_has_met_a_limit(
    new_fleet, program, status, times
):
    fleet, _ = started(new_fleet, program, refused(status, times), silence_seconds=20)
    fleet.finish(900)
    hits = bodies(fleet, "limit_hit")
    assert hits, fleet.story
    assert {hit["ending"] for hit in hits} <= LIMITS
    if program is not QWEN:  # which writes nothing at all
        assert bodies(fleet, "agent_waiting"), "people see that it waits"
    assert bodies(fleet, "limit_lifted")
    assert fleet.landed() == [UNIT], fleet.story


@of(*BY_ACP, *ONE_WAY)
def test_one_that_is_killed_at_work_is_started_again(new_fleet, program):
    hangs = {"say": "Thinking.", "delay": 600, "times": 1}
    fleet, model = started(
        new_fleet, program, lambda fleet, program: [hangs, *own_work(fleet, program)]
    )
    wait_for(lambda: any("delay" in one["step"] for one in model.requests()), "the model is asked")
    wait_for(lambda: agent_of(fleet), "an agent is at work").kill()
    began = time.monotonic()
    fleet.finish()
    assert time.monotonic() - began < 200
    assert fleet.landed() == [UNIT], fleet.story
    assert [one["outcome"] for one in bodies(fleet, "agent_ended")] == ["killed", "ok"]


def agent_of(fleet: AgentFleet) -> psutil.Process | None:
    """The program that works on the unit: the first of those that carry its name."""
    found = []
    for process in psutil.process_iter():
        try:
            known = process.environ()
            if known.get("DOS_UNIT") == UNIT and known.get("DOS_WORKSPACE") == str(fleet.root):
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
    return min(found, key=lambda process: process.create_time(), default=None)
