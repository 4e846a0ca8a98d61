"""A fleet whose units wait for something: what clears by itself is not asked of a person, and what
is left is told.
"""

import os
import signal

import pytest
from patience import PATIENCE
from sample_fleet import history, landed, wait_for
from sample_repository import commit, write

ACROSS = """# A plan

## DEMO B1: first of two
- lane: two

## DEMO B2: second of two
- lane: two
- depends: DEMO/A1

## DEMO A1: of one
- lane: one
"""
CODE = "def answer():\n    return 42\n"
WORKS = {
    "DEMO/A1": [[{"sleep": 2}, write("one/a.py", CODE), commit("Write a")]],
    "DEMO/B1": [[write("two/b.py", CODE), commit("Write b")]],
    "DEMO/B2": [[write("two/c.py", CODE), commit("Write c")]],
}


def plan(fleet, text: str) -> None:
    """At once, as editors do: half a plan would be another edit."""
    document = fleet.repository.root / "docs" / "demo-plan.md"
    half = document.with_suffix(".half")
    half.write_text(text)
    half.replace(document)


def of(fleet, kind: str) -> list[dict]:
    return [event["body"] for event in history(fleet) if event["kind"] == kind]


@pytest.mark.soak
def test_a_unit_that_waits_for_another_lane_is_done_when_that_has_landed_and_nobody_is_asked(fleet):
    plan(fleet, ACROSS)
    fleet.repository.play(WORKS)
    story, _ = (process := fleet.up("--until-idle", "--target", "2")).communicate(timeout=PATIENCE)
    assert landed(fleet) == ["DEMO/A1", "DEMO/B1", "DEMO/B2"], story
    assert process.returncode == 0 and "nothing is left to do" in story
    assert not of(fleet, "decision_raised")


@pytest.mark.soak
def test_a_plan_that_is_no_draft_any_more_is_worked_on_though_a_run_had_stopped_for_it(fleet):
    plan(fleet, ACROSS.replace("- depends: DEMO/A1", "- class: draft"))
    waits = [fleet.repository.waits, write("one/a.py", CODE), commit("Write a")]
    fleet.repository.play(
        WORKS | {"DEMO/A1": [waits]}
    )  # so that the fleet is not idle before the plan has changed
    process = fleet.up("--until-idle", "--target", "2")
    wait_for(lambda: [event for event in of(fleet, "run_stopped") if event["lane"] == "two"])
    plan(fleet, ACROSS.replace("- depends: DEMO/A1", ""))
    (asked,) = wait_for(
        lambda: of(fleet, "decision_raised"), "somebody is asked whether the edit counts"
    )
    assert asked["about"] == "plan_changed"
    assert fleet.dos("decisions", "answer", asked["id"], "use").returncode == 0
    fleet.repository.let_go()
    story, _ = process.communicate(timeout=PATIENCE)
    assert landed(fleet) == ["DEMO/A1", "DEMO/B1", "DEMO/B2"], story
    assert of(fleet, "decision_raised") == [asked], (
        "nobody is asked about the lane that had stopped"
    )


@pytest.mark.soak
def test_what_is_left_is_named_at_the_end_with_what_it_waits_for_and_the_exit_code_says_so(fleet):
    plan(fleet, ACROSS.replace("- depends: DEMO/A1", "- class: draft"))
    fleet.repository.play(WORKS)
    story, _ = (process := fleet.up("--until-idle", "--target", "2")).communicate(timeout=PATIENCE)
    assert process.returncode == 3
    assert "1 unit left. Held by their plans: DEMO/B2 (its plan is a draft" in story


FAILS = {"exit": 9}


def stuck(fleet) -> str:
    """Run until lane one has stopped for a person; what is asked about it."""
    plan(fleet, "# A plan\n\n## DEMO A1: of one\n- lane: one\n")
    fleet.repository.play({"DEMO/A1": [[FAILS], [FAILS], [FAILS], WORKS["DEMO/A1"][0]]})
    process = fleet.up("--until-idle")
    story, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3, story
    (asked,) = of(fleet, "decision_raised")
    return str(asked["id"])


@pytest.mark.soak
def test_a_lane_that_nobody_will_work_on_is_asked_about_though_its_units_rest(fleet):
    assert stuck(fleet).startswith("lane-stopped-")
    (asked,) = of(fleet, "decision_raised")
    assert asked["waits"] == ["unit:DEMO/A1"]
    assert (
        "DEMO/A1 failed 3 times on lane one (last: its agent crashed: no commit was made"
        in asked["question"]
    )


