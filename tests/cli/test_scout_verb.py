"""`dos scout` reads the workspace: what it waits for, what landed, who holds a lane."""

import pytest
from commanding import in_process


@pytest.fixture
def scout(repository):
    repository.git("add", "--all")
    if repository.git("status", "--porcelain").strip():
        repository.git("commit", "--quiet", "-m", "Plan")

    def run(*words):
        return in_process("--workspace", str(repository.root), "scout", "--json", *words)

    return run


def dos(repository, *words):
    answer = in_process("--workspace", str(repository.root), *words)
    assert answer.code == 0, answer
    return answer


def test_open_work_on_a_free_lane_is_a_dispatch(repository, scout):
    answer = scout()
    assert (answer.code, answer.json["activity"], answer.json["scope"]) == (0, "dispatch", "one")
    assert scout("--lane", "two").json["scope"] == "two"
    assert not list((repository.root / ".git" / "dos").glob("state.db*")), "it only reads"


def test_a_lane_that_is_held_is_left_and_where_all_are_one_waits(repository, scout):
    dos(repository, "lease-lane", "acquire", "--lane", "one", "--owner", "A")
    assert scout().json["scope"] == "two"
    dos(repository, "lease-lane", "acquire", "--lane", "two", "--owner", "B")
    assert (scout().code, scout().json["rule_id"]) == (5, "lane-overlap")


def test_a_paused_fleet_stops(repository, scout):
    dos(repository, "pause")
    assert (scout().code, scout().json["reason"]) == (6, "pause")


def test_where_everything_landed_a_replan_is_due(repository, scout):
    (repository.root / "docs" / "demo-plan.md").write_text(
        "## DEMO B1: third\n- lane: two\n- paths: two/**\n"
    )
    (repository.root / "two" / "c.txt").write_text("x\n")
    repository.git("add", "docs", "two/c.txt")
    repository.git("commit", "--quiet", "-m", "Write c", "-m", "Unit: DEMO/B1")
    assert (scout().code, scout().json["rule_id"]) == (4, "replan-due")


def test_an_open_decision_is_told_and_stops_nothing(repository, scout):
    dos(repository, "decisions", "add", "--kind", "FLAG", "--lane", "two", "--text", "Which?")
    answer = scout()
    assert answer.code == 0 and answer.json["evidence"] == ["1 open decision"]


def test_an_unknown_lane_is_an_error(scout):
    answer = scout("--lane", "three")
    assert answer.code == 2 and "one, two" in answer.err
