"""Budgets: people are warned, then asked; whatever is killed in between, nothing is forgotten or
overspent.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from engine_fleet import COMMIT, DONE, EDIT, EngineFleet
from msgspec import Struct
from patience import PATIENCE, wait_for
from promises import broken


class Budget(Struct, frozen=True, kw_only=True):
    table: str
    agents: int  # that use it up
    costs: tuple[float, ...]  # of one agent after the other, in turn


# A day may cost five of each. Four agents, or one dear one, bring people to be warned.
BUDGETS = {
    "usd": Budget(table="usd = 5.0", agents=2, costs=(4.0, 1.0)),
    "iterations": Budget(table="iterations = 5", agents=5, costs=(1.0,)),
}
SOME = [pytest.param("usd"), pytest.param("iterations", marks=pytest.mark.soak)]


def paid(cost: float) -> list[dict[str, Any]]:
    return [EDIT, {"usage": {"model": "m", "input_tokens": 10, "cost_usd": cost}}, COMMIT, DONE]


@pytest.fixture(params=SOME)
def budget(request) -> Budget:
    return BUDGETS[request.param]


@pytest.fixture
def fleet(budget, tmp_path) -> Iterator[EngineFleet]:
    most = 2 * budget.agents + 2
    with EngineFleet(
        tmp_path / "fleet", {"one": most}, tables=f"[budgets.day]\n{budget.table}"
    ) as made:
        costs = {unit: budget.costs[at % len(budget.costs)] for at, unit in enumerate(made.units)}
        made.play({unit: [paid(cost)] for unit, cost in costs.items()})
        yield made


WORK_LEFT = 3


def told(fleet: EngineFleet, kind: str) -> list[tuple[float, float]]:
    return [(fact["spent"], fact["limit"]) for fact in fleet.facts(kind)]


@pytest.mark.soak
def test_a_budget_warns_pauses_asks_and_is_remembered(fleet, budget):
    # When it is spent, and nobody was asked
    point = f"all:worker:ChooseAgent:after:{budget.agents + 1}"
    fleet.up("--target", "1", point=point).wait(timeout=PATIENCE)
    assert told(fleet, "budget_warned") == [(4, 5)] and fleet.facts("decision_raised") == []
    assert len(fleet.agent_starts()) == budget.agents

    assert fleet.until_idle() == WORK_LEFT, fleet.story()
    [fact] = fleet.facts("decision_raised")
    assert fact["about"] == "budget" and (fact["detail"]["spent"], fact["detail"]["limit"]) == (
        5,
        5,
    )
    assert len(fleet.agent_starts()) == budget.agents, "it was not forgotten"
    assert len(told(fleet, "budget_warned")) == 1, "nobody is told twice"

    assert fleet.until_idle() == WORK_LEFT, fleet.story()
    assert len(fleet.agent_starts()) == budget.agents and len(fleet.facts("decision_raised")) == 1

    answered = fleet.dos("decisions", "answer", fact["id"], "raise")
    assert answered.returncode == 0, answered.stderr
    assert fleet.until_idle() == WORK_LEFT, fleet.story()
    again = fleet.facts("decision_raised")[1]
    assert len(fleet.agent_starts()) == 2 * budget.agents and again["id"] != fact["id"]
    assert told(fleet, "budget_spent")[-1] == (10, 10)

    assert fleet.dos("decisions", "answer", again["id"], "stop").returncode == 0
    assert fleet.until_idle() == WORK_LEFT, fleet.story()
    assert len(fleet.agent_starts()) == 2 * budget.agents, "it stays stopped"
    assert len(fleet.facts("decision_raised")) == 2
    assert broken(fleet, all_landed=False) == []


@pytest.mark.soak
def test_a_running_fleet_stops_for_the_question_and_goes_on_by_the_answer(fleet, budget):
    fleet.up("--target", "1")
    [asked] = wait_for(lambda: fleet.facts("decision_raised"), "a person is asked")
    [stopped] = wait_for(lambda: fleet.facts("run_stopped"), "the run stops")
    assert (
        stopped["stop_reason"] == "decision-needed" and len(fleet.agent_starts()) == budget.agents
    )
    assert told(fleet, "budget_warned") == [(4, 5)] and told(fleet, "budget_spent") == [(5, 5)]
    fleet.dos("decisions", "answer", asked["id"], "raise")
    wait_for(lambda: len(fleet.agent_starts()) > budget.agents, "it goes on")