@pytest.mark.soak
@pytest.mark.parametrize("named", [["A1"], []], ids=["one", "all"])
def test_no_restart_clears_a_cooldown_and_an_answer_does_also_while_nothing_runs(fleet, named):
    question = stuck(fleet)
    agents = len(of(fleet, "agent_started"))
    process = fleet.up("--until-idle")
    story, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, len(of(fleet, "agent_started"))) == (3, agents), story
    assert (
        "1 unit left. On cooldown: DEMO/A1 (until " in story
        and ": 3 attempts, the last " in story
        and "dos up --retry DEMO/A1" in story
    )
    (answered,) = of(fleet, "decision_answered")
    assert (answered["id"], answered["choice"], answered["expired"]) == (question, "leave", True)
    process = fleet.up("--until-idle", "--retry", *named)
    story, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, landed(fleet)) == (0, ["DEMO/A1"]), story


@pytest.mark.soak
def test_an_answer_that_is_given_while_nothing_runs_counts_at_the_next_start(fleet):
    question = stuck(fleet)
    assert fleet.dos("decide-for", question, "retry").returncode == 0
    process = fleet.up("--until-idle")
    story, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, landed(fleet)) == (0, ["DEMO/A1"]), story


@pytest.mark.soak
def test_units_that_fail_hold_back_no_other_unit_of_their_lane(fleet):
    names = ("A1", "A2", "A3", "A4")
    plan(
        fleet, "# A plan\n" + "".join(f"\n## DEMO {name}: of one\n- lane: one\n" for name in names)
    )
    fleet.repository.play({"DEMO/A4": WORKS["DEMO/A1"], "*": [[FAILS]]})
    process = fleet.up("--until-idle")
    story, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, landed(fleet)) == (3, ["DEMO/A4"]), story
    (asked,) = of(fleet, "decision_raised")
    assert sorted(asked["waits"]) == ["unit:DEMO/A1", "unit:DEMO/A2", "unit:DEMO/A3"]
    assert len(of(fleet, "agent_started")) == 4, "nobody is paid twice for what failed"


def test_a_unit_on_a_lane_without_workers_is_left_and_the_exit_code_says_so(fleet):
    config = fleet.repository.root / "dos.toml"
    config.write_text(
        config.read_text().replace('concurrent = ["one", "two"]', 'concurrent = ["one"]')
    )
    plan(fleet, "# A plan\n\n## DEMO B1: of two\n- lane: two\n")
    story, _ = (process := fleet.up("--until-idle")).communicate(timeout=PATIENCE)
    assert process.returncode == 3, story
    assert "DEMO/B1 (no worker is placed on its lane 'two'" in story
    assert """`dos config set lanes.concurrent '["one","two"]'`""" in story


def test_a_fleet_without_a_plan_says_so_and_what_to_write(fleet):
    (fleet.repository.root / "docs" / "demo-plan.md").unlink()
    process = fleet.up("--until-idle")
    story, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2, story
    assert "no plan declares a unit" in story and "plans_glob" in story and "## DEMO A1" in story
    assert not of(fleet, "fleet_started")


@pytest.mark.soak
def test_a_crash_takes_nothing_back_of_what_a_run_had_counted(fleet):
    plan(fleet, "# A plan\n\n## DEMO A1: first\n- lane: one\n\n## DEMO A2: second\n- lane: one\n")
    begun = fleet.repository.home / "begun"
    hangs = [{"run": f"touch {begun}"}, {"hang": True}]
    fleet.repository.play({"DEMO/A1": [[FAILS]], "DEMO/A2": [hangs, [FAILS]]})
    process = fleet.up("--until-idle")
    wait_for(begun.exists)  # before that it has not counted as a try of the script
    (first,) = of(fleet, "iteration_committed")
    os.kill(fleet.worker_at("one"), signal.SIGKILL)
    story, _ = process.communicate(timeout=PATIENCE)
    committed = of(fleet, "iteration_committed")
    assert [each["iteration"] for each in committed] == [1, 2, 3], story
    assert (
        committed[0]["run_id"]
        == first["run_id"]
        != committed[1]["run_id"]
        == committed[2]["run_id"]
    )
    assert [each["state"].get("consecutive_unclear", 0) for each in committed] == [0, 1, 2]
    assert of(fleet, "run_stopped")[0]["stop_reason"] == "consecutive-unclear"
