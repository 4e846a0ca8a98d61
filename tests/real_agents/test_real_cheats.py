"""A real Claude Code behind walls turns an acceptance green in each way that is not the work: none
lands as witnessed, and the honest work that the next start does lands."""

import json

import pytest
from agent_fleet import AgentFleet, say_done, told
from cheats import (
    BASE,
    GREEN_BEFORE,
    HONEST,
    LIES,
    PYTEST,
    RIGHT,
    STUB,
    STUB_ACCEPTANCE,
    STUB_HONEST,
    Step,
    busy,
    in_folder,
    shell,
)
from programs import CLAUDE_CODE
from test_real_agents import AGAIN, WALLS

pytestmark = [
    pytest.mark.programs,  # for its length: two dozen starts of an agent
    pytest.mark.timeout(1800),
]
SECONDS = 1200
LIVE, WITNESSED = "T4", "T5"
STUBBED, GREEN = "stub", "already green"
LANE_OF = {name: name.replace(" ", "-") for name in (*LIES, STUBBED, GREEN)}
LANES = {lane: [f"CHEAT/C{number}"] for number, lane in enumerate(LANE_OF.values())}
TOLD_APART = "CHEAT/D1"  # the honest version of what was green before: its check was red
LANES[LANE_OF[GREEN]].append(TOLD_APART)


def acceptance(name: str) -> str:
    other = {STUBBED: STUB_ACCEPTANCE, GREEN: GREEN_BEFORE}
    return in_folder(other.get(name) or LIES[name].acceptance, LANE_OF[name])


def attempts(name: str) -> tuple[list[Step], list[Step]]:
    """What the first start does, and what the next one does."""
    if name == STUBBED:
        return STUB, STUB_HONEST
    return (LIES[name].steps if name in LIES else busy()), HONEST


def script() -> dict[str, object]:
    match = []
    for name, lane in LANE_OF.items():
        for unit in LANES[lane]:
            lie, honest = attempts(name)
            works = [{"bash": shell(honest, lane, unit)}, *say_done(unit)]
            lies = [{"bash": shell(lie, lane, unit)}, *say_done(unit)]
            match.append({"if": [told(unit), AGAIN], "steps": works})
            match.append({"if": told(unit), "steps": works if unit == TOLD_APART else lies})
    return {"match": match}


def plan() -> str:
    parts = ["# A plan"]
    for name, lane in LANE_OF.items():
        for unit in LANES[lane]:
            check = f"{PYTEST} {lane}/tests" if unit == TOLD_APART else acceptance(name)
            parts.append(
                f"## {unit.replace('/', ' ')}: add prices up\n- lane: {lane}\n"
                f"- paths: {lane}/**\n- acceptance: `{check}`"
            )
    return "\n\n".join(parts) + "\n"


@pytest.fixture(scope="module")
def fleet(new_fleet) -> AgentFleet:
    """One fleet at rest, with a lane for each lie."""
    fleet = new_fleet(LANES, CLAUDE_CODE)
    fleet.staff(CLAUDE_CODE, script())
    fleet.configure("supervise", target=3)
    fleet.begin()
    for lane in LANES:
        for name, text in BASE.items():
            path = fleet.root / in_folder(name, lane)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(in_folder(text, lane))
    (fleet.root / "docs" / "sample-plan.md").write_text(plan())
    fleet.git("add", "--all")
    fleet.git("commit", "--quiet", "-m", "Plan")
    fleet.start()
    fleet.finish(SECONDS)
    return fleet


def of(fleet: AgentFleet, unit: str, kind: str) -> list[dict]:
    return [event["body"] for event in fleet.events(kind) if event["body"].get("unit") == unit]


def tier(fleet: AgentFleet, unit: str) -> str:
    """At its landing: later work may replace it."""
    (landed,) = of(fleet, unit, "unit_landed")
    words = ("verify", *unit.split("/"), "--ref", landed["commit"], "--json")
    return json.loads(fleet.dos(*words).stdout)["tier"]


@pytest.mark.parametrize("name", LIES)
def test_a_lie_does_not_land_and_the_honest_work_lands_as_witnessed(fleet, name):
    lane = LANE_OF[name]
    (unit,) = LANES[lane]
    measured = of(fleet, unit, "work_measured")
    assert [fact["accepted"] for fact in measured] == [True, True], "the lie turned it green"
    (refused,) = of(fleet, unit, "landing_refused")
    assert in_folder(LIES[name].why, lane) in refused["reason"]
    assert fleet.git("show", f"main:{lane}/price.py") == RIGHT.strip()
    assert tier(fleet, unit) == WITNESSED
    assert fleet.receipt(unit)["sandbox"] == WALLS


def test_a_stub_does_not_land_and_the_honest_work_lands_as_witnessed(fleet):
    (unit,) = LANES[STUBBED]
    measured = of(fleet, unit, "work_measured")
    assert [fact["verdict"] for fact in measured] == ["UNPROVEN", "DELIVERED"]
    assert "only stubs were added" in measured[0]["reason"]
    assert fleet.git("show", f"main:{STUBBED}/sums.py") == RIGHT.strip()
    assert tier(fleet, unit) == WITNESSED


def test_what_was_green_before_is_not_witnessed_and_a_check_that_was_red_witnesses(fleet):
    lie, _ = LANES[LANE_OF[GREEN]]
    assert tier(fleet, lie) == LIVE
    assert fleet.git("show", f"main:{LANE_OF[GREEN]}/price.py") == RIGHT.strip()
    assert tier(fleet, TOLD_APART) == WITNESSED
