"""Several workers on one budget: each start takes its share before it begins, so that all together
keep to it.
"""

import pytest
from engine_fleet import COMMIT, DONE, EDIT, EngineFleet
from promises import broken

TABLES = """
[agents.scripted]
max_usd = 1.0

[budgets.day]
usd = 2.0
"""


@pytest.mark.soak
def test_a_third_agent_waits_until_what_two_may_cost_is_known(tmp_path):
    usage = {"usage": {"model": "m", "input_tokens": 10, "cost_usd": 0.5}}
    both_are_there = {
        "run": "touch $TEST_WORDS.$DOS_LANE;"
        " until [ $(ls $TEST_WORDS.* | wc -l) -ge 2 ]; do sleep 0.1; done"
    }
    with EngineFleet(tmp_path / "fleet", {"one": 1, "two": 1, "three": 1}, tables=TABLES) as fleet:
        fleet.play({"*": [[both_are_there, EDIT, usage, COMMIT, DONE]]})
        assert fleet.until_idle("--target", "3") == 0, fleet.story()
        kinds = [
            event.kind for event in fleet.events() if event.kind in ("agent_started", "agent_ended")
        ]
        assert kinds == [
            "agent_started",
            "agent_started",
            "agent_ended",
            "agent_ended",
            "agent_started",
            "agent_ended",
        ]
        waited = fleet.facts("run_parked")[
            0
        ]  # and perhaps again, when the first of the two has ended
        assert (
            waited["why"] == "budget"
            and "$0.00 of $2.00, $2.00 reserved for agents at work" in waited["detail"]
        )
        assert sum(fact["cost_usd"] for fact in fleet.facts("agent_ended")) == 1.5
        assert fleet.facts("decision_raised") == [], "nobody is asked while there is enough"
        assert broken(fleet) == []
