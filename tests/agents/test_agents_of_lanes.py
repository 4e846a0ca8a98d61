"""Each lane, and each unit, can have an agent of its own."""

import pytest
from driven_worker import Killed, happened, work
from sample_repository import Repository, commit, write

from dos.agents.io import candidates
from dos.errors import BadInput
from dos.fleet import effects
from dos.loop.types import StopReason
from dos.world import World

# Four names of the scripted agent: two lanes, one unit, and who takes over.
CONFIG = """[lanes]
concurrent = ["one", "two"]
autopick = ["one"]

[lanes.trees]
one = ["one/**"]
two = ["two/**"]

[lanes.agents]
two = "second"

[workers]
agent = "first"
fallback = ["reserve"]
wall_seconds = 120

[quota]
backoff_seconds = [600]

[cooldown]
window_ms = 0

[sandbox]
writable = ["{home}"]

[agents]
"""
PLAN = """# A plan

## DEMO A1: first
- lane: one
- paths: one/**
- acceptance: `test -s one/a.txt`

## DEMO A2: second
- lane: one
- agent: third
- paths: one/**
- acceptance: `test -s one/b.txt`

## DEMO B1: third
- lane: two
- paths: two/**
- acceptance: `test -s two/c.txt`
"""


def done(unit: str, path: str) -> list:
    return [[write(path), commit(f"Write {unit}")]]


@pytest.fixture
def staffed(repository: Repository) -> Repository:
    """`repository.script` is what every agent plays, unless it has a script of its own."""
    tables = "".join(
        f'[agents.{name}]\nadapter = "scripted"\naccount = "{name}"\n'
        f'command = ["{repository.home}/{name}.json"]\n'
        for name in ("first", "second", "third", "reserve")
    )
    config = CONFIG.format(home=repository.home).replace("[agents]\n", tables)
    (repository.root / "dos.toml").write_text(config)
    (repository.root / "docs" / "demo-plan.md").write_text(PLAN)
    repository.commit_all("Plan")
    works = {
        "DEMO/A1": done("DEMO/A1", "one/a.txt"),
        "DEMO/A2": done("DEMO/A2", "one/b.txt"),
        "DEMO/B1": done("DEMO/B1", "two/c.txt"),
    }
    for name in ("first", "second", "third", "reserve"):
        repository.script = repository.home / f"{name}.json"
        repository.play(works)
    return repository


def play(repository: Repository, agent: str, script: dict) -> None:
    repository.script = repository.home / f"{agent}.json"
    repository.play(script)


def who_did(repository: Repository) -> dict[str, str]:
    agents = {event["iteration"]: event["agent"] for event in happened(repository, "agent_started")}
    assert agents
    return {event["unit"]: event["agent"] for event in happened(repository, "agent_started")}


def test_each_unit_is_done_by_its_own_agent_else_by_that_of_its_lane_else_by_the_usual_one(staffed):
    for number, lane in enumerate(("one", "two"), 1):
        assert work(staffed, number=number, lane=lane).reason is StopReason.COMPLETE
    assert who_did(staffed) == {"DEMO/A1": "first", "DEMO/A2": "third", "DEMO/B1": "second"}
    assert sorted(event["unit"] for event in happened(staffed, "unit_landed")) == [
        "DEMO/A1",
        "DEMO/A2",
        "DEMO/B1",
    ]


@pytest.mark.soak
def test_who_takes_over_does_so_for_the_agent_of_a_lane_too(staffed):
    play(staffed, "second", {"DEMO/B1": [[{"limit": 600}]]})
    work(staffed, lane="two")
    started = [(event["unit"], event["agent"]) for event in happened(staffed, "agent_started")]
    assert started == [("DEMO/B1", "second"), ("DEMO/B1", "reserve")]
    assert [event["unit"] for event in happened(staffed, "unit_landed")] == ["DEMO/B1"]


@pytest.mark.soak
def test_while_the_agent_of_one_unit_has_no_room_another_agents_unit_is_done(staffed):
    """No agent takes over: the first is limited for ten minutes, and the third is not held."""
    text = (staffed.root / "dos.toml").read_text().replace('fallback = ["reserve"]\n', "")
    (staffed.root / "dos.toml").write_text(text)
    play(staffed, "first", {"DEMO/A1": [[{"limit": 600}]]})

    def until_it_waits(performers):
        def park(effect):
            raise Killed

        return {**performers, effects.Park: park}

    with pytest.raises(Killed):
        work(staffed, performers=until_it_waits)
    assert [event["agent"] for event in happened(staffed, "agent_started")] == ["first", "third"]
    assert [event["unit"] for event in happened(staffed, "unit_landed")] == ["DEMO/A2"]


def test_a_unit_whose_agent_nobody_knows_is_held_and_the_others_are_done(staffed):
    (staffed.root / "docs" / "demo-plan.md").write_text(
        PLAN.replace("agent: third", "agent: thrid")
    )
    staffed.commit_all("Mistype")
    work(staffed)
    assert [event["unit"] for event in happened(staffed, "unit_landed")] == ["DEMO/A1"]
    held = [event["held"] for event in happened(staffed, "units_screened")]
    assert held[-1].keys() == {"DEMO/A2"}


def test_every_agent_that_the_file_names_is_looked_for_before_anything_starts(staffed):
    text = (staffed.root / "dos.toml").read_text().replace('two = "second"', 'two = "secnd"')
    (staffed.root / "dos.toml").write_text(text)
    with (
        World(staffed.root) as world,
        pytest.raises(BadInput, match="no such agent") as refused,
    ):
        candidates.check_agents(world.config, world.loaded_config.origins)
    line = text.splitlines().index('two = "secnd"') + 1
    assert str(refused.value).startswith(
        f"dos.toml:{line}: lanes.agents.two is 'secnd', and there is no such agent; "
    )
    assert "did you mean 'second'?" in str(refused.value)
    assert refused.value.hint == "dos config set lanes.agents.two NAME"


def test_a_fleet_whose_lanes_all_have_an_agent_needs_no_usual_one(staffed):
    text = (
        (staffed.root / "dos.toml")
        .read_text()
        .replace('agent = "first"\nfallback = ["reserve"]\n', "")
    )
    (staffed.root / "dos.toml").write_text(
        text.replace('two = "second"', 'one = "first"\ntwo = "second"', 1)
    )
    with World(staffed.root) as world:
        candidates.check_agents(world.config, world.loaded_config.origins)
    (staffed.root / "dos.toml").write_text(text)
    with World(staffed.root) as world, pytest.raises(BadInput, match="no agent is configured"):
        candidates.check_agents(world.config, world.loaded_config.origins)
