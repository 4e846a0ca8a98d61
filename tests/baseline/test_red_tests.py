"""A test that fails at a landing and on the branch too is no failed attempt: the work waits."""

import pytest
from driven_worker import fleet, work
from sample_repository import Repository, commit, write
from test_baseline import answer, checks, configure, questions

from dos.loop.types import StopReason, WorkerStop
from dos.questions.state import Decisions

WORKS = {
    "DEMO/A1": [[write("one/a.txt"), commit("Write a")]],
    "DEMO/A2": [[write("one/b.txt"), commit("Write b")]],
}


@pytest.fixture
def broken(repository) -> Repository:
    """The test needs something that goes away while the first agent works: a server, say."""
    server = repository.home / "server"
    server.touch()
    configure(repository, test=f"test -e {server} || {{ echo no server; exit 1; }}")
    repository.play({**WORKS, "DEMO/A1": [[*WORKS["DEMO/A1"][0], {"run": f"rm -f {server}"}]]})
    return repository


def test_the_work_is_kept_and_asked_about_once_and_no_agent_is_paid_again(broken):
    stop = work(broken)
    assert stop.reason is WorkerStop.DECISION_NEEDED and "dos decisions show" in stop.detail
    assert broken.starts() == ["DEMO/A1"]
    (asked,) = questions(broken).open.values()
    assert asked.raised.about == "baseline" and "no server" in asked.raised.question
    unit = fleet(broken).units["DEMO/A1"]
    assert unit.refused == 0 and unit.last_attempt is None and unit.intended is not None
    kept = broken.git("for-each-ref", "--format=%(objectname)", "refs/dos/salvage").split()
    assert unit.intended.new in kept
    assert work(broken, number=2).reason is WorkerStop.DECISION_NEEDED, (
        "and a worker that is started by hand waits too"
    )
    assert broken.starts() == ["DEMO/A1"] and len(questions(broken).open) == 1


@pytest.mark.soak
def test_the_same_commits_land_once_the_test_passes_again(broken):
    work(broken)
    (broken.home / "server").touch()
    answer(broken, "retry")
    assert work(broken, number=2).reason is StopReason.COMPLETE
    assert broken.starts() == ["DEMO/A1", "DEMO/A2"]
    assert broken.subjects()[:2] == ["Write b", "Write a"]


@pytest.mark.soak
def test_after_an_answer_that_changed_nothing_it_is_asked_again_and_still_nobody_is_paid(broken):
    work(broken)
    answer(broken, "retry")
    assert work(broken, number=2).reason is WorkerStop.DECISION_NEEDED
    open_questions: Decisions = questions(broken)
    assert len(open_questions.open) == 1 and len(open_questions.answered) == 1
    assert broken.starts() == ["DEMO/A1"] and [check.passed for check in checks(broken)] == [
        False,
        False,
    ]


def test_work_that_breaks_the_tests_itself_is_refused_as_before(repository):
    configure(repository, test="test ! -e one/a.txt")
    repository.play(WORKS)
    assert (
        work(repository).reason is StopReason.CONSECUTIVE_DIRTY_ZERO
        or repository.subjects()[0] == "Write b"
    )
    assert fleet(repository).units["DEMO/A1"].refused >= 1
    assert not any(each.raised.about == "baseline" for each in questions(repository).open.values())
    assert checks(repository) == [], "what the base passes is not worth a record of a fault"
