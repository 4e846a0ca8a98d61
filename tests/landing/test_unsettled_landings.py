"""Landings that did not happen at once.

Who settles them, how often one is tried, and when a person is asked.
"""

from pathlib import Path

import pytest
from msgspec import structs

from dos.agents.adapter import AgentOutcome, Ending
from dos.backlog.io import survey
from dos.config.schema import Config
from dos.fleet import effects
from dos.fleet.state.fleet import FleetState
from dos.fleet.worker import iteration, land
from dos.fleet.worker.iteration import Dispatch, LandingResult
from dos.fleet.worker.journal_writer import JournalWriter
from dos.journal import fold
from dos.journal.backends.open import open_store
from dos.journal.events import envelope
from dos.journal.events.fleet import LandingIntended, LandingRefused
from dos.lanes.policy import Lanes
from dos.lease import Lease
from dos.limits.quota import AgentCandidate
from dos.loop.gate import Gate
from dos.regions import region
from dos.units.unit import Landing, Unit

CONFIG = Config(
    lanes=Lanes(concurrent=("one", "two"), trees={"one": ("one/**",), "two": ("two/**",)})
)
UNIT = Unit(plan="DEMO", id="A1", title="first", lane="one")
WHO = {"run_id": "R", "lane": "one"}
LEASE = Lease(
    lane="one",
    holder="h",
    host="h",
    ttl_ms=1000,
    region=region(["one/**"]),
    kind="cluster",
    run_id="R",
    fence=7,
    boot="b",
    granted_ms=0,
    beat_ms=0,
    expires_ms=0,
    version=1,
)
LANDING = Landing(unit="DEMO/A1", branch="main", base="b" * 40, commit="c" * 40)
TREE = effects.Worktree(path="/tree", target="main", base="b" * 40, salvaged=[])
MEASURED = effects.Measurement(
    head="c" * 40, commits=["c" * 40], strays=[], changed_paths=1, accepted=True
)
MOVED = effects.NotLanded(reason="the branch has moved", retryable=True, branch_moved=True)
IN_THE_WAY = effects.NotLanded(reason="an edit of yours", retryable=True, obstacle=True)
RED = effects.NotLanded(reason="the tests fail")


def state_of(*facts: envelope.Fact) -> FleetState:
    with open_store("memory:", state_directory=Path(), workspace_id="") as store:
        for fact in facts:
            store.record("run/R", fact)
        return fold.current(store, FleetState)[0]


def intended(unit: str, lane: str = "one") -> LandingIntended:
    return LandingIntended(
        run_id="R", lane=lane, unit=unit, iteration=1, branch="main", old="b", new="c"
    )


def asked(**more: object) -> Dispatch:
    agent = AgentCandidate(name="scripted", vendor="scripted")
    chosen = effects.AgentChoice(agent=agent, now_ms=0)
    return Dispatch(
        unit=UNIT, iteration=1, attempt=1, agent_choice=chosen, history=[], repeated=False, **more
    )  # type: ignore[arg-type]


def played(
    answers: list[effects.NotLanded | None], **more: object
) -> tuple[LandingResult, list[object]]:
    """Measure and land, where the branch gives these answers."""
    ended = effects.AgentResult(outcome=AgentOutcome(ending=Ending.OK), exit_code=0, seconds=1.0)
    steps = land.measure_and_land(
        JournalWriter(run_id="R", lease=LEASE), asked(**more), TREE, ended
    )
    left, seen, answer = list(answers), [], None
    try:
        while True:
            effect = steps.send(answer)
            seen.append(effect)
            match effect:
                case effects.MeasureWork():
                    answer = MEASURED
                case effects.PrepareLanding():
                    answer = LANDING
                case effects.MoveBranch():
                    answer = left.pop(0)
                case effects.IssueReceipt():
                    answer = type("IssuedReceipt", (), {"receipt": None, "message": ""})()
                case _:
                    answer = None
    except StopIteration as done:
        return done.value, seen


def raised(seen: list[object]) -> list[str]:
    facts = [effect.fact for effect in seen if isinstance(effect, effects.Record)]
    return [fact.about for fact in facts if fact.kind == "decision_raised"]


@pytest.mark.parametrize("unit", ["DEMO/A1", "REPLAN/one", "DEMO/GONE"])
def test_a_landing_that_was_cut_off_is_settled_also_when_no_plan_declares_it(unit):
    backlog = survey.survey([UNIT], CONFIG, state_of(intended(unit)), "one")
    assert [pending_landing.landing.unit for pending_landing in backlog.pending_landings] == [unit]
    assert [pending_landing.unit for pending_landing in backlog.pending_landings] == [
        UNIT if unit == UNIT.name else None
    ]
    assert survey.survey([UNIT], CONFIG, state_of(intended(unit)), "two").pending_landings == []


def test_races_that_were_lost_do_not_use_up_the_tries_of_what_is_in_the_way():
    fate, seen = played([*[MOVED] * 10, *[IN_THE_WAY] * 3, None])
    assert fate is LandingResult.LANDED
    assert sum(isinstance(each, effects.MoveBranch) for each in seen) == 14


def test_what_stays_in_the_way_is_asked_about_at_once_and_the_landing_stays_intended():
    fate, seen = played([IN_THE_WAY] * land.LANDING_TRIES)
    assert (fate, raised(seen)) == (LandingResult.KEPT, ["landing_blocked"])
    assert not any(
        getattr(getattr(each, "fact", None), "kind", "") == "landing_refused" for each in seen
    )


@pytest.mark.parametrize("before", [0, 1, 2, 19, 20, 21, 22, 101])
def test_every_second_refusal_is_asked_about_however_many_there_were(before):
    refusals = [LandingRefused(**WHO, unit="DEMO/A1", reason=f"red {n}") for n in range(before)]
    found = survey.survey([UNIT], CONFIG, state_of(*refusals), "one").refusals.get(
        "DEMO/A1", effects.Refusals()
    )
    assert found.count == before
    fate, seen = played([RED], refusals=found)
    assert (fate, raised(seen)) == (
        LandingResult.MISSED,
        ["landing_conflict"] if before % 2 else [],
    )


@pytest.mark.parametrize(
    ("unit", "cause"),
    [
        (structs.replace(UNIT, plan_class="draft"), "operator_decision"),
        (structs.replace(UNIT, gated="ask me"), "operator_decision"),
        (structs.replace(UNIT, depends=("DEMO/B1",)), "DEPENDENCY_UNMET"),
    ],
)
def test_a_gate_says_what_blocks_it(unit, cause):
    outcome = iteration.gate_outcome(survey.survey([unit], CONFIG, FleetState(), "one"))
    assert (outcome.verdict, outcome.blocked_cause) == (Gate.BLOCKED, cause)


def test_a_gate_with_nothing_behind_it_has_no_cause():
    assert (
        iteration.gate_outcome(survey.survey([], CONFIG, FleetState(), "one")).blocked_cause is None
    )
