"""An agent that gets at the branch of the user by itself is noticed, asked about, and lands nothing
by it.
"""

import json
import subprocess
import sys

import pytest
from driven_worker import happened, open_effects, work
from msgspec import structs
from sample_repository import Repository, commit, write

from dos.backlog.io import landed
from dos.backlog.io.landed import Landed, NotLanded
from dos.backlog.io.target import TargetState
from dos.fleet import incidents
from dos.fleet.state.fleet import FleetState, UnitState
from dos.git.log import Reflogs
from dos.git.repository import Writer
from dos.journal import fold, streams
from dos.loop.types import StopReason
from dos.questions.state import Decisions, answer_entries, urgent_first
from dos.report import explain, explain_text, summary
from dos.report.io import session
from dos.times import utc_datetime
from dos.world import World

UNIT = "DEMO/A1"
PLAN = (
    "# A plan\n\n## DEMO A1: first\n- lane: one\n"
    "- paths: one/**\n- acceptance: `test -s one/a.txt`\n"
)
HONEST = [write("one/a.txt"), commit("Write a")]


def forging(repository: Repository, *, hidden: bool = False, count: int = 3) -> dict[str, str]:
    """Work in the checkout of the user, as a program does that mistakes it for its own."""
    variable = "env -u GIT_REFLOG_ACTION " if hidden else ""
    steps = [f"cd {repository.root}"]
    for number in range(count):
        steps.append(
            f"echo {number} > one/a.txt && git add -A"
            f" && {variable}git commit -qm 'Write a' -m 'Unit: {UNIT}'"
        )
    return {"run": " && ".join(steps)}


@pytest.fixture
def one_unit(repository: Repository) -> Repository:
    (repository.root / "docs" / "demo-plan.md").write_text(PLAN)
    repository.commit_all("Plan one unit")
    return repository


def questions(repository: Repository) -> list:
    with World(repository.root) as world:
        return urgent_first(fold.current(world.journal, Decisions)[0])


def truth(repository: Repository):
    with World(repository.root) as world:
        return landed.gather(world, [UNIT])[UNIT]


def answer(repository: Repository, choice: str) -> None:
    (question,) = questions(repository)
    with open_effects(repository).store as store:
        store.append_all(answer_entries(question, choice, by="tester"))


@pytest.mark.parametrize(
    "hidden", [False, True], ids=["by its reflog entry", "by the unit that it names"]
)
def test_commits_of_an_agent_on_the_branch_of_the_user_are_an_incident_and_no_landing(
    one_unit, hidden
):
    before = one_unit.git("rev-parse", "main")
    one_unit.play({UNIT: [[forging(one_unit, hidden=hidden), {"say": "DEMO/A1 is shipped."}]]})
    work(one_unit)
    (event,) = happened(one_unit, "incident_found")
    forged = one_unit.git("rev-list", "--reverse", f"{before}..main").splitlines()
    assert set(event["commits"]) <= set(forged)
    assert forged[-1] in event["commits"]
    assert hidden or event["commits"] == forged
    assert event["units"] == [UNIT]
    assert event["run_id"] == happened(one_unit, "agent_started")[0]["run_id"]
    assert happened(one_unit, "unit_landed") == []
    assert isinstance(truth(one_unit), NotLanded)
    (question,) = questions(one_unit)
    assert question.raised.about == "incident"
    assert question.raised.waits == [f"unit:{UNIT}"]
    assert [choice.name for choice in question.raised.choices] == ["again", "keep"]
    told = f"names {UNIT}, which run" if hidden else "An agent of run"
    assert told in question.raised.question, (
        "where it only names the unit, a person may have made it"
    )
    assert "git revert" in question.raised.choices[0].meaning
    assert question.raised.otherwise == f"they do not count, and {UNIT} is not worked on"


def test_an_incident_is_told_by_the_report_and_by_why(one_unit):
    one_unit.play({UNIT: [[forging(one_unit), {"say": "done"}]]})
    work(one_unit)
    with World(one_unit.root) as world:
        events = list(world.journal.events())
    told = summary.render(summary.summarize_events(events))
    assert "Incidents: an agent changed your branch or checkout itself: 1" in told
    run_id = happened(one_unit, "agent_started")[0]["run_id"]
    story = explain_text.render(
        explain.explain_run(
            run_id, [event for event in events if event.stream == streams.run(run_id)]
        ),
        utc_datetime(events[-1].at_ms),
    )
    assert (
        "incident: the reflog says that its agent moved the branch main;"
        " it does not count as a landing" in story
    )


def test_nobody_works_on_the_unit_until_a_person_has_answered_and_then_it_lands_by_its_own_work(
    one_unit,
):
    one_unit.play(
        {UNIT: [[forging(one_unit)], [write("one/a.txt", "better\n"), commit("Write a")]]}
    )
    work(one_unit)
    work(one_unit, number=2)
    assert len(happened(one_unit, "agent_started")) == 1, "it waits for the answer"
    answer(one_unit, "again")
    assert work(one_unit, number=3).reason is StopReason.COMPLETE
    (landing,) = happened(one_unit, "unit_landed")
    assert truth(one_unit) == Landed(landing["commit"], truth(one_unit).source)
    assert len(happened(one_unit, "incident_found")) == 1, "it is not found again"


def test_what_a_person_keeps_counts_for_what_git_shows(one_unit):
    one_unit.play({UNIT: [[forging(one_unit)]]})
    work(one_unit)
    answer(one_unit, "keep")
    assert isinstance(truth(one_unit), Landed)
    assert work(one_unit, number=2).reason is StopReason.COMPLETE
    assert len(happened(one_unit, "agent_started")) == 1


