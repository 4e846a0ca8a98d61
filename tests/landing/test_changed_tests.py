"""Work that weakens tests does not land, unless its unit or a person lets it."""

import pytest
from commanding import in_process
from driven_worker import fleet, happened, work
from sample_repository import Repository, commit, write

from dos.verify.io import verifier
from dos.world import World

PLAN = """# A plan

## DEMO A1: first
- lane: one
- paths: one/**
- acceptance: `python3 one/tests/test_price.py`
"""
TEST = """import sys

sys.path.insert(0, "one")
from price import total


def test_total():
    assert total([1, 2]) == 3


def test_nothing():
    assert total([]) == 0


if __name__ == "__main__":
    test_total()
    test_nothing()
"""
RED = "def total(prices):\n    return 1\n"
GREEN = "def total(prices):\n    return sum(prices)\n"
WEAK = TEST.replace("assert total([1, 2]) == 3", "assert total([1, 2])").replace("== 0", "== 1")
# A wrong change that passes the weakened test.
LIE = [
    write("one/tests/test_price.py", WEAK),
    write("one/price.py", "def total(prices):\n    return len(prices) + 1\n"),
    commit("Do A1"),
]
HONEST = [write("one/price.py", GREEN), commit("Do A1")]


@pytest.fixture
def priced(repository: Repository) -> Repository:
    return prepare(repository, PLAN)


def prepare(repository: Repository, plan: str) -> Repository:
    (repository.root / "docs" / "demo-plan.md").write_text(plan)
    (repository.root / "one" / "tests").mkdir()
    (repository.root / "one" / "tests" / "test_price.py").write_text(TEST)
    (repository.root / "one" / "price.py").write_text(RED)
    repository.commit_all("Plan")
    return repository


def decide(repository: Repository, choice: str) -> None:
    question = happened(repository, "decision_raised")[-1]["id"]
    words = ("--workspace", str(repository.root), "decide-for", question, choice)
    assert in_process(*words).code == 0


def verified(repository: Repository) -> str:
    with World(repository.root) as world:
        return verifier.verify(world, [("DEMO", "A1")], verifier.Ask(ref="main"))[0].answer


def test_weakened_tests_keep_a_unit_from_landing_and_the_next_agent_reads_the_lines(priced):
    priced.play({"DEMO/A1": [LIE, HONEST]})
    work(priced)
    assert priced.subjects() == ["Do A1", "Plan", "Begin"]
    assert priced.git("show", "main:one/price.py") == GREEN.strip()
    (refused,) = happened(priced, "landing_refused")
    reason = refused["reason"]
    assert "it weakens tests: one/tests/test_price.py: assertions loosened" in reason
    assert "-8:     assert total([1, 2]) == 3\n+8:     assert total([1, 2])\n" in reason
    assert "`- tests: may-change` in the plan" in reason
    assert reason in fleet(priced).units["DEMO/A1"].tries[0], "the next agent is told"
    assert priced.starts() == ["DEMO/A1", "DEMO/A1"]
    assert happened(priced, "decision_raised") == []


def test_honest_work_lands_at_once(priced):
    priced.play({"DEMO/A1": [HONEST]})
    work(priced)
    assert priced.subjects() == ["Do A1", "Plan", "Begin"]
    assert happened(priced, "landing_refused") == []
    assert verified(priced) == "SHIPPED"


def test_a_unit_whose_tests_may_change_lands_with_them(repository):
    plan = PLAN.replace("- paths", "- tests: may-change\n- paths")
    priced = prepare(repository, plan)
    priced.play({"DEMO/A1": [LIE]})
    work(priced)
    assert priced.subjects() == ["Do A1", "Plan", "Begin"]
    assert happened(priced, "landing_refused") == []


def test_two_harmless_commits_that_weaken_together_are_refused(priced):
    """The first replaces a case by another, the second takes that one out with its function."""
    other = TEST.replace("test_total", "test_other").replace("== 3", "== 3  # the same")
    gone = other.replace("def test_other():\n    assert total([1, 2]) == 3  # the same\n", "")
    gone = gone.replace("    test_other()\n", "")
    steps = [
        write("one/tests/test_price.py", other),
        write("one/price.py", GREEN),
        commit("Do A1"),
        write("one/tests/test_price.py", gone),
        commit("Do more of A1"),
    ]
    priced.play({"DEMO/A1": [steps, HONEST]})
    work(priced)
    assert len(happened(priced, "landing_refused")) == 1
    assert priced.subjects()[0] == "Do A1"


def test_a_test_that_a_later_commit_restores_is_not_weakened(priced):
    steps = [
        write("one/tests/test_price.py", WEAK),
        write("one/price.py", GREEN),
        commit("Do A1"),
        write("one/tests/test_price.py", TEST),
        commit("Restore the test of A1"),
    ]
    priced.play({"DEMO/A1": [steps]})
    work(priced)
    assert happened(priced, "landing_refused") == []
    assert priced.subjects()[:2] == ["Restore the test of A1", "Do A1"]


def asked(priced: Repository) -> Repository:
    """A unit whose agents weakened the tests until a person was asked."""
    priced.play({"DEMO/A1": [LIE]})
    work(priced)
    (question,) = list(happened(priced, "decision_raised"))
    assert question["about"] == "tests_changed"
    assert question["waits"] == ["unit:DEMO/A1"]
    assert [choice["name"] for choice in question["choices"]] == ["accept", "retry", "drop"]
    assert "git diff" in question["question"] and "\n" not in question["question"]
    assert priced.starts() == ["DEMO/A1"] * 2
    assert priced.subjects() == ["Plan", "Begin"]
    return priced


def test_commits_that_a_person_accepts_land_as_they_are(priced):
    asked(priced)
    commit_asked_about = happened(priced, "decision_raised")[0]["detail"]["commit"]
    decide(priced, "accept")
    work(priced, number=2)
    assert priced.git("rev-parse", "main") == commit_asked_about
    assert priced.starts() == ["DEMO/A1"] * 2, "no agent was needed"
    assert verified(priced) == "SHIPPED"
    assert "acceptance" in str(happened(priced, "receipt_issued")[-1]["receipt"])


def test_after_a_refusal_of_a_person_another_agent_tries(priced):
    asked(priced)
    priced.play({"DEMO/A1": [HONEST]})
    decide(priced, "retry")
    work(priced, number=2)
    assert priced.git("show", "main:one/price.py") == GREEN.strip()


def test_what_a_person_drops_is_not_worked_on_again(priced):
    asked(priced)
    priced.play({"DEMO/A1": [HONEST]})
    decide(priced, "drop")
    work(priced, number=2)
    assert priced.subjects() == ["Plan", "Begin"]


def test_accepted_commits_that_no_longer_fit_are_done_again(priced):
    """The answer was about those commits: it is used up, and what an agent does next is judged."""
    asked(priced)
    decide(priced, "accept")
    (priced.root / "one" / "price.py").write_text("def total(prices):\n    return 7\n")
    priced.commit_all("Change the same line")
    priced.play({"DEMO/A1": [HONEST]})
    work(priced, number=2)
    assert priced.git("show", "main:one/price.py") == GREEN.strip()
    assert priced.subjects()[:2] == ["Do A1", "Change the same line"]