def test_an_agent_that_moves_the_checkout_of_the_user_is_an_incident_too(one_unit):
    steps = [{"run": f"cd {one_unit.root} && git checkout -q -b elsewhere"}, *HONEST]
    one_unit.play({UNIT: [steps]})
    one_unit.git("config", "--local", "advice.detachedHead", "false")
    work(one_unit)
    (event,) = happened(one_unit, "incident_found")
    assert event["branch"] == "HEAD"
    assert "commits" not in event
    assert [fact["unit"] for fact in happened(one_unit, "unit_landed")] == [UNIT], (
        "its own work lands"
    )


@pytest.mark.soak
def test_commits_and_edits_of_the_user_ask_nothing_and_are_listed(one_unit):
    commit_it = "git add mine.txt && env -u GIT_REFLOG_ACTION git commit -qm 'My own work'"
    mine = f"cd {one_unit.root} && echo x > mine.txt && {commit_it}"
    one_unit.play({UNIT: [[{"run": mine}, *HONEST]]})
    assert work(one_unit).reason is StopReason.COMPLETE
    (one_unit.root / "notes.txt").write_text("not committed")
    assert happened(one_unit, "incident_found") == []
    assert questions(one_unit) == []
    with World(one_unit.root) as world:
        lines = session.user_changes(world, list(world.journal.events()))
    assert [line.split(" ", 1)[1] for line in lines] == ["My own work", "committed: notes.txt"]
    words = [sys.executable, "-m", "dos", "report", "--since", "0", "--json"]
    decoded = json.loads(
        subprocess.run(words, cwd=one_unit.root, check=True, capture_output=True).stdout
    )
    assert decoded["own"] == lines
    assert decoded["incidents"] == []


def test_a_landing_that_is_begun_between_two_looks_is_no_incident(one_unit):
    """The journal is read before git: what a worker lands in between is on the branch, and its
    intent is not known.
    """
    acting = open_effects(one_unit)
    try:
        acting.watch.refresh()
        fleet, units = FleetState(), acting.units()
        looking = TargetState(acting.workspace, acting.config)
        looking.correct_fleet(fleet, units, acting._landing_on, "main", Decisions())
        run_id = "R1"
        fleet.units[UNIT] = fold_of(claimed_by=run_id)
        (one_unit.root / "one" / "a.txt").write_text("x")
        one_unit.git("add", "-A")
        one_unit.git("commit", "-qm", "Write a", "-m", f"Unit: {UNIT}")
        state = looking.correct_fleet(
            fleet, units, acting._landing_on, "main", Decisions(), {run_id}
        )
        assert looking.incidents == []
        assert not state.units[UNIT].landed, (
            "it is not believed before the journal was read once more"
        )
        fleet.units[UNIT] = fold_of(landed=one_unit.git("rev-parse", "main"))
        state = looking.correct_fleet(
            fleet, units, acting._landing_on, "main", Decisions(), {run_id}
        )
        assert looking.incidents == []
        assert state.units[UNIT].landed
    finally:
        acting.close()


def fold_of(**known: str):
    return UnitState(**known)


def test_a_unit_that_the_user_finished_after_its_run_had_died_is_done(one_unit):
    acting = open_effects(one_unit)
    try:
        fleet = FleetState()
        fleet.units[UNIT] = fold_of(claimed_by="R1")
        (one_unit.root / "one" / "a.txt").write_text("x")
        one_unit.git("add", "-A")
        one_unit.git("commit", "-qm", "Write a", "-m", f"Unit: {UNIT}")
        looking = TargetState(acting.workspace, acting.config)
        acting.watch.refresh()
        units = [structs.replace(unit, acceptance="") for unit in acting.units()]
        state = looking.correct_fleet(fleet, units, acting._landing_on, "main", Decisions(), {"R2"})
        assert state.units[UNIT].landed
        assert looking.incidents == []
    finally:
        acting.close()


def test_the_reflogs_are_read_again_only_when_they_have_changed(one_unit, monkeypatch):
    watch = incidents.IncidentWatch(Writer(one_unit.root), "main")
    watch.find_by_reflogs(FleetState())
    asked = []
    real = Writer.attempt
    monkeypatch.setattr(
        Writer,
        "attempt",
        lambda self, *words, **more: asked.append(words) or real(self, *words, **more),
    )
    watch.find_by_reflogs(FleetState())
    assert asked == []
    one_unit.commit_all("Something")
    watch.find_by_reflogs(FleetState())
    assert asked


@pytest.mark.soak
def test_what_the_user_had_committed_before_a_run_took_the_unit_is_no_work_of_its_agent(one_unit):
    (one_unit.root / "one" / "a.txt").write_text("x")
    one_unit.git("add", "-A")
    one_unit.git("commit", "-qm", "Write a", "-m", f"Unit: {UNIT}")
    one_unit.play({UNIT: [[write("one/a.txt", "better\n"), commit("Write a")]]})
    assert work(one_unit).reason is StopReason.COMPLETE
    assert happened(one_unit, "incident_found") == []


def test_a_branch_that_is_only_on_a_remote_has_no_reflog_and_stops_nobody(repository):
    assert Reflogs(Writer(repository.root), "elsewhere").agent_moves() == []


def test_a_run_that_an_agent_made_up_is_no_run(repository, monkeypatch):
    monkeypatch.setenv("GIT_REFLOG_ACTION", "dos agent ../x \x1b[31m")
    repository.git("commit", "--quiet", "--allow-empty", "-m", "Forged")
    (found,) = incidents.IncidentWatch(Writer(repository.root), "main").find_by_reflogs(
        FleetState()
    )
    assert found.id == f"unknown-{repository.git('rev-parse', '--short=9', 'HEAD')}"
    assert incidents.record(found).stream == "fleet"
    assert (
        "An agent of an unknown run put 1 commit on the branch main"
        in incidents.ask_about(found).text
    )
